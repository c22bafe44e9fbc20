"""Pair metrics as grounds: a distance matrix of the different texts that are needed, and neighbours read off it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.sizes import blocks
from textgauge.data import Corpus, Pool
from textgauge.encode.grounds import GROUNDS, prepare
from textgauge.metrics.base import Undefined
from textgauge.metrics.numerics.neighbour_lists import Joint
from textgauge.metrics.numerics.neighbours import ExactPoints
from textgauge.metrics.pair_metric import PairMetric, distance_of
from textgauge.metrics.registry import get_metric

if TYPE_CHECKING:
    from textgauge.metrics.corpus_metric import CorpusMetric

Done = Callable[[int, int], None]

_BLOCK = 512  # texts on a side of a block that is computed at once


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
    return pool.get_or_compute("ground", name, lambda key: GroundMatrix(pool, get_metric(key)))  # type: ignore[no-any-return]


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


class MatrixSide(ExactPoints):
    """The texts of a corpus, how near they are read off the matrix."""

    def __init__(self, corpus: Corpus, name: str) -> None:
        super().__init__(len(corpus))
        self._matrix = ground_matrix(corpus.pool, name)
        self._places = self._matrix.rows(corpus)

    def closeness(self, rows: slice, other: MatrixSide) -> Floats:
        """Return −δ²/2."""
        return self._matrix.block(self._places[rows], other._places) ** 2 / -2.0


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


def _scratch(size: int) -> Floats32:
    """An array in a nameless file of the cache folder, which goes when the array goes."""
    import tempfile

    from textgauge.encode.resources import cache_root, make_cache_folder

    folder = make_cache_folder(cache_root() / "grounds")
    with tempfile.TemporaryFile(dir=folder) as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=(size, size))
