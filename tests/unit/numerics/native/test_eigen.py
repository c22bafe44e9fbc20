"""Tridiagonal forms, eigenvalues and eigenvectors by the kernels against numpy.linalg.eigh."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import lapack

from textgauge.numerics.native import kernels
from textgauge.numerics.tridiagonal import Tridiagonal

pytestmark = pytest.mark.skipif(not kernels.built(), reason="the kernels are not compiled")

SIZES = [1, 2, 3, 7, 48, 49, 100, 255, 256]
SPECTRA = {
    "random": lambda rng, n: rng.uniform(0.1, 3.0, n),
    "graded": lambda rng, n: 10.0 ** -np.linspace(0.0, 12.0, n),
    "harmonic": lambda rng, n: 1.0 / (1.0 + np.arange(n)),
    "rank deficient": lambda rng, n: np.where(np.arange(n) < (n + 1) // 2, 1.0 + np.arange(n), 0.0),
    "equal": lambda rng, n: np.ones(n),
    "zero": lambda rng, n: np.zeros(n),
}


def matrix_of(kind, n, seed=0):
    rng = np.random.default_rng((n, seed))
    turned = np.linalg.qr(rng.standard_normal((n, n)))[0]
    matrix = (turned * SPECTRA[kind](rng, n)) @ turned.T
    return (matrix + matrix.T) / 2.0


def reduced(matrix):
    rows, factors, diagonal, beside = kernels.tridiagonal(matrix.copy())
    return rows, factors, diagonal, beside


def dense(diagonal, beside):
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


def turning(rows, factors):
    """Q as the product of its reflections."""
    n = len(rows)
    Q = np.eye(n)
    for k in range(n - 1):
        v = np.concatenate([np.zeros(k + 1), [1.0], rows[k, k + 2 :]])
        Q = Q - factors[k] * np.outer(Q @ v, v)
    return Q


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", SPECTRA)
class TestAgainstEigh:
    def test_tridiagonal_form(self, kind, n):
        matrix = matrix_of(kind, n)
        rows, factors, diagonal, beside = reduced(matrix)
        Q = turning(rows, factors)
        assert np.abs(Q @ Q.T - np.eye(n)).max() <= 1e-12
        assert Q @ dense(diagonal, beside) @ Q.T == pytest.approx(matrix, abs=1e-13 * n)

    def test_eigenvalues(self, kind, n):
        matrix = matrix_of(kind, n)
        (values,) = kernels.eigenvalues([reduced(matrix)[2:]])
        expected = np.linalg.eigvalsh(matrix)
        assert (np.diff(values) >= 0).all()
        assert np.abs(values - expected).max() <= 1e-14 * max(n, 10) * np.abs(expected).max()

    def test_eigenvectors_of_separate_eigenvalues(self, kind, n):
        matrix = matrix_of(kind, n)
        rows, factors, diagonal, beside = reduced(matrix)
        (values,) = kernels.eigenvalues([(diagonal, beside)])
        for turned, whole in ((None, dense(diagonal, beside)), ((rows, factors), matrix)):
            vectors, left = kernels.eigenvectors(diagonal, beside, values, turned)
            right = left <= 1e-13 * values[-1]
            assert np.abs(whole @ vectors - vectors * values)[:, right].max(initial=0.0) <= 1e-12 * max(
                values[-1], 1e-300
            )
            assert np.linalg.norm(vectors, axis=0)[right] == pytest.approx(1.0, abs=1e-12)
            apart = np.diff(values).min(initial=np.inf) > 1e-5 * values[-1]
            if apart:
                assert right.all()
                assert vectors.T @ vectors == pytest.approx(np.eye(n), abs=1e-9)


@pytest.mark.parametrize("n", [2, 9, 17])
def test_reflections_are_those_of_lapack(n):
    matrix = matrix_of("random", n)
    rows, factors, diagonal, beside = reduced(matrix)
    theirs, d, e, tau, _ = lapack.dsytrd(matrix, lower=1)
    assert diagonal == pytest.approx(d, abs=1e-12)
    assert beside == pytest.approx(e, abs=1e-12)
    assert factors == pytest.approx(tau, abs=1e-11)
    for k in range(n - 1):
        assert rows[k, k + 2 :] == pytest.approx(theirs[k + 2 :, k], abs=1e-10)


class TestDiagonal:
    @pytest.mark.parametrize("n", SIZES)
    def test_stays_as_it_is(self, n):
        entries = np.random.default_rng(n).permutation(np.arange(1.0, n + 1.0))
        _, factors, diagonal, beside = reduced(np.diag(entries))
        assert (diagonal == entries).all()
        assert not beside.any()
        assert not factors.any()
        assert (kernels.eigenvalues([(diagonal, beside)])[0] == np.arange(1.0, n + 1.0)).all()

    def test_no_wrong_vector_is_called_right(self):
        entries = np.arange(1.0, 31.0)
        vectors, left = kernels.eigenvectors(entries, np.zeros(29), entries)
        right = left <= 1e-13
        assert (np.abs(vectors[:, right]) == np.eye(30)[:, right]).all()


@pytest.mark.parametrize("exponent", [-1000, -600, -300, 300, 600, 1000])
@pytest.mark.parametrize("kind", ["random", "harmonic"])
def test_size_does_not_matter(kind, exponent):
    matrix, unit = matrix_of(kind, 60), 2.0**exponent
    rows, factors, diagonal, beside = reduced(matrix)
    of_large = reduced(unit * matrix)
    for ours, theirs in zip(of_large, (rows, factors, unit * diagonal, unit * beside), strict=True):
        assert np.triu(np.atleast_2d(ours), 2) == pytest.approx(np.triu(np.atleast_2d(theirs), 2), rel=1e-9)
    (values,), (large,) = kernels.eigenvalues([(diagonal, beside)]), kernels.eigenvalues([of_large[2:]])
    assert large / unit == pytest.approx(values, rel=1e-12)
    vectors, left = kernels.eigenvectors(*of_large[2:], large[-5:].copy(), of_large[:2])
    assert (left <= 1e-13 * large[-1]).all()
    assert matrix @ vectors == pytest.approx(vectors * values[-5:], abs=1e-12)


@pytest.fixture
def mixed():
    return [reduced(matrix_of(kind, n))[2:] for kind in SPECTRA for n in (3, 48, 1, 120, 7, 119, 2)]


class TestManyAtOnce:
    def test_neighbours_do_not_matter(self, mixed):
        together = kernels.eigenvalues(mixed)
        backwards = kernels.eigenvalues(mixed[::-1])[::-1]
        for one, *found in zip(mixed, together, backwards, strict=True):
            (alone,) = kernels.eigenvalues([one])
            assert alone.tobytes() == found[0].tobytes() == found[1].tobytes()

    def test_none(self):
        assert kernels.eigenvalues([]) == []

    def test_lanes_of_vectors_do_not_matter(self):
        diagonal, beside = reduced(matrix_of("harmonic", 60))[2:]
        (values,) = kernels.eigenvalues([(diagonal, beside)])
        together, left = kernels.eigenvectors(diagonal, beside, values)
        for place in (0, 15, 16, 17, 31, 59):
            vector, own = kernels.eigenvectors(diagonal, beside, values[place : place + 1])
            assert vector[:, 0].tobytes() == together[:, place].tobytes()
            assert own[0] == left[place]

    def test_only_the_one_at_fault_is_not_found(self, monkeypatch, mixed):
        expected = kernels.eigenvalues(mixed[:9])
        call, bad = kernels.call, mixed[3][0]

        def failing(name, n, d, *rest):
            there = n >= len(bad) and (d[: len(bad)] == bad[:, None]).all(axis=0).any()
            return 1 if there else call(name, n, d, *rest)

        monkeypatch.setattr(kernels, "call", failing)
        found = kernels.eigenvalues(mixed[:9])
        assert found.pop(3) is None
        del expected[3]
        assert [values.tobytes() for values in found] == [values.tobytes() for values in expected]


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(0, 3))
def test_any_small_gram_matrix(n, seed, rank, digits):
    rows = np.random.default_rng(seed).standard_normal((n, rank)).round(digits)
    matrix = rows @ rows.T
    reduction = Tridiagonal.of(matrix)
    (values,) = kernels.eigenvalues([(reduction.diagonal, reduction.beside)])
    expected = np.linalg.eigvalsh(matrix)
    assert np.abs(values - expected).max() <= 1e-13 * np.abs(expected).max()
    vectors, left = kernels.eigenvectors(
        reduction.diagonal, reduction.beside, np.ascontiguousarray(values), (reduction.reflections.T, reduction.factors)
    )
    right = left <= 1e-13 * values[-1]
    wrong = np.abs(matrix @ vectors - vectors * values)[:, right]
    assert wrong.max(initial=0.0) <= 1e-11 * max(values[-1], 1e-300)
