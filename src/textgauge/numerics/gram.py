"""Inner products between all texts of a small corpus: one matrix serves all metrics and all of its sub-corpora."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

MOST_ROWS = 4_096  # a matrix of 128 MiB
_BLOCK = 256
_MOST_KEPT = 2_048  # up to here the products of directions are kept as well, 32 MiB
_MOST_STRETCHES = 64  # above that, picking single numbers is faster
_LARGEST, _SMALLEST = 1e100, 1e-100  # beyond these, products of entries leave the range of float64


@dataclass(frozen=True)
class Gram:
    """Products of the rows less their mean, in float64, the mean's products with these and itself, the rows' lengths.

    Equal rows have equal products to the last bit. `place` tells where in the matrix a row is: rows that are looked at
    together are best kept together.
    """

    centred: Floats
    along: Floats
    offset: float
    lengths: Floats
    place: Index

    @classmethod
    def of(cls, rows: NDArray[np.floating[Any]], order: Index) -> Gram:
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
    def fitting(cls, rows: NDArray[np.floating[Any]], order: Index) -> Gram | None:
        """The products of these rows; None for many rows and for extreme numbers."""
        if not 0 < len(rows) <= MOST_ROWS:
            return None
        largest = max(float(rows.max()), -float(rows.min()))
        return cls.of(rows, order) if _SMALLEST < largest < _LARGEST else None

    @property
    def squares(self) -> Floats:
        """Squared lengths of the rows less their mean."""
        return self.centred.diagonal()[self.place]

    def block(self, first: Index, second: Index) -> Floats:
        """Products of rows less their mean, first by second."""
        return _picked(self.centred, self.place[first], self.place[second])

    def ordered(self, rows: Index) -> Index:
        """The rows in the order of the matrix, in which blocks are read fastest."""
        return np.argsort(self.place[rows])

    def cosines(self, first: Index, second: Index) -> Floats:
        """Products of the rows themselves brought to length one; a zero vector stays zero."""
        if len(self.place) <= _MOST_KEPT:
            return _picked(self._cosines, self.place[first], self.place[second])
        return self._turned(self.block(first, second), first, second)

    def _turned(self, block: Floats, first: Index, second: Index) -> Floats:
        block += self.along[first, None]
        block += self.along[second] + self.offset
        block *= self._shrink[first, None]
        block *= self._shrink[second]
        return block

    @cached_property
    def _cosines(self) -> Floats:
        order = np.argsort(self.place)
        return self._turned(self.centred.copy(), order, order)

    @cached_property
    def _shrink(self) -> Floats:
        return np.divide(1.0, self.lengths, out=np.zeros_like(self.lengths), where=self.lengths > 0)


def _products(X: Floats) -> Floats:
    """All products of rows: one half by blocks, the other copied, so exactly symmetric."""
    products = np.empty((len(X), len(X)))
    for start in range(0, len(X), _BLOCK):
        stop = min(start + _BLOCK, len(X))
        rows = X[start:stop]
        np.matmul(rows, rows.T, out=products[start:stop, start:stop])
        np.matmul(rows, X[stop:].T, out=products[start:stop, stop:])
        products[stop:, start:stop] = products[start:stop, stop:].T
    return products


def _picked(matrix: Floats, rows: Index, columns: Index) -> Floats:
    """A copy of some rows and columns of a matrix; places that follow each other are copied together."""
    tall, wide = _stretches(rows), _stretches(columns)
    if len(tall) * len(wide) > _MOST_STRETCHES:
        return matrix[np.ix_(rows, columns)]
    block = np.empty((len(rows), len(columns)))
    for top, down, height in tall:
        for left, across, width in wide:
            block[top : top + height, left : left + width] = matrix[down : down + height, across : across + width]
    return block


def _stretches(places: Index) -> list[tuple[int, int, int]]:
    """Where places that follow each other start, at which place, and how many they are."""
    cuts = np.flatnonzero(places[1:] - places[:-1] != 1)
    if not len(cuts):
        return [(0, int(places[0]), len(places))] if len(places) else []
    start = np.append(0, cuts + 1)
    length = np.append(start[1:], len(places)) - start
    return list(zip(start.tolist(), places[start].tolist(), length.tolist(), strict=True))
