"""Neighbours in bounded memory: of two sides in blocks, and of many draws by the sorted lists of a joint corpus.

Whatever gives squared distances is a `Points`: the different rows of embeddings (`Rows`), or texts with a matrix of
distances. Balls compare distances as float32 numbers, so that rounding in float64 makes and breaks no ties.
Of two sides, products in float32 leave few pairs that may be nearest or at the edge of a ball; float64 decides these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints, Masks
from textgauge.core.progress import advance
from textgauge.core.settings import cap_size, split_into_blocks
from textgauge.metrics.numerics.ngram_counts import find_best_rows

Vectors = NDArray[np.floating[Any]]

_AT_ONCE = 128  # float64 rows that stay in the processor's cache
_BLOCK = 1 << 20  # pairs looked at at once: 8 MB, which the next block takes over
# Below this share of the squared norms a difference of products has too few digits left.
_CANCELLED = 1e-3
# Scaling a row to length one leaves some 1e-16 in each coordinate: directions this near to each other are one.
_SAME_DIRECTION = 1e-28
_OPPOSITE = 1e-14
_LENGTHS = 1e-12, 1e30  # squared: of shorter or longer rows the distances are not computed in float32
_EDGE = 1e-6  # share of a squared radius by which rounding to float32 moves the edge of a ball
_MANY = 1 / 8  # of the pairs of a block: from here on the block is computed anew
_LIST_ENTRIES = 1 << 24


def round_distances(squares: Floats) -> Floats32:
    """Return distances as balls compare them, of their squares."""
    with np.errstate(over="ignore"):
        return np.sqrt(squares).astype(np.float32)


def is_inside_ball(distances: NDArray[Any], radii: NDArray[Any], *, closed: bool) -> NDArray[np.bool_]:
    """Return which distances lie inside balls of these radii; a closed ball holds what is exactly on its border."""
    return np.asarray(distances <= radii if closed else distances < radii)


def to_ground(squares: Floats, ground: str) -> Floats:
    """Squared Euclidean distances of prepared rows as distances of the ground; all grounds keep their order."""
    if ground == "cosine":
        return np.minimum(squares / 2.0, 2.0)
    roots: Floats = np.sqrt(squares)
    if ground == "euclidean":
        return roots
    # Near opposite directions the arcsine makes 1e-8 of a rounding error of 1e-16.
    return np.arcsin(np.where(roots > 2.0 - _OPPOSITE, 1.0, roots / 2.0)) * (2.0 / np.pi)


class Points:
    """The different texts of a corpus in the order in which they first stand there, and how far they are from others.

    `first` is where the first text of a row stands, `inverse` the row of each text.
    """

    first: Ints
    inverse: Ints

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def weight(self) -> Ints:
        """How many texts each row stands for."""
        return np.bincount(self.inverse)

    def squares(self, which: Ints, other: Any) -> Floats:
        """Return squared distances of some rows to all rows of another side of the same kind, in a new array."""
        raise NotImplementedError

    def squares_within(self, texts: Ints) -> Floats:
        """Return squared distances of some texts to all texts of the corpus; infinity to the text itself."""
        return np.asarray(self._spread(self.squares(self.inverse[texts], self), texts), dtype=np.float64)

    def _spread(self, squares: Vectors, texts: Ints) -> Vectors:
        if len(self) < len(self.inverse):
            squares = squares[:, self.inverse]
        squares[np.arange(len(texts)), texts] = np.inf
        return squares

    def sift(self, which: Ints, other: Any) -> tuple[Vectors, float]:
        """Return `squares`, or quicker ones, and by how much these may be wrong."""
        return self.squares(which, other), 0.0

    def squares_of(self, which: Ints, other: Any, i: Ints, j: Ints) -> Floats:
        """Return squared distances of chosen pairs of some rows and those of another side."""
        return self.squares(which, other)[i, j]


@dataclass(frozen=True)
class Cloud:
    """The different rows of a corpus; `first` and `inverse` as in `Points`.

    `shrink` brings a row to length one where directions are compared, and is 0 for a zero vector.
    """

    rows: Vectors
    first: Ints
    inverse: Ints
    shrink: Floats | None = None

    @classmethod
    def of(cls, X: Vectors) -> Cloud:
        """Return the cloud of embedding rows as they are."""
        X = np.ascontiguousarray(X)
        content = X.view(np.dtype((np.void, X.shape[1] * X.itemsize))).ravel()
        _, first, inverse = np.unique(content, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return cls(X[first[order]], first[order], np.argsort(order)[inverse.reshape(-1)])

    def of_directions(self) -> Cloud:
        """Return the same rows, their directions compared."""
        pieces = split_into_blocks(len(self.rows), _AT_ONCE)
        lengths = np.concatenate([np.linalg.norm(self.rows[piece].astype(np.float64), axis=1) for piece in pieces])
        return replace(self, shrink=np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0))

    def take(self, which: Ints | slice) -> Floats:
        """Return rows in float64; of directions with one more coordinate, in which all zero vectors point."""
        rows: Floats = self.rows[which].astype(np.float64)
        if self.shrink is None:
            return rows
        shrink = self.shrink[which, None]
        return np.hstack([rows * shrink, shrink == 0.0])


class Rows(Points):
    """The rows of a cloud, whose distances are made of products; where digits cancel, of the differences."""

    def __init__(self, cloud: Cloud, centre: Floats) -> None:
        self.first, self.inverse, self._cloud = cloud.first, cloud.inverse, cloud
        self._rows = cloud.take(slice(None)) - centre
        self._norms = np.einsum("ij,ij->i", self._rows, self._rows)
        self._longest = float(self._norms.max(initial=0.0))

    @cached_property
    def _narrow(self) -> tuple[Floats32, Floats32]:
        return self._rows.astype(np.float32), self._norms.astype(np.float32)

    @classmethod
    def of(cls, *clouds: Cloud) -> list[Rows]:
        """Prepare clouds with a common centre; any is right, and one amid the rows keeps most digits."""
        samples = [cloud.take(slice(None, None, 1 + len(cloud.rows) // _AT_ONCE)) for cloud in clouds]
        centre = np.concatenate(samples).mean(axis=0)
        return [cls(cloud, centre) for cloud in clouds]

    def squares(self, which: Ints, other: Rows) -> Floats:
        """Return ‖a − b‖²; the distance of equal rows is exactly 0."""
        squares = self._rows[which] @ other._rows.T
        squares *= -2.0
        sizes = self._norms[which, None] + other._norms
        squares += sizes
        sizes *= _CANCELLED
        near = np.flatnonzero(squares <= sizes)
        if len(near):
            i, j = np.divmod(near, squares.shape[1])
            squares[i, j] = self._subtract(which[i], other, j)
        return squares

    def sift(self, which: Ints, other: Rows) -> tuple[Vectors, float]:
        """Return float32 squares and the most that rounding may add to them, where they are neither huge nor tiny."""
        longest = max(self._longest, other._longest)
        if not _LENGTHS[0] < longest < _LENGTHS[1]:
            return super().sift(which, other)
        (rows, norms), (others, sizes) = self._narrow, other._narrow
        squares = (-2.0 * rows[which]) @ others.T
        squares += norms[which, None]
        squares += sizes
        return squares, 2.0 * (rows.shape[1] + 16) * float(np.finfo(np.float32).eps) * longest

    def squares_of(self, which: Ints, other: Rows, i: Ints, j: Ints) -> Floats:
        """Return ‖a − b‖² pair by pair, or of all where many are asked for."""
        if len(i) > _MANY * len(which) * len(other):
            return super().squares_of(which, other, i, j)
        i, squares = which[i], np.empty(len(i))
        for some in split_into_blocks(len(i), _AT_ONCE):
            squares[some] = np.einsum("ij,ij->i", self._rows[i[some]], other._rows[j[some]])
        sizes = self._norms[i] + other._norms[j]
        squares = sizes - 2.0 * squares
        near = np.flatnonzero(squares <= _CANCELLED * sizes)
        squares[near] = self._subtract(i[near], other, j[near])
        return np.asarray(squares)

    def _subtract(self, i: Ints, other: Rows, j: Ints) -> Floats:
        squares = np.empty(len(i))
        for some in split_into_blocks(len(i), _AT_ONCE):
            gap = self._cloud.take(i[some]) - other._cloud.take(j[some])
            squares[some] = np.einsum("ij,ij->i", gap, gap)
        return squares if self._cloud.shrink is None else np.where(squares < _SAME_DIRECTION, 0.0, squares)


def _split_rows(a: Points, b: Points) -> Iterator[Ints]:
    """Yield rows of one side, as many at a time as their pairs with another side take bounded memory."""
    for some in split_into_blocks(len(a), _BLOCK, len(b.inverse)):
        yield np.arange(some.start, some.stop)
        advance(some.stop * len(b.inverse), len(a) * len(b.inverse), "pairs of texts")


def compute_radii(side: Points, k: int) -> Floats32:
    """Return the distance of each row to its k-th neighbour, repeated texts counted, the text itself not."""
    squares = np.empty(len(side))
    for rows in _split_rows(side, side):
        block, slack = side.sift(rows, side)
        block = side._spread(block, side.first[rows])
        reach = np.partition(block, k - 1, axis=1)[:, k - 1 : k]
        i, j = _find_cells(block <= reach + 2.0 * slack)
        near = block[i, j] if not slack else side.squares_of(rows, side, i, side.inverse[j])
        order = np.lexsort((near, i))
        squares[rows] = near[order[np.searchsorted(i, np.arange(len(rows))) + k - 1]]
    return round_distances(squares)


class Nearest(NamedTuple):
    """For each text of a corpus the distance to the nearest text of another one, and the place of that text."""

    distances: Floats
    at: Ints


BothNearest = tuple[Nearest, Nearest]


def find_nearest(a: Points, b: Points, ground: str) -> BothNearest:
    """Return the nearest texts of both sides, of equally near ones the first."""
    squares = [np.full(len(side), np.inf) for side in (a, b)]
    at = [np.zeros(len(side), dtype=np.int64) for side in (a, b)]
    for rows in _split_rows(a, b):
        block, slack = a.sift(rows, b)
        for side, reach in enumerate((block.min(axis=1)[:, None], np.minimum(block.min(axis=0), squares[1] + slack))):
            cells = _find_cells(block <= reach + 2.0 * slack)
            exact = block[cells] if not slack else a.squares_of(rows, b, *cells)
            own, other = (cells[1], rows[cells[0]]) if side else (rows[cells[0]], cells[1])
            best = find_best_rows(-exact, own, other)
            best = best[exact[best] < squares[side][own[best]]]
            at[side][own[best]], squares[side][own[best]] = other[best], exact[best]
    of_a, of_b = (
        Nearest(to_ground(squares[side][own.inverse], ground), other.first[at[side]][own.inverse])
        for side, (own, other) in enumerate([(a, b), (b, a)])
    )
    return of_a, of_b


@dataclass(frozen=True)
class BallCounts:
    """How many balls of the other side hold each text, and whether a ball of the first side holds any of the second."""

    of_first: Ints
    of_second: Ints
    reached: Masks


def count_balls(a: Points, b: Points, radii: tuple[Floats32, Floats32], *, closed: bool) -> BallCounts:
    """Return what the balls of each side hold of the other."""
    found = BallCounts(np.zeros(len(a), np.int64), np.zeros(len(b), np.int64), np.zeros(len(a), dtype=bool))
    for rows in _split_rows(a, b):
        sifted = a.sift(rows, b)
        i, j = _find_inside(a, rows, b, sifted, radii[0][rows, None], closed=closed)
        found.reached[rows[i]] = True
        np.add.at(found.of_second, j, a.weight[rows[i]])
        i, j = _find_inside(a, rows, b, sifted, radii[1], closed=closed)
        np.add.at(found.of_first, rows[i], b.weight[j])
    return BallCounts(found.of_first[a.inverse], found.of_second[b.inverse], found.reached[a.inverse])


def _find_inside(
    a: Points, rows: Ints, b: Points, sifted: tuple[Vectors, float], radii: Floats32, *, closed: bool
) -> tuple[Ints, Ints]:
    """Return which pairs of some rows and those of another side are nearer than the radius of one of both."""
    (block, slack), edges = sifted, radii.astype(np.float64) ** 2
    i, j = _find_cells(~(block > edges * (1.0 + _EDGE) + slack))
    squares = block[i, j].astype(np.float64)
    unsure = np.flatnonzero(~(squares < np.broadcast_to(edges * (1.0 - _EDGE) - slack, block.shape)[i, j]))
    here, there = i[unsure], j[unsure]
    exact = a.squares_of(rows, b, here, there) if slack else squares[unsure]
    inside = np.ones(len(i), dtype=bool)
    reach = np.broadcast_to(radii, block.shape)[here, there]
    inside[unsure] = is_inside_ball(round_distances(exact), reach, closed=closed)
    return i[inside], j[inside]


def _find_cells(mask: Masks) -> tuple[Ints, Ints]:
    return np.divmod(np.flatnonzero(mask), mask.shape[1])


class Joint:
    """All texts of a joint corpus, and the nearest neighbours of each: places and squared distances, ranks by texts."""

    def __init__(self, points: Points) -> None:
        self.points, self.size = points, len(points.inverse)
        self.lists = np.empty((0, self.size), dtype=np.intp), np.empty((0, self.size))

    def list_neighbours(self, ranks: int) -> None:
        """List at least this many neighbours of every text; longer lists are kept."""
        if len(self.lists[0]) >= (ranks := min(ranks, self.size - 1)):
            return
        index, squares = np.empty((ranks, self.size), dtype=np.intp), np.empty((ranks, self.size))
        for some in split_into_blocks(self.size, _BLOCK, self.size):
            block = self.points.squares_within(np.arange(self.size)[some])
            near = np.argpartition(block, ranks - 1, axis=1)[:, :ranks]
            near = np.take_along_axis(near, np.argsort(np.take_along_axis(block, near, axis=1), axis=1), axis=1)
            index[:, some], squares[:, some] = near.T, np.take_along_axis(block, near, axis=1).T
        self.lists = index, squares  # at once, as other threads may be reading

    def measure_all(self, cells: Masks) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield draws and texts of the cells, and the squared distances of these texts to all, some at a time."""
        text, draw = cells.T.nonzero()
        for some in split_into_blocks(len(text), _BLOCK, self.size):
            texts, place = np.unique(text[some], return_inverse=True)
            yield draw[some], text[some], self.points.squares_within(texts)[place]

    def find_kth(self, own: Masks, side: Masks, k: int) -> Floats:
        """Return the squared distance of texts, draws by texts, to their k-th neighbour on a side; of others anything.

        Where a list is too short, all distances of the text are looked at.
        """
        (index, listed), (count, rank) = self.lists, np.zeros((2, *own.shape), dtype=np.int16)
        for neighbours in index:
            count += side[:, neighbours]
            rank += count < k
        squares = np.take_along_axis(listed, np.minimum(rank, len(index) - 1), axis=0)
        for draw, text, every in self.measure_all(own & (count < k)):
            squares[draw, text] = np.partition(np.where(side[draw], every, np.inf), k - 1, axis=1)[:, k - 1]
        return squares


@dataclass(frozen=True)
class Held:
    """What the balls of one side hold of the other, for each draw and text; `total` counts the pairs."""

    reached: Masks
    held: Masks
    total: Ints


def estimate_ranks_needed(left: Masks, right: Masks, k: int) -> int:
    """List length with which few texts of a draw run out before k neighbours on the smaller side are met."""
    texts = int(left.shape[1])
    share = max(min(float(left.mean()), float(right.mean())), 1e-9)
    wanted = math.ceil((k + 4.0 * math.sqrt(k) + 4.0) / share)
    return max(1, min(wanted, texts - 1, cap_size(_LIST_ENTRIES) // texts))


def find_nearest_across(joint: Joint, own: Masks, other: Masks) -> Floats:
    """Squared distance of each text of one side to the nearest of the other; 0 for a text on both, NaN off the side."""
    squares = joint.find_kth(own & ~other, other, 1)
    squares[own & other] = 0.0
    squares[~own] = np.nan
    return squares


def count_held_across(joint: Joint, own: Masks, other: Masks, k: int, *, closed: bool) -> Held:
    """Return what the balls around the texts of one side, reaching to the k-th neighbour there, hold of the other."""
    radii = round_distances(np.where(own, joint.find_kth(own, own, k), 0.0))
    held = own & other & (closed | (radii > 0))
    (index, squares), counts = joint.lists, held.astype(np.int32)
    levels = round_distances(squares)
    # A ball that takes in the last listed neighbour may hold more than are listed.
    cut = own & is_inside_ball(levels[-1], radii, closed=closed) & (len(levels) < joint.size - 1)
    for neighbours, level in zip(index, levels, strict=True):
        inside = is_inside_ball(level, radii, closed=closed) & own & ~cut
        if not inside.any():
            break
        inside &= other[:, neighbours]
        counts += inside
        draw, text = inside.nonzero()
        held[draw, neighbours[text]] = True
    for draw, text, every in joint.measure_all(cut):
        inside = is_inside_ball(round_distances(every), radii[draw, text][:, None], closed=closed) & other[draw]
        counts[draw, text] += inside.sum(axis=1)
        cell, there = inside.nonzero()
        held[draw[cell], there] = True
    return Held(counts > 0, held, counts.sum(axis=1))
