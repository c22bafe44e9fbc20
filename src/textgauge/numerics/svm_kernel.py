"""The RBF kernel between rows, from squared distances that many small tasks share.

Products are float64 and only distances are float32, so that a task has the same distances whoever shares them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.native import kernels

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Index = NDArray[np.intp]
Rows = NDArray[np.floating[Any]]

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
            return rbf_picked(self.whole, (left, right), -gamma, start, sign)
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
    if kernels.built():
        return kernels.rbf(squared, factor, float(start), float(sign))
    squared *= np.float32(factor)
    np.minimum(squared, 0.0, out=squared)
    np.exp(squared, out=squared)
    squared *= sign
    squared += start
    return squared


def rbf_picked(
    squared: Floats, places: tuple[Index, Index], factor: float, start: np.float32, sign: np.float32
) -> Floats:
    """The same of some rows and columns of a square matrix, which stays."""
    left, right = places
    if kernels.built():
        return kernels.rbf_picked(squared, left, right, factor, float(start), float(sign))
    return rbf(squared.ravel().take(len(squared) * left[:, None] + right), factor, start, sign)
