"""How strongly one column depends on another: rank correlation, line, groups. NaN where there is none to find."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r; NaN where either column is constant or not finite.

    >>> round(pearson(np.array([1.0, 2, 3]), np.array([2.0, 4, 7])), 4)
    0.9934
    """
    if _unrelated(x) or _unrelated(y):
        return float("nan")
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    if scale == 0.0:
        return float("nan")
    return float(np.clip((a @ b) / scale, -1.0, 1.0))


def spearman(x: Floats, y: Floats) -> float:
    """Spearman's ρ with mean ranks for ties."""
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y))


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
    if _unrelated(y) or residual_freedom < 1 or len(labels) < 2:
        return float("nan")
    means = np.bincount(place, y) / np.bincount(place)
    total, residual = float(((y - y.mean()) ** 2).sum()), float(((y - means[place]) ** 2).sum())
    mean_residual = residual / residual_freedom
    return float((total - residual - (len(labels) - 1) * mean_residual) / (total + mean_residual))


def _unrelated(x: Floats) -> bool:
    """Whether a column is constant or holds what is not a finite number."""
    return len(x) < 2 or not bool(np.isfinite(x).all()) or bool((x == x[0]).all())
