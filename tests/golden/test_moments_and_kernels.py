"""fid, ttest, energy, mmd, kid, sliced_wasserstein, vendi_gap against other formulas and other packages."""

import numpy as np
import pytest
from scipy import linalg, stats
from scipy.spatial.distance import cdist

from textgauge import get_metric
from textgauge.metrics.corpus.diversity import compute_vendi
from textgauge.metrics.corpus.kernels import MANY_ROWS

RNG = np.random.default_rng(20)
SPECTRUM = np.exp(-np.arange(40) / 8)  # falls like that of sentence embeddings
MIX = RNG.normal(size=(40, 40))


def clouds(n, m):
    rng = np.random.default_rng([n, m])
    X, Y = (rng.normal(size=(size, 40)) * SPECTRUM for size in (n, m))
    return X, (Y @ MIX) * 0.1 + 0.3 * SPECTRUM


def value(name, X, Y):
    return get_metric(name)(reference=X, candidate=Y).value


def fid_by_singular_values(X, Y):
    """No square root of a rank-deficient product: singular values of one root times the other."""
    roots = []
    for rows in (X, Y):
        eigenvalues, vectors = np.linalg.eigh(np.cov(rows, rowvar=False))
        roots.append((vectors * np.sqrt(np.maximum(eigenvalues, 0))) @ vectors.T)
    cross = np.linalg.svd(roots[0] @ roots[1], compute_uv=False).sum()
    gap = ((X.mean(axis=0) - Y.mean(axis=0)) ** 2).sum()
    return gap + np.trace(roots[0] @ roots[0]) + np.trace(roots[1] @ roots[1]) - 2 * cross


@pytest.mark.parametrize(("n", "m"), [(10, 10), (39, 25), (41, 41), (500, 60), (30, 900)])
def test_fid_equals_an_eigendecomposition_also_with_fewer_texts_than_dimensions(n, m):
    X, Y = clouds(n, m)
    assert value("fid", X, Y) == pytest.approx(fid_by_singular_values(X, Y), rel=1e-8)


def test_fid_equals_the_usual_matrix_square_root():
    X, Y = clouds(400, 300)
    product = np.cov(X, rowvar=False) @ np.cov(Y, rowvar=False)
    trace = np.trace(np.cov(X, rowvar=False) + np.cov(Y, rowvar=False) - 2 * linalg.sqrtm(product).real)
    assert value("fid", X, Y) == pytest.approx(((X.mean(0) - Y.mean(0)) ** 2).sum() + trace, rel=1e-8)


def test_fid_of_many_float32_rows_keeps_six_digits():
    X, Y = (rows.astype(np.float32) for rows in clouds(5_000, 4_500))
    exact = fid_by_singular_values(X.astype(np.float64), Y.astype(np.float64))
    assert value("fid", X, Y) == pytest.approx(exact, rel=1e-6)


def test_extrapolation_takes_the_bias_off_the_fid_of_one_population():
    X, Y = np.random.default_rng(3).normal(size=(2, 150, 40)) * SPECTRUM
    plain, corrected = value("fid", X, Y), value("fid(correct=extrapolate)", X, Y)
    assert abs(corrected) < 0.25 * plain


def test_ttest_equals_scipy():
    X, Y = clouds(50, 70)
    assert value("ttest", X, Y) == pytest.approx(1 - stats.ttest_ind(X, Y).pvalue.mean(), abs=1e-12)


@pytest.mark.parametrize("ground", ["cosine", "euclidean", "angular"])
def test_energy_equals_the_plain_means_of_distances(ground):
    X, Y = clouds(60, 45)

    def mean(A, B):
        if ground == "angular":
            return (np.arccos(np.clip(1 - cdist(A, B, "cosine"), -1, 1)) / np.pi).mean()
        return cdist(A, B, ground).mean()

    expected = 2 * mean(X, Y) - mean(X, X) - mean(Y, Y)
    assert value(f"energy@{ground}", X, Y) == pytest.approx(expected, abs=1e-8)
    assert value(f"energy(root=true)@{ground}", X, Y) == pytest.approx(np.sqrt(expected), abs=1e-8)
    assert value(f"energy.coefficient@{ground}", X, Y) == pytest.approx(expected / (2 * mean(X, Y)), abs=1e-8)


@pytest.mark.parametrize("zero", [False, True])
def test_angular_energy_of_many_texts_equals_the_plain_formula(zero):
    X, Y = clouds(MANY_ROWS, MANY_ROWS + 7)
    if zero:
        X[3] = Y[7] = 0.0

    def mean(A, B):
        return (np.arccos(np.clip(A @ B.T, -1, 1)) / np.pi).mean()

    P, Q = (Z / np.maximum(np.linalg.norm(Z, axis=1), 1e-9)[:, None] for Z in (X, Y))
    expected = 2 * mean(P, Q) - mean(P, P) - mean(Q, Q)
    assert value("energy@angular", X, Y) == pytest.approx(expected, abs=1e-6)


def unbiased(K_xx, K_yy, K_xy):
    n, m = len(K_xx), len(K_yy)
    within = (K_xx.sum() - np.trace(K_xx)) / (n * (n - 1)) + (K_yy.sum() - np.trace(K_yy)) / (m * (m - 1))
    return within - 2 * K_xy.mean()


def test_mmd_equals_the_plain_formula_with_the_median_distance():
    X, Y = clouds(60, 45)
    joint = np.vstack([X, Y])
    sigma = np.median(cdist(joint, joint)[np.triu_indices(len(joint), 1)])

    def kernel(A, B):
        return np.exp(-(cdist(A, B) ** 2) / (2 * sigma**2))

    expected = unbiased(kernel(X, X), kernel(Y, Y), kernel(X, Y))
    assert value("mmd", X, Y) == pytest.approx(expected, abs=1e-12)
    biased = kernel(X, X).mean() + kernel(Y, Y).mean() - 2 * kernel(X, Y).mean()
    assert value("mmd(estimator=biased)", X, Y) == pytest.approx(biased, abs=1e-12)


def test_kid_equals_the_plain_formula():
    X, Y = clouds(60, 45)

    def kernel(A, B):
        return (A @ B.T / 40 + 1) ** 3

    assert value("kid", X, Y) == pytest.approx(unbiased(kernel(X, X), kernel(Y, Y), kernel(X, Y)), abs=1e-12)


@pytest.mark.parametrize("p", [1, 2])
def test_sliced_wasserstein_equals_scipy_and_sorted_differences_on_a_line(p):
    x, y = np.random.default_rng(8).normal(size=(2, 30, 1))
    expected = (np.abs(np.sort(x, axis=0) - np.sort(y, axis=0)) ** p).mean() ** (1 / p)
    assert value(f"sliced_wasserstein(p={p})", x, y) == pytest.approx(expected, abs=1e-12)


def test_sliced_wasserstein_of_unequal_sizes_equals_scipy_on_a_line():
    x, y = np.random.default_rng(9).normal(size=(37, 1)), np.random.default_rng(10).normal(size=(23, 1)) + 1
    expected = stats.wasserstein_distance(x[:, 0], y[:, 0])
    assert value("sliced_wasserstein(p=1)", x, y) == pytest.approx(expected, abs=1e-12)


def test_sliced_wasserstein_equals_pot():
    """POT 0.9.7.post1: ot.sliced_wasserstein_distance(X, Y, projections=directions(5, 128, 0)), X, Y as here."""
    t = np.arange(40)[:, None] + np.arange(5)[None, :]
    X, Y = np.sin(t), np.cos(t[:30] / 2) + 0.1
    assert value("sliced_wasserstein", X, Y) == pytest.approx(POT_VALUE, abs=1e-9)


POT_VALUE = 0.2880618538382317


def test_vendi_counts_different_texts():
    assert compute_vendi(np.eye(7)) == pytest.approx(7)
    assert compute_vendi(np.repeat(np.eye(3), 5, axis=0)) == pytest.approx(3)
    assert compute_vendi(np.ones((4, 1))) == pytest.approx(1)
