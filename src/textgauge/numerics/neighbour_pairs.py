"""Near pairs of texts for many sides of a large corpus: float32 products leave few, float64 decides among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.neighbour_blocks import Running
from textgauge.numerics.neighbour_rows import (
    ROUNDED,
    Cloud,
    Filter,
    Floats,
    Index,
    Levels,
    below,
    filters,
    squared_pairs,
)
from textgauge.numerics.partition import Masks, Partition

Block = NDArray[np.float32]

_WIDE = 4096  # columns of a block of products, which has up to 16 MB


class Pairs(NamedTuple):
    """Texts, texts near to them, and their squared distances; those of one text together, the nearest first."""

    first: Index
    second: Index
    squares: Floats


class _Piece(NamedTuple):
    """Products of some texts with others; the bits of `looked` are sides on which the latter are looked for.

    One number for all of the former or one for each, never 0.
    """

    rows: slice
    columns: slice
    block: Block
    looked: Index


@dataclass(frozen=True)
class Near:
    """Finds near pairs: of a text, and of one on a side that the text's atom meets."""

    cloud: Cloud
    atoms: Partition
    met: Masks

    def nearest(self, k: int, *, itself: bool) -> Pairs:
        """Pairs among which are the k nearest to a text on each side it meets; without `itself`, of other texts."""
        running, looked, found = Running(self._filter.slack, k), np.zeros(len(self._texts), dtype=np.int64), []
        for piece in self._pieces():
            if not itself and piece.rows.start == piece.columns.start:
                np.fill_diagonal(piece.block, -np.inf)
            holds = (piece.looked & ~looked[piece.rows]) == 0  # all texts seen are on each of these sides
            looked[piece.rows] = piece.looked
            found.append(_passing(piece, running.bound(piece.block, piece.rows, piece.columns, holds)))
        return self._exact(found)

    def within(self, limits: Levels) -> Pairs:
        """Pairs that are no farther from each other than the limit of the first text."""
        half = limits[self._texts].astype(np.float64) ** 2 / (-2.0 * self._filter.scale**2)
        bound = below(half * (1.0 + ROUNDED))
        return self._exact([_passing(piece, bound[piece.rows]) for piece in self._pieces()])

    @cached_property
    def _texts(self) -> Index:
        """The texts in the order of their atoms, which all places refer to."""
        return np.concatenate(self.atoms.rows)

    @cached_property
    def _filter(self) -> Filter:
        (different,), which = filters(self.cloud), self.cloud.inverse[self._texts]
        return Filter(different.rows[which], different.slack[which], different.scale)

    def _pieces(self) -> Iterator[_Piece]:
        """Every product that is needed once, seen from both of its texts.

        Partition that are on many sides come first: what was seen of them holds for sides that have more beside.
        """
        on, meeting = _bits(self.atoms.members), _bits(self.met)
        sizes = [len(rows) for rows in self.atoms.rows]
        each_on, each_meeting, stop = np.repeat(on, sizes), np.repeat(meeting, sizes), np.cumsum(sizes)
        right = self._filter.against(slice(None))
        for p in reversed(range(len(sizes))):
            own = slice(int(stop[p]) - sizes[p], int(stop[p]))
            mine, theirs = meeting[p] & each_on, each_meeting & on[p]
            for columns in _runs((mine | theirs) != 0, slice(own.start, None)):
                block = self._filter.rows[own] @ right[:, columns]
                for some in _runs(mine, columns):
                    yield _Piece(own, some, block[:, _moved(some, columns)], mine[some.start : some.start + 1])
                for some in _runs(theirs != 0, slice(max(own.stop, columns.start), columns.stop)):
                    yield _Piece(some, own, block[:, _moved(some, columns)].T, theirs[some])

    def _exact(self, found: list[tuple[Index, Index]]) -> Pairs:
        first, second = (self._texts[np.concatenate(places)] for places in zip(*found, strict=True))
        squares = squared_pairs(self.cloud, self.cloud, self.cloud.inverse[first], self.cloud.inverse[second])
        order = np.lexsort((squares, first))
        return Pairs(first[order], second[order], squares[order])


def _passing(piece: _Piece, bound: Block) -> tuple[Index, Index]:
    """Places of the products that reach the bound of their row."""
    passed = piece.block >= bound[:, None]
    if passed.flags.c_contiguous:
        i, j = np.divmod(np.flatnonzero(passed), passed.shape[1])
    else:
        j, i = np.divmod(np.flatnonzero(passed.T), passed.shape[0])
    return i + piece.rows.start, j + piece.columns.start


def _bits(chosen: Masks) -> Index:
    """For each atom a number with a bit for each side."""
    bits: Index = chosen.T @ (1 << np.arange(len(chosen)))
    return bits


def _runs(values: Index | Masks, within: slice) -> list[slice]:
    """Where values that are not 0 stay the same, in pieces that are not too long, the last one first."""
    start, stop, _ = within.indices(len(values))
    cuts = start + 1 + np.flatnonzero(values[start + 1 : stop] != values[start : stop - 1])
    runs = [(a, b) for a, b in pairwise([start, *cuts.tolist(), stop]) if a < b and values[a]]
    return [slice(at, min(at + _WIDE, b)) for a, b in runs for at in range(a, b, _WIDE)][::-1]


def _moved(some: slice, within: slice) -> slice:
    return slice(some.start - within.start, some.stop - within.start)
