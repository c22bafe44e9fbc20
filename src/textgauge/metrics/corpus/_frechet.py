"""The Fréchet distance without matrix square roots.

tr((ΣX ΣY)^½) is the nuclear norm of F G^T for any factors with F^T F = ΣX and G^T G = ΣY: the centred rows themselves
where there are fewer rows than dimensions, a Cholesky factor of the covariance otherwise.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.metrics.corpus._gram import Gram
from textgauge.metrics.corpus._sides import Sides
from textgauge.stats.parallel import map_threads

Rows = NDArray[np.float64]

_FEW_SIDES = 64  # so many factors of 1 MB may be kept
_MANY_ROWS = 4_000
_FLOAT32_BLOCK = 512


def frechet(X: NDArray[np.floating], Y: NDArray[np.floating]) -> float:
    """‖μX − μY‖² + tr(ΣX + ΣY − 2(ΣXΣY)^½)."""
    return _between(_moments(X), _moments(Y))


def _between(first: Moments, second: Moments) -> float:
    gap = float(((first.mean - second.mean) ** 2).sum())
    root = nuclear_norm(first.factor @ second.factor.T)
    return max(gap + first.trace + second.trace - 2.0 * root, 0.0)


def nuclear_norm(M: Rows) -> float:
    """Sum of singular values, from the eigenvalues of the smaller Gram matrix.

    Eigenvalues below rounding (the usual numerical rank) are zeros and must not enter as square roots of noise.
    """
    if not M.size:  # a constant sample has a factor without rows
        return 0.0
    gram = M @ M.T if M.shape[0] <= M.shape[1] else M.T @ M
    eigenvalues = np.linalg.eigvalsh(gram)
    noise = len(gram) * np.finfo(np.float64).eps * eigenvalues[-1]
    return float(np.sqrt(eigenvalues[eigenvalues > noise]).sum())


def frechet_many(rows: NDArray[np.floating], sides: Sides) -> Rows:
    """`frechet` of all draws of these sides; NaN where a side has fewer than two rows."""
    X = rows - rows.mean(axis=0, dtype=np.float64)  # the distance does not move with the origin, and cancels less
    moments = cache(lambda side: _moments(X[sides.masks[side]]))  # of a side that many draws share, once
    shared = len(sides) < _FEW_SIDES

    def one(draw: int) -> float:
        a, b = int(sides.left[draw]), int(sides.right[draw])
        if min(sides.sizes[a], sides.sizes[b]) < 2:
            return np.nan
        return _between(moments(a), moments(b)) if shared else frechet(X[sides.masks[a]], X[sides.masks[b]])

    return map_threads(one, len(sides.left))


def frechet_from_gram(gram: Gram, sides: Sides) -> Rows:
    """`frechet_many` without the rows, which is faster for sides that are small against the dimension."""
    n, within, diagonal = sides.sizes.astype(np.float64), np.zeros(len(sides)), gram.squares
    ordered = [rows[gram.ordered(rows)] for rows in sides.rows]
    for side, rows in enumerate(ordered):
        within[side] = gram.block(rows, rows).mean() if len(rows) else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):  # sides of one text
        traces = (sides.masks @ diagonal - n * within) / (n - 1.0)

    def one(draw: int) -> float:
        a, b = int(sides.left[draw]), int(sides.right[draw])
        if min(n[a], n[b]) < 2:
            return np.nan
        across = gram.block(ordered[a], ordered[b])
        mean = float(across.mean())
        across -= across.mean(axis=0) - mean
        across -= across.mean(axis=1)[:, None]
        gap = max(float(within[a] + within[b]) - 2.0 * mean, 0.0)
        root = nuclear_norm(across) / float(np.sqrt((n[a] - 1.0) * (n[b] - 1.0)))
        return max(gap + float(traces[a] + traces[b]) - 2.0 * root, 0.0)

    return map_threads(one, len(sides.left))


class Moments(NamedTuple):
    """Mean, trace of the covariance, and a factor F with F^T F = covariance."""

    mean: Rows
    trace: float
    factor: Rows


def _moments(X: NDArray[np.floating]) -> Moments:
    n, d = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    if n <= d:
        F = X - mean
        F *= 1.0 / np.sqrt(n - 1.0)
        return Moments(mean, float(np.vdot(F, F)), F)
    covariance = _scatter(X, mean) / (n - 1.0)
    return Moments(mean, float(np.trace(covariance)), _factor(covariance))


def _scatter(X: NDArray[np.floating], mean: Rows) -> Rows:
    """Sum of the outer products of the centred rows.

    Many float32 rows are multiplied as float32 in short blocks and added up in float64: twice as fast, within 1e-6 of
    the float64 distance (2e-9 on 10,000 sentence embeddings, where the rounding of the blocks averages out).
    """
    if X.dtype != np.float32 or len(X) < _MANY_ROWS:
        centred = X - mean
        return np.asarray(centred.T @ centred)
    near = mean.astype(np.float32)
    total = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), _FLOAT32_BLOCK):
        block = X[start : start + _FLOAT32_BLOCK] - near
        total += block.T @ block
    return total - len(X) * np.outer(mean - near, mean - near)


def _factor(covariance: Rows) -> Rows:
    """Cholesky; with pivots where the covariance is singular (repeated texts, constant coordinates)."""
    from scipy.linalg.lapack import dpotrf, dpstrf

    upper, failed = dpotrf(covariance)
    if not failed:
        return np.asarray(upper)
    upper, pivots, rank, _ = dpstrf(covariance, tol=len(covariance) * 1e-16 * covariance.diagonal().max())
    factor = np.empty((rank, len(covariance)))
    factor[:, pivots - 1] = np.triu(upper)[:rank]
    return factor
