import numpy as np
import pytest

from textgauge.numerics import gram as _gram
from textgauge.numerics import partial_eigh as _leading
from textgauge.numerics.native import kernels
from textgauge.numerics.partial_eigh import leading


@pytest.fixture(params=[True, False], ids=["compiled", "numpy"])
def way(request, monkeypatch):
    """Where no kernels are compiled both ways are the same."""
    if not request.param:
        monkeypatch.setattr(kernels, "built", lambda: False)


def covariance(seed, n, spectrum):
    turned = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    return (turned * spectrum) @ turned.T


def part(pair):
    """What the leading eigenvalues and vectors stand for, whatever the vectors' signs."""
    values, vectors = pair
    return (vectors * values) @ vectors.T


@pytest.mark.usefixtures("way")
class TestLeading:
    @pytest.mark.parametrize("share", [0.3, 0.9])
    def test_many_sizes_at_once_equal_the_whole_work(self, share):
        sizes = [60, 130, 20, 130, 75, 1]
        matrices = [covariance(seed, n, 1.0 / (1.0 + np.arange(n))) for seed, n in enumerate(sizes)]
        for found, matrix in zip(leading(matrices, share), matrices, strict=True):
            expected = _leading._by_lapack(matrix, share)
            assert found[0] == pytest.approx(expected[0], abs=1e-13)
            assert part(found) == pytest.approx(part(expected), abs=1e-11)
            assert found[1].T @ found[1] == pytest.approx(np.eye(len(found[0])), abs=1e-9)

    @pytest.mark.parametrize(
        "spectrum",
        [np.repeat([3.0, 1.0], 40), np.append(np.ones(1), np.zeros(79)), np.append(np.arange(1.0, 41.0), np.zeros(40))],
        ids=["two eigenvalues", "rank one", "rank half"],
    )
    def test_equal_eigenvalues(self, spectrum):
        matrix = covariance(0, 80, spectrum)
        for share in (0.75, 1.0):
            found = leading([matrix] * 4, share)[0]
            assert found[1].T @ found[1] == pytest.approx(np.eye(len(found[0])), abs=1e-9)
            assert part(found).trace() >= share * matrix.trace() - 1e-9
            assert matrix @ found[1] == pytest.approx(found[1] * found[0], abs=1e-9)

    def test_diagonal_matrices_have_axes(self):
        values, vectors = leading([np.diag(np.arange(1.0, 101.0))] * 4, 0.5)[3]
        assert values[:3] == pytest.approx([100.0, 99.0, 98.0])
        assert np.abs(vectors[99, 0]) == pytest.approx(1.0)

    def test_what_is_not_right_is_done_again(self, monkeypatch):
        monkeypatch.setattr(_leading, "_RESIDUAL", -1.0)
        matrix = covariance(1, 90, 1.0 / (1.0 + np.arange(90)))
        found = leading([matrix] * 4, 0.9)[0]
        assert part(found) == pytest.approx(part(_leading._by_lapack(matrix, 0.9)), abs=1e-12)


class TestPicked:
    @pytest.mark.parametrize("rows", [[3, 4, 5, 9, 10], [5, 2, 9, 0], [], [7]])
    def test_equals_single_numbers(self, rows):
        matrix = np.random.default_rng(0).random((12, 12))
        rows, columns = np.array(rows, dtype=int), np.array([0, 1, 2, 8, 6])
        assert (_gram._picked(matrix, rows, columns) == matrix[np.ix_(rows, columns)]).all()

    def test_many_stretches(self):
        matrix = np.random.default_rng(0).random((40, 40))
        assert (_gram._picked(matrix, np.arange(0, 40, 2), np.arange(0, 40, 2)) == matrix[::2, ::2]).all()

    def test_products_are_symmetric_over_blocks(self):
        X = np.random.default_rng(0).standard_normal((600, 7))
        found = _gram._products(X)
        assert (found == found.T).all()
        assert found == pytest.approx(X @ X.T, abs=1e-12)
