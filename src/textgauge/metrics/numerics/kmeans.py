"""Weighted k-means to the fixed point: the best of some restarts, as faiss does it.

Few rows are clustered by the compiled library from all products of rows. Many rows, or all where there is no library,
are clustered by NumPy, all restarts in step: float32 products are a filter, and what they leave open is decided in
float64, so that the result depends on neither block size nor BLAS. A row is compared with the centroids that moved, and
with all of its restart only if one of these came near it or its own went away. Both forms give the same labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Masks
from textgauge.core.sizes import capped
from textgauge.metrics.numerics import native

Labels = NDArray[np.intp]
Run = tuple[Labels, float]  # labels and objective of a restart
Chance = Callable[[int], np.random.Generator]  # of a restart

_BLOCK = 1 << 18  # float32 scores held at a time: 1 MB, so that a block is still in cache when it is searched
_FEWEST = 64  # rows in a block, however many centroids there are
_MANY = 0.75  # where more of a restart's centroids moved, all rows are compared with all of them
MOST_STEPS = 500
SAMPLE_PER_CENTROID = 256  # more texts than this per centroid are sampled, as faiss does
_FEW_ROWS = 512  # so few are added up without the preparations of a sparse product
_SPLIT = 1.0 / 1024.0  # how far the halves of a split centroid are pushed apart, as in faiss
_ROUNDING = 1e-10  # lengths and objectives that differ by this share differ by rounding alone
_SMALL = 512  # rows of which all products are computed
_MOST = 2_048  # rows for which that is done where the clusters are few: 32 MB
_FEW = 1 << 21  # multiplications per pass over these


@dataclass(frozen=True)
class Start:
    """The chance behind the restarts of a problem: each begins at k texts drawn without replacement."""

    k: int
    restarts: int
    seed: tuple[int, ...]

    def sampled(self, weights: Floats) -> Floats:
        """How often each row is used: its weight, or its share of a sample of texts if there are too many."""
        total, most = int(weights.sum()), self.k * SAMPLE_PER_CENTROID
        if total <= most:
            return weights
        texts = np.random.default_rng(self.seed).choice(total, most, replace=False)
        return np.bincount(_row_of(texts, weights), minlength=len(weights)).astype(np.float64)

    def rows(self, weights: Floats) -> Labels:
        """The rows each restart begins at, restarts by k; a row counts as often as its weight says."""
        return _row_of(_start_texts(self, int(weights.sum())), weights)

    def generator(self, restart: int, texts: int) -> np.random.Generator:
        """The chance of one restart after its start among this many texts."""
        rng = np.random.default_rng(self.seed).spawn(self.restarts)[restart]
        rng.choice(texts, self.k, replace=False)
        return rng


@lru_cache(maxsize=256)
def _start_texts(start: Start, texts: int) -> Labels:
    rngs = np.random.default_rng(start.seed).spawn(start.restarts)
    return np.stack([rng.choice(texts, start.k, replace=False) for rng in rngs])


def _row_of(texts: NDArray[np.int64], weights: Floats) -> Labels:
    return np.searchsorted(np.cumsum(weights), texts, side="right")


def split_for_empty(centroids: Floats, sizes: Floats, rng: np.random.Generator, landmark: Floats) -> Masks:
    """Give each empty cluster half of another, drawn by size − 1, in place; which centroids were pushed.

    A centroid is pushed along itself; one at the origin, whose direction is rounding, along the landmark.
    """
    pushed = np.zeros(len(sizes), dtype=bool)
    if sizes.all():
        return pushed
    push = np.where(np.arange(centroids.shape[1]) % 2 == 0, _SPLIT, -_SPLIT)
    left = sizes.copy()
    for empty in np.flatnonzero(sizes == 0):
        spare = np.cumsum(np.maximum(left - 1.0, 0.0))
        giver = int(np.searchsorted(spare, rng.random() * spare[-1], side="right"))
        at_origin = np.linalg.norm(centroids[giver]) <= _ROUNDING * np.linalg.norm(landmark)
        step = push * (landmark if at_origin else centroids[giver])
        centroids[empty] = centroids[giver] + step
        centroids[giver] -= step
        left[empty] = left[giver] = left[giver] / 2.0
        pushed[empty] = pushed[giver] = True
    return pushed


def sums_over(X: Floats, rows: Labels, share: Floats, first: Labels) -> Floats:
    """Sums of shares of rows of X over stretches that begin at `first`."""
    if len(rows) <= _FEW_ROWS:
        found: Floats = np.add.reduceat(X[rows] * share[:, None], first, axis=0)
        return found
    from scipy.sparse import csr_matrix

    return np.asarray(csr_matrix((share, rows, np.append(first, len(rows))), shape=(len(first), len(X))) @ X)


def in_passes(X: Floats, weights: Floats, start: Start) -> list[Run]:
    """Each restart to its fixed point."""
    chance = cache(lambda restart: start.generator(restart, int(weights.sum())))
    return _Restarts(_Points.of(X, weights), X[start.rows(weights)]).run(chance)


def nearest_centroid(X: Floats, weights: Floats, centroids: Floats) -> Labels:
    """The label of each row."""
    labels: Labels = _Restarts(_Points.of(X, weights), centroids[None]).labels[0]
    return labels


@dataclass(frozen=True)
class _Points:
    X: Floats
    weights: Floats
    filter: Floats32  # the rows in float32 with a column of ones, which takes up −‖c‖²/2
    error: np.float32  # scores in float32 that differ by less may be the other way round
    squares: float  # Σ w·‖x‖²
    landmark: Floats  # the first row that is not at the origin

    @classmethod
    def of(cls, X: Floats, weights: Floats) -> _Points:
        squares = np.einsum("ij,ij->i", X, X)
        error = np.float32(error_bound(X.shape[1], float(squares.max())))
        landmark = X[int(np.argmax(squares > _ROUNDING * squares.max()))]
        return cls(X, weights, with_last_column(X, 1.0), error, float(weights @ squares), landmark)


class _Restarts:
    """The label of each row in each restart, its score x·c − ‖c‖²/2 (the larger the nearer), and a score that no other
    centroid exceeds; scores are right to half of the error. Clusters of all restarts stand one below the other;
    a label is a number among them, and a cell a row in a restart.
    """

    def __init__(self, points: _Points, centroids: Floats) -> None:
        self.points = points
        self.runs, self.k, self.n = *centroids.shape[:2], len(points.X)
        self.centroids = centroids.reshape(self.runs * self.k, -1)
        self.narrow = _narrow(self.centroids)
        self.labels = np.full((self.runs, self.n), -1, dtype=np.intp)
        self.scores = np.full((self.runs, self.n), -np.inf, dtype=np.float32)
        self.others = self.scores.copy()
        self.sums, self.sizes = np.zeros_like(self.centroids), np.zeros(len(self.centroids))
        self.scratch = np.empty(max(capped(_BLOCK), _FEWEST * self.k * self.runs), dtype=np.float32)
        self._assign(np.arange(self.labels.size))

    def run(self, chance: Chance) -> list[Run]:
        """To the fixed points."""
        before, pushed = np.full_like(self.labels, -1), np.arange(0)
        for _ in range(MOST_STEPS):
            moved = _union(self._recount(before), pushed)
            full = moved[self.sizes[moved] > 0]
            self.centroids[full] = self.sums[full] / self.sizes[full, None]
            pushed = self._split(chance)
            rivals = _union(moved, pushed)
            if not len(rivals):
                break
            self.narrow[rivals] = _narrow(self.centroids[rivals])
            before = self.labels.copy()
            many = np.bincount(rivals // self.k, minlength=self.runs) > _MANY * self.k
            cells = [np.arange(run * self.n, (run + 1) * self.n) for run in np.flatnonzero(many)]
            few = rivals[~many[rivals // self.k]]
            self._assign(np.concatenate([*cells, *(self._contested(few) if len(few) else ())]))
        sums = np.einsum("ij,ij->i", self.sums, self.sums) / np.maximum(self.sizes, 1.0)
        objectives = self.points.squares - sums.reshape(self.runs, self.k).sum(axis=1)
        return [
            (labels - self.k * run, objective)
            for run, (labels, objective) in enumerate(zip(self.labels, objectives.tolist(), strict=True))
        ]

    def _recount(self, before: Labels) -> Labels:
        """Bring sums and sizes of the clusters up to date; which clusters gained or lost rows."""
        gained = np.flatnonzero(self.labels != before)
        if not len(gained):
            return gained
        old = before.ravel()[gained]
        left = np.flatnonzero(old >= 0)
        clusters = np.concatenate([self.labels.ravel()[gained], old[left]])
        order = np.argsort(clusters, kind="stable")
        rows, clusters = (np.concatenate([gained, gained[left]]) % self.n)[order], clusters[order]
        share = np.where(order < len(gained), 1.0, -1.0) * self.points.weights[rows]
        first = np.flatnonzero(np.append(True, clusters[1:] > clusters[:-1]))
        moved = clusters[first]
        self.sizes[moved] += np.add.reduceat(share, first)
        self.sums[moved] += sums_over(self.points.X, rows, share, first)
        self.sums[moved[self.sizes[moved] == 0]] = 0.0
        return moved

    def _split(self, chance: Chance) -> Labels:
        """Split clusters for those that are empty; which centroids were pushed."""
        pushed = np.zeros(len(self.sizes), dtype=bool)
        for run in [] if self.sizes.all() else range(self.runs):
            part = slice(run * self.k, (run + 1) * self.k)
            if not self.sizes[part].all():
                landmark = self.points.landmark
                pushed[part] = split_for_empty(self.centroids[part], self.sizes[part], chance(run), landmark)
        return np.flatnonzero(pushed)

    def _contested(self, rivals: Labels) -> Iterator[Labels]:
        """Cells to which another centroid may be nearer, now that these moved; own scores are brought up to date."""
        first = np.flatnonzero(np.append(True, np.diff(rivals // self.k) > 0))
        runs, last = rivals[first] // self.k, np.append(first[1:], len(rivals))
        narrow, place = self.narrow[rivals], np.full(len(self.centroids), -1)
        place[rivals] = np.arange(len(rivals))
        step = max(_FEWEST, capped(_BLOCK) // len(rivals))
        for start in range(0, self.n, step):
            part = slice(start, start + step)
            scores, others, mine = self.scores[runs, part], self.others[runs, part], place[self.labels[runs, part]]
            near = self.scratch[: len(rivals) * scores.shape[1]].reshape(len(rivals), -1)
            np.matmul(narrow, self.points.filter[part].T, out=near)
            held = np.flatnonzero(mine >= 0)
            own = mine.ravel()[held] * near.shape[1] + held % near.shape[1]
            scores.ravel()[held] = near.ravel()[own]
            near.ravel()[own] = -np.inf
            for best, a, b in zip(others, first, last, strict=True):
                np.maximum(best, near[a:b].max(axis=0), out=best)
            self.scores[runs, part], self.others[runs, part] = scores, others
            run, row = np.nonzero(others > scores - self.points.error)
            yield runs[run] * self.n + start + row

    def _assign(self, cells: Labels) -> None:
        """Give cells to their nearest centroids: by float32 where it is clear, or else by float64."""
        cells = np.sort(cells)
        step = max(_FEWEST, capped(_BLOCK) // self.k)
        labels, scores, others = self.labels.ravel(), self.scores.ravel(), self.others.ravel()
        for start in range(0, len(cells), step):
            some = cells[start : start + step]
            near = self.scratch[: len(some) * self.k].reshape(-1, self.k)
            base = self._multiply(some, near)
            flat, line = near.ravel(), self.k * np.arange(len(some))
            nearest = near.argmax(axis=1)
            best = flat[line + nearest]
            flat[line + nearest] = -np.inf
            second = flat[line + near.argmax(axis=1)]
            close = np.flatnonzero(second >= best - self.points.error)
            if len(close):
                flat[(line + nearest)[close]] = best[close]
                at, rival = np.nonzero(near[close] >= (best[close] - self.points.error)[:, None])
                nearest[close] = self._first(some[close[at]], base[close[at]] + rival) - base[close]
                second[close] = best[close]
                best[close] -= self.points.error
            labels[some], scores[some], others[some] = base + nearest, best, second

    def _multiply(self, cells: Labels, near: Floats32) -> Labels:
        """Scores of cells with all clusters of their restarts, into `near`; the first of these clusters, by cell."""
        run, row = np.divmod(cells, self.n)
        ends = np.searchsorted(run, np.arange(self.runs + 1)).tolist()
        for restart in range(int(run[0]), int(run[-1]) + 1):
            part = slice(ends[restart], ends[restart + 1])
            rows = row[part]
            if not len(rows):
                continue
            together = rows[-1] - rows[0] + 1 == len(rows)
            left = self.points.filter[rows[0] : rows[-1] + 1] if together else self.points.filter[rows]
            np.matmul(left, self.narrow[restart * self.k : (restart + 1) * self.k].T, out=near[part])
        base: Labels = run * self.k
        return base

    def _first(self, cells: Labels, rivals: Labels) -> Labels:
        """For each cell the nearest of its rivals; of equals its own, or else the first."""
        X, C = self.points.X[cells % self.n], self.centroids[rivals]
        score = np.einsum("ij,ij->i", X, C) - 0.5 * np.einsum("ij,ij->i", C, C)
        order = np.lexsort((rivals, self.labels.ravel()[cells] != rivals, -score, cells))
        first: Labels = rivals[order[np.append(True, np.diff(cells[order]) > 0)]]
        return first


def _union(these: Labels, those: Labels) -> Labels:
    return np.union1d(these, those) if len(those) else these


def _narrow(C: Floats) -> Floats32:
    return with_last_column(C, -0.5 * np.einsum("ij,ij->i", C, C))


def with_last_column(rows: Floats, last: Floats | float) -> Floats32:
    """Rows in float32 with one more column, so that the products of rows and centroids are scores."""
    narrow = np.empty((len(rows), rows.shape[1] + 1), dtype=np.float32)
    narrow[:, :-1] = rows
    narrow[:, -1] = last
    return narrow


def error_bound(dimension: int, longest: float) -> float:
    """Scores in float32 that differ by less may be the other way round.

    Of d + 1 products and sums each is rounded to 2⁻²⁴, and so are both factors and thresholds; no centroid is longer
    than the longest row, given by its square, but for the push of a split.
    """
    return 2.0 * (dimension + 8) * 2.0**-24 * 1.51 * longest


def kmeans(X: Floats, weights: Floats, k: int, *, restarts: int, seed: tuple[int, ...]) -> Labels:
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
    labels = _best(_solve(points, counts, start))
    return labels if len(kept) == len(X) else nearest_centroid(X, weights, centroids(points, counts, labels))


def centroids(X: Floats, weights: Floats, labels: Labels) -> Floats:
    """The mean of each cluster's rows."""
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    np.add.at(sums, labels, weights[:, None] * X)
    means: Floats = sums / np.bincount(labels, weights=weights)[:, None]
    return means


def _best(runs: list[Run]) -> Labels:
    """The labels of the first restart with the least objective, but for rounding."""
    least = min(objective for _, objective in runs)
    return next(labels for labels, objective in runs if objective <= least + _ROUNDING * abs(least))


def _solve(X: Floats, weights: Floats, start: Start) -> list[Run]:
    small = len(X) <= _SMALL or (len(X) <= _MOST and X.size * start.k <= _FEW)
    return (by_products(X, weights, start) if small and native.available() else None) or in_passes(X, weights, start)


def by_products(X: Floats, weights: Floats, start: Start) -> list[Run] | None:
    """Each restart to its fixed point, by the compiled library; None where a cluster is left empty."""
    starts = start.rows(weights).astype(np.int64, copy=False)
    found = native.kmeans_by_products(X @ X.T, weights, starts, steps=MOST_STEPS)
    return None if found is None else list(zip(found[0].astype(np.intp, copy=False), found[1].tolist(), strict=True))
