"""Weighted k-means to the fixed point: best of some restarts, as faiss does it, by numpy alone.

Small problems run all restarts side by side in float64. In large ones float32 products are a filter and what lies
inside their error band is decided in float64, so that the result depends on neither block size nor BLAS; a row is
compared with the centroids that moved, and with those at rest only if its own centroid went far enough away from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Filter = NDArray[np.float32]
Labels = NDArray[np.intp]
Mask = NDArray[np.bool_]
Run = tuple[Labels, Rows, float]  # labels, centroids, objective

MOST_STEPS = 500
SAMPLE_PER_CENTROID = 256  # more texts than this per centroid are sampled, as faiss does
_SPLIT = 1.0 / 1024.0  # how far the halves of a split centroid are pushed apart, as in faiss
_BLOCK = 1 << 18  # float32 scores held at a time: 1 MB, so that a block is still in cache when it is searched
_FEWEST = 64  # rows in a block, however many centroids there are
_SMALL = 1 << 21  # multiplications per pass below which starting numpy costs more than the arithmetic


def kmeans(X: Rows, weights: Rows, k: int, *, restarts: int, rng: np.random.Generator) -> Labels:
    """Labels 0..k−1 of the restart with the least Σ w·‖x − centroid‖²; the rows must be distinct.

    Each restart begins at k texts drawn without replacement (a row counts `weights` times). With at most k rows
    every row is a cluster of its own. Source: Lloyd 1982; sampling and splitting of empty clusters as in faiss.

    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> kmeans(X, np.ones(4), 2, restarts=3, rng=np.random.default_rng(0)).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    if len(X) <= k:
        return np.arange(len(X))
    used = _sampled(weights, k * SAMPLE_PER_CENTROID, rng)
    kept = np.flatnonzero(used)
    small = len(kept) * k * X.shape[1] <= _SMALL
    runs = (side_by_side if small else one_by_one)(X[kept], used[kept], k, rng.spawn(restarts))
    labels, centroids, _ = min(runs, key=lambda run: run[2])
    return labels if len(kept) == len(X) else _Lloyd(_Points.of(X, weights), centroids).labels


def side_by_side(X: Rows, weights: Rows, k: int, rngs: list[np.random.Generator]) -> list[Run]:
    """All restarts at once, clusters that gained and lost nothing left as they are: for small problems."""
    starts = [_start_rows(weights, k, rng) for rng in rngs]
    runs = _Restarts(X, weights, X[np.concatenate(starts)], rngs)
    if weights.max() > 1:  # of two equal centroids the first is the nearer, however products are rounded
        runs.scores[[row in start[:place] for start in map(list, starts) for place, row in enumerate(start)]] = -np.inf
    for _ in range(MOST_STEPS):
        if not runs.step():
            break
    return runs.found()


class _Restarts:
    """The state of some restarts: the clusters of all of them one below the other, by rows of X.

    A label is the number of a cluster among those of all restarts, −1 for none. Arrays are looked at flat, because
    most steps change little and the number of calls is what they cost.
    """

    def __init__(self, X: Rows, weights: Rows, centroids: Rows, rngs: list[np.random.Generator]) -> None:
        self.X, self.across, self.weights, self.rngs = X, np.ascontiguousarray(X.T), weights, rngs
        self.centroids, self.k = centroids, len(centroids) // len(rngs)
        self.scores = np.empty((len(centroids), len(X)))  # x·c − ‖c‖²/2: the larger the nearer
        self.shares = np.zeros_like(self.scores)  # the weight of a row in its cluster
        self.labels = np.full((len(rngs), len(X)), -1)
        self.running = np.arange(len(rngs))
        self._score(np.arange(len(centroids)))

    def step(self) -> bool:
        """Give each row to its nearest centroid and move the centroids; tell whether anything changed."""
        nearest = self._by_restart(self.scores)[self.running].argmax(axis=1)
        nearest += self.k * self.running[:, None]
        before = self.labels[self.running]
        changed = np.flatnonzero(nearest != before)
        if not len(changed):
            return False
        run, row = np.divmod(changed, len(self.X))
        old, new = before.ravel()[changed], nearest.ravel()[changed]
        self.labels[self.running] = nearest
        moved = np.zeros(len(self.centroids), dtype=bool)
        moved[new] = True
        if old.min() < 0:  # rows given out anew: any of the clusters may have got none
            self._by_restart(moved)[self.running[run[old < 0]]] = True
        left = old * len(self.X) + row
        self.shares.ravel()[left[old >= 0]] = 0.0
        self.shares.ravel()[new * len(self.X) + row] = self.weights[row]
        moved[old[old >= 0]] = True
        self.running = self.running[np.bincount(run, minlength=len(self.running)) > 0]
        self._move(np.flatnonzero(moved))
        return True

    def found(self) -> list[Run]:
        """Labels, centroids and objective of each restart."""
        scores = self._by_restart(self.scores)
        objectives = (np.einsum("ij,ij->i", self.X, self.X) - 2.0 * scores.max(axis=1)) @ self.weights
        return list(zip(scores.argmax(axis=1), self._by_restart(self.centroids), objectives.tolist(), strict=True))

    def _move(self, moved: Labels) -> None:
        shares = self.shares[moved]
        sizes = shares.sum(axis=1)
        if sizes.all():
            self.centroids[moved] = shares @ self.X / sizes[:, None]
        else:
            self.centroids[moved] = shares @ self.X / np.where(sizes > 0, sizes, 1.0)[:, None]
            moved = np.union1d(moved, self._split())
        self._score(moved)

    def _split(self) -> Labels:
        """Split clusters for empty ones; the rows of such a restart will be given out anew. Its clusters."""
        sizes = self._by_restart(self.shares).sum(axis=2)
        lacking = np.flatnonzero((sizes == 0).any(axis=1))
        for restart in lacking:
            split_for_empty(self._by_restart(self.centroids)[restart], sizes[restart], self.rngs[restart])
            self.labels[restart] = -1
            self._by_restart(self.shares)[restart] = 0.0
        return self._by_restart(np.arange(len(self.centroids)))[lacking].ravel()

    def _score(self, moved: Labels) -> None:
        centroids = self.centroids[moved]
        scores = centroids @ self.across
        scores -= 0.5 * np.einsum("ij,ij->i", centroids, centroids)[:, None]
        self.scores[moved] = scores

    def _by_restart(self, clusters: NDArray[Any]) -> NDArray[Any]:
        return clusters.reshape(len(self.rngs), self.k, *clusters.shape[1:])


def one_by_one(X: Rows, weights: Rows, k: int, rngs: list[np.random.Generator]) -> list[Run]:
    """Each restart to its fixed point, passes cut down to what may have changed: for large problems."""
    points = _Points.of(X, weights)
    return [_Lloyd(points, X[_start_rows(weights, k, rng)]).run(rng) for rng in rngs]


def split_for_empty(centroids: Rows, sizes: Rows, rng: np.random.Generator) -> Mask:
    """Give each empty cluster half of another, drawn by size − 1, in place; which centroids were pushed."""
    pushed = np.zeros(len(sizes), dtype=bool)
    if sizes.all():
        return pushed
    push = np.where(np.arange(centroids.shape[1]) % 2 == 0, _SPLIT, -_SPLIT)
    left = sizes.copy()
    for empty in np.flatnonzero(sizes == 0):
        spare = np.cumsum(np.maximum(left - 1.0, 0.0))
        giver = int(np.searchsorted(spare, rng.random() * spare[-1], side="right"))
        centroids[empty] = centroids[giver] * (1.0 + push)
        centroids[giver] *= 1.0 - push
        left[empty] = left[giver] = left[giver] / 2.0
        pushed[empty] = pushed[giver] = True
    return pushed


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
        return self.labels, self.centroids, float(self.points.weights @ np.einsum("ij,ij->i", distances, distances))

    def _recount(self, sums: Rows, sizes: Rows, before: Labels) -> Mask:
        """Bring sums and sizes of the clusters up to date, in place; which clusters gained or lost rows."""
        from scipy.sparse import csr_matrix

        gained = np.flatnonzero(self.labels != before)
        lost = gained[before[gained] >= 0]
        rows = np.concatenate([gained, lost])
        clusters = np.concatenate([self.labels[gained], before[lost]])
        share = np.concatenate([self.points.weights[gained], -self.points.weights[lost]])
        sizes += np.bincount(clusters, weights=share, minlength=len(sizes))
        order = np.argsort(clusters, kind="stable")
        ends = np.append(0, np.cumsum(np.bincount(clusters, minlength=len(sizes))))
        sums += csr_matrix((share[order], rows[order], ends), shape=(len(sizes), len(self.labels))) @ self.points.X
        sums[sizes == 0] = 0.0
        return np.diff(ends) > 0

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


def _start_rows(weights: Rows, k: int, rng: np.random.Generator) -> Labels:
    """The rows of k texts drawn without replacement."""
    return _row_of(rng.choice(int(weights.sum()), k, replace=False), weights)


def _sampled(weights: Rows, most: int, rng: np.random.Generator) -> Rows:
    """How often each row is used: its weight, or its share of a sample of texts if there are too many."""
    total = int(weights.sum())
    if total <= most:
        return weights
    texts = rng.choice(total, most, replace=False)
    return np.bincount(_row_of(texts, weights), minlength=len(weights)).astype(np.float64)


def _row_of(texts: NDArray[np.int64], weights: Rows) -> Labels:
    return np.searchsorted(np.cumsum(weights), texts, side="right")


def _narrow(C: Rows) -> Filter:
    """Centroids in float32, with the column −‖c‖²/2 that the filter's column of ones takes up."""
    narrow = np.empty((len(C), C.shape[1] + 1), dtype=np.float32)
    narrow[:, :-1] = C
    narrow[:, -1] = -0.5 * np.einsum("ij,ij->i", C, C)
    return narrow


def _score(X: Rows, C: Rows) -> Rows:
    score: Rows = np.einsum("ij,ij->i", X, C) - 0.5 * np.einsum("ij,ij->i", C, C)
    return score
