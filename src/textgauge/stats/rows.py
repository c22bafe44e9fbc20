"""The same statistic of many short rows at once: correlations and orders of a few means, on every resample.

Each function takes two matrices and gives one number per row, equal to that of its namesake in `correlation`,
`kendall` or `orders` on that row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
OfRows = Callable[[Floats, Floats], Floats]

_CELLS = 4_000_000  # pairs of columns of all rows held at once


def pearson_rows(x: Floats, y: Floats) -> Floats:
    """Pearson's r of each row; NaN where one is constant or not finite.

    >>> pearson_rows(np.array([[1.0, 2, 3], [1, 1, 1]]), np.array([[3.0, 2, 1], [1, 2, 3]])).tolist()
    [-1.0, nan]
    """
    flat = (np.ptp(x, axis=1) == 0) | (np.ptp(y, axis=1) == 0) | ~np.isfinite(x + y).all(axis=1)
    a, b = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    flat |= scale == 0
    return np.where(flat, np.nan, np.clip((a * b).sum(axis=1) / np.where(flat, 1.0, scale), -1.0, 1.0))


def rank_rows(x: Floats) -> Floats:
    """Rank within each row, 1 the largest, mean ranks for ties; a row with NaN has none."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-x, axis=1, nan_policy="propagate"), dtype=np.float64)


def spearman_rows(x: Floats, y: Floats) -> Floats:
    """Spearman's ρ of each row, with mean ranks for ties."""
    return pearson_rows(rank_rows(x), rank_rows(y))


def kendall_rows(x: Floats, y: Floats) -> Floats:
    """Kendall's τ-b of each row; NaN where one is constant."""
    agreed, untied_x, untied_y = _pairs(x, y, lambda a, b: (a * b, np.abs(a), np.abs(b)))
    scale = np.sqrt(untied_x * untied_y)
    defined = scale > 0
    return np.where(defined, np.clip(agreed / np.where(defined, scale, 1.0), -1.0, 1.0), np.nan)


def accuracy_rows(x: Floats, y: Floats) -> Floats:
    """Share of pairs of columns ordered, or tied, alike."""
    (agreed,) = _pairs(x, y, lambda a, b: (a == b,))
    size = x.shape[1]
    return agreed / (size * (size - 1)) if size > 1 else np.full(len(x), np.nan)


def inversion_rows(x: Floats, y: Floats) -> Floats:
    """Pairs of columns in opposite order."""
    (opposed,) = _pairs(x, y, lambda a, b: (a * b < 0,))
    return opposed / 2.0


def _pairs(x: Floats, y: Floats, of: Callable[[Floats, Floats], tuple[NDArray[np.generic], ...]]) -> tuple[Floats, ...]:
    """Sums over all two different columns, in both directions, of what their signs in x and y give; NaN for NaN."""
    step = max(1, _CELLS // max(x.shape[1] ** 2, 1))
    off = ~np.eye(x.shape[1], dtype=bool)
    blocks = []
    for start in range(0, len(x), step):
        signs = [np.sign(part[:, :, None] - part[:, None, :]) for part in (z[start : start + step] for z in (x, y))]
        blocks.append([np.where(off, found, 0.0).sum(axis=(1, 2)) for found in of(*signs)])
    known = np.isfinite(x + y).all(axis=1)
    return tuple(np.where(known, np.concatenate(parts), np.nan) for parts in zip(*blocks, strict=True))
