"""Distances of all texts by a ground, and the neighbours that follow from them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints, Masks
from textgauge.core.settings import get_cache_root, make_cache_folder, split_into_blocks
from textgauge.data import Comparison, Corpus, Draws, Pool
from textgauge.metrics.base import Undefined
from textgauge.metrics.corpus_metric import CorpusMetric, GroundMetric, ManyValues
from textgauge.metrics.numerics import neighbours
from textgauge.metrics.numerics.moments import GROUNDS, Subsets
from textgauge.metrics.pair_metric import PairMetric, to_distance
from textgauge.metrics.registry import get_metric

Done = Callable[[int, int], None]

_CELLS = 1 << 20  # draws times texts worked on at once
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
        """Return the place of each text of a corpus in the matrix, which is extended by texts it lacks."""
        new = ~np.isin(corpus.keys, self._keys)
        if new.any():
            keys, first = np.unique(corpus.keys[new], return_index=True)
            self._extend(keys, corpus.index[new][first], on_block)
        order = np.argsort(self._keys)
        return np.asarray(order[np.searchsorted(self._keys, corpus.keys, sorter=order)])

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances of some texts to others, in float64."""
        found = self._distances[np.ix_(rows, columns)].astype(np.float64)
        if np.isnan(found).any():
            raise Undefined(f"{self._metric.key} has no value for some of the pairs: {self._metric.undefined}")
        return found

    def _extend(self, keys: NDArray[np.uint64], first: Ints, on_block: Done | None) -> None:
        old, size = len(self._keys), len(self._keys) + len(keys)
        grown = _make_scratch(size)
        grown[:old, :old] = self._distances
        self._keys, self._first = np.concatenate([self._keys, keys]), np.concatenate([self._first, first])
        new = [slice(old + some.start, old + some.stop) for some in split_into_blocks(size - old, _BLOCK)]
        corners = [(top, left) for left in new for top in split_into_blocks(left.stop, _BLOCK)]
        for number, (top, left) in enumerate(corners):
            block = self._compute_block(top, left)
            grown[top, left], grown[left, top] = block, block.T
            if on_block is not None:
                on_block(number + 1, len(corners))
        np.fill_diagonal(grown, max(to_distance(self._metric, self._metric.value_at_identity), 0.0))
        self._distances = grown

    def _compute_block(self, top: slice, left: slice) -> Floats:
        rows, columns = (Corpus(self._pool, self._first[side]) for side in (top, left))
        found = self._metric.matrix(rows, columns, background=self._background)
        if not self._metric.symmetric or self._metric.part is not None:
            found = (found + self._metric.matrix(columns, rows, background=self._background).T) / 2.0
        return np.asarray(np.maximum(to_distance(self._metric, found), 0.0))


def get_ground_matrix(pool: Pool, name: str) -> GroundMatrix:
    """Return the matrix of a pool under the pair metric of this name; made once."""
    return pool.get_or_compute("ground", name, lambda key: GroundMatrix(pool, get_metric(key)))


def get_places(corpus: Corpus, name: str) -> Floats:
    """Return rows that stand for texts where kernels want vectors: one column, the place in the matrix."""
    return get_ground_matrix(corpus.pool, name).rows(corpus)[:, None].astype(np.float64)


def get_pair_distances(pool: Pool, name: str) -> Callable[[Floats, Floats], Floats]:
    """Return the block function of a pair ground: distances between rows made by `get_places`."""
    matrix = get_ground_matrix(pool, name)
    return lambda X, Y: matrix.block(X[:, 0].astype(np.int64), Y[:, 0].astype(np.int64))


class MatrixSide(neighbours.Points):
    """The texts of a corpus, each for itself, whose distances are read off the matrix."""

    def __init__(self, corpus: Corpus, name: str) -> None:
        self.first = self.inverse = np.arange(len(corpus))
        self._matrix = get_ground_matrix(corpus.pool, name)
        self._places = self._matrix.rows(corpus)

    def squares(self, which: Ints, other: MatrixSide) -> Floats:
        """Return δ²."""
        return np.asarray(self._matrix.block(self._places[which], other._places) ** 2)


def _make_scratch(size: int) -> Floats32:
    """Return an array in a nameless file of the cache folder, which goes when the array goes."""
    folder = make_cache_folder(get_cache_root() / "grounds")
    with tempfile.TemporaryFile(dir=folder) as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=(size, size))


def find_nearest_texts(metric: CorpusMetric, comparison: Comparison) -> tuple[neighbours.BothNearest, str]:
    """For each text the nearest one of the other corpus, of equally near ones the first, and the distance's name.

    Metrics over a ground: by that ground; metrics of embeddings: by their cosine distance; metrics of tokens: by the
    cosine distance of token counts, where a text without tokens is at 1 from all.
    """
    if metric.needs == "tokens":
        return comparison.derive(_find_nearest_counts, metric.on), f"cosine of {metric.on} counts"
    on = metric.on if metric.needs == "ground" else f"{metric.on}:cosine"
    return find_nearest(comparison, on), on


def find_nearest(comparison: Comparison, on: str) -> neighbours.BothNearest:
    """Return the nearest texts by a ground such as `minilm:cosine` or `levenshtein`; of equally near ones the first."""
    return comparison.derive(_find_nearest, on)


def harmonic_mean(a: Floats | float, b: Floats | float) -> Floats:
    """2ab/(a + b), and 0 where either is 0.

    >>> float(harmonic_mean(0.5, 1.0)), float(harmonic_mean(0.0, 0.0))
    (0.6666667, 0.0)
    """
    total = np.asarray(a, dtype=np.float64) + b
    return np.divide(2.0 * a * b, total, out=np.zeros_like(total), where=total > 0)


class NeighbourMetric(GroundMetric):
    """Base of the metrics of neighbours: distances of the joint corpus serve many draws."""

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Read sorted neighbour lists of the joint corpus; a few small draws are computed one by one."""
        if is_loop_cheaper(draws):
            rows = [self.values_or_nan(pair) for pair in joint.derive(_make_comparisons, draws)]
            return {name: np.array([row[name] for row in rows]) for name in self.value_names}
        values = {name: np.full(len(draws), np.nan) for name in self.value_names}
        enough = np.flatnonzero(draws.smaller >= self.min_texts)
        if not len(enough):
            return values
        some, near = Draws(draws.left[enough], draws.right[enough]), joint.derive(_make_joint, self.on)
        near.list_neighbours(neighbours.estimate_ranks_needed(some.left, some.right, self.min_texts - 1))
        found = [self.of_draws(near, part.left, part.right) for part in some.chunks(_CELLS, near.size)]
        for name, column in values.items():
            column[enough] = np.concatenate([part[name] for part in found])
        return values

    def of_draws(self, joint: neighbours.Joint, P: Masks, Q: Masks) -> ManyValues:
        """Return values of draws, given by masks, from the neighbours in the joint corpus."""
        raise NotImplementedError


def is_loop_cheaper(draws: Draws) -> bool:
    """Whether the draws' own pairs are fewer than the joint corpus's; a draw costs some 10⁵ pairs in any case."""
    own = (draws.left.sum(axis=1, dtype=float) + draws.right.sum(axis=1)) ** 2
    return bool(np.sum(own + 1e5) < 2.0 * draws.left.shape[1] ** 2)


def _make_comparisons(joint: Corpus, draws: Draws) -> list[Comparison]:
    """Return the draws as comparisons, which remember what several metrics need."""
    sides = Subsets.of(draws)
    corpora = [joint.take(np.flatnonzero(mask)) for mask in sides.masks]
    return [Comparison(corpora[a], corpora[b]) for a, b in zip(sides.left, sides.right, strict=True)]


def _make_joint(corpus: Corpus, on: str) -> neighbours.Joint:
    return neighbours.Joint(*_get_sides(on, corpus))


def _get_sides(on: str, *corpora: Corpus) -> list[neighbours.Points]:
    """Return the sides of corpora under a ground, ready to be compared with each other."""
    embedder, _, ground = on.rpartition(":")
    if ground not in GROUNDS:
        return [MatrixSide(corpus, on) for corpus in corpora]
    return [*neighbours.Rows.of(*(corpus.derive(_get_cloud, embedder, ground) for corpus in corpora))]


def _get_cloud(corpus: Corpus, embedder: str, ground: str) -> neighbours.Cloud:
    if ground == "euclidean":
        return neighbours.Cloud.of(corpus.embeddings(embedder))
    return corpus.derive(_get_cloud, embedder, "euclidean").of_directions()


def _find_nearest(comparison: Comparison, on: str) -> neighbours.BothNearest:
    P, Q = _get_sides(on, *comparison.sides)
    ground = on.rpartition(":")[2]
    return neighbours.find_nearest(P, Q, ground if ground in GROUNDS else "euclidean")


def count_in_balls(comparison: Comparison, on: str, k: int, ties: str) -> neighbours.BallCounts:
    """Return which balls, reaching to the k-th neighbour, hold which texts of both corpora, by a ground."""
    P, Q = _get_sides(on, *comparison.sides)
    radii = comparison.reference.derive(_compute_radii, on, k), comparison.candidate.derive(_compute_radii, on, k)
    return neighbours.count_balls(P, Q, radii, closed=ties == "closed")


def _compute_radii(corpus: Corpus, on: str, k: int) -> Floats32:
    (side,) = _get_sides(on, corpus)
    return neighbours.compute_radii(side, k)


class _Counts(neighbours.Points):
    """Token counts of each text, scaled to length one; a text without tokens stays zero."""

    def __init__(self, corpus: Corpus, tokenizer: str) -> None:
        self.first = self.inverse = np.arange(len(corpus))
        self._counts = corpus.counts(tokenizer).copy()
        lengths = np.sqrt(np.asarray(self._counts.multiply(self._counts).sum(axis=1)).ravel())
        self._counts.data /= np.repeat(lengths, np.diff(self._counts.indptr))

    def squares(self, which: Ints, other: _Counts) -> Floats:
        """Return twice the cosine distance."""
        return np.asarray(np.maximum(2.0 - 2.0 * (self._counts[which] @ other._counts.T).toarray(), 0.0))


def _find_nearest_counts(comparison: Comparison, tokenizer: str) -> neighbours.BothNearest:
    P, Q = (_Counts(side, tokenizer) for side in comparison.sides)
    return neighbours.find_nearest(P, Q, "cosine")
