import numpy as np
import pytest

from textgauge.metrics.numerics import subsets as _gram


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
        np.testing.assert_allclose(found, X @ X.T, rtol=0, atol=1e-12)
