"""k-means by the kernels: small problems by products of their rows, larger ones by bounds of distances."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.native.library import call, checked

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Shorts = NDArray[np.int16]
Index = NDArray[np.int64]

_ROUNDING = 2.0**-23  # of a bound, for each step
_GROUP, _FOUR, _TALL, _BLOCK = 16, 4, 4, 48  # of the C files


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
    """Rows to be clustered, how often each counts, and the same rows times `scale` in 16 bits.

    From products in 16 bits, scores x·c − ‖c‖²/2 are right to half of `unclear`.
    """

    X: Doubles
    weights: Doubles
    squares: Doubles = field(init=False)
    narrow: Shorts = field(init=False)
    scale: float = field(init=False)
    unclear: float = field(init=False)

    def __post_init__(self) -> None:
        n, d = self.X.shape
        checked(self.X, np.float64, n, d), checked(self.weights, np.float64, n)
        self.squares = np.einsum("ij,ij->i", self.X, self.X)
        longest, widest = float(np.sqrt(self.squares.max())), float(max(self.X.max(), -self.X.min()))
        # No product of rows leaves 32 bits, nor does one with a centroid that a split pushed a little beyond them.
        self.scale = min(32_000 / widest, 44_000 / longest) if 0 < longest < np.inf else 1.0
        self.narrow = np.zeros((_whole(n, _TALL), _whole(d, _GROUP)), dtype=np.int16)
        np.rint(self.scale * self.X, out=self.narrow[:n, :d], casting="unsafe")
        self.unclear = doubt(d, longest, self.scale)


def doubt(dimension: int, longest: float, scale: float) -> float:
    """Scores by products in 16 bits that differ by less may be the other way round.

    Each number of both factors is off by half a unit at most, a row so by half a unit times √d; what float32 adds to
    that is small. No centroid is longer than the longest row, but for the push of a split.
    """
    rounding = 0.5 * float(np.sqrt(dimension)) / scale
    return 2.0 * (2.05 * longest * rounding + 8.0 * 2.0**-24 * 1.6 * longest**2)


def bounds_for(rows: int, k: int) -> Floats:
    """Space for the bounds of a restart."""
    return np.empty((rows, _whole(k, _GROUP)), dtype=np.float32)


@dataclass
class Lloyd:
    """The state of one restart: centroids to begin with, which are overwritten, and space for bounds."""

    rows: Rows
    centroids: Doubles
    lower: Floats
    labels: Index = field(init=False)
    sums: Doubles = field(init=False)
    sizes: Doubles = field(init=False)

    def __post_init__(self) -> None:
        (n, d), k, width = self.rows.X.shape, len(self.centroids), self.rows.narrow.shape[1]
        across = _whole(k, _GROUP)
        groups = _whole(across // _GROUP, _FOUR)
        checked(self.centroids, np.float64, k, d), checked(self.lower, np.float32, n, across)
        self._shape = n, d, k, width, across, groups
        self.labels, self._counted = np.full((2, n), -1, dtype=np.int64)
        self.sums, self.sizes, self._moved = np.zeros((k, d)), np.zeros(k), np.empty(k, dtype=np.int64)
        self._bounded, self._halves = np.empty((k, d)), np.full(across, np.inf)
        self._narrow = np.zeros((across, width), dtype=np.int16)
        self._tight, self._since = np.empty((2, n), dtype=np.float32)
        self._lowest = np.full((n, groups), np.inf, dtype=np.float32)
        self._drift, self._farthest = np.empty(across, dtype=np.float32), np.empty(groups, dtype=np.float32)

    def assign(self, *, bounds: bool) -> None:
        """Give all rows to their nearest centroids, and set their bounds."""
        _, _, k, _, across, _ = self._shape
        self._bounded[:] = self.centroids
        self._halves[:k] = 0.5 * np.einsum("ij,ij->i", self.centroids, self.centroids)
        self._drift[:], self._farthest[:], self._since[:], self._moved[:] = 0.0, 0.0, 0.0, True
        packed, products = np.empty_like(self._narrow), np.empty((_BLOCK, across), dtype=np.int32)
        space = packed, products, np.empty(2 * across, dtype=np.float32)
        state = self.labels, self._tight, self.lower if bounds else None, self._lowest
        call("kmeans_assign", *self._shape, *self._given, *space, *state)

    def means(self) -> int:
        """Move the centroids to the means of their rows; how many have none, and stay."""
        told = self.labels, self._counted, self.sums, self.sizes, self.centroids, self._moved
        return call("kmeans_means", *self._shape[:3], self.rows.X, self.rows.weights, *told)

    def run(self, steps: int) -> int:
        """Take steps until a centroid has no rows, and tell how many have none; 0 after the last, −1 at the end."""
        # Centroids that were pushed for an empty one go back to their means, which is a step.
        self._moved.fill(not self.sizes.all())
        slack = float((steps + 2) * _ROUNDING * 4.0 * np.sqrt(self.rows.squares.max()))
        clusters = self._bounded, self.sums, self.sizes, self.labels, self._counted, self._moved
        bounds = self._tight, self._since, self.lower, self._lowest, self._drift, self._farthest
        return call("kmeans_run", *self._shape, *self._given, steps, self.rows.weights, slack, *clusters, *bounds)

    @property
    def _given(self) -> tuple[Doubles | Shorts | float, ...]:
        """What all kernels read."""
        rows = self.rows
        return rows.X, rows.squares, rows.narrow, rows.scale, rows.unclear, self.centroids, self._halves, self._narrow


def _whole(size: int, unit: int) -> int:
    return -(-size // unit) * unit
