"""Exact neighbours from blocks of float32 products: these leave few pairs, and float64 decides among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.sizes import capped
from textgauge.metrics.numerics.neighbour_rows import ROUNDED, Cloud, Filter, below, inside_ball, levels, squared_pairs

PairBounds = tuple[Ints, Ints, Floats32]  # rows, columns, and the upper bound of −(squared distance)/2

_LEAST = np.finfo(np.float32).min
_GROUPS = 4  # for each neighbour wanted, this many groups of rows of which only the nearest is ranked
_WAITING = 2**21  # pairs; when there are more, those that others have overtaken are dropped


@dataclass(frozen=True)
class Balls:
    """What the balls around A rows hold of the B rows: whether any for each ball, how many balls for each B row."""

    reached: NDArray[np.bool_]
    holders: Ints


class _Waiting:
    """Pairs that may still matter, with their upper bounds."""

    def __init__(self) -> None:
        self._pairs: list[PairBounds] = []
        self._count = 0

    def add(self, pairs: PairBounds, bound: Floats32) -> None:
        """Keep more pairs; where there are many, only those that the rows' bounds leave."""
        self._pairs.append(pairs)
        self._count += len(pairs[0])
        if self._count > capped(_WAITING):
            kept = self.still(bound)
            self._pairs, self._count = [kept], -len(kept[0])  # so many are kept in any case

    def still(self, bound: Floats32) -> PairBounds:
        """The pairs that pass these bounds of their rows."""
        i, j, high = (np.concatenate(parts) for parts in zip(*self._pairs, strict=True))
        passed = high >= bound[i]
        return i[passed], j[passed], high[passed]


@dataclass(frozen=True)
class _Lines:
    """Some rows of a block (side 0) or some of its columns (side 1)."""

    side: int
    which: Ints
    numbers: Floats32

    def passing(self, bound: Floats32, start: int, across: int) -> PairBounds:
        """The pairs that reach the bound of their line; lines begin at `start`, those of the other side at `across`."""
        own = bound[self.which]
        flat = np.flatnonzero(self.numbers >= (own if self.side else own[:, None]))
        i, j = np.divmod(flat, self.numbers.shape[1])
        line, place = (j, i) if self.side else (i, j)
        return start + self.which[line], across + place, self.numbers.reshape(-1)[flat]


def _reaching(block: Floats32, side: int, best: Floats32, bound: Floats32) -> _Lines:
    """The lines of a block whose best number reaches their bound: of many blocks few."""
    which = np.flatnonzero(best >= bound)
    return _Lines(side, which, block if len(which) == len(bound) else block.take(which, axis=side))


class NearestBoth:
    """The nearest row of the other cloud, both ways, from numbers that are above the true ones by the slack at most."""

    def __init__(self, clouds: tuple[Cloud, Cloud], slack: tuple[Floats, Floats]) -> None:
        self._clouds, self._slack = clouds, slack
        self._bounds = [np.full(len(cloud), -np.inf, dtype=np.float32) for cloud in clouds]
        self._waiting = _Waiting(), _Waiting()

    def add(self, block: Floats32, rows: slice, columns: slice) -> None:
        """Keep the pairs that may be nearest, by row and by column."""
        for side, (own, other) in enumerate(((rows, columns), (columns, rows))):
            bound, best = self._bounds[side][own], block.max(axis=1 - side)
            slack = self._slack[side][own] + self._slack[1 - side][other].max()
            np.maximum(bound, below(best - slack), out=bound)
            passing = _reaching(block, side, best, bound).passing(bound, own.start, other.start)
            self._waiting[side].add(passing, self._bounds[side])

    def found(self) -> tuple[tuple[Floats, Ints], tuple[Floats, Ints]]:
        """Squared distances and rows; of equally near ones the one that stands first in its corpus."""
        a, b = self._clouds
        first, second = (some.still(bound) for some, bound in zip(self._waiting, self._bounds, strict=True))
        return _first(a, b, first), _first(b, a, second)


class NearestDirections:
    """The nearest direction of the other cloud, both ways, from products whose bounds are of Euclidean distances.

    In units of the filters' scale, with lengths s and t, cos − 1 = (−‖a − b‖²/2 + (s − t)²/2)/(st). Lengths are taken
    from that of the centre, so that |s|, |t| ≤ ‖c‖, ‖e‖ and all numerators are at most ‖c‖² + ‖e‖². Five float32
    operations then err by less than 16u of that, either way, and a product's slack is more than 64u of it.
    """

    def __init__(self, a: Filter, b: Filter) -> None:
        clouds = a.cloud.of_directions(), b.cloud.of_directions()
        lengths = [1.0 / (cloud.shrink * a.scale) for cloud in clouds]
        self._parts = [((own - a.centre) * 0.5**0.5).astype(np.float32) for own in lengths]
        self._shrink = [(1.0 / own).astype(np.float32) for own in lengths]
        shortest = [own.min() for own in lengths]
        slack = 2.0 * a.slack / (lengths[0] * shortest[1]), 2.0 * b.slack / (lengths[1] * shortest[0])
        self._nearest = NearestBoth(clouds, slack)
        self._space = np.empty(0, dtype=np.float32)

    def add(self, block: Floats32, rows: slice, columns: slice) -> None:
        """Turn the products into cosines less 1, and keep the pairs that may be nearest."""
        if len(self._space) < block.size:
            self._space = np.empty(block.size, dtype=np.float32)
        turned = self._space[: block.size].reshape(block.shape)
        np.subtract(self._parts[0][rows, None], self._parts[1][columns], out=turned)
        np.square(turned, out=turned)
        turned += block
        turned *= self._shrink[0][rows, None]
        turned *= self._shrink[1][columns]
        self._nearest.add(turned, rows, columns)

    def found(self) -> tuple[tuple[Floats, Ints], tuple[Floats, Ints]]:
        """As of `NearestBoth`, with squared distances of rows at length one."""
        return self._nearest.found()


def _first(A: Cloud, B: Cloud, pairs: PairBounds) -> tuple[Floats, Ints]:
    i, j, _ = pairs
    squares = squared_pairs(A, B, i, j)
    order = np.lexsort((B.first[j], squares, i))
    best = order[np.searchsorted(i[order], np.arange(len(A)))]
    return squares[best], j[best]


class Reach:
    """Distances of a cloud's rows to their k-th neighbours; one search serves every k up to its own."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self._searched = 0
        self._search: NearPairs

    def knows(self, k: int) -> bool:
        """Whether radii up to the k-th neighbour are known."""
        return k <= self._searched or len(self.cloud) == 1

    def search(self, side: Filter, k: int) -> list[NearPairs]:
        """What has to see the blocks of the cloud with itself before radii up to the k-th neighbour are known."""
        return [] if self.knows(k) else [NearPairs(side.slack, min(k, len(self.cloud) - 1))]

    def keep(self, *search: NearPairs) -> None:
        """Take over a search that has seen all blocks."""
        for one in search:
            self._search, self._searched = one, one.k

    def radii(self, k: int) -> Floats32:
        """The distance to the k-th neighbour, repeated texts counted, the text itself not."""
        missing = k + 1 - self.cloud.weight  # copies of a text are its nearest neighbours
        if len(self.cloud) == 1:
            return np.zeros(1, dtype=np.float32)
        return np.where(missing > 0, levels(self._kth_squares(missing)), np.float32(0))

    def _kth_squares(self, missing: Ints) -> Floats:
        """Exact squared distances where the bounds leave open which pair is the k-th."""
        i, j, high = self._search.found()
        slack = self._search.slack
        weight, nearest, farthest = self.cloud.weight[j], -high, slack[i] + slack[j] - high
        sure = farthest < _kth(i, nearest, weight, missing)[i]
        undecided = np.flatnonzero(~sure & (nearest <= _kth(i, farthest, weight, missing)[i]))
        missing = missing - np.bincount(i[sure], weight[sure], len(missing)).astype(np.int64)
        i, j = i[undecided], j[undecided]
        return _kth(i, squared_pairs(self.cloud, self.cloud, i, j), weight[undecided], missing)


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


class NearPairs:
    """Pairs of a cloud among which are the k nearest of each row.

    Of each row the k best lower bounds so far are kept; the worst of them is what a pair must reach to matter.
    """

    def __init__(self, slack: Floats, k: int) -> None:
        self.slack, self.k = slack, k
        self._best = np.full((len(slack), k), -np.inf, dtype=np.float32)
        self._bounds = np.full(len(slack), _LEAST, dtype=np.float32)  # above −∞, which stands for no pair
        self._waiting = _Waiting()

    def add(self, block: Floats32, rows: slice, columns: slice) -> None:
        """Keep the pairs that may be among the nearest, by row and by column."""
        for side, (own, other) in enumerate(((rows, columns), (columns, rows))):
            bound = self._bounds[own]
            some = _reaching(block, side, block.max(axis=1 - side), bound)
            self._raise(some, own, other)
            self._waiting.add(some.passing(bound, own.start, other.start), self._bounds)

    def _raise(self, some: _Lines, own: slice, other: slice) -> None:
        """Raise the bounds of some rows by a block."""
        which = own.start + some.which
        slack = self.slack[which] + self.slack[other].max()
        fresh = below(_folded(some.numbers.T if some.side else some.numbers, _GROUPS * self.k) - slack[:, None])
        both = np.hstack([self._best[which], fresh])
        self._best[which] = kept = np.partition(both, both.shape[1] - self.k, axis=1)[:, -self.k :]
        self._bounds[which] = np.maximum(kept.min(axis=1), _LEAST)

    def found(self) -> PairBounds:
        """The pairs that pass the last bounds."""
        return self._waiting.still(self._bounds)


def _folded(block: Floats32, groups: int) -> Floats32:
    """The largest number of each of some groups of columns, these this many at least; single columns are left out."""
    while block.shape[1] >= 2 * groups:
        half = block.shape[1] // 2
        block = np.maximum(block[:, :half], block[:, half : 2 * half])
    return block


class BallsBoth:
    """What balls hold, both ways."""

    def __init__(self, a: Filter, b: Filter, radii: tuple[Floats32, Floats32], *, closed: bool) -> None:
        self._of_a, self._of_b = _Held(a, b, radii[0], closed=closed), _Held(b, a, radii[1], closed=closed)

    def add(self, block: Floats32, rows: slice, columns: slice) -> None:
        """Count the pairs of one block."""
        for side, (held, own, other) in enumerate(((self._of_a, rows, columns), (self._of_b, columns, rows))):
            bound = held.bound[own]
            some = _reaching(block, side, block.max(axis=1 - side), bound)
            held.add(*some.passing(bound, own.start, other.start))

    def found(self) -> tuple[Balls, Balls]:
        """Of the balls of A over B, and of those of B over A."""
        return self._of_a.balls, self._of_b.balls


class _Held:
    """Counts what the balls around one side's rows hold of the other side."""

    def __init__(self, centres: Filter, points: Filter, radii: Floats32, *, closed: bool) -> None:
        self._clouds, self._radii, self._closed = (centres.cloud, points.cloud), radii, closed
        self._slack = centres.slack, points.slack
        half = radii.astype(np.float64) ** 2 / (-2.0 * centres.scale**2)
        self.bound, self._inner = below(half * (1.0 + ROUNDED)), half * (1.0 - ROUNDED)
        self.balls = Balls(np.zeros(len(centres.cloud), dtype=bool), np.zeros(len(points.cloud), dtype=np.int64))

    def add(self, centre: Ints, point: Ints, high: Floats32) -> None:
        """Count the pairs that are inside; where the bounds leave it open, by their exact distance."""
        inside = high - self._slack[0][centre] - self._slack[1][point] > self._inner[centre]
        undecided = np.flatnonzero(~inside)
        exact = levels(squared_pairs(*self._clouds, centre[undecided], point[undecided]))
        inside[undecided] = inside_ball(exact, self._radii[centre[undecided]], closed=self._closed)
        self.balls.reached[centre[inside]] = True
        np.add.at(self.balls.holders, point[inside], self._clouds[0].weight[centre[inside]])
