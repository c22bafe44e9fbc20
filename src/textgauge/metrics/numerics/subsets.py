"""What many draws of sub-corpora share: the different subsets, a partition of their texts, inner products of texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.sizes import blocks

_MOST_SIDES = 62  # one bit for each side that a text is on
_PART_ROWS = 1024  # in a part of a partition: a block of numbers between two of them takes 8 MB
MOST_ROWS = 4_096  # a matrix of 128 MiB
_BLOCK = 256
_MOST_KEPT = 2_048  # up to here the products of directions are kept as well, 32 MiB
_MOST_STRETCHES = 64  # above that, picking single numbers is faster
_LARGEST, _SMALLEST = 1e100, 1e-100  # beyond these, products of entries leave the range of float64
_SHORTEST = 1e-3  # of the longest row: less loses its digits when the mean is taken away


@dataclass(frozen=True, eq=False)
class Subsets:
    """The different sub-corpora of some draws, and which two of them each draw compares."""

    masks: Masks
    left: Ints
    right: Ints
    unit_sizes: Ints | None = None  # texts of each group where masks mark groups

    @classmethod
    def of(cls, left: Masks, right: Masks, unit_sizes: Ints | None = None) -> Subsets:
        """The sides of draws, one pair of masks a row, in the order in which they are first met."""
        both = np.concatenate([left, right])
        numbers: dict[bytes, int] = {}
        which = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.packbits(both, axis=1)]
        first = np.unique(which, return_index=True)[1]
        return cls(both[first], np.array(which[: len(left)]), np.array(which[len(left) :]), unit_sizes)

    def __len__(self) -> int:
        return len(self.masks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subsets) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @cached_property
    def _content(self) -> bytes:
        return b"".join(part.tobytes() for part in (self.masks, self.left, self.right))

    @cached_property
    def sizes(self) -> Ints:
        """How many texts each side has."""
        sizes: Ints = self.masks.sum(axis=1) if self.unit_sizes is None else self.masks @ self.unit_sizes
        return sizes

    @cached_property
    def rows(self) -> list[Ints]:
        """The texts of each side."""
        return [np.flatnonzero(mask) for mask in self.masks]


@dataclass(frozen=True)
class Partition:
    """Texts that are on the same sides, together; `members` says of which parts each side consists."""

    rows: list[Ints]
    members: Masks

    @classmethod
    def of(cls, sides: Subsets) -> Partition | None:
        """The atoms of the sides, large ones in pieces; None where they are many, as for sides drawn at random."""
        if len(sides) > _MOST_SIDES:
            return None
        used = np.flatnonzero(sides.masks.any(axis=0))
        code = sides.masks.T[used] @ (1 << np.arange(len(sides)))
        _, first, atom = np.unique(code, return_index=True, return_inverse=True)
        if len(first) > 2 * len(sides):
            return None
        whole = [used[atom == number] for number in range(len(first))]
        rows = [texts[part] for texts in whole for part in blocks(len(texts), _PART_ROWS)]
        return cls(rows, sides.masks[:, [texts[0] for texts in rows]])


@dataclass(frozen=True)
class Gram:
    """Products of the rows less their mean, in float64, the mean's products with these and itself, the rows' lengths.

    Equal rows have equal products to the last bit. `place` says where in the matrix a row is: rows that are used
    together are best kept together.
    """

    centred: Floats
    along: Floats
    offset: float
    lengths: Floats
    place: Ints

    @classmethod
    def of(cls, rows: NDArray[np.floating[Any]], order: Ints) -> Gram:
        """The products of these rows, put into this order."""
        X = rows.astype(np.float64)
        lengths, mean = np.sqrt(np.einsum("ij,ij->i", X, X)), X.mean(axis=0)
        X -= mean
        along, place = X @ mean, np.argsort(order)
        X = X[order]
        products = _products(X)
        seen: dict[bytes, int] = {}
        for row, content in enumerate(rows):
            first = seen.setdefault(content.tobytes(), row)
            if first != row:
                along[row], products[place[row]] = along[first], products[place[first]]
                products[:, place[row]] = products[:, place[first]]
        return cls(products, along, float(mean @ mean), lengths, place)

    @classmethod
    def fitting(cls, rows: NDArray[np.floating[Any]], order: Ints) -> Gram | None:
        """The products of these rows; None for many rows, extreme numbers and rows of very different lengths."""
        if not 0 < len(rows) <= MOST_ROWS:
            return None
        largest = max(float(rows.max()), -float(rows.min()))
        if not _SMALLEST < largest < _LARGEST:
            return None
        gram = cls.of(rows, order)
        return gram if gram.lengths[gram.lengths > 0].min() >= _SHORTEST * gram.lengths.max() else None

    @property
    def squares(self) -> Floats:
        """Squared lengths of the rows less their mean."""
        return self.centred.diagonal()[self.place]

    def block(self, first: Ints, second: Ints) -> Floats:
        """Products of rows less their mean, first by second."""
        return _picked(self.centred, self.place[first], self.place[second])

    def ordered(self, rows: Ints) -> Ints:
        """The rows in the order of the matrix, in which blocks are read fastest."""
        return np.argsort(self.place[rows])

    def cosines(self, first: Ints, second: Ints) -> Floats:
        """Products of the rows themselves brought to length one; a zero vector stays zero."""
        if len(self.place) <= _MOST_KEPT:
            return _picked(self._cosines, self.place[first], self.place[second])
        return self._as_cosines(self.block(first, second), first, second)

    def _as_cosines(self, block: Floats, first: Ints, second: Ints) -> Floats:
        block += self.along[first, None]
        block += self.along[second] + self.offset
        block *= self._shrink[first, None]
        block *= self._shrink[second]
        return block

    @cached_property
    def _cosines(self) -> Floats:
        order = np.argsort(self.place)
        return self._as_cosines(self.centred.copy(), order, order)

    @cached_property
    def _shrink(self) -> Floats:
        return np.divide(1.0, self.lengths, out=np.zeros_like(self.lengths), where=self.lengths > 0)


def _products(X: Floats) -> Floats:
    """All products of rows: one half by blocks, the other copied, so exactly symmetric."""
    products = np.empty((len(X), len(X)))
    for part in blocks(len(X), _BLOCK):
        rows, after = X[part], slice(part.stop, None)
        np.matmul(rows, rows.T, out=products[part, part])
        np.matmul(rows, X[after].T, out=products[part, after])
        products[after, part] = products[part, after].T
    return products


def _picked(matrix: Floats, rows: Ints, columns: Ints) -> Floats:
    """A copy of some rows and columns of a matrix; places that follow each other are copied together."""
    tall, wide = _stretches(rows), _stretches(columns)
    if len(tall) * len(wide) > _MOST_STRETCHES:
        return matrix[np.ix_(rows, columns)]
    block = np.empty((len(rows), len(columns)))
    for top, down, height in tall:
        for left, across, width in wide:
            block[top : top + height, left : left + width] = matrix[down : down + height, across : across + width]
    return block


def _stretches(places: Ints) -> list[tuple[int, int, int]]:
    """Where places that follow each other start, at which place, and how many they are."""
    cuts = np.flatnonzero(places[1:] - places[:-1] != 1)
    if not len(cuts):
        return [(0, int(places[0]), len(places))] if len(places) else []
    start = np.append(0, cuts + 1)
    length = np.append(start[1:], len(places)) - start
    return list(zip(start.tolist(), places[start].tolist(), length.tolist(), strict=True))
