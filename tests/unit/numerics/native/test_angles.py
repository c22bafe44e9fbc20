"""Angles by the kernel against the polynomial by numpy, and their sums against float64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.numerics.angles import _NARROW, _by_polynomial
from textgauge.numerics.native import kernels

pytestmark = pytest.mark.skipif(not kernels.built(), reason="the kernels are not compiled")

ODD = [0.0, -0.0, 1.0, -1.0, 1.0000001, -1.0000001, 2.0, -2.0, np.inf, -np.inf, 1e-45, -1e-45, 1e-30, 0.99999994]


def equal_to_the_bit(cosines):
    found = kernels.angles(cosines.copy(), _NARROW)
    assert found.tobytes() == _by_polynomial(cosines.copy()).tobytes()


@pytest.mark.parametrize("count", [0, 1, 3, 7, 8, 9, 1000, 40_001])
def test_bit_for_bit_those_of_numpy(count):
    equal_to_the_bit(np.linspace(-1.1, 1.1, count, dtype=np.float32))


def test_bit_for_bit_at_the_ends_and_beyond():
    equal_to_the_bit(np.array(ODD, dtype=np.float32))


@given(st.lists(st.floats(-1.5, 1.5, width=32), max_size=40))
def test_any_cosines(cosines):
    equal_to_the_bit(np.array(cosines, dtype=np.float32))


def test_in_place():
    block = np.full((3, 5), 0.5, dtype=np.float32)
    assert kernels.angles(block, _NARROW) is block
    assert block == pytest.approx(np.pi / 3, abs=5e-7)


def narrow(rng, low, high, size):
    return rng.uniform(low, high, size).astype(np.float32)


def sums_of(cosines, shifts, weights):
    shifted = cosines + shifts[0][:, None].astype(np.float64) - shifts[1]
    angles = np.arccos(np.clip(shifted, -1.0, 1.0))
    return angles @ weights[1].astype(np.float64), weights[0].astype(np.float64) @ angles


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (5, 17), (64, 100), (300, 257)])
class TestSums:
    def test_with_shifts_and_weights(self, shape):
        rng = np.random.default_rng(shape)
        cosines = narrow(rng, -1.0, 1.0, shape)
        shifts = narrow(rng, -0.1, 0.1, shape[0]), narrow(rng, -0.1, 0.1, shape[1])
        weights = narrow(rng, 0.0, 4.0, shape[0]), narrow(rng, 0.0, 4.0, shape[1])
        found, before = kernels.angle_sums(cosines, _NARROW, shifts, weights), cosines.copy()
        by_row, by_column = sums_of(cosines, shifts, weights)
        # Near ±1 an angle moves by the root of what rounding moves its cosine: up to 5e-4, for few of them.
        assert found[0] == pytest.approx(by_row, rel=3e-6, abs=2e-3)
        assert found[1] == pytest.approx(by_column, rel=3e-6, abs=2e-3)
        assert (cosines == before).all()

    def test_plain(self, shape):
        rng = np.random.default_rng(shape)
        cosines = narrow(rng, -0.9, 0.9, shape)
        none, ones = ([f(size, dtype=np.float32) for size in shape] for f in (np.zeros, np.ones))
        found = kernels.angle_sums(cosines, _NARROW, tuple(none), tuple(ones))
        by_row, by_column = sums_of(cosines, none, ones)
        assert found[0] == pytest.approx(by_row, rel=2e-6)
        assert found[1] == pytest.approx(by_column, rel=2e-6)

    def test_a_weight_of_zero_leaves_out(self, shape):
        rng = np.random.default_rng(shape)
        cosines = narrow(rng, -1.0, 1.0, shape)
        none = tuple(np.zeros(size, dtype=np.float32) for size in shape)
        by_row, by_column = kernels.angle_sums(cosines, _NARROW, none, none)
        assert not by_row.any()
        assert not by_column.any()


def test_no_columns():
    empty = np.empty(0, dtype=np.float32)
    two = np.ones(2, dtype=np.float32)
    by_row, by_column = kernels.angle_sums(np.empty((2, 0), dtype=np.float32), _NARROW, (two, empty), (two, empty))
    assert by_row.tolist() == [0.0, 0.0]
    assert not len(by_column)
