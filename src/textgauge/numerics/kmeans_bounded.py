"""k-means by compiled kernels, one restart after the other, for rows whose products are too many to be kept.

All distances are looked at while the centroids move far: from the rows a restart begins at, from the means after that,
and once more. From then on bounds tell which may matter (Elkan 2003).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from textgauge.numerics.kmeans_start import MOST_STEPS, Rows, Run, Start, split_for_empty
from textgauge.numerics.native.lloyd import Lloyd, bounds_for
from textgauge.numerics.native.lloyd import Rows as Points

Chance = Callable[[], np.random.Generator]

MOST_BOUNDS = 1 << 25  # 128 MB


def bounded(X: Rows, weights: Rows, start: Start) -> list[Run]:
    """Labels and objective of each restart, at its fixed point."""
    points = Points(X, weights)
    lower, total = bounds_for(len(X), start.k), float(weights @ points.squares)
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
    state.assign(bounds=bounds)
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
