"""Sums of a symmetric function of two rows, within and across two samples, in bounded memory.

Energy distance and maximum mean discrepancy are both A + B − 2C with A, B the mean within the samples and C the mean
across (energy with k = −δ); so values, draws and standard errors are written once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.progress import advance
from textgauge.core.settings import split_into_blocks

Kernel = Callable[[Floats, Floats], Floats]


MANY_ROWS = 1_000  # from here on sums of distances are taken from float32 blocks
_CELLS = 4_000_000  # distances of rows at once of which groups are summed: 32 MB
_BLOCK = 1_024  # rows of a block: 1,024 × 1,024 float64 is 8 MB, within reach of the cache
_MOMENT_ROWS = 2_000  # rows that estimate the second-order moments; they enter only divided by n²
_STEPS = 30  # of the power method
_NO_DISTANCE = 1e-12  # of equal samples, but for rounding


@dataclass(frozen=True)
class RowSums:
    """For two samples: the sum over the own sample (the row itself left out) and over the other, for every row."""

    xx: Floats
    yy: Floats
    xy: Floats
    yx: Floats
    x_self: Floats
    y_self: Floats

    def discrepancy(self, *, with_self: bool) -> float:
        """Return a + B − 2C; the pairs of a row with itself are counted or left out."""
        n, m = len(self.xx), len(self.yy)
        across = self.xy.sum() / (n * m)
        if with_self:
            a, b = (self.xx.sum() + self.x_self.sum()) / n**2, (self.yy.sum() + self.y_self.sum()) / m**2
        else:
            a, b = self.xx.sum() / (n * (n - 1)), self.yy.sum() / (m * (m - 1))
        return float(a + b - 2.0 * across)

    def means(self, orders: tuple[Ints, Ints]) -> Floats:
        """Return each row's mean over all rows of both samples, itself among them; the rows of a sample in an order."""
        own = self.xx + self.x_self + self.xy, self.yy + self.y_self + self.yx
        return np.concatenate([side[order] for side, order in zip(own, orders, strict=True)]) / sum(map(len, own))

    def terms(self, *, with_self: bool) -> tuple[Floats, Floats]:
        """Return each row's part of A + B − 2C."""
        n, m = len(self.xx), len(self.yy)
        # Blocks of many texts are float32, so that the two sums across differ in the eighth digit: one total for both.
        total, swapped = self.xy.sum(), self.yx.sum()
        yx = self.yx * (total / swapped) if swapped else self.yx
        if with_self:
            own = (self.xx + self.x_self) / n**2, (self.yy + self.y_self) / m**2
        else:
            own = self.xx / (n * (n - 1)), self.yy / (m * (m - 1))
        return own[0] - self.xy / (n * m), own[1] - yx / (n * m)


def compute_row_sums(X: Floats, Y: Floats, kernel: Kernel) -> RowSums:
    """Return one pass over the blocks; symmetric ones are computed once.

    Float32 rows stay so, and those of many different ones become so; their blocks are float32, and sums are added up in
    float64: the mean is within 1e-7 of the float64 one.
    """
    if X.dtype != np.float32 and min(len(X), len(Y)) >= MANY_ROWS and is_mostly_different(X) and is_mostly_different(Y):
        X, Y = X.astype(np.float32), Y.astype(np.float32)
    total, done = (len(X) + len(Y)) * (len(X) + len(Y) + 1) // 2, 0
    sums: list[tuple[Floats, Floats, Floats]] = []  # by row, by column, and of a row with itself
    for A, B, is_within in ((X, X, True), (Y, Y, True), (X, Y, False)):
        by_row, own = np.zeros((2, len(A)))
        by_column = by_row if is_within else np.zeros(len(B))
        parts = split_into_blocks(len(B), _BLOCK)
        for number, a in enumerate(split_into_blocks(len(A), _BLOCK)):
            for b in parts[number:] if is_within else parts:
                block = kernel(A[a], B[b])
                by_row[a] += block.sum(axis=1, dtype=np.float64)
                if is_within and a == b:
                    own[a] = block.diagonal()
                else:
                    by_column[b] += block.sum(axis=0, dtype=np.float64)
            size = a.stop - a.start
            done += size * (size + 1) // 2 + size * (len(A) - a.stop) if is_within else size * len(B)
            advance(done, total, "pairs of texts")
        sums.append((by_row, by_column, own))
    (xx, _, x_self), (yy, _, y_self), (xy, yx, _) = sums
    return RowSums(xx - x_self, yy - y_self, xy, yx, x_self, y_self)


def group_kernel(rows: Floats, n: int, groups: Ints, kernel: Kernel, means: Floats) -> tuple[Floats, Floats, Kernel]:
    """Return groups of two samples, of which the first has n rows, as rows of their numbers, and a kernel of these.

    It is that of sums over groups, centred (`means` are those of the rows) and over the mean size of the sample's
    groups: the mean over groups is then the mean over rows, and a group that is larger by chance is not farther for it.
    """
    order = np.argsort(groups, kind="stable")
    rows, means = rows[order], means[order] - means.mean() / 2.0
    sizes, cut = np.bincount(groups), int(groups[:n].max()) + 1
    starts = np.append(0, np.cumsum(sizes))
    scale = np.repeat([cut / n, (len(sizes) - cut) / (len(rows) - n)], [cut, len(sizes) - cut])

    def compute(A: Floats, B: Floats) -> Floats:
        a, b = (slice(int(side[0, 0]), int(side[-1, 0]) + 1) for side in (A, B))
        columns = slice(starts[b.start], starts[b.stop])
        block = np.empty((len(A), len(B)))
        for some in split_into_blocks(len(A), _CELLS, sizes[a].max() * (columns.stop - columns.start)):
            first, last = starts[a.start + some.start], starts[a.start + some.stop]
            part = kernel(rows[first:last], rows[columns]) - means[first:last, None] - means[columns]
            by_row = np.add.reduceat(part, starts[a][some] - first, axis=0)
            block[some] = np.add.reduceat(by_row, starts[b] - columns.start, axis=1)
        return np.asarray(block * scale[a, None] * scale[b])

    numbers = np.arange(len(sizes), dtype=np.float64)[:, None]
    return numbers[:cut], numbers[cut:], compute


def compute_discrepancies(
    X: Floats, left: Masks, right: Masks, kernel: Kernel, *, with_self: bool
) -> tuple[Floats, Floats]:
    """Compute A + B − 2C and C of many pairs of subsets of the rows, by products with blocks of the kernel matrix."""
    L, R = left.astype(np.float64), right.astype(np.float64)
    sums = np.zeros((3, len(L)))
    diagonal = np.zeros(len(X))
    for b in split_into_blocks(len(X), _BLOCK):
        columns = kernel(X, X[b])
        diagonal[b] = columns[b].diagonal()
        from_left, from_right = L @ columns, R @ columns
        sums[0] += np.einsum("rj,rj->r", from_left, L[:, b])
        sums[1] += np.einsum("rj,rj->r", from_right, R[:, b])
        sums[2] += np.einsum("rj,rj->r", from_left, R[:, b])
    n, m = L.sum(axis=1), R.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if with_self:
            a, b = sums[0] / n**2, sums[1] / m**2
        else:
            a, b = (sums[0] - L @ diagonal) / (n * (n - 1)), (sums[1] - R @ diagonal) / (m * (m - 1))
        return a + b - 2.0 * sums[2] / (n * m), sums[2] / (n * m)


def compute_discrepancy_interval(
    X: Floats, Y: Floats, kernel: Kernel, sums: RowSums, reach: float
) -> tuple[float, float]:
    """Return all δ within `reach` standard errors of the unbiased estimate, the error being the one δ would have.

    To second order (Hoeffding) the variance is V2 + κδ: V2 remains when both samples are alike, κδ comes from the row
    means. The error of a small estimate is small by the same luck that made it small; asking for the error at δ, as
    Wilson did for shares, keeps that luck out.
    """
    n, m, estimate = len(X), len(Y), sums.discrepancy(with_self=False)
    A, B = (rows[:_MOMENT_ROWS].astype(np.float64, copy=False) for rows in (X, Y))
    K, L = kernel(A, A), kernel(B, B)
    xx, yy = (_compute_centred_square(one, True) for one in (K, L))
    xy = _compute_centred_square(kernel(A, B))
    second = 2.0 * xx / (n * (n - 1)) + 2.0 * yy / (m * (m - 1)) + 4.0 * xy / (n * m)
    g_x = sums.xx / (n - 1) - sums.xy / m
    g_y = sums.yy / (m - 1) - sums.yx / n
    first = 4.0 * (g_x.var(ddof=1) / n + g_y.var(ddof=1) / m)  # the noise of the row means adds 2·V2
    # κ lies between its mean over all directions and the largest; equal samples have no distance to divide by.
    distance = sums.discrepancy(with_self=True)
    least = first / distance if distance > _NO_DISTANCE else 0.0
    most = max(4.0 * (_compute_largest_variance(K) / n + _compute_largest_variance(L) / m), least)
    kappa = float(np.clip((first - 2.0 * second) / estimate, least, most)) if estimate > 0 else most
    middle = estimate + reach**2 * kappa / 2.0
    width = np.sqrt(max(middle**2 - estimate**2 + reach**2 * second, 0.0))
    alike = reach * np.sqrt(second)  # below zero the error is that of alike samples
    low = middle - width if estimate > alike else estimate - alike
    return float(low), float(middle + width if estimate > -alike else estimate + alike)


def _compute_largest_variance(K: Floats) -> float:
    """Largest variance of a sample along any one direction of the feature space of its kernel matrix."""
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    vector = K[:, np.argmax(K.diagonal())]
    for _ in range(_STEPS + 1):
        vector = K @ (vector / max(float(np.linalg.norm(vector)), 1e-300))
    return float(np.linalg.norm(vector) / len(K))


def _compute_centred_square(K: Floats, symmetric: bool = False) -> float:
    """Mean square of the doubly centred kernel; of a sample with itself without the diagonal."""
    if not symmetric:
        return float(((K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()) ** 2).mean())
    n = len(K)
    off = ~np.eye(n, dtype=bool)
    means = (K.sum(axis=1) - K.diagonal()) / (n - 1)
    centred = K - means - means[:, None] + means.mean()
    return float((centred[off] ** 2).mean())


def is_mostly_different(X: NDArray[np.floating[Any]]) -> bool:
    """Return whether hardly any rows are equal: the distance of equal rows is where float32 products err most."""
    direction = np.linspace(0.5, 1.5, X.shape[1])
    projected = np.concatenate([X[some] @ direction for some in split_into_blocks(len(X), _BLOCK)])
    return len(np.unique(projected)) >= 0.99 * len(X)
