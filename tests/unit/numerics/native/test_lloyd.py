"""k-means by the kernels against numpy's two ways and against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.numerics import kmeans_small as _kmeans_small
from textgauge.numerics.kmeans import Problem, kmeans
from textgauge.numerics.kmeans_bounded import bounded
from textgauge.numerics.kmeans_large import in_passes
from textgauge.numerics.kmeans_small import Points
from textgauge.numerics.kmeans_start import MOST_STEPS, Start
from textgauge.numerics.native import kernels, lloyd

pytestmark = pytest.mark.skipif(not kernels.built(), reason="the kernels are not compiled")


def in_step(X, weights, start):
    return _kmeans_small._in_step([Points(X, weights)], start)[0]


def by_products(X, weights, start):
    """None where a cluster runs empty."""
    return _kmeans_small._compiled(Points(X, weights), start)


def by_loops(X, weights, centroids):
    """Lloyd's steps row by row; None where a cluster runs empty."""
    centroids, labels = np.array(centroids), [-1] * len(X)
    for _ in range(MOST_STEPS):
        before = list(labels)
        for i, row in enumerate(X):
            far = [float(((row - centroid) ** 2).sum()) for centroid in centroids]
            nearest = min(range(len(far)), key=far.__getitem__)
            if labels[i] < 0 or far[nearest] < far[labels[i]]:
                labels[i] = nearest
        if labels == before:
            return labels
        for c in range(len(centroids)):
            members = [i for i, label in enumerate(labels) if label == c]
            if not members:
                return None
            centroids[c] = sum(weights[i] * X[i] for i in members) / sum(weights[i] for i in members)
    return labels


def problem(seed, n, d, heaviest=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(1, heaviest + 1, n).astype(np.float64)


def means_of(X, weights, labels, k):
    return np.stack([np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in range(k)])


def objective_of(X, weights, labels, k):
    return weights @ ((X - means_of(X, weights, labels, k)[labels]) ** 2).sum(axis=1)


def settled(X, weights, runs, k):
    """Whether no cluster is empty, and each row is with the mean it is nearest to."""
    for labels, objective in runs:
        assert len(np.unique(labels)) == k
        far = ((X[:, None] - means_of(X, weights, labels, k)) ** 2).sum(axis=2)
        assert far[np.arange(len(X)), labels] == pytest.approx(far.min(axis=1), abs=1e-12)
        assert objective == pytest.approx(weights @ far.min(axis=1), abs=1e-9)


def same(found, expected):
    for (labels, objective), (wanted, least) in zip(found, expected, strict=True):
        assert (labels == wanted).all()
        assert objective == pytest.approx(least, rel=1e-9, abs=1e-9)


SHAPES = [(30, 1, 3), (60, 3, 4), (200, 17, 11), (300, 8, 70), (500, 20, 12), (40, 5, 39), (700, 33, 16), (90, 2, 17)]
SHAPES += [(97, 16, 5), (149, 48, 64), (53, 31, 16), (130, 15, 65), (48, 384, 3)]  # around whole groups and blocks


@pytest.mark.parametrize("heaviest", [1, 4])
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
class TestAgainstNumpy:
    def test_bounds(self, n, d, k, heaviest):
        X, weights = problem(n, n, d, heaviest)
        start = Start(k, 3, (n,))
        found = bounded(X, weights, start)
        if heaviest == 1 or k < n // 4:
            same(found, in_passes(X, weights, start))
        settled(X, weights, found, k)  # where one heavy row is split, rounding decides which half it goes to

    def test_products(self, n, d, k, heaviest):
        X, weights = problem(n, n, d, heaviest)
        start = Start(k, 3, (n,))
        found = by_products(X, weights, start)
        if found is None:  # rows drawn twice leave a centroid without any
            assert heaviest > 1 or k > n // 2
        else:
            same(found, in_step(X, weights, start))


def test_products_are_mostly_solved():
    found = [by_products(*problem(seed, 100, 6), Start(8, 5, (seed,))) for seed in range(10)]
    assert all(runs is not None for runs in found)


class TestEqualStarts:
    """A row that counts more than once may be drawn twice: the first of its equal centroids has it, the other none."""

    def data(self):
        X, weights = problem(5, 90, 3)
        weights[:30] = 5.0
        start = Start(6, 12, (3,))
        assert any(len(np.unique(rows)) < 6 for rows in start.rows(weights))
        return X, weights, start

    def test_bounds(self):
        X, weights, start = self.data()
        found = bounded(X, weights, start)
        same(found, in_passes(X, weights, start))
        settled(X, weights, found, 6)

    def test_products_leave_it_to_numpy(self):
        X, weights, start = self.data()
        assert by_products(X, weights, start) is None
        same(_kmeans_small.side_by_side([Points(X, weights)], start)[0], in_step(X, weights, start))

    def test_one_empty_restart_is_enough(self):
        X, weights = problem(1, 20, 2)
        starts = np.array([[0, 1], [3, 3]])
        assert kernels.lloyd_by_products(X @ X.T, weights, starts[:1], steps=MOST_STEPS) is not None
        assert kernels.lloyd_by_products(X @ X.T, weights, starts, steps=MOST_STEPS) is None


def test_clusters_that_run_empty_on_the_way():
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.standard_normal((60, 2)), 10.0 + np.arange(4.0)[:, None] * [1, 0]])
    weights = np.append(np.ones(60), np.full(4, 200.0))
    for seed in range(6):
        settled(X, weights, bounded(X, weights, Start(12, 5, (seed,))), 12)


def test_a_centroid_that_was_pushed_goes_back_to_its_mean():
    X, weights = np.array([[0.0], [1.0], [10.0], [11.0]]), np.ones(4)
    for run in ((lambda state: state.run(9)), (lambda state: (state.assign(bounds=True), state.means()))):
        state = kernels.Lloyd(kernels.Rows(X, weights), X[[0, 3]], lloyd.bounds_for(4, 2))
        state.assign(bounds=True)
        assert state.means() == 0
        state.centroids[0] += 0.01  # as a split does, and no row changes
        run(state)
        assert state.labels.tolist() == [0, 0, 1, 1]
        assert state.centroids.ravel().tolist() == [0.5, 10.5]


class TestTies:
    @pytest.mark.parametrize("seed", range(5))
    def test_on_whole_numbers(self, seed):
        rng = np.random.default_rng(seed)
        X = np.unique(rng.integers(0, 4, (300, 3)), axis=0).astype(np.float64)
        weights, start = rng.integers(1, 3, len(X)).astype(np.float64), Start(9, 4, (seed,))
        same(bounded(X, weights, start), in_passes(X, weights, start))
        found = by_products(X, weights, start)
        if found is not None:
            same(found, in_step(X, weights, start))

    def test_a_wide_error_band_changes_nothing(self, monkeypatch):
        X, weights = problem(2, 300, 6)
        start = Start(15, 2, (1,))
        narrow = bounded(X, weights, start)
        monkeypatch.setattr(lloyd, "doubt", lambda dimension, longest, scale: 0.5)
        same(bounded(X, weights, start), narrow)


@pytest.mark.parametrize("size", [2.0**-50, 2.0**-20, 2.0**20, 2.0**50])
def test_size_does_not_matter(size):
    X, weights = problem(3, 300, 9)
    start = Start(14, 2, (1,))
    for (labels, objective), (wanted, least) in zip(
        bounded(size * X, weights, start), bounded(X, weights, start), strict=True
    ):
        assert (labels == wanted).all()
        assert objective == pytest.approx(size**2 * least)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e39, 1e200])
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
def test_numbers_without_distances_do_no_harm(wrong):
    X, weights = problem(3, 90, 5)
    X[7, 2] = wrong
    state = kernels.Lloyd(kernels.Rows(X, weights), X[[1, 3, 7, 20]], lloyd.bounds_for(90, 4))
    state.assign(bounds=True)
    state.means()
    state.run(20)
    assert state.labels.min() >= 0
    assert state.labels.max() < 4


@pytest.mark.parametrize("where", ["rows", "a corner", "a hair apart"])
def test_products_in_16_bits_at_their_ends(where):
    """Rows whose numbers and products are as large as 16 and 32 bits hold, and rows they do not tell apart."""
    X, weights = problem(6, 200, 4)
    if where == "rows":
        X = np.sign(X) * [1.0, 1e-3, 1e-3, 1e-3] + 1e-4 * X
    elif where == "a corner":
        X = 1.0 + 1e-6 * X
    else:
        X[100:] = X[:100] + 1e-9
    X, start = np.ascontiguousarray(X), Start(9, 3, (2,))
    same(bounded(X, weights, start), in_passes(X, weights, start))


@pytest.mark.parametrize(("n", "k", "d"), [(400, 40, 2), (1500, 25, 24)])
def test_many_steps_of_bounds(n, k, d):
    """Slow convergence, far from the origin, where scores in float32 tell least."""
    X, weights = problem(n, n, d)
    X = np.ascontiguousarray(X + 30.0)
    start = Start(k, 2, (4,))
    same(bounded(X, weights, start), in_passes(X, weights, start))


class TestAgainstLoops:
    @given(st.integers(3, 12), st.integers(1, 3), st.integers(2, 11), st.integers(0, 2**32 - 1), st.integers(1, 3))
    def test_tiny_problems(self, n, d, k, seed, heaviest):
        X, weights = problem(seed, n, d, heaviest)
        start = Start(min(k, n - 1), 2, (seed,))
        expected = [by_loops(X, weights, X[rows]) for rows in start.rows(weights)]
        found = by_products(X, weights, start)
        assert (found is None) == any(labels is None for labels in expected)
        for labels, (ours, _) in zip(expected, bounded(X, weights, start), strict=True):
            if labels is not None:
                assert ours.tolist() == labels
        for labels, (ours, objective) in zip(expected, found or [], strict=found is not None):
            assert ours.tolist() == labels
            assert objective == pytest.approx(objective_of(X, weights, ours, start.k), abs=1e-9)


def test_processors_without_fast_products_do_without_bounds(monkeypatch):
    X, weights = problem(3, 700, 9)
    task = Problem(X, weights, 80)
    with_bounds = kmeans(task, restarts=2, seed=(0,))
    monkeypatch.setattr(kernels, "wide", lambda: False)
    monkeypatch.setattr(lloyd, "bounds_for", lambda rows, k: pytest.fail("bounds were asked for"))
    assert (kmeans(task, restarts=2, seed=(0,)) == with_bounds).all()
