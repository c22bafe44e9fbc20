"""Many small k-means problems: by the compiled kernel, or in step, all restarts of all at once, as calls are the cost.

Only inner products of rows are looked at: a cluster is known by the products of its sum with all rows and with itself,
and a row that goes from one cluster to another is added here and taken away there. The clusters of all restarts of all
problems stand one below the other, and so do the rows of the problems, filled up to one length. A step looks at the
restarts that changed in the last one; a cluster that gained and lost nothing stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textgauge.numerics.kmeans_start import MOST_STEPS, Labels, Mask, Rows, Run, Start, split_for_empty, sums_over
from textgauge.numerics.native import kernels

_MANY = 4  # where more than one row in so many changes, all are looked at


class Points(NamedTuple):
    """The rows of one problem, all different, and how often each counts."""

    X: Rows
    weights: Rows


def side_by_side(problems: Sequence[Points], start: Start) -> list[list[Run]]:
    """The restarts of each problem, to their fixed points."""
    if not kernels.built():
        return _in_step(problems, start)
    return [_compiled(points, start) or _in_step([points], start)[0] for points in problems]


def _compiled(points: Points, start: Start) -> list[Run] | None:
    """The same by the kernel; None where a cluster runs empty."""
    starts = start.rows(points.weights).astype(np.int64, copy=False)
    found = kernels.lloyd_by_products(points.X @ points.X.T, points.weights, starts, steps=MOST_STEPS)
    return None if found is None else list(zip(found[0].astype(np.intp, copy=False), found[1].tolist(), strict=True))


def _in_step(problems: Sequence[Points], start: Start) -> list[list[Run]]:
    state = _Restarts(problems, start)
    for _ in range(MOST_STEPS):
        if not state.step():
            break
    return state.found()


class _Restarts:
    """The state of all restarts. A label is the number of a cluster among all, −1 for none.

    `sums` are products of clusters' sums with rows, `squares` of the sums with themselves; `scores` are x·c − ‖c‖²/2
    for centroids c, the larger the nearer.
    """

    def __init__(self, problems: Sequence[Points], start: Start) -> None:
        self.problems, self.start, self.k = problems, start, start.k
        self.n = max(len(X) for X, _ in problems)
        self.products = np.zeros((len(problems), self.n, self.n))
        self.weights = np.zeros((len(problems), self.n))
        for products, weights, points in zip(self.products, self.weights, problems, strict=True):
            np.matmul(points.X, points.X.T, out=products[: len(points.X), : len(points.X)])
            weights[: len(points.X)] = points.weights
        self.filling = np.repeat(self.weights == 0, start.restarts, axis=0)
        self.labels = np.full(self.filling.shape, -1)
        self.running = np.arange(len(self.labels))
        self.rngs: dict[int, np.random.Generator] = {}
        starts = [start.rows(points.weights) for points in problems]
        self.scores = np.concatenate([self.products[place][rows.ravel()] for place, rows in enumerate(starts)])
        norms = np.concatenate([self.products[place].diagonal()[rows.ravel()] for place, rows in enumerate(starts)])
        self.scores -= 0.5 * norms[:, None]
        if self.weights.max() > 1:  # of two equal centroids the first is the nearer, however products are rounded
            self.scores[np.concatenate([_met_before(rows) for rows in starts])] = -np.inf
        self.sums, self.squares, self.sizes = np.zeros_like(self.scores), np.zeros(len(norms)), np.zeros(len(norms))

    def step(self) -> bool:
        """Give each row to its nearest centroid and move the centroids; tell whether anything changed."""
        scores, labels, input_identity = self.scores.reshape(-1, self.k, self.n), self.labels, self.running
        if _MANY * len(input_identity) < (_MANY - 1) * len(scores):
            scores, labels = scores[input_identity], labels[input_identity]
        else:  # those that have settled do no harm
            input_identity = np.arange(len(scores))
        own = np.where(labels < 0, -np.inf, self.scores[labels, np.arange(self.n)])
        own[self.filling[input_identity]] = np.inf
        changed = np.flatnonzero(scores.max(axis=1) > own)
        if not len(changed):
            return False
        at, row = np.divmod(changed, self.n)
        if _MANY * len(changed) > own.size:
            nearest = scores.argmax(axis=1).ravel()[changed]
        else:
            nearest = scores[at, :, row].argmax(axis=1)
        run, old = input_identity[at], labels.ravel()[changed]
        new = self.k * run + nearest
        self.labels[run, row] = new
        self.running = run[np.append(True, run[1:] > run[:-1])]
        moved = self._recount(run // self.start.restarts, row, new, old)
        if old.min() < 0:  # rows given out anew: any of the clusters may have got none
            moved = np.union1d(moved, self._clusters(np.unique(run[old < 0])))
        self._move(moved)
        return True

    def found(self) -> list[list[Run]]:
        """Labels and objective of each restart of each problem."""
        best = self.scores.reshape(len(self.problems), -1, self.k, self.n).max(axis=2)
        squares = np.einsum("pii->pi", self.products)
        objectives = np.einsum("prn,pn->pr", squares[:, None] - 2.0 * best, self.weights).ravel().tolist()
        labels = self.labels - self.k * np.arange(len(self.labels))[:, None]
        runs = range(self.start.restarts)
        return [
            [(labels[first + run, : len(points.X)], objectives[first + run]) for run in runs]
            for first, points in zip(range(0, len(labels), len(runs)), self.problems, strict=True)
        ]

    def _recount(self, place: Labels, row: Labels, new: Labels, old: Labels) -> Labels:
        """Bring sums, squares and sizes up to date for rows that changed; the clusters that gained or lost some.

        The square of a sum grows by the product of what is added with the sum before and the sum after.
        """
        left = np.flatnonzero(old >= 0)
        order = np.argsort(clusters := np.concatenate([new, old[left]]), kind="stable")
        clusters, at = clusters[order], np.concatenate([np.arange(len(new)), left])[order]
        row, place = row[at], place[at]
        share = self.weights[place, row] * np.where(order < len(new), 1.0, -1.0)
        first = np.flatnonzero(np.append(True, clusters[1:] > clusters[:-1]))
        moved, before = clusters[first], self.sums[clusters, row]
        self.sums[moved] += sums_over(self.products.reshape(-1, self.n), self.n * place + row, share, first)
        self.squares[moved] += np.add.reduceat(share * (before + self.sums[clusters, row]), first)
        self.sizes[moved] += np.add.reduceat(share, first)
        return moved

    def _move(self, moved: Labels) -> None:
        sizes = self.sizes[moved]
        if not sizes.all():
            lacking = np.unique(moved[sizes == 0] // self.k)
            for run in lacking.tolist():
                self._split(run)
            moved = moved[~np.isin(moved // self.k, lacking)]
            sizes = self.sizes[moved]
        scores = self.sums[moved]
        scores *= 1.0 / sizes[:, None]
        scores -= 0.5 * (self.squares[moved] / (sizes * sizes))[:, None]
        self.scores[moved] = scores

    def _split(self, run: int) -> None:
        """Split clusters of a restart for its empty ones; its rows will be given out anew."""
        place, restart = divmod(run, self.start.restarts)
        X, weights = self.problems[place]
        if run not in self.rngs:
            self.rngs[run] = self.start.generator(restart, int(weights.sum()))
        clusters = self._clusters(run)
        member = self.labels[run, : len(X)] == clusters[:, None]
        centroids = member @ (weights[:, None] * X) / np.maximum(self.sizes[clusters], 1.0)[:, None]
        split_for_empty(centroids, self.sizes[clusters], self.rngs[run])
        halves = 0.5 * np.einsum("ij,ij->i", centroids, centroids)
        self.scores[clusters, : len(X)] = centroids @ X.T - halves[:, None]
        self.labels[run], self.sums[clusters], self.squares[clusters], self.sizes[clusters] = -1, 0.0, 0.0, 0.0

    def _clusters(self, runs: Labels | int) -> Labels:
        return (self.k * np.asarray(runs)[..., None] + np.arange(self.k)).ravel()


def _met_before(rows: Labels) -> Mask:
    """Of each restart's rows, which stand there a second time."""
    return np.concatenate([~np.isin(np.arange(len(some)), np.unique(some, return_index=True)[1]) for some in rows])
