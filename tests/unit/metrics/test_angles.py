"""Angles of float32 cosines against float64, by both ways of computing them."""

import numpy as np
import pytest

from textgauge.metrics.corpus import _angles
from textgauge.metrics.corpus._angles import to_angles


@pytest.fixture(params=[True, False], ids=["numpy", "polynomial"])
def way(request, monkeypatch):
    monkeypatch.setattr(_angles, "_vectorised", lambda: request.param)


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
