"""Sorted neighbour lists of a joint corpus: made once, they answer for any sub-corpora by rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.neighbour_rows import Cloud, Floats, Index, Levels, levels, pieces, squared_pairs

_ROWS = 256
_ENTRIES = 1 << 22  # list entries made at once
# Below this share of the squared norms a difference of products has too few digits left.
_CANCELLED = 1e-3


@dataclass(frozen=True)
class Lists:
    """Neighbours of some rows by rank: row number, distance, and distance as balls compare it, shape (ranks, rows)."""

    joint: Joint
    index: NDArray[np.int32]
    squares: Floats
    levels: Levels

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

    def complete(self, rows: Index) -> Iterator[tuple[Index, Lists]]:
        """All neighbours of the given rows, a few rows at a time."""
        step = max(1, _ENTRIES // self.size)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            yield some, self._listed(some, self.size - 1)

    def _prepared(self) -> Floats:
        rows = np.concatenate([self._cloud.take(piece) for piece in pieces(len(self._cloud))])
        if self._cloud.directions:
            rows = np.column_stack([rows, self._cloud.empty])
        return rows - rows.mean(axis=0)  # type: ignore[no-any-return]

    def _listed(self, rows: Index, ranks: int) -> Lists:
        index, squares = np.empty((ranks, len(rows)), dtype=np.int32), np.empty((ranks, len(rows)))
        for start in range(0, len(rows), _ROWS):
            some = slice(start, start + _ROWS)
            index[:, some], squares[:, some] = self._sorted(rows[some], ranks)
        return Lists(self, index, squares, levels(squares))

    def _sorted(self, rows: Index, ranks: int) -> tuple[Index, Floats]:
        squares = self._squares(self._cloud.inverse[rows])[:, self._cloud.inverse]
        squares[np.arange(len(rows)), rows] = np.inf
        near = np.argpartition(squares, ranks - 1, axis=1)[:, :ranks] if ranks < self.size - 1 else None
        found = squares if near is None else np.take_along_axis(squares, near, axis=1)
        order = np.argsort(found, axis=1)[:, :ranks]
        index = order if near is None else np.take_along_axis(near, order, axis=1)
        return index.T, np.take_along_axis(found, order, axis=1).T

    def block(self, first: Index, second: Index) -> Floats:
        """Squared distances between some texts of the corpus."""
        return self._between(self._cloud.inverse[first], self._cloud.inverse[second])

    def _squares(self, which: Index) -> Floats:
        """Squared distances of some different rows to all."""
        return self._between(which, np.arange(len(self._cloud)))

    def _between(self, first: Index, second: Index) -> Floats:
        products = self._rows[first] @ self._rows[second].T
        return squares_of(products, self._norms[first], self._norms[second], self._cloud, first, second)


def squares_of(
    products: Floats, norms: Floats, other_norms: Floats, cloud: Cloud, first: Index, second: Index
) -> Floats:
    """Squared distances of different rows from their products, in place; where digits cancel, from the differences."""
    sizes = norms[:, None] + other_norms
    products *= -2.0
    products += sizes
    sizes *= _CANCELLED
    near = products <= sizes
    if near.any():
        i, j = np.nonzero(near)
        products[i, j] = squared_pairs(cloud, cloud, first[i], second[j])
    return products
