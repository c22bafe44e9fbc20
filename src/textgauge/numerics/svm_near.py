"""Large support vector problems on rows as they stand, from float32 products that the problems share.

A product depends on its two rows alone, so that a problem has the same kernel whoever shares it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from textgauge.numerics.native import kernels
from textgauge.numerics.svm_kernel import Doubles, Floats, Index, Rows, scale
from textgauge.numerics.svm_solver import solve_by_products

SHARED_PRODUCTS = 6_144  # so many rows have their products, 144 MiB, computed once for all problems
FARTHEST = 4.0  # mean gamma·‖x‖²; about 3e-7 of it is the error of an exponent, which centred rows keep down
_CELLS = 1 << 24  # products, 64 MiB, with rows to decide about at a time


@dataclass(frozen=True)
class Near:
    """Rows, what the variance of any subset needs, and products of those that some problems share."""

    rows: Floats
    sums: Doubles
    squares: Floats
    products: Floats | None = None
    place: Index | None = None  # of a row in the products
    room: Floats | None = None  # for the kernel of one problem after the other

    @classmethod
    def of(cls, rows: Rows) -> Near:
        """Those of these rows."""
        X = np.ascontiguousarray(rows, dtype=np.float32)
        return cls(X, X.sum(axis=1, dtype=np.float64), kernels.squares(X))

    def gamma(self, train: Index) -> float:
        """That of rows to train on."""
        return scale(self.rows.shape[1], self._moments(train)[1])

    def holds(self, train: Index) -> bool:
        """Whether rows to train on are near enough to the origin, for their spread, not to be centred."""
        square, variance = self._moments(train)
        return square <= FARTHEST * variance

    def _moments(self, train: Index) -> tuple[float, float]:
        """Mean square and variance of all entries."""
        entries = len(train) * self.rows.shape[1]
        mean, square = self.sums[train].sum() / entries, self.squares[train].sum(dtype=np.float64) / entries
        return float(square), float(square - mean * mean)

    def shared(self, problems: Sequence[tuple[Index, Index]]) -> Near:
        """With the products of all rows of some problems, if these are fewer than those of one after the other."""
        used = np.zeros(len(self.rows), dtype=bool)
        for train, test in problems:
            used[train] = used[test] = True
        many = np.count_nonzero(used)
        if many > SHARED_PRODUCTS or many**2 >= sum(len(train) ** 2 for train, _ in problems):
            return self
        room = np.empty(max(len(train) for train, _ in problems) ** 2, dtype=np.float32)
        return replace(self, products=kernels.products(self.rows[used]), place=np.cumsum(used) - 1, room=room)

    def solve(self, train: Index, labels: Floats) -> tuple[Doubles, float]:
        """Coefficients and intercept of a problem."""
        squares, gamma = self.squares[train], self.gamma(train)
        if self.products is not None and self.place is not None:
            return solve_by_products(self.products, self.place[train], squares, labels, gamma, self.room)
        distinct, place = np.unique(train, return_inverse=True)
        products, copies = kernels.products(self.rows[distinct]), not np.array_equal(distinct, train)
        return solve_by_products(products, place if copies else None, squares, labels, gamma)

    def weighted(self, test: Index, support: Index, weight: Doubles, gamma: float) -> Doubles:
        """Σ weight · k(support, x) for each row x of a test."""
        squares = self.squares[test], self.squares[support]
        if self.products is not None and self.place is not None:
            places = self.place[test], self.place[support]
            return kernels.rbf_weighted(self.products, places, squares, weight, factor=-gamma)
        found, right = np.empty(len(test)), self.rows[support]
        size = max(1, _CELLS // max(1, len(support)))
        for start in range(0, len(test), size):
            part = slice(start, start + size)
            products = kernels.products(self.rows[test[part]], right)
            places = np.arange(len(products)), np.arange(len(support))
            found[part] = kernels.rbf_weighted(products, places, (squares[0][part], squares[1]), weight, factor=-gamma)
        return found
