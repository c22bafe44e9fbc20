"""Weighted k-means to the fixed point: the best of some restarts, as faiss does it.

Few rows are clustered by the compiled library from all products of rows, many rows, or all where there is no such
library, by NumPy. Both give the same labels.
"""

from __future__ import annotations

import numpy as np

from textgauge.numerics import native
from textgauge.numerics.kmeans_passes import MOST_STEPS, Labels, Rows, Run, Start, in_passes, nearest_centroid

_SMALL = 512  # rows of which all products are computed
_MOST = 2_048  # rows for which that is done where the clusters are few: 32 MB
_FEW = 1 << 21  # multiplications per pass over these


def kmeans(X: Rows, weights: Rows, k: int, *, restarts: int, seed: tuple[int, ...]) -> Labels:
    """Labels 0..k−1 of the restart with the least Σ w·‖x − centroid‖², for rows that are all different.

    Each restart begins at k texts drawn without replacement (a row counts `weights` times). With at most k rows
    every row is a cluster of its own. Source: Lloyd 1982; sampling and splitting of empty clusters as in faiss.

    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> kmeans(X, np.ones(4), 2, restarts=3, seed=(0,)).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    if len(X) <= k:
        return np.arange(len(X))
    start = Start(k, restarts, seed)
    used = start.sampled(weights)
    kept = np.flatnonzero(used)
    points, counts = X[kept], used[kept]
    labels = min(_solve(points, counts, start), key=lambda run: run[1])[0]
    return labels if len(kept) == len(X) else nearest_centroid(X, weights, centroids(points, counts, labels))


def centroids(X: Rows, weights: Rows, labels: Labels) -> Rows:
    """The mean of each cluster's rows."""
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    np.add.at(sums, labels, weights[:, None] * X)
    means: Rows = sums / np.bincount(labels, weights=weights)[:, None]
    return means


def _solve(X: Rows, weights: Rows, start: Start) -> list[Run]:
    small = len(X) <= _SMALL or (len(X) <= _MOST and X.size * start.k <= _FEW)
    return (by_products(X, weights, start) if small and native.available() else None) or in_passes(X, weights, start)


def by_products(X: Rows, weights: Rows, start: Start) -> list[Run] | None:
    """Each restart to its fixed point, by the compiled library; None where a cluster is left empty."""
    starts = start.rows(weights).astype(np.int64, copy=False)
    found = native.kmeans_by_products(X @ X.T, weights, starts, steps=MOST_STEPS)
    return None if found is None else list(zip(found[0].astype(np.intp, copy=False), found[1].tolist(), strict=True))
