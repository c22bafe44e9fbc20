"""Sorted neighbour lists of a joint corpus, made once, and the statistics of many draws that are read off them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints, Masks
from textgauge.core.progress import advance
from textgauge.core.sizes import cap_size, split_into_blocks
from textgauge.metrics.numerics.neighbours import AT_ONCE, Cloud, compute_squared_pairs, is_inside_ball, round_distances

Cell = NDArray[np.int32]

_ROWS = 256
_ENTRIES = 1 << 22  # list entries made at once
# Below this share of the squared norms a difference of products has too few digits left.
_CANCELLED = 1e-3
_CELLS = 1 << 20  # draws times rows worked on at once
_LIST_ENTRIES = 1 << 24


@dataclass(frozen=True)
class Lists:
    """Neighbours of some rows by rank: row number, distance, and distance as balls compare it, shape (ranks, rows)."""

    joint: Joint
    index: NDArray[np.int32]
    squares: Floats
    levels: Floats32

    @property
    def ranks(self) -> int:
        """How many neighbours are listed for each row."""
        return len(self.index)

    @property
    def complete(self) -> bool:
        """Whether they are all there are."""
        return self.ranks == self.joint.size - 1


class Joint:
    """All rows of a joint corpus, ready to list neighbours."""

    def __init__(self, X: NDArray[np.floating[Any]], ground: str) -> None:
        self._cloud = Cloud.of(X, ground)
        self._rows = self._prepared()
        self._norms = np.einsum("ij,ij->i", self._rows, self._rows)
        self.size = len(X)
        self._lists: Lists | None = None

    def lists(self, ranks: int) -> Lists:
        """At least this many nearest neighbours of every row; the longest lists so far are kept."""
        ranks = min(ranks, self.size - 1)
        if self._lists is None or self._lists.ranks < ranks:
            self._lists = self._listed(np.arange(self.size), ranks)
        return self._lists

    def complete(self, rows: Ints) -> Iterator[tuple[Ints, Lists]]:
        """Yield all neighbours of the given rows, a few rows at a time."""
        for block in split_into_blocks(len(rows), _ENTRIES, self.size):
            yield rows[block], self._listed(rows[block], self.size - 1)

    def _prepared(self) -> Floats:
        rows = np.concatenate([self._cloud.take(piece) for piece in split_into_blocks(len(self._cloud), AT_ONCE)])
        if self._cloud.directions:
            rows = np.column_stack([rows, self._cloud.empty])
        return rows - rows.mean(axis=0)  # type: ignore[no-any-return]

    def _listed(self, rows: Ints, ranks: int) -> Lists:
        index, squares = np.empty((ranks, len(rows)), dtype=np.int32), np.empty((ranks, len(rows)))
        for some in split_into_blocks(len(rows), _ROWS):
            index[:, some], squares[:, some] = self._sorted(rows[some], ranks)
        return Lists(self, index, squares, round_distances(squares))

    def _sorted(self, rows: Ints, ranks: int) -> tuple[Ints, Floats]:
        squares = self._squares(self._cloud.inverse[rows])[:, self._cloud.inverse]
        squares[np.arange(len(rows)), rows] = np.inf
        near = np.argpartition(squares, ranks - 1, axis=1)[:, :ranks] if ranks < self.size - 1 else None
        found = squares if near is None else np.take_along_axis(squares, near, axis=1)
        order = np.argsort(found, axis=1)[:, :ranks]
        index = order if near is None else np.take_along_axis(near, order, axis=1)
        return index.T, np.take_along_axis(found, order, axis=1).T

    def block(self, first: Ints, second: Ints) -> Floats:
        """Squared distances between some texts of the corpus."""
        return self._between(self._cloud.inverse[first], self._cloud.inverse[second])

    def _squares(self, which: Ints) -> Floats:
        """Squared distances of some different rows to all."""
        return self._between(which, np.arange(len(self._cloud)))

    def _between(self, first: Ints, second: Ints) -> Floats:
        products = self._rows[first] @ self._rows[second].T
        return compute_squares(products, self._norms[first], self._norms[second], self._cloud, first, second)


def compute_squares(
    products: Floats, norms: Floats, other_norms: Floats, cloud: Cloud, first: Ints, second: Ints
) -> Floats:
    """Squared distances of different rows from their products, in place; where digits cancel, from the differences."""
    sizes = norms[:, None] + other_norms
    products *= -2.0
    products += sizes
    sizes *= _CANCELLED
    near = products <= sizes
    if near.any():
        i, j = np.nonzero(near)
        products[i, j] = compute_squared_pairs(cloud, cloud, first[i], second[j])
    return products


@dataclass(frozen=True)
class Held:
    """What the balls of one side hold of the other, for each draw and row; `total` counts the pairs."""

    reached: Masks
    held: Masks
    total: Ints


@dataclass(frozen=True)
class _Cells:
    """Chosen cells of a (draws, rows) array: their flat places, their draw's first place, their row's slot in lists."""

    flat: Cell
    start: Cell
    slot: Cell

    @classmethod
    def of(cls, mask: Masks) -> _Cells:
        flat = np.flatnonzero(mask).astype(np.int32)
        slot = flat % np.int32(mask.shape[1])
        return cls(flat, flat - slot, slot)

    def __len__(self) -> int:
        return len(self.flat)

    @property
    def row(self) -> Cell:
        """The rows."""
        return self.flat - self.start

    def where(self, kept: Masks) -> _Cells:
        """Only some of the cells."""
        places = np.flatnonzero(kept)
        return _Cells(self.flat[places], self.start[places], self.slot[places])

    def neighbours(self, lists: Lists, rank: int) -> Cell:
        """Flat places of each cell's neighbour of this rank, in the same draw."""
        there: Cell = self.start + lists.index[rank][self.slot]
        return there


def estimate_ranks_needed(left: Masks, right: Masks, k: int) -> int:
    """List length with which few rows of a draw run out before k neighbours on the smaller side are met."""
    rows = int(left.shape[1])
    share = max(min(float(left.mean()), float(right.mean())), 1e-9)
    wanted = math.ceil((k + 4.0 * math.sqrt(k) + 4.0) / share)
    return max(1, min(wanted, rows - 1, cap_size(_LIST_ENTRIES) // rows))


def split_draws(left: Masks, right: Masks) -> Iterator[tuple[Masks, Masks]]:
    """Yield the draws, as many at a time as bounded memory allows."""
    for some in split_into_blocks(len(left), _CELLS, left.shape[1]):
        advance(some.start, len(left))
        yield np.ascontiguousarray(left[some]), np.ascontiguousarray(right[some])


def find_nearest_across(lists: Lists, own: Masks, other: Masks) -> Floats:
    """Squared distance of each row of one side to the nearest of the other; 0 for a row on both, NaN off the side."""
    squares, flat_other = np.full(own.size, np.nan), other.ravel()
    squares[(own & other).ravel()] = 0.0

    def scan(cells: _Cells, lists: Lists) -> _Cells:
        for rank in range(lists.ranks):
            met = flat_other[cells.neighbours(lists, rank)]
            done = cells.where(met)
            squares[done.flat] = lists.squares[rank][done.slot]
            cells = cells.where(~met)
            if not len(cells):
                break
        return cells

    _settle(lists, _Cells.of(own & ~other), scan)
    return squares.reshape(own.shape)


def compute_radii_within(lists: Lists, own: Masks, k: int) -> Floats32:
    """Distance of each row of a side to its k-th neighbour on that side; 0 off the side."""
    radii, flat_own = np.zeros(own.size, dtype=np.float32), own.ravel()

    def scan(cells: _Cells, lists: Lists) -> _Cells:
        count = np.zeros(len(cells), dtype=np.int32)
        for rank in range(lists.ranks):
            count += flat_own[cells.neighbours(lists, rank)]
            if rank + 1 < k:
                continue
            missing = count < k
            done = cells.where(~missing)
            radii[done.flat] = lists.levels[rank][done.slot]
            cells, count = cells.where(missing), count[missing]
            if not len(cells):
                break
        return cells

    _settle(lists, _Cells.of(own), scan)
    return radii.reshape(own.shape)


def count_held_across(lists: Lists, own: Masks, other: Masks, radii: Floats32, *, closed: bool) -> Held:
    """Return what balls of these radii around the rows of one side hold of the other side."""
    flat_other, flat_radii = other.ravel(), radii.ravel()
    both = own & other & (closed | (radii > 0))
    held, counts = both.flatten(), both.ravel().astype(np.int32)

    def scan(cells: _Cells, lists: Lists) -> _Cells:
        # A ball that takes in the last listed neighbour may hold more than are listed.
        cut = is_inside_ball(lists.levels[-1][cells.slot], flat_radii[cells.flat], closed=closed)
        cut &= not lists.complete
        left_over, cells = cells.where(cut), cells.where(~cut)
        for rank in range(lists.ranks):
            inside = is_inside_ball(lists.levels[rank][cells.slot], flat_radii[cells.flat], closed=closed)
            cells = cells if inside.all() else cells.where(inside)
            if not len(cells):
                break
            there = cells.neighbours(lists, rank)
            met = np.flatnonzero(flat_other[there])
            held[there[met]] = True
            counts[cells.flat[met]] += 1
        return left_over

    _settle(lists, _Cells.of(own), scan)
    per_ball = counts.reshape(own.shape)
    return Held(per_ball > 0, held.reshape(own.shape), per_ball.sum(axis=1))


def _settle(lists: Lists, cells: _Cells, scan: Callable[[_Cells, Lists], _Cells]) -> None:
    """Scan the lists; for cells whose list was too short, the complete lists of their rows."""
    rest = scan(cells, lists) if len(cells) else cells
    if not len(rest):
        return
    for rows, complete in lists.joint.complete(np.unique(rest.row)):
        here = rest.where((rest.row >= rows[0]) & (rest.row <= rows[-1]))
        scan(_Cells(here.flat, here.start, np.searchsorted(rows, here.row).astype(np.int32)), complete)
