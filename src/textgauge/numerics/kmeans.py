"""Weighted k-means to the fixed point: best of some restarts, as faiss does it, by compiled kernels or numpy alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from textgauge.numerics.kmeans_bounded import MOST_BOUNDS, bounded
from textgauge.numerics.kmeans_large import centroids, in_passes, nearest_centroid
from textgauge.numerics.kmeans_small import Points, side_by_side
from textgauge.numerics.kmeans_start import SAMPLE_PER_CENTROID, Labels, Rows, Run, Start
from textgauge.numerics.native import kernels

_SMALL = 512  # rows of which all products are computed
_MOST = 2_048  # rows for which that is done where the clusters are few: 32 MB
_FEW = 1 << 21  # multiplications per pass over these
_TOGETHER = 1 << 19  # scores that small problems solved in step may hold: 4 MB


class Problem(NamedTuple):
    """Rows to put into k clusters, all different, and how often each counts."""

    X: Rows
    weights: Rows
    k: int


def kmeans(problem: Problem, *, restarts: int, seed: tuple[int, ...]) -> Labels:
    """Labels 0..k−1 of the restart with the least Σ w·‖x − centroid‖².

    Each restart begins at k texts drawn without replacement (a row counts `weights` times). With at most k rows
    every row is a cluster of its own. Source: Lloyd 1982; sampling and splitting of empty clusters as in faiss.

    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> kmeans(Problem(X, np.ones(4), 2), restarts=3, seed=(0,)).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    return kmeans_many([problem], restarts=restarts, seed=seed)[0]


def kmeans_many(problems: Sequence[Problem], *, restarts: int, seed: tuple[int, ...]) -> list[Labels]:
    """`kmeans` of each problem; small ones take their steps together."""
    found: dict[int, Labels] = {}
    small: dict[int, list[tuple[int, Points]]] = defaultdict(list)
    for place, (X, weights, k) in enumerate(problems):
        if len(X) <= k:
            found[place] = np.arange(len(X))
        elif _is_small(X, k) and int(weights.sum()) <= k * SAMPLE_PER_CENTROID:
            small[k].append((place, Points(X, weights)))
        else:
            found[place] = _alone(X, weights, Start(k, restarts, seed))
    for k, waiting in small.items():
        for some in _together(waiting, k * restarts):
            solved = side_by_side([points for _, points in some], Start(k, restarts, seed))
            for (place, _), runs in zip(some, solved, strict=True):
                found[place] = _best(runs)
    return [found[place] for place in range(len(problems))]


def _is_small(X: Rows, k: int) -> bool:
    return len(X) <= _SMALL or (len(X) <= _MOST and X.size * k <= _FEW)


def _alone(X: Rows, weights: Rows, start: Start) -> Labels:
    used = start.sampled(weights)
    kept = np.flatnonzero(used)
    points = Points(X[kept], used[kept])
    labels = _best(_solved(points, start))
    return labels if len(kept) == len(X) else nearest_centroid(X, weights, centroids(*points, labels))


def _solved(points: Points, start: Start) -> list[Run]:
    if _is_small(points.X, start.k):
        return side_by_side([points], start)[0]
    by_kernels = len(points.X) * start.k <= MOST_BOUNDS and kernels.wide()
    return (bounded if by_kernels else in_passes)(*points, start)


def _best(runs: list[Run]) -> Labels:
    return min(runs, key=lambda run: run[1])[0]


def _together(waiting: list[tuple[int, Points]], clusters: int) -> Iterator[list[tuple[int, Points]]]:
    """Problems of like lengths, as many at a time as may be held."""
    waiting = sorted(waiting, key=lambda one: -len(one[1].X))
    while waiting:
        count = max(1, _TOGETHER // (clusters * len(waiting[0][1].X)))
        yield waiting[:count]
        waiting = waiting[count:]
