"""How strongly one column depends on another: line, groups. NaN where there is none to find."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.correlation import pearson, unrelated

Floats = NDArray[np.float64]


def r_squared(x: Floats, y: Floats) -> float:
    """R² of the least-squares line of y over x."""
    return pearson(x, y) ** 2


def omega_squared(y: Floats, group: NDArray[np.integer]) -> float:
    """ω² of a one-way analysis of variance: (SS_t − df_t·MS_r)/(SS_total + MS_r).

    NaN where all values are equal, one is not finite, or no group has two values.

    >>> omega_squared(np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    labels, place = np.unique(group, return_inverse=True)
    residual_freedom = len(y) - len(labels)
    if unrelated(y) or residual_freedom < 1 or len(labels) < 2:
        return float("nan")
    means = np.bincount(place, y) / np.bincount(place)
    total, residual = float(((y - y.mean()) ** 2).sum()), float(((y - means[place]) ** 2).sum())
    mean_residual = residual / residual_freedom
    return float((total - residual - (len(labels) - 1) * mean_residual) / (total + mean_residual))
