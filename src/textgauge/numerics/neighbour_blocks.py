"""Exact neighbours in bounded memory: float32 block products leave few pairs, float64 decides among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats, Floats32, Ints
from textgauge.numerics.kernel_sums import to_angles
from textgauge.numerics.neighbour_rows import ROUNDED, Cloud, Filter, below, filters, inside_ball, levels, squared_pairs
from textgauge.numerics.progress import report

Pairs = tuple[Ints, Ints, Floats32]  # rows, columns, and the upper bound of −(squared distance)/2

_TALL, _WIDE = 512, 1024  # a block of products: 2 MB
_SMALL = 512  # up to here the whole matrix is cheaper than bookkeeping
_LEAST = np.finfo(np.float32).min
_GROUPS = 4  # for each neighbour wanted, this many groups of rows of which only the nearest is ranked


@dataclass(frozen=True)
class Balls:
    """What the balls around A rows hold of the B rows: whether any for each ball, how many balls for each B row."""

    reached: NDArray[np.bool_]
    holders: Ints


class DistanceSums:
    """For each row of two clouds the sum of its distances to all texts of the other, taken from passing blocks.

    Float32, with the filter's known shift taken off: for means over many rows, which it moves by less than 1e-7.
    """

    def __init__(self, A: Cloud, B: Cloud, ground: str) -> None:
        self._ground, self._weights = ground, (A.weight.astype(np.float32), B.weight.astype(np.float32))
        self.of_a, self.of_b = np.zeros(len(A)), np.zeros(len(B))

    def add(self, block: Floats32, filters: tuple[Filter, Filter], rows: slice, columns: slice) -> None:
        """Take one block of products, and overwrite it."""
        a, b = filters
        of_a, of_b = a.slack[rows] / 2.0, (b.slack[columns] / 2.0).astype(np.float32)
        weights = self._weights[0][rows], self._weights[1][columns]
        if self._ground == "angular":  # the products are of cosines less 1
            block += (1.0 - of_a).astype(np.float32)[:, None]
            block -= of_b
            unit = 1.0 / np.pi
            to_angles(block)
        else:
            block -= of_a.astype(np.float32)[:, None]
            block -= of_b
            np.sqrt(np.maximum(np.multiply(block, -2.0, out=block), 0.0, out=block), out=block)
            unit = a.scale
        self.of_a[rows] += unit * (block @ weights[1])
        self.of_b[columns] += unit * (weights[0] @ block)


def nearest_both(
    A: Cloud, B: Cloud, sums: DistanceSums | None = None
) -> tuple[tuple[Floats, Ints], tuple[Floats, Ints]]:
    """Squared distance and row of the nearest B row of each A row, and of the nearest A row of each B row.

    `sums`, if given, is fed from the same pass.
    """
    a, b = filters(A, B)
    bounds = [np.full(len(cloud), -np.inf, dtype=np.float32) for cloud in (A, B)]
    found: tuple[list[Pairs], list[Pairs]] = [], []
    for block, top, left in _blocks(a, b):
        rows, columns = slice(top, top + len(block)), slice(left, left + block.shape[1])
        best = block.max(axis=1)
        low = below(best - a.slack[rows] - b.slack[columns].max())
        bounds[0][rows] = np.maximum(bounds[0][rows], low)
        likely = np.flatnonzero(best >= bounds[0][rows])
        i, j, high = _passing(block[likely], bounds[0][rows][likely, None], 0, left)
        found[0].append((top + likely[i], j, high))
        low = below(block.max(axis=0) - b.slack[columns] - a.slack[rows].max())
        bounds[1][columns] = np.maximum(bounds[1][columns], low)
        j, i, high = _passing(block, bounds[1][columns], top, left)
        found[1].append((i, j, high))
        if sums is not None:
            sums.add(block, (a, b), rows, columns)
    return _first(A, B, _still(found[0], bounds[0])), _first(B, A, _still(found[1], bounds[1]))


class Reach:
    """Distances of a corpus's different rows to their k-th neighbours; one search serves every k up to its own."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._searched = 0
        self._pairs: Pairs
        self._slack: Floats

    def radii(self, k: int, rows: Filter) -> Floats32:
        """The distance to the k-th neighbour, repeated texts counted, the text itself not."""
        missing = k + 1 - self._cloud.weight  # copies of a text are its nearest neighbours
        if len(self._cloud) == 1:
            return np.zeros(1, dtype=np.float32)
        if k > self._searched:
            self._pairs, self._slack, self._searched = _near(rows, min(k, len(self._cloud) - 1)), rows.slack, k
        return np.where(missing > 0, levels(self._kth_squares(missing)), np.float32(0))

    def _kth_squares(self, missing: Ints) -> Floats:
        """Exact squared distances where the bounds leave open which pair is the k-th."""
        i, j, high = self._pairs
        weight, nearest, farthest = self._cloud.weight[j], -high, self._slack[i] + self._slack[j] - high
        sure = farthest < _kth(i, nearest, weight, missing)[i]
        undecided = np.flatnonzero(~sure & (nearest <= _kth(i, farthest, weight, missing)[i]))
        missing = missing - np.bincount(i[sure], weight[sure], len(missing)).astype(np.int64)
        i, j = i[undecided], j[undecided]
        return _kth(i, squared_pairs(self._cloud, self._cloud, i, j), weight[undecided], missing)


def _kth(i: Ints, keys: NDArray[np.floating], weight: Ints, wanted: Ints) -> Floats:
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


def balls_both(A: Cloud, B: Cloud, reaches: tuple[Reach, Reach], *, k: int, closed: bool) -> tuple[Balls, Balls]:
    """The k-neighbour balls of A rows over B rows, and of B rows over A rows."""
    a, b = filters(A, B)
    radii = reaches[0].radii(k, a), reaches[1].radii(k, b)
    of_a = _Counting((A, B), (a, b), radii[0], closed=closed)
    of_b = _Counting((B, A), (b, a), radii[1], closed=closed)
    for block, top, left in _blocks(a, b):
        of_a.add(*_passing(block, of_a.bound[top : top + len(block), None], top, left))
        i, j, high = _passing(block, of_b.bound[left : left + block.shape[1]], top, left)
        of_b.add(j, i, high)
    return of_a.balls, of_b.balls


class _Counting:
    """Counts what balls hold while blocks go by."""

    def __init__(
        self, clouds: tuple[Cloud, Cloud], rows: tuple[Filter, Filter], radii: Floats32, *, closed: bool
    ) -> None:
        self._clouds, self._radii, self._closed = clouds, radii, closed
        self._slack = rows[0].slack, rows[1].slack
        half = radii.astype(np.float64) ** 2 / (-2.0 * rows[0].scale ** 2)
        self.bound, self._inner = below(half * (1.0 + ROUNDED)), half * (1.0 - ROUNDED)
        self.balls = Balls(np.zeros(len(clouds[0]), dtype=bool), np.zeros(len(clouds[1]), dtype=np.int64))

    def add(self, centre: Ints, point: Ints, high: Floats32) -> None:
        """Count the pairs that are inside; where the bounds leave it open, by their exact distance."""
        inside = high - self._slack[0][centre] - self._slack[1][point] > self._inner[centre]
        undecided = np.flatnonzero(~inside)
        exact = levels(squared_pairs(*self._clouds, centre[undecided], point[undecided]))
        limit = self._radii[centre[undecided]]
        inside[undecided] = inside_ball(exact, limit, closed=self._closed)
        self.balls.reached[centre[inside]] = True
        np.add.at(self.balls.holders, point[inside], self._clouds[0].weight[centre[inside]])


def _near(rows: Filter, k: int) -> Pairs:
    """Pairs among which are the k nearest of each row."""
    return _near_small(rows, k) if len(rows.rows) <= _SMALL else _near_large(rows, k)


def _near_small(rows: Filter, k: int) -> Pairs:
    """From the whole matrix of products."""
    whole = rows.rows @ rows.against(slice(None))
    np.fill_diagonal(whole, -np.inf)
    best = np.partition(whole, len(whole) - k, axis=1)[:, -k]
    return _passing(whole, below(best - rows.slack - rows.slack.max())[:, None], 0, 0)


def _near_large(rows: Filter, k: int) -> Pairs:
    running, found = _Running(rows.slack, k), []
    for block, top, left in _blocks(rows, rows, half=True):
        down, across = slice(top, top + len(block)), slice(left, left + block.shape[1])
        found.append(_passing(block, running.bound(block, down, across)[:, None], top, left))
        i, j, high = _passing(block, running.bound(block.T, across, down), top, left)
        found.append((j, i, high))
    return _still(found, running.reached(slice(None)))


class _Running:
    """The k best lower bounds of each row so far; the worst of them is what a pair must reach to matter."""

    def __init__(self, slack: Floats, k: int) -> None:
        self._slack, self._k = slack, k
        self._best = np.full((len(slack), k), -np.inf, dtype=np.float32)

    def bound(self, block: Floats32, rows: slice, columns: slice) -> Floats32:
        """What the rows of a block must reach, this block included."""
        slack = self._slack[rows] + self._slack[columns].max()
        fresh = below(_folded(block, _GROUPS * self._k) - slack[:, None])
        both = np.hstack([self._best[rows], fresh])
        self._best[rows] = np.partition(both, both.shape[1] - self._k, axis=1)[:, -self._k :]
        return self.reached(rows)

    def reached(self, rows: slice) -> Floats32:
        """The bounds of some rows, and above −∞, which stands for no pair."""
        bounds: Floats32 = np.maximum(self._best[rows].min(axis=1), _LEAST)
        return bounds


def _folded(block: Floats32, groups: int) -> Floats32:
    """The largest number of each of some groups of columns, these this many at least; single columns are left out."""
    while block.shape[1] >= 2 * groups:
        half = block.shape[1] // 2
        block = np.maximum(block[:, :half], block[:, half : 2 * half])
    return block


def _blocks(a: Filter, b: Filter, *, half: bool = False) -> Iterator[tuple[Floats32, int, int]]:
    """Blocks of products with the place of their corner; with `half`, each pair of one filter's rows once."""
    space = np.empty(min(_TALL, len(a.rows)) * min(_WIDE, len(b.rows)), dtype=np.float32)
    done, total = 0, len(a.rows) * len(b.rows) // (2 if half else 1)
    for left in range(0, len(b.rows), _WIDE):
        right = b.against(slice(left, left + _WIDE))
        stop = min(len(a.rows), left + _WIDE) if half else len(a.rows)
        for top in range(0, stop, _TALL):
            skip = max(top - left, 0) if half else 0
            rows, columns = a.rows[top : min(top + _TALL, stop)], right[:, skip:]
            block = space[: len(rows) * columns.shape[1]].reshape(len(rows), columns.shape[1])
            np.matmul(rows, columns, out=block)
            if half and top >= left:
                block[:, : len(rows)][np.tri(len(rows), dtype=bool)] = -np.inf
            yield block, top, left + skip
            done += block.size
        report(min(done, total), total)


def _passing(block: Floats32, bound: Floats32, top: int, left: int) -> Pairs:
    flat = np.flatnonzero(block >= bound)
    i, j = np.divmod(flat, block.shape[1])
    return i + top, j + left, block.ravel()[flat]


def _joined(found: list[Pairs]) -> Pairs:
    i, j, high = zip(*found, strict=True)
    return np.concatenate(i), np.concatenate(j), np.concatenate(high)


def _still(found: list[Pairs], bound: Floats32) -> Pairs:
    """The pairs that also pass the last bounds."""
    i, j, high = _joined(found)
    passed = high >= bound[i]
    return i[passed], j[passed], high[passed]


def _first(A: Cloud, B: Cloud, pairs: Pairs) -> tuple[Floats, Ints]:
    """The nearest of the pairs of each row; of equally near ones the one that stands first in its corpus."""
    i, j, _ = pairs
    squares = squared_pairs(A, B, i, j)
    order = np.lexsort((B.first[j], squares, i))
    best = order[np.searchsorted(i[order], np.arange(len(A)))]
    return squares[best], j[best]
