"""One large k-means problem, one restart after the other, passes cut down to what may have changed.

Float32 products are a filter and what lies inside their error band is decided in float64, so that the result depends on
neither block size nor BLAS; a row is compared with the centroids that moved, and with those at rest only if its own
centroid went far enough away from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.metrics.corpus._kmeans_start import (
    MOST_STEPS,
    Labels,
    Mask,
    Rows,
    Run,
    Start,
    split_for_empty,
    sums_over,
)

Filter = NDArray[np.float32]

_BLOCK = 1 << 18  # float32 scores held at a time: 1 MB, so that a block is still in cache when it is searched
_FEWEST = 64  # rows in a block, however many centroids there are


def one_by_one(X: Rows, weights: Rows, start: Start) -> list[Run]:
    """Each restart to its fixed point."""
    points, texts = _Points.of(X, weights), int(weights.sum())
    starts = enumerate(start.rows(weights))
    return [_Lloyd(points, X[rows]).run(start.generator(restart, texts)) for restart, rows in starts]


def centroids(X: Rows, weights: Rows, labels: Labels) -> Rows:
    """The mean of each cluster's rows."""
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    np.add.at(sums, labels, weights[:, None] * X)
    means: Rows = sums / np.bincount(labels, weights=weights)[:, None]
    return means


def nearest_centroid(X: Rows, weights: Rows, centroids: Rows) -> Labels:
    """The label of each row."""
    return _Lloyd(_Points.of(X, weights), centroids).labels


@dataclass(frozen=True)
class _Points:
    X: Rows
    weights: Rows
    filter: Filter  # the rows in float32 with a column of ones, which takes up −‖c‖²/2
    band: float  # how far a product in float32 may be from the exact score

    @classmethod
    def of(cls, X: Rows, weights: Rows) -> _Points:
        narrow = np.ones((len(X), X.shape[1] + 1), dtype=np.float32)
        narrow[:, :-1] = X
        # d + 1 products and sums rounded to 2⁻²⁴ each, both factors and thresholds; no centroid is longer than the
        # longest row but for the push of a split.
        longest = float(np.einsum("ij,ij->i", X, X).max())
        return cls(X, weights, narrow, (X.shape[1] + 8) * 2.0**-24 * 1.51 * longest)


class _Lloyd:
    """One restart: the label of each row, its score x·c − ‖c‖²/2 (the larger the nearer, right within the band), and
    a score that no other centroid exceeds.
    """

    def __init__(self, points: _Points, centroids: Rows) -> None:
        self.points, self.centroids = points, centroids
        self.labels = np.full(len(points.X), -1, dtype=np.intp)
        self.scores = np.full(len(points.X), -np.inf, dtype=np.float32)
        self.others = self.scores.copy()
        self.scratch = np.empty(max(_BLOCK, _FEWEST * len(centroids)), dtype=np.float32)
        self._challenge(None, np.arange(len(centroids)))

    def run(self, rng: np.random.Generator) -> Run:
        """To the fixed point."""
        k = len(self.centroids)
        sums, sizes = np.zeros_like(self.centroids), np.zeros(k)
        before, pushed = np.full_like(self.labels, -1), np.zeros(k, dtype=bool)
        for _ in range(MOST_STEPS):
            moved = pushed | self._recount(sums, sizes, before)
            full = moved & (sizes > 0)
            self.centroids[full] = sums[full] / sizes[full, None]
            pushed = split_for_empty(self.centroids, sizes, rng)
            moved |= pushed
            if not moved.any():
                break
            if moved.all():
                self.others[:] = -np.inf
            before = self.labels.copy()
            deserted = self._challenge(None, np.flatnonzero(moved))
            self._challenge(deserted, np.flatnonzero(~moved))
        distances = self.points.X - self.centroids[self.labels]
        return self.labels, float(self.points.weights @ np.einsum("ij,ij->i", distances, distances))

    def _recount(self, sums: Rows, sizes: Rows, before: Labels) -> Mask:
        """Bring sums and sizes of the clusters up to date, in place; which clusters gained or lost rows."""
        moved = np.zeros(len(sizes), dtype=bool)
        gained = np.flatnonzero(self.labels != before)
        if not len(gained):
            return moved
        lost = gained[before[gained] >= 0]
        clusters = np.concatenate([self.labels[gained], before[lost]])
        order = np.argsort(clusters, kind="stable")
        rows, clusters = np.concatenate([gained, lost])[order], clusters[order]
        share = np.where(order < len(gained), 1.0, -1.0) * self.points.weights[rows]
        first = np.flatnonzero(np.append(True, clusters[1:] > clusters[:-1]))
        changed = clusters[first]
        moved[changed] = True
        sizes[changed] += np.add.reduceat(share, first)
        sums[changed] += sums_over(self.points.X, rows, share, first)
        sums[sizes == 0] = 0.0
        return moved

    def _challenge(self, rows: Labels | None, rivals: Labels) -> Labels:
        """Give rows (None: all) to the best rival where that is nearer than what they have.

        Rows whose own centroid is a rival get their score afresh; those for which it fell below what another centroid
        may have are returned.
        """
        count = len(self.points.X) if rows is None else len(rows)
        if not count or not len(rivals):
            return np.arange(0)
        narrow = _narrow(self.centroids[rivals])
        place = np.full(len(self.centroids) + 1, -1)  # the last is for label −1
        place[rivals] = np.arange(len(rivals))
        deserted = []
        step = max(_FEWEST, _BLOCK // len(rivals))
        for start in range(0, count, step):
            block = np.arange(start, min(start + step, count)) if rows is None else rows[start : start + step]
            left = self.points.filter[start : start + step] if rows is None else self.points.filter[block]
            near = self.scratch[: len(rivals) * len(block)].reshape(len(rivals), -1)
            np.matmul(narrow, left.T, out=near)
            fallen = self._refresh(block, near, place)
            deserted.append(block[fallen])
            best = near.max(axis=0)
            self.others[block[fallen]] = -np.inf  # will be looked at in full
            self.others[block] = np.maximum(self.others[block], best)
            hopeful = np.flatnonzero(best > self.scores[block] - 2.0 * self.points.band)
            if len(hopeful):
                self._settle(block[hopeful], near[:, hopeful], best[hopeful], rivals)
        return np.concatenate(deserted)

    def _refresh(self, rows: Labels, near: Filter, place: Labels) -> Labels:
        """Take the rows' own scores out of the block; places of those that may have fallen below another."""
        mine = place[self.labels[rows]]
        held = np.flatnonzero(mine >= 0)
        fresh = near[mine[held], held]
        self.scores[rows[held]] = fresh
        near[mine[held], held] = -np.inf
        return held[fresh < self.others[rows[held]] + 2.0 * self.points.band]

    def _settle(self, rows: Labels, near: Filter, best: Filter, rivals: Labels) -> None:
        """Decide for rows whose best rival may be nearer: by the filter where it is clear, else in float64."""
        own = self.scores[rows]
        rival, at = np.nonzero(near >= np.maximum(best, own) - 2.0 * self.points.band)
        clear = ((np.bincount(at, minlength=len(rows)) == 1) & (best > own + 2.0 * self.points.band))[at]
        self.labels[rows[at[clear]]] = rivals[rival[clear]]
        self.scores[rows[at[clear]]] = best[at[clear]]
        if not clear.all():
            self._settle_exactly(rows[at[~clear]], rivals[rival[~clear]])

    def _settle_exactly(self, rows: Labels, rivals: Labels) -> None:
        """Give each row to its nearest rival if that is nearer than what it has; of equals the first."""
        exact = _score(self.points.X[rows], self.centroids[rivals])
        order = np.lexsort((rivals, -exact, rows))
        order = order[np.append(True, np.diff(rows[order]) > 0)]
        rows, rivals, exact = rows[order], rivals[order], exact[order]
        own = np.where(self.labels[rows] >= 0, _score(self.points.X[rows], self.centroids[self.labels[rows]]), -np.inf)
        better = exact > own
        self.labels[rows[better]] = rivals[better]
        self.scores[rows[better]] = exact[better]


def _narrow(C: Rows) -> Filter:
    """Centroids in float32, with the column −‖c‖²/2 that the filter's column of ones takes up."""
    narrow = np.empty((len(C), C.shape[1] + 1), dtype=np.float32)
    narrow[:, :-1] = C
    narrow[:, -1] = -0.5 * np.einsum("ij,ij->i", C, C)
    return narrow


def _score(X: Rows, C: Rows) -> Rows:
    score: Rows = np.einsum("ij,ij->i", X, C) - 0.5 * np.einsum("ij,ij->i", C, C)
    return score
