"""k-means by the kernels: small problems by products of their rows, larger ones by bounds of distances."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textgauge.native.library import call, checked

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Index = NDArray[np.int64]

_ROUNDING = 2.0**-23  # of a bound, for each step


def lloyd_by_products(
    products: Doubles, weights: Doubles, starts: Index, *, steps: int
) -> tuple[Index, Doubles] | None:
    """Labels and objectives of restarts that begin at these rows, restarts by k; None where a cluster ran empty."""
    (restarts, k), n = starts.shape, len(weights)
    checked(products, np.float64, n, n), checked(weights, np.float64, n), checked(starts, np.int64, restarts, k)
    if starts.min() < 0 or starts.max() >= n:
        raise ValueError("a restart begins at a row that is not there")
    labels, objectives = np.empty((restarts, n), dtype=np.int64), np.empty(restarts)
    work, places = np.empty(2 * k * n + n + 2 * k), np.empty(n + k, dtype=np.int64)
    told = products, weights, starts, labels, objectives, work, places
    return None if call("kmeans_by_products", n, k, restarts, steps, *told) else (labels, objectives)


@dataclass
class Rows:
    """Rows to be clustered, how often each counts, and the same in float32 with a column of ones.

    Scores x·c − ‖c‖²/2 by float32 products are right to `unclear`.
    """

    X: Doubles
    weights: Doubles
    narrow: Floats
    unclear: float
    squares: Doubles = field(init=False)

    def __post_init__(self) -> None:
        n, d = self.X.shape
        checked(self.X, np.float64, n, d), checked(self.weights, np.float64, n)
        checked(self.narrow, np.float32, n, d + 1)
        self.squares = np.einsum("ij,ij->i", self.X, self.X)


@dataclass
class Lloyd:
    """The state of one restart: centroids to begin with, which are overwritten, and space for bounds, rows by k."""

    rows: Rows
    centroids: Doubles
    lower: Floats
    labels: Index = field(init=False)
    sums: Doubles = field(init=False)
    sizes: Doubles = field(init=False)

    def __post_init__(self) -> None:
        (n, d), k = self.rows.X.shape, len(self.centroids)
        checked(self.centroids, np.float64, k, d), checked(self.lower, np.float32, n, k)
        self._shape = n, d, k
        self.labels, self._counted = np.full((2, n), -1, dtype=np.int64)
        self.sums, self.sizes = np.zeros((k, d)), np.zeros(k)
        self._bounded, self._halves = np.empty((k, d)), np.empty(k)
        self._narrow = np.empty((k, d + 1), dtype=np.float32)
        self._own, self._moved = np.empty(n), np.empty(k, dtype=np.int64)
        self._drift = np.empty(k, dtype=np.float32)

    def assign(self, *, block: int, bounds: bool) -> None:
        """Give all rows to their nearest centroids, so many scores at a time; and set their bounds."""
        n, d, k = self._shape
        self._bounded[:] = self._narrow[:, :-1] = self.centroids
        self._halves[:] = 0.5 * np.einsum("ij,ij->i", self.centroids, self.centroids)
        self._narrow[:, -1] = -self._halves
        self._drift[:] = 0.0
        self._moved[:] = True
        step = max(1, block // k)
        for part in (slice(start, start + step) for start in range(0, n, step)):
            X, near = self.rows.X[part], self.rows.narrow[part] @ self._narrow.T
            given = X, self.rows.squares[part], self.centroids, self._halves, near, self.rows.unclear
            state = self.labels[part], self._own[part], self.lower[part] if bounds else None
            call("kmeans_assign", len(X), d, k, *given, *state)

    def means(self) -> int:
        """Move the centroids to the means of their rows; how many have none, and stay."""
        told = self.labels, self._counted, self.sums, self.sizes, self.centroids, self._moved
        return call("kmeans_means", *self._shape, self.rows.X, self.rows.weights, *told)

    def run(self, steps: int) -> int:
        """Take steps until a centroid has no rows, and tell how many have none; 0 after the last, −1 at the end."""
        # Centroids that were pushed for an empty one go back to their means, which is a step.
        self._moved.fill(not self.sizes.all())
        rows, slack = self.rows, float((steps + 2) * _ROUNDING * 4.0 * np.sqrt(self.rows.squares.max()))
        clusters = self.centroids, self._bounded, self._narrow, self._halves, self.sums, self.sizes
        state = self.labels, self._counted, self._moved, self._own, self.lower, self._drift
        given = rows.X, rows.weights, rows.squares, rows.narrow
        return call("kmeans_run", *self._shape, steps, *given, *clusters, *state, rows.unclear, slack)
