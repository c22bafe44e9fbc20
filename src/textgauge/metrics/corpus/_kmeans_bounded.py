"""k-means by compiled kernels, one restart after the other, for rows whose products are too many to be kept.

All distances are looked at while the centroids move far: from the rows a restart begins at, from the means after that,
and once more. From then on bounds tell which may matter (Elkan 2003).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from textgauge.metrics.corpus._kmeans_start import MOST_STEPS, Rows, Run, Start, split_for_empty
from textgauge.native.lloyd import Lloyd
from textgauge.native.lloyd import Rows as Points

Filter = NDArray[np.float32]
Chance = Callable[[], np.random.Generator]

MOST_BOUNDS = 1 << 25  # 128 MB
_BLOCK = 1 << 18  # float32 scores held at a time: 1 MB, so that a block is still in cache when it is searched


def bounded(X: Rows, weights: Rows, start: Start) -> list[Run]:
    """Labels and objective of each restart, at its fixed point."""
    longest = float(np.einsum("ij,ij->i", X, X).max())
    points = Points(X, weights, narrowed(X, 1.0), doubt(X.shape[1], longest))
    lower, total = np.empty((len(X), start.k), dtype=np.float32), float(weights @ points.squares)
    found: list[Run] = []
    for restart, rows in enumerate(start.rows(weights)):
        state = Lloyd(points, X[rows], lower)
        _run(state, cache(lambda restart=restart: start.generator(restart, int(weights.sum()))))
        between = np.einsum("ij,ij->i", state.sums, state.sums) / np.maximum(state.sizes, 1.0)
        found.append((state.labels.astype(np.intp, copy=False), total - float(between.sum())))
    return found


def _run(state: Lloyd, chance: Chance) -> None:
    _pass(state, chance, bounds=False)
    _pass(state, chance, bounds=True)
    if _steps(state, chance, 1):
        _pass(state, chance, bounds=True)
        _steps(state, chance, MOST_STEPS)


def _pass(state: Lloyd, chance: Chance, *, bounds: bool) -> None:
    state.assign(block=_BLOCK, bounds=bounds)
    if state.means():
        split_for_empty(state.centroids, state.sizes, chance())


def _steps(state: Lloyd, chance: Chance, steps: int) -> bool:
    """Whether there is more to do after so many steps."""
    for _ in range(steps):
        empty = state.run(steps)
        if empty <= 0:
            return empty == 0
        split_for_empty(state.centroids, state.sizes, chance())
    return True


def narrowed(rows: Rows, last: Rows | float) -> Filter:
    """Rows in float32 with one more column, so that the products of rows and centroids are scores."""
    narrow = np.empty((len(rows), rows.shape[1] + 1), dtype=np.float32)
    narrow[:, :-1] = rows
    narrow[:, -1] = last
    return narrow


def doubt(dimension: int, longest: float) -> float:
    """Scores in float32 that differ by less may be the other way round.

    Of d + 1 products and sums each is rounded to 2⁻²⁴, and so are both factors and thresholds; no centroid is longer
    than the longest row, given by its square, but for the push of a split.
    """
    return 2.0 * (dimension + 8) * 2.0**-24 * 1.51 * longest
