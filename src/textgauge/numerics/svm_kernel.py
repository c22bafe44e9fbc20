"""The RBF kernel between rows.

Small tasks share squared distances: products are float64 and only distances are float32, so that a task has the same
distances whichever tasks share them. A large task has a kernel of its own, by float32 products of centred rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Index = NDArray[np.intp]
Rows = NDArray[np.floating[Any]]

_BLOCK = 256  # rows of a large kernel made at a time
_STRIP = 32  # rows of distances made from products at a time, which stay in the second cache
ABOVE_ONE = np.float32(1.0 + 1e-6)  # keeps the curvature between two equal texts above zero


@dataclass(frozen=True)
class Products:
    """A matrix of products of rows, and where in it each row is; the rows are those of a task times `unit`."""

    matrix: Doubles
    place: Index
    unit: float = 1.0

    def over(self, unit: float) -> Products:
        """The products as they stand for rows divided by a power of two."""
        return Products(self.matrix, self.place, unit)


@dataclass(frozen=True)
class Distances:
    """Products of rows, from which squared distances come, and what the variance of any subset needs."""

    products: Products
    sums: Doubles
    squares: Doubles
    dimension: int
    whole: Floats | None = None  # all squared distances, where tasks look at most of them

    @classmethod
    def of(cls, rows: Rows, products: Products | None = None) -> Distances:
        """Those of these rows, from products of the same about any origin where there are some."""
        X = rows.astype(np.float64)
        given = products or Products(X @ X.T, np.arange(len(X)))
        return cls(given, X.sum(axis=1), np.einsum("ij,ij->i", X, X), X.shape[1])

    def gamma(self, train: Index) -> float:
        """That of rows to train on."""
        entries = len(train) * self.dimension
        mean, square = self.sums[train].sum() / entries, self.squares[train].sum() / entries
        return scale(self.dimension, float(square - mean * mean))

    def kernel(self, left: Index, right: Index, gamma: float) -> Floats:
        """exp(−gamma·‖x − y‖²)."""
        return self._rbf(left, right, gamma, np.float32(0.0), np.float32(1.0))

    def curvature(self, rows: Index, gamma: float) -> Floats:
        """1 less the kernel among rows."""
        return self._rbf(rows, rows, gamma, ABOVE_ONE, np.float32(-1.0))

    def prepared(self) -> Distances:
        """With all distances at hand, in the order of the products."""
        matrix, factor = self.products.matrix, self.products.unit**-2
        whole, norms = np.empty(matrix.shape, dtype=np.float32), matrix.diagonal()
        for start in range(0, len(matrix), _STRIP):
            part = slice(start, start + _STRIP)
            whole[part] = _squared(matrix[part].copy(), norms[part], norms, factor)
        return replace(self, whole=whole)

    def _rbf(self, left: Index, right: Index, gamma: float, start: np.float32, sign: np.float32) -> Floats:
        """start + sign·exp(−gamma·‖x − y‖²)."""
        left, right = self.products.place[left], self.products.place[right]
        if self.whole is not None:
            picked = self.whole.ravel().take(len(self.whole) * left[:, None] + right)
            return rbf(picked, -gamma, start, sign)
        norms, factor = self.products.matrix.diagonal(), self.products.unit**-2
        block = _squared(self.products.matrix[np.ix_(left, right)], norms[left], norms[right], factor)
        return rbf(block.astype(np.float32), -gamma, start, sign)


def scale(dimension: int, variance: float) -> float:
    """gamma = 1 / (d · variance of all training entries); where all are equal, any gamma gives the same decisions."""
    return 1.0 / (dimension * variance) if variance > 1e-13 else 1.0


def _squared(products: Doubles, left: Doubles, right: Doubles, factor: float) -> Doubles:
    """‖x‖² + ‖y‖² − 2⟨x, y⟩ times a factor, in place of the products."""
    products *= -2.0
    products += left[:, None]
    products += right
    np.maximum(products, 0.0, out=products)
    products *= factor
    return products


def rbf(squared: Floats, factor: float, start: np.float32, sign: np.float32) -> Floats:
    """start + sign·exp(factor·x), in place; an exponent that rounding moved above 0 is 0."""
    squared *= np.float32(factor)
    np.minimum(squared, 0.0, out=squared)
    np.exp(squared, out=squared)
    squared *= sign
    squared += start
    return squared


def scaled(train: Rows, test: Rows) -> tuple[Floats, Floats]:
    """Rows with k(x, y) = exp(−‖x − y‖²): centred, times √gamma."""
    centre = train.mean(axis=0, dtype=np.float64)
    near = centre.astype(train.dtype)
    left, right = (train - near).astype(np.float32, copy=False), (test - near).astype(np.float32, copy=False)
    within = np.einsum("ij,ij->i", left, left).sum(dtype=np.float64) / left.size
    factor = np.float32(np.sqrt(scale(len(centre), within + float(centre.var()))))
    left *= factor
    right *= factor
    return left, right


def curvatures(rows: Floats) -> Floats:
    """1 − k(x, y) between all rows: the lower triangle by blocks, mirrored, so exactly symmetric."""
    n, (left, right) = len(rows), (_as_left(rows), _as_right(rows))
    matrix = np.empty((n, n), dtype=np.float32)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        matrix[start:stop, :stop] = rbf(left[start:stop] @ right[:stop].T, 1.0, ABOVE_ONE, np.float32(-1.0))
        for first in range(0, start, _BLOCK):
            matrix[first : first + _BLOCK, start:stop] = matrix[start:stop, first : first + _BLOCK].T
    return matrix


def weighted(test: Floats, support: Floats, weight: Doubles) -> Doubles:
    """Σ weight · k(support, x) for each test row x, by blocks."""
    left, right = _as_left(test), _as_right(support)
    parts = (left[start : start + _BLOCK] @ right.T for start in range(0, len(test), _BLOCK))
    return np.concatenate([rbf(part, 1.0, np.float32(0.0), np.float32(1.0)) @ weight for part in parts])


def _as_left(rows: Floats) -> Floats:
    """Rows whose products with those of `_as_right` are −‖x − y‖² = 2⟨x, y⟩ − ‖x‖² − ‖y‖²."""
    return np.column_stack([rows, -np.einsum("ij,ij->i", rows, rows), np.ones(len(rows), dtype=np.float32)])


def _as_right(rows: Floats) -> Floats:
    return np.column_stack([rows + rows, np.ones(len(rows), dtype=np.float32), -np.einsum("ij,ij->i", rows, rows)])
