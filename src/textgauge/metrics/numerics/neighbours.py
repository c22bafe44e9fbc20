"""Exact neighbours in bounded memory: float32 products bound all distances, float64 decides what they leave open.

Whatever gives distances is a `Points`: different embedding rows (`Rows`), or texts with a matrix of distances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints, Masks
from textgauge.core.progress import PairCount
from textgauge.core.sizes import split_into_blocks

Vectors = NDArray[np.floating[Any]]

_UNIT = 2.0**-24  # half the spacing of float32 at 1
AT_ONCE = 128  # float64 rows that stay in the processor's cache
_BLOCK = 1 << 22  # pairs looked at at once: 16 MB
_ROUNDED = 4e-7  # more than rounding a distance to float32 changes its square
# Scaling a row to length one leaves some 1e-16 in each coordinate: directions this near to each other are one.
_SAME_DIRECTION = 1e-28
_OPPOSITE = 1e-14


@dataclass(frozen=True)
class Cloud:
    """The different rows of a corpus, in an order of their content alone; repeated rows are one row with a weight.

    `shrink` brings a row to length one where directions are compared, and is 0 for a zero vector. `first` is where a
    row first stands in the corpus, `inverse` the row of each text.
    """

    rows: Vectors
    shrink: Floats
    weight: Ints
    first: Ints
    inverse: Ints
    directions: bool

    @classmethod
    def of(cls, X: Vectors, ground: str) -> Cloud:
        """Return the cloud of embedding rows for a ground."""
        X = np.ascontiguousarray(X)
        content = X.view(np.dtype((np.void, X.shape[1] * X.itemsize))).ravel()
        _, first, inverse, weight = np.unique(content, return_index=True, return_inverse=True, return_counts=True)
        cloud = cls(X[first], np.ones(len(first)), weight, first, inverse.reshape(-1), False)
        return cloud if ground == "euclidean" else cloud.of_directions()

    def of_directions(self) -> Cloud:
        """Return the same rows, their directions compared."""
        return replace(self, shrink=_compute_inverse_lengths(self.rows), directions=True)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Rows without a direction: zero vectors, where directions are compared."""
        empty: NDArray[np.bool_] = self.shrink == 0
        return empty

    def take(self, which: Ints | slice) -> Floats:
        """Prepared rows in float64; a zero vector stays zero."""
        prepared: Floats = self.rows[which].astype(np.float64)
        if self.directions:
            prepared *= self.shrink[which, None]
        return prepared


def _compute_inverse_lengths(rows: Vectors) -> Floats:
    parts = (rows[piece].astype(float) for piece in split_into_blocks(len(rows), AT_ONCE))
    squares = [np.einsum("ij,ij->i", part, part) for part in parts]
    lengths: Floats = np.sqrt(np.concatenate(squares))
    shrink: Floats = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return shrink


def compute_squared_pairs(A: Cloud, B: Cloud, i: Ints, j: Ints) -> Floats:
    """‖a_i − b_j‖² of chosen pairs, from the differences: the same two rows give the same number to the last bit.

    A zero vector is at cosine distance 1 (squared distance 2) from every direction and at 0 from another one.
    """
    squares = np.empty(len(i))
    for piece in split_into_blocks(len(i), AT_ONCE):
        gap = A.take(i[piece]) - B.take(j[piece])
        squares[piece] = np.einsum("ij,ij->i", gap, gap)
    if A.directions:
        squares[squares < _SAME_DIRECTION] = 0.0
        squares[A.empty[i] != B.empty[j]] = 2.0
    return squares


def round_distances(squares: Floats) -> Floats32:
    """Distances as balls compare them: rounded to float32, so that rounding in float64 makes and breaks no ties."""
    with np.errstate(over="ignore"):
        return np.sqrt(squares).astype(np.float32)


def is_inside_ball(distances: NDArray[Any], radii: NDArray[Any], *, closed: bool) -> NDArray[np.bool_]:
    """Return which distances lie inside balls of these radii; a closed ball holds what is exactly on its border."""
    inside: NDArray[np.bool_] = distances <= radii if closed else distances < radii
    return inside


def _round_below(values: NDArray[np.floating]) -> Floats32:
    """Float32 numbers just under these."""
    return np.nextafter(values.astype(np.float32), np.float32(-np.inf))


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
    """The different texts of a corpus, and how near they are to those of another side of the same kind.

    `weight` says how many texts a row stands for, `first` where the first of them is, `inverse` the row of each text.
    """

    weight: Ints
    first: Ints
    inverse: Ints
    slack: Floats
    scale: float = 1.0

    def __len__(self) -> int:
        return len(self.weight)

    def closeness(self, rows: slice, other: Any) -> Vectors:
        """Return upper bounds of −δ²/2 in units of `scale`², some rows by all others.

        They are above the true numbers by `slack[i] + other.slack[j]` at most.
        """
        raise NotImplementedError

    def squares(self, i: Ints, other: Any, j: Ints, closeness: Vectors) -> Floats:
        """Return the exact δ² of chosen pairs, given their closeness."""
        return -2.0 * closeness.astype(np.float64)


class ExactPoints(Points):
    """A side whose closeness is exact; every text stands for itself."""

    def __init__(self, texts: int) -> None:
        self.weight, self.slack = np.ones(texts, dtype=np.int64), np.zeros(texts)
        self.first = self.inverse = np.arange(texts)


class Rows(Points):
    """Float32 rows whose products bound −‖a − b‖²/2 from above, in units of `scale`².

    A row c (centred, scaled) is stored as [c, 1, −(½ − ε)‖c‖²]; its product with [e, −(½ − ε)‖e‖², 1] is
    −‖c − e‖²/2 + ε(‖c‖² + ‖e‖²). In float32 that sum of d + 2 products is off by at most (d + 2)u(‖c‖² + ‖e‖²) whatever
    its order (Higham 2002, §3.1); the squared norms are off by up to du/2, the entries by 4u. With ε = (2d + 32)u
    the computed product is never below −‖a − b‖²/2, and above it by at most `slack[i] + slack[j]`.
    """

    def __init__(self, cloud: Cloud, centre: Vectors, scale: float, *, wide: bool) -> None:
        self.cloud, self.scale = cloud, scale
        self.weight, self.first, self.inverse = cloud.weight, cloud.first, cloud.inverse
        width = len(centre)
        epsilon = 1.01 * (2 * width + 32) * _UNIT
        self.rows, norms = np.empty((len(cloud), width + 2), dtype=np.float32), np.empty(len(cloud))
        for piece in split_into_blocks(len(cloud), AT_ONCE):
            centred = _widen(cloud, piece, wide) - centre
            self.rows[piece, :-2] = centred if scale == 1.0 else centred / scale
            norms[piece] = np.einsum("ij,ij->i", self.rows[piece, :-2], self.rows[piece, :-2])
        self.rows[:, -2] = 1.0
        self.rows[:, -1] = (epsilon - 0.5) * norms
        self.slack = 2.0 * epsilon * norms + 1e-30

    @classmethod
    def of(cls, *clouds: Cloud) -> list[Rows]:
        """Prepare clouds with common centre and scale; any centre is right, one amid the rows makes tight bounds."""
        wide = any(cloud.empty.any() for cloud in clouds)
        samples = [_widen(cloud, slice(None, None, 1 + len(cloud) // AT_ONCE), wide) for cloud in clouds]
        centre = np.concatenate(samples).mean(axis=0)
        longest = 1.0 if clouds[0].directions else max(float(np.abs(cloud.rows).max()) for cloud in clouds)
        # Squares must not overflow or vanish in float32; within these limits they do not.
        scale = 1.0 if 1e-9 < longest < 1e9 else longest or 1.0
        return [cls(cloud, centre, scale, wide=wide) for cloud in clouds]

    def closeness(self, rows: slice, other: Rows) -> Floats32:
        """Return the products."""
        left = self.rows[rows].copy()
        left[:, -2:] = left[:, :-3:-1].copy()
        return np.asarray(left @ other.rows.T)

    def squares(self, i: Ints, other: Rows, j: Ints, closeness: Vectors) -> Floats:
        """Return squared distances from the differences of rows."""
        return compute_squared_pairs(self.cloud, other.cloud, i, j)


def _widen(cloud: Cloud, piece: slice, wide: bool) -> Vectors:
    """Prepared rows, if `wide` with one more coordinate, in which all zero vectors point.

    Float32 rows stay float32: taking the centre from them is off by no more than a rounding of the difference.
    """
    rows = cloud.take(piece) if cloud.directions else cloud.rows[piece]
    return np.column_stack([rows, cloud.empty[piece]]) if wide else rows


class _Pairs(NamedTuple):
    """Pairs of a block that reach a bound."""

    i: Ints
    j: Ints
    closeness: Vectors

    @classmethod
    def reaching(cls, block: Vectors, bound: Vectors, start: int) -> _Pairs:
        flat = np.flatnonzero(block >= bound)
        i, j = np.divmod(flat, block.shape[1])
        return cls(start + i, j, block.reshape(-1)[flat])


def _split_rows(a: Points, b: Points) -> list[slice]:
    return split_into_blocks(len(a), _BLOCK, len(b))


def compute_radii(side: Points, k: int) -> Floats32:
    """Return the distance of each row to its k-th neighbour, repeated texts counted, the text itself not."""
    missing, radii = k + 1 - side.weight, np.zeros(len(side), dtype=np.float32)  # copies are the nearest neighbours
    if len(side) == 1:
        return radii
    worst = len(side) - min(k, len(side) - 1)  # the place of the k-th best
    count = PairCount(len(side) ** 2)
    for rows in _split_rows(side, side):
        block = side.closeness(rows, side)
        block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = -np.inf
        kth = np.partition(block, worst, axis=1)[:, worst]
        pairs = _Pairs.reaching(block, _round_below(kth - side.slack[rows] - side.slack.max())[:, None], rows.start)
        squares = side.squares(pairs.i, side, pairs.j, pairs.closeness)
        reached = _reach(pairs.i - rows.start, squares, side.weight[pairs.j], missing[rows])
        radii[rows] = np.where(missing[rows] > 0, round_distances(reached), np.float32(0))
        count.add(block.size)
    return radii


def _reach(i: Ints, keys: Floats, weight: Ints, wanted: Ints) -> Floats:
    """For each row the key, going up, at which the weights reach what is wanted."""
    order = np.lexsort((keys, i))
    rows, reached = i[order], np.cumsum(weight[order])
    start = np.searchsorted(rows, np.arange(len(wanted)))
    before = np.concatenate([[0], reached])[start]
    enough = np.flatnonzero(reached - before[rows] >= wanted[rows])
    found, first = np.unique(rows[enough], return_index=True)
    values = np.zeros(len(wanted))
    values[found] = keys[order][enough[first]]
    return values


def find_nearest(a: Points, b: Points) -> tuple[Floats, Ints]:
    """Return for each row of one side the squared distance to the nearest of the other, and which it is.

    Of equally near ones it is the one that stands first in its corpus.
    """
    nearest, at = np.empty(len(a)), np.empty(len(a), dtype=np.int64)
    count = PairCount(len(a) * len(b))
    for rows in _split_rows(a, b):
        block = a.closeness(rows, b)
        bound = _round_below(block.max(axis=1) - a.slack[rows] - b.slack.max())
        pairs = _Pairs.reaching(block, bound[:, None], rows.start)
        squares = a.squares(pairs.i, b, pairs.j, pairs.closeness)
        order = np.lexsort((b.first[pairs.j], squares, pairs.i))
        best = order[np.searchsorted(pairs.i[order], np.arange(rows.start, rows.stop))]
        nearest[rows], at[rows] = squares[best], pairs.j[best]
        count.add(block.size)
    return nearest, at


class Balls:
    """What the balls around one side's rows hold of the other side: whether any, and how many balls hold each row."""

    def __init__(self, centres: Points, points: Points, radii: Floats32, *, closed: bool) -> None:
        self._centres, self._points, self._radii, self._closed = centres, points, radii, closed
        half = radii.astype(np.float64) ** 2 / (-2.0 * centres.scale**2)
        self.bound, self._inner = _round_below(half * (1.0 + _ROUNDED)), half * (1.0 - _ROUNDED)
        self.reached: Masks = np.zeros(len(centres), dtype=bool)
        self.holders: Ints = np.zeros(len(points), dtype=np.int64)

    def add(self, centre: Ints, point: Ints, closeness: Vectors) -> None:
        """Count the pairs that are inside; where the bounds leave it open, by their exact distance."""
        inside = closeness - self._centres.slack[centre] - self._points.slack[point] > self._inner[centre]
        undecided = np.flatnonzero(~inside)
        i, j = centre[undecided], point[undecided]
        exact = round_distances(self._centres.squares(i, self._points, j, closeness[undecided]))
        inside[undecided] = is_inside_ball(exact, self._radii[i], closed=self._closed)
        self.reached[centre[inside]] = True
        np.add.at(self.holders, point[inside], self._centres.weight[centre[inside]])


def count_balls(a: Points, b: Points, radii: tuple[Floats32, Floats32], *, closed: bool) -> tuple[Balls, Balls]:
    """Return what the balls of each side hold of the other."""
    of_a, of_b = Balls(a, b, radii[0], closed=closed), Balls(b, a, radii[1], closed=closed)
    count = PairCount(len(a) * len(b))
    for rows in _split_rows(a, b):
        block = a.closeness(rows, b)
        of_a.add(*_Pairs.reaching(block, of_a.bound[rows, None], rows.start))
        i, j, closeness = _Pairs.reaching(block, of_b.bound, rows.start)
        of_b.add(j, i, closeness)
        count.add(block.size)
    return of_a, of_b
