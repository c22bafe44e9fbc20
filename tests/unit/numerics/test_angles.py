"""Angles of float32 cosines against float64, by all ways of computing them."""

import numpy as np
import pytest

from textgauge.numerics import angles as _angles
from textgauge.numerics.angles import angle_sums, to_angles
from textgauge.numerics.native import kernels


@pytest.fixture(params=["numpy", "polynomial", "compiled"])
def way(request, monkeypatch):
    """Where no kernels are compiled the last two are the same."""
    monkeypatch.setattr(_angles, "_vectorised", lambda: request.param == "numpy")
    if request.param == "polynomial":
        monkeypatch.setattr(kernels, "built", lambda: False)


@pytest.mark.usefixtures("way")
def test_angles_are_those_of_float64():
    cosines = np.linspace(-1.0, 1.0, 200_001, dtype=np.float32)
    exact = np.arccos(cosines.astype(np.float64))
    found = to_angles(cosines.copy())
    assert np.abs(found - exact).max() < 5e-7
    assert abs(found.mean(dtype=np.float64) - exact.mean()) < 5e-8
    assert found[[0, 100_000, -1]] == pytest.approx([np.pi, np.pi / 2, 0.0], abs=1e-6)


@pytest.mark.usefixtures("way")
def test_blocks_are_overwritten_and_rounding_is_brought_back():
    block = np.array([[1.0000001, -1.0000001], [0.5, -0.5]], dtype=np.float32)
    found = to_angles(block)
    assert np.shares_memory(found, block)
    assert found == pytest.approx(np.array([[0.0, np.pi], [np.pi / 3, 2 * np.pi / 3]]), abs=5e-7)
    assert to_angles(np.empty((0, 3), dtype=np.float32)).shape == (0, 3)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shape", [(1, 1), (3, 70_000), (90, 41)])
def test_sums_are_those_of_float64(shape):
    rng = np.random.default_rng(shape[1])
    block = rng.uniform(-1.1, 1.1, shape).astype(np.float32)
    shifts = [rng.uniform(-0.1, 0.1, size).astype(np.float32) for size in shape]
    weights = [rng.integers(1, 4, size).astype(np.float32) for size in shape]
    plain = np.arccos(np.clip(block.astype(np.float64), -1.0, 1.0))
    shifted = np.arccos(np.clip(block + shifts[0][:, None].astype(np.float64) - shifts[1], -1.0, 1.0))
    by_row, by_column = angle_sums(block.copy())
    assert by_row == pytest.approx(plain.sum(axis=1), rel=1e-5)
    assert by_column == pytest.approx(plain.sum(axis=0), rel=1e-5, abs=1e-3)
    by_row, by_column = angle_sums(block.copy(), tuple(shifts), tuple(weights))
    assert by_row == pytest.approx(shifted @ weights[1], rel=1e-5, abs=1e-3)
    assert by_column == pytest.approx(weights[0] @ shifted, rel=1e-5, abs=5e-3)
