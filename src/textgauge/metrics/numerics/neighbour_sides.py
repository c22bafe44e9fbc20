"""Neighbour statistics of draws that share few sides: each distance is computed once and serves all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints, Masks
from textgauge.metrics.numerics.neighbour_lists import Joint, squares_of
from textgauge.metrics.numerics.neighbour_rows import Cloud, inside_ball, levels
from textgauge.metrics.numerics.subsets import Gram, Partition, Subsets

LazyGram = Callable[[], Gram | None]


class Blocks(Protocol):
    """What gives squared distances between some texts of a corpus and some others."""

    def block(self, first: Ints, second: Ints) -> Floats:
        """Squared distances, first by second."""


class GramBlocks:
    """Squared distances from a Gram matrix."""

    def __init__(self, gram: Gram, X: NDArray[np.floating[Any]], ground: str) -> None:
        self._gram, self._cloud = gram, Cloud.of(X, ground)
        self._norms = np.ones(len(gram.lengths)) if self._cloud.directions else gram.squares

    def block(self, first: Ints, second: Ints) -> Floats:
        """Squared distances, first by second."""
        products = self._cosines(first, second) if self._cloud.directions else self._gram.block(first, second)
        norms, inverse = (self._norms[first], self._norms[second]), self._cloud.inverse
        return squares_of(products, *norms, self._cloud, inverse[first], inverse[second])

    def _cosines(self, first: Ints, second: Ints) -> Floats:
        block = self._gram.cosines(first, second)
        if self._cloud.empty.any():  # zero vectors point in one direction of their own
            block += np.outer(self._gram.lengths[first] == 0, self._gram.lengths[second] == 0)
        return block


class ManyShares(NamedTuple):
    """Precision, recall, density and coverage of each draw."""

    precision: Floats
    recall: Floats
    density: Floats
    coverage: Floats


def shares_of_sides(
    X: NDArray[np.floating[Any]], gram: LazyGram, ground: str, k: int, ties: str, sides: Subsets
) -> ManyShares | None:
    """Shares of texts inside balls that reach to the k-th neighbour; None where sides have too little in common."""
    few = _common(X, gram, ground, sides)
    return None if few is None else few.shares(k, closed=ties == "closed")


def nearest_of_sides(
    X: NDArray[np.floating[Any]], gram: LazyGram, ground: str, sides: Subsets
) -> tuple[Floats, Floats] | None:
    """Squared distances of left and right texts to the nearest on the other side, one draw per row, filled with NaN.

    None where sides have too little in common.
    """
    few = _common(X, gram, ground, sides)
    return None if few is None else few.nearest()


def _common(X: NDArray[np.floating[Any]], gram: LazyGram, ground: str, sides: Subsets) -> SideStatistics | None:
    """From the Gram matrix of a small corpus, from the rows of a large one."""
    atoms = Partition.of(sides)
    if atoms is None:
        return None
    products = gram()
    return SideStatistics(sides, atoms, Joint(X, ground) if products is None else GramBlocks(products, X, ground))


@dataclass(frozen=True)
class SideStatistics:
    """Neighbour statistics of draws, put together from what atoms of their sides say about each other."""

    sides: Subsets
    atoms: Partition
    blocks: Blocks

    def nearest(self) -> tuple[Floats, Floats]:
        """Squared distances of left and right texts to the nearest on the other side."""
        found = np.full((self.sides.masks.shape[1], len(self.atoms.rows)), np.inf)
        for p, q in self._met():
            squares = self.blocks.block(self.atoms.rows[p], self.atoms.rows[q])
            found[self.atoms.rows[p], q] = squares.min(axis=1)
            found[self.atoms.rows[q], p] = squares.min(axis=0)
        left, right = np.full((2, len(self.sides.left), self.sides.sizes.max()), np.nan)
        for draw, (a, b) in enumerate(zip(self.sides.left, self.sides.right, strict=True)):
            for squares, own, other in ((left, a, b), (right, b, a)):
                near = found[self.sides.rows[own]][:, self.atoms.members[other]].min(axis=1)
                squares[draw, : len(near)] = near
        return left, right

    def radii(self, k: int) -> Floats32:
        """Distance of each text of each side to its k-th neighbour on that side; 0 off the side."""
        members, near = self.atoms.members, {}
        for p, q in _places(np.triu(members.T @ members)):
            squares = self.blocks.block(self.atoms.rows[p], self.atoms.rows[q])
            if p == q:
                np.fill_diagonal(squares, np.inf)
            near[p, q], near[q, p] = _least(squares, k), _least(squares.T, k)
        radii = np.zeros(self.sides.masks.shape, dtype=np.float32)
        for side, own in enumerate(np.flatnonzero(row).tolist() for row in members):
            for p in own:
                squares = np.concatenate([near[p, q] for q in own], axis=1)
                radii[side, self.atoms.rows[p]] = levels(np.partition(squares, k - 1, axis=1)[:, k - 1])
        return radii

    def shares(self, k: int, *, closed: bool) -> ManyShares:
        """Shares of texts inside balls that reach to the k-th neighbour."""
        balls = _Balls(self.sides, self.radii(k), len(self.atoms.rows), closed=closed)
        for p, q in self._met():
            first, second = self.atoms.rows[p], self.atoms.rows[q]
            distances = levels(self.blocks.block(first, second))
            for side in np.flatnonzero(self.atoms.members[:, p] & self._faced[:, q]).tolist():
                balls.add(side, q, first, second, distances)
            for side in np.flatnonzero(self.atoms.members[:, q] & self._faced[:, p]).tolist() if p != q else ():
                balls.add(side, p, second, first, distances.T)
        found = [self._of_pair(balls, k, a, b) for a, b in zip(self.sides.left, self.sides.right, strict=True)]
        return ManyShares(*np.array(found).T)

    def _of_pair(self, balls: _Balls, k: int, a: int, b: int) -> tuple[float, float, float, float]:
        (rows, columns), (n, m) = (self.sides.rows[a], self.sides.rows[b]), self.sides.sizes[[a, b]]
        return (
            balls.held[a, columns].sum() / m,
            balls.held[b, rows].sum() / n,
            balls.total[a, self.atoms.members[b]].sum() / (k * m),
            balls.reached[a][:, self.atoms.members[b]].any(axis=1).sum() / n,
        )

    @cached_property
    def _faced(self) -> Masks:
        """Which atoms each side meets on the other side of a draw."""
        faced = np.zeros_like(self.atoms.members)
        for a, b in zip(self.sides.left, self.sides.right, strict=True):
            faced[a] |= self.atoms.members[b]
            faced[b] |= self.atoms.members[a]
        return faced

    def _met(self) -> list[tuple[int, int]]:
        """Pairs of atoms that a draw puts on different sides."""
        met = self.atoms.members.T @ self._faced
        return _places(np.triu(met | met.T))


class _Balls:
    """What the balls of each side hold: which texts, how many pairs in each atom; and which balls reach which atoms."""

    def __init__(self, sides: Subsets, radii: Floats32, atoms: int, *, closed: bool) -> None:
        self._sides, self._radii, self._closed = sides, radii, closed
        self.held = np.zeros(radii.shape, dtype=bool)
        self.total = np.zeros((len(radii), atoms), dtype=np.int64)
        self.reached = [np.zeros((size, atoms), dtype=bool) for size in sides.sizes]

    def add(self, side: int, atom: int, centres: Ints, texts: Ints, distances: Floats32) -> None:
        """Look what balls of a side hold of the texts of an atom."""
        inside = inside_ball(distances, self._radii[side, centres, None], closed=self._closed)
        self.held[side, texts] |= inside.any(axis=0)
        self.total[side, atom] += np.count_nonzero(inside)
        self.reached[side][np.searchsorted(self._sides.rows[side], centres), atom] = inside.any(axis=1)


def _places(chosen: Masks) -> list[tuple[int, int]]:
    return list(zip(*(which.tolist() for which in np.nonzero(chosen)), strict=True))


def _least(squares: Floats, k: int) -> Floats:
    """The k least numbers of each row, or all where there are fewer."""
    return np.partition(squares, k - 1, axis=1)[:, :k] if squares.shape[1] > k else squares
