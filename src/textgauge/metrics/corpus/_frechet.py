"""The Fréchet distance without matrix square roots.

tr((ΣX ΣY)^½) is the nuclear norm of F G^T for any factors with F^T F = ΣX and G^T G = ΣY: the centred rows themselves
where there are fewer rows than dimensions, a Cholesky factor of the covariance otherwise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Draws
from textgauge.metrics.corpus._gram import Gram
from textgauge.metrics.corpus._sides import Sides
from textgauge.stats.parallel import map_threads

Rows = NDArray[np.float64]

_AT_ONCE = 256  # draws whose sides are kept
_MANY_ROWS = 4_000
_FLOAT32_BLOCK = 512


def frechet(X: NDArray[np.floating], Y: NDArray[np.floating]) -> float:
    """‖μX − μY‖² + tr(ΣX + ΣY − 2(ΣXΣY)^½)."""
    mean_x, trace_x, F = _moments(X)
    mean_y, trace_y, G = _moments(Y)
    gap = float(((mean_x - mean_y) ** 2).sum())
    return max(gap + trace_x + trace_y - 2.0 * nuclear_norm(F @ G.T), 0.0)


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


def frechet_many(rows: NDArray[np.floating], draws: Draws, gram: Gram | None) -> Rows:
    """`frechet` of many pairs of subsets of the rows; NaN where a side has fewer than two rows.

    With products of all rows and sides that are small against the dimension, the rows themselves are not needed.
    """
    sizes = np.minimum(draws.left.sum(axis=1), draws.right.sum(axis=1))
    if gram is not None and np.median(sizes) < rows.shape[1] / 2:
        return np.concatenate([_from_gram(gram.centred, Sides.of(some)) for some in draws.chunks(_AT_ONCE)])
    X = rows - rows.mean(axis=0, dtype=np.float64)  # the distance does not move with the origin, and cancels less

    def one(draw: int) -> float:
        return frechet(X[draws.left[draw]], X[draws.right[draw]]) if sizes[draw] > 1 else np.nan

    return map_threads(one, len(draws))


def _from_gram(gram: Rows, sides: Sides) -> Rows:
    """The distances of all draws: means and traces of all sides at once, one nuclear norm for each draw."""
    members = sides.masks.astype(np.float64)
    n = sides.sizes.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # sides of one text
        to_mean = members @ gram / n[:, None]  # products of each side's mean with all rows
        means = to_mean @ members.T / n
        traces = (members @ gram.diagonal() - n * means.diagonal()) / (n - 1.0)

    def one(draw: int) -> float:
        a, b = int(sides.left[draw]), int(sides.right[draw])
        if min(n[a], n[b]) < 2:
            return np.nan
        rows, columns = sides.rows[a], sides.rows[b]
        across = gram[np.ix_(rows, columns)]
        across -= to_mean[a, columns] - means[a, b]
        across -= to_mean[b, rows, None]
        gap = max(means[a, a] + means[b, b] - 2.0 * means[a, b], 0.0)
        root = nuclear_norm(across) / np.sqrt((n[a] - 1.0) * (n[b] - 1.0))
        return max(float(gap + traces[a] + traces[b]) - 2.0 * root, 0.0)

    return map_threads(one, len(sides.left))


def _moments(X: NDArray[np.floating]) -> tuple[Rows, float, Rows]:
    """Mean, trace of the covariance, and a factor F with F^T F = covariance."""
    n, d = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    if n <= d:
        F = X - mean
        F *= 1.0 / np.sqrt(n - 1.0)
        return mean, float(np.vdot(F, F)), F
    covariance = _scatter(X, mean) / (n - 1.0)
    return mean, float(np.trace(covariance)), _factor(covariance)


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
