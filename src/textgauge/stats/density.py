"""Gaussian kernel densities on a fixed grid, and the distance between two of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats

LOW, HIGH, CELLS = -8.0, 8.0, 3_000
STEP = (HIGH - LOW) / CELLS
RESOLVED = 2 * STEP  # a narrower kernel falls between the points of the grid, and its square sums to anything
FALLBACK = 0.1  # the bandwidth of groups whose own would be narrower: a tenth of a standardised sample's deviation
_REACH = 8.5  # bandwidths: beyond, a kernel is below a rounding error of its height


def compute_scott_bandwidth(values: Floats) -> float:
    """Scott's bandwidth s·n^(−1/5), s with n − 1: the usual one of SciPy's `gaussian_kde`. 0 for a single value.

    >>> round(compute_scott_bandwidth(np.array([0.0, 1.0, 2.0])), 4)
    0.8027
    """
    return float(values.std(ddof=1)) * len(values) ** -0.2 if len(values) > 1 else 0.0


def estimate_density(values: Floats, bandwidth: float) -> Floats:
    """Return the mean of normal densities around the values, at the `CELLS` + 1 points of the grid.

    >>> grid = estimate_density(np.array([0.0, 1.0]), 0.5)
    >>> grid.shape, round(float(grid.sum() * STEP), 6)
    ((3001,), 1.0)
    """
    # A value that is off the grid by more than the kernel's reach gives nothing, but its place must be a whole number.
    near = np.clip(values, LOW - 2 * _REACH * bandwidth, HIGH + 2 * _REACH * bandwidth)
    width = int(np.ceil(_REACH * bandwidth / STEP)) + 1
    places = np.rint((near - LOW) / STEP).astype(np.int64)[:, None] + np.arange(-width, width + 1)
    gaps = (LOW + STEP * places - near[:, None]) / bandwidth
    heights = np.exp(-0.5 * gaps * gaps)
    inside = np.clip(places, -1, CELLS + 1) + 1
    summed = np.bincount(inside.ravel(), heights.ravel(), CELLS + 3)[1:-1]
    return np.asarray(summed / (len(values) * bandwidth * np.sqrt(2 * np.pi)))


def group_densities(values: Floats, group: NDArray[np.int64], groups: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return one row for each group: its density with Scott's bandwidth; and these bandwidths.

    A bandwidth below `RESOLVED`, as of equal values, gives way to `FALLBACK`.

    >>> rows, bandwidths = group_densities(np.array([0.0, 1.0, 2.0]), np.array([1, 1, 2]), np.array([1, 2]))
    >>> rows.shape, bandwidths.round(4).tolist()
    ((2, 3001), [0.6156, 0.0])
    """
    parts = [values[group == name] for name in groups]
    bandwidths = np.array([compute_scott_bandwidth(part) for part in parts])
    used = np.where(bandwidths < RESOLVED, FALLBACK, bandwidths).tolist()
    return np.array([estimate_density(part, width) for part, width in zip(parts, used, strict=True)]), bandwidths


def compute_deviations(first: Floats, second: Floats) -> Floats:
    """Σ (f − g)² δx over the points of the grid, row by row."""
    gaps = first - second
    return np.asarray(np.einsum("ij,ij->i", gaps, gaps) * STEP)
