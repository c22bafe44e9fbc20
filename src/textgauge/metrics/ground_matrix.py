"""Pair metrics as grounds: a distance matrix of the different texts that are needed, and neighbours read off it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.sizes import blocks
from textgauge.data import Comparison, Corpus, Pool
from textgauge.encode.grounds import GROUNDS, prepare
from textgauge.metrics.base import Undefined
from textgauge.metrics.numerics.neighbour_lists import Joint
from textgauge.metrics.numerics.neighbour_rows import inside_ball
from textgauge.metrics.pair_metric import PairMetric, distance_of
from textgauge.metrics.registry import get_metric

if TYPE_CHECKING:
    from textgauge.metrics.corpus_metric import CorpusMetric

Done = Callable[[int, int], None]

_BLOCK = 512  # texts on a side of a block that is computed at once


class CrossNearest(NamedTuple):
    """For each text of both corpora the distance and position of the nearest text of the other corpus."""

    of_reference: Floats
    of_reference_index: Ints
    of_candidate: Floats
    of_candidate_index: Ints


class BallCounts(NamedTuple):
    """How many balls of the other corpus hold each text, and whether each reference ball holds a candidate text."""

    of_reference: Ints
    of_candidate: Ints
    reached: NDArray[np.bool_]


class GroundMatrix:
    """Distances between the different texts of a pool that were needed so far, as float32, in a file of their own.

    A metric that is not symmetric is averaged over both directions; one that is fitted takes its weights from the
    different texts of the pool.
    """

    def __init__(self, pool: Pool, metric: PairMetric) -> None:
        self._metric, self._pool = metric, pool
        _, first = np.unique(pool.keys, return_index=True)
        self._background = Corpus(pool, first) if metric.fitted else None
        self._keys: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._first: Ints = np.empty(0, dtype=np.int64)
        self._distances: Floats32 = np.empty((0, 0), dtype=np.float32)

    def rows(self, corpus: Corpus, on_block: Done | None = None) -> Ints:
        """The place of each text of a corpus in the matrix, which is extended by texts it lacks."""
        new = ~np.isin(corpus.keys, self._keys)
        if new.any():
            keys, first = np.unique(corpus.keys[new], return_index=True)
            self._extend(keys, corpus.index[new][first], on_block)
        order = np.argsort(self._keys)
        return np.asarray(order[np.searchsorted(self._keys, corpus.keys, sorter=order)])

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Distances of some texts to others, in float64."""
        found = self._distances[np.ix_(rows, columns)].astype(np.float64)
        if np.isnan(found).any():
            raise Undefined(f"{self._metric.key} has no value for some of the pairs: {self._metric.undefined}")
        return found

    def _extend(self, keys: NDArray[np.uint64], first: Ints, on_block: Done | None) -> None:
        old, size = len(self._keys), len(self._keys) + len(keys)
        grown = _scratch(size)
        grown[:old, :old] = self._distances
        self._keys, self._first = np.concatenate([self._keys, keys]), np.concatenate([self._first, first])
        new = [slice(old + some.start, old + some.stop) for some in blocks(size - old, _BLOCK)]
        corners = [(top, left) for left in new for top in blocks(left.stop, _BLOCK)]
        for number, (top, left) in enumerate(corners):
            block = self._compute_block(top, left)
            grown[top, left], grown[left, top] = block, block.T
            if on_block is not None:
                on_block(number + 1, len(corners))
        np.fill_diagonal(grown, max(distance_of(self._metric, self._metric.value_at_identity), 0.0))
        self._distances = grown

    def _compute_block(self, top: slice, left: slice) -> Floats:
        rows, columns = (Corpus(self._pool, self._first[side]) for side in (top, left))
        found = self._metric.matrix(rows, columns, background=self._background)
        if not self._metric.symmetric or self._metric.part is not None:
            found = (found + self._metric.matrix(columns, rows, background=self._background).T) / 2.0
        return np.asarray(np.maximum(distance_of(self._metric, found), 0.0))


def ground_matrix(pool: Pool, name: str) -> GroundMatrix:
    """The matrix of a pool under the pair metric of this name; made once."""
    return pool.remember("ground", name, lambda key: GroundMatrix(pool, get_metric(key)))  # type: ignore[no-any-return]


def places(corpus: Corpus, name: str) -> Floats:
    """Rows that stand for texts where kernels want vectors: one column, the place in the matrix."""
    return ground_matrix(corpus.pool, name).rows(corpus)[:, None].astype(np.float64)


def block_of(pool: Pool, name: str, X: NDArray[np.floating[Any]], Y: NDArray[np.floating[Any]]) -> Floats:
    """Distances between rows made by `places`."""
    return ground_matrix(pool, name).block(X[:, 0].astype(np.int64), Y[:, 0].astype(np.int64))


def distances_of(pool: Pool, name: str) -> Callable[[Floats, Floats], Floats]:
    """The block function of a pair ground."""
    return partial(block_of, pool, name)


def ground_rows(corpus: Corpus, metric: CorpusMetric) -> Floats:
    """Rows as the ground's block function takes them."""
    if metric.pair_ground is not None:
        return places(corpus, metric.pair_ground)
    return prepare(corpus.embeddings(metric.embedder), metric.ground)


def ground_blocks(pool: Pool, metric: CorpusMetric) -> Callable[[Floats, Floats], Floats]:
    """The block function of a metric's ground."""
    if metric.pair_ground is not None:
        return distances_of(pool, metric.pair_ground)
    return GROUNDS[metric.ground]


def nearest(comparison: Comparison, name: str) -> CrossNearest:
    """The nearest texts of the two corpora; of equally near ones the first."""
    return nearest_of_blocks(len(comparison.reference), len(comparison.candidate), _across(comparison, name))


def nearest_of_blocks(n: int, m: int, distances: Callable[[slice], Floats]) -> CrossNearest:
    """The nearest texts of corpora of n and m texts, from distances of some rows to all columns at a time."""
    of_p, at_q, of_q, at_p = np.empty(n), np.empty(n, np.int64), np.full(m, np.inf), np.zeros(m, np.int64)
    for rows in blocks(n, _BLOCK):
        block = distances(rows)
        at_q[rows], of_p[rows] = block.argmin(axis=1), block.min(axis=1)
        closest = block.argmin(axis=0)
        found = block[closest, np.arange(m)]
        closer = found < of_q
        at_p[closer], of_q[closer] = rows.start + closest[closer], found[closer]
    return CrossNearest(of_p, at_q, of_q, at_p)


def ball_counts(comparison: Comparison, name: str, k: int, ties: str) -> BallCounts:
    """Which balls, reaching to the k-th neighbour, hold which texts."""
    closed = ties == "closed"
    radius_p, radius_q = (_radii(side, name, k) for side in comparison.sides)
    n, m = len(radius_p), len(radius_q)
    found = BallCounts(np.zeros(n, np.int64), np.zeros(m, np.int64), np.zeros(n, dtype=bool))
    distances = _across(comparison, name)
    for rows in blocks(n, _BLOCK):
        block = distances(rows)
        held = inside_ball(block, radius_p[rows, None], closed=closed)
        found.of_candidate[:] += held.sum(axis=0)
        found.of_reference[rows] = inside_ball(block, radius_q, closed=closed).sum(axis=1)
        found.reached[rows] = held.any(axis=1)
    return found


class MatrixJoint(Joint):
    """The rows of a joint corpus, whose neighbours are listed from the matrix."""

    def __init__(self, corpus: Corpus, name: str) -> None:
        self._matrix = ground_matrix(corpus.pool, name)
        self._places = self._matrix.rows(corpus)
        self.size = len(corpus)
        self._lists = None

    def _sorted(self, rows: Ints, ranks: int) -> tuple[Ints, Floats]:
        found = self._matrix.block(self._places[rows], self._places)
        found[np.arange(len(rows)), rows] = np.inf
        order = np.argsort(found, axis=1, kind="stable")[:, :ranks]
        return order.T, (np.take_along_axis(found, order, axis=1) ** 2).T


def _across(comparison: Comparison, name: str) -> Callable[[slice], Floats]:
    """Distances of some reference texts to all candidate texts."""
    matrix = ground_matrix(comparison.joint.pool, name)
    rows, columns = matrix.rows(comparison.reference), matrix.rows(comparison.candidate)
    return lambda some: matrix.block(rows[some], columns)


def _radii(corpus: Corpus, name: str, k: int) -> Floats:
    matrix = ground_matrix(corpus.pool, name)
    rows, radii = matrix.rows(corpus), np.empty(len(corpus))
    for some in blocks(len(rows), _BLOCK):
        block = matrix.block(rows[some], rows)
        block[np.arange(len(block)), np.arange(some.start, some.stop)] = np.inf
        radii[some] = np.partition(block, k - 1, axis=1)[:, k - 1]
    return radii


def _scratch(size: int) -> Floats32:
    """An array in a nameless file of the cache folder, which goes when the array goes."""
    import tempfile

    from textgauge.encode.resources import cache_root, make_cache_folder

    folder = make_cache_folder(cache_root() / "grounds")
    with tempfile.TemporaryFile(dir=folder) as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=(size, size))
