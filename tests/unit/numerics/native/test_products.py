"""Products of rows: right, and the same bits whatever other rows there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.numerics.native import kernels

pytestmark = pytest.mark.skipif(not kernels.built(), reason="the kernels are not compiled")

SIZES = [1, 5, 6, 7, 15, 16, 17, 143, 144, 145, 160, 301]
DIMENSIONS = [1, 7, 127, 128, 129, 300]


def cloud(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def near(found, left, right):
    """Within the rounding of a sum one entry after the other."""
    exact = left.astype(np.float64) @ right.T.astype(np.float64)
    size = np.abs(left).astype(np.float64) @ np.abs(right).T.astype(np.float64)
    assert (np.abs(found - exact) <= 2.0**-24 * (left.shape[1] + 1) * size).all()


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("n", SIZES)
class TestAmongThemselves:
    def test_right_and_symmetric(self, n, d):
        rows = cloud(n, d)
        found = kernels.products(rows)
        near(found, rows, rows)
        assert (found == found.T).all()

    def test_equal_those_with_others(self, n, d):
        rows = cloud(n, d)
        assert (kernels.products(rows) == kernels.products(rows, rows)).all()

    def test_with_itself(self, n, d):
        rows = cloud(n, d)
        assert (kernels.squares(rows) == kernels.products(rows).diagonal()).all()


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("n", [1, 6, 145])
def test_with_others(n, m):
    left, right = cloud(n, 130), cloud(m, 130, seed=1)
    found = kernels.products(left, right)
    near(found, left, right)
    assert (found == kernels.products(right, left).T).all()


@given(st.integers(1, 200), st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_neither_place_nor_company_matters(d, n, m, seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((200, d)).astype(np.float32)
    whole, left, right = kernels.products(rows), rng.integers(0, 200, n), rng.integers(0, 200, m)
    assert (kernels.products(rows[left], rows[right]) == whole[np.ix_(left, right)]).all()
    assert (kernels.products(rows[left]) == whole[np.ix_(left, left)]).all()
    assert (kernels.squares(rows[left]) == whole.diagonal()[left]).all()


@pytest.mark.parametrize("offset", range(1, 17))
def test_nor_where_in_memory_the_rows_lie(offset):
    rows = cloud(40, 33)
    shifted = np.empty(rows.size + offset, dtype=np.float32)[offset:].reshape(rows.shape)
    shifted[:] = rows
    assert (kernels.products(shifted) == kernels.products(rows)).all()
    assert (kernels.squares(shifted) == kernels.squares(rows)).all()


def test_equal_rows_are_at_no_distance():
    rows = np.repeat(cloud(50, 384), 2, axis=0)
    squares, products = kernels.squares(rows), kernels.products(rows)
    assert (squares[::2] + squares[1::2] - 2 * products[::2, 1::2].diagonal() == 0.0).all()


def test_none():
    assert kernels.products(cloud(0, 3)).shape == (0, 0)
    assert kernels.products(cloud(4, 3), cloud(0, 3)).shape == (4, 0)
    assert kernels.products(cloud(0, 3), cloud(4, 3)).shape == (0, 4)
    assert (kernels.products(cloud(2, 0)) == np.zeros((2, 2))).all()
    assert (kernels.squares(cloud(2, 0)) == 0.0).all()
