"""Rows: distances between two of them, length one, sums by groups, principal components, and the Fréchet distance.

tr((ΣX ΣY)^½) is the nuclear norm of F G^T for any factors with F^T F = ΣX and G^T G = ΣY: the centred rows themselves
where there are fewer rows than dimensions, a Cholesky factor of the covariance otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Embeddings, Floats, Ints, Masks
from textgauge.core.parallel import map_threads
from textgauge.core.settings import split_into_blocks
from textgauge.data.pool import compute_mean_rows, iterate_rows
from textgauge.data.view import Draws

# A column whose middle is this many times the widest range of a column costs squared distances six digits or more.
_FAR = 1e3
# Vectors are stored as float32 (spacing 6e-8 near 1): a smaller angle between two of them is rounding, not distance.
_SAME_DIRECTION = 1.0 - 1e-14


def scale_to_units(X: NDArray[np.floating], *, padded: bool = False) -> Floats:
    """Return rows scaled to length one, in float64; a zero row gets a direction of its own, shared by all zero rows.

    So zero vectors are at cosine distance 0 from each other and 1 from everything else. Rows that are to be compared
    must be prepared together, or `padded`: with the column of that direction, whether there is a zero row or not.
    """
    X64 = np.asarray(X, dtype=np.float64)
    norms = np.linalg.norm(X64, axis=1)
    zero = norms == 0
    units: Floats = X64 / np.where(zero, 1.0, norms)[:, None]
    return np.column_stack([units, zero.astype(np.float64)]) if padded or zero.any() else units


def cosine(X: Floats, Y: Floats) -> Floats:
    """1 − cos, of unit rows."""
    block = X @ Y.T
    np.subtract(1.0, block, out=block)
    return np.asarray(np.clip(block, 0.0, 2.0, out=block))


def angle(X: Floats, Y: Floats) -> Floats:
    """arccos(cos) in radians, of unit rows."""
    cos = X @ Y.T
    np.clip(cos, -1.0, 1.0, out=cos)
    if cos.dtype == np.float64:  # float32 has no number between this and 1
        cos[cos > _SAME_DIRECTION] = 1.0
    return np.asarray(np.arccos(cos, out=cos))


def angular(X: Floats, Y: Floats) -> Floats:
    """arccos(cos)/π, of unit rows."""
    block = angle(X, Y)
    block /= np.pi
    return block


def squared_euclidean(X: Floats, Y: Floats) -> Floats:
    """‖x − y‖², by the product form."""
    block = X @ Y.T
    block *= -2.0
    block += np.einsum("ij,ij->i", X, X)[:, None]
    block += np.einsum("ij,ij->i", Y, Y)[None, :]
    return np.asarray(np.maximum(block, 0.0, out=block))


def euclidean(X: Floats, Y: Floats) -> Floats:
    """‖x − y‖."""
    block = squared_euclidean(X, Y)
    return np.asarray(np.sqrt(block, out=block))


GROUNDS: dict[str, Callable[[Floats, Floats], Floats]] = {"cosine": cosine, "angular": angular, "euclidean": euclidean}


def move_near_zero(X: Floats) -> Floats:
    """Return rows as they are, but columns that lie far from zero are moved to it, which changes no distance."""
    if not len(X):
        return X
    low, high = X.min(axis=0), X.max(axis=0)
    middle = low / 2 + high / 2
    far = np.abs(middle) > _FAR * (high - low).max(initial=0.0)
    return np.asarray(X - np.where(far, middle, 0.0)) if far.any() else X


Vectors = NDArray[np.floating[Any]]

_BLOCK = 1_024  # rows in double precision at a time
_FEW_SIDES = 64  # this many factors of 1 MB may be kept
_MANY_ROWS = 4_000
_MOST_ROWS = 50_000  # beyond, products are exact
_FLOAT32_BLOCK = 512
_AT_ONCE = 4_096  # rows in double precision whose groups are summed


@dataclass(frozen=True, eq=False)
class Subsets:
    """The different sub-corpora of some draws, and which two of them each draw compares."""

    masks: Masks
    left: Ints
    right: Ints
    sizes: Ints  # texts of each sub-corpus

    @classmethod
    def of(cls, draws: Draws) -> Subsets:
        """Return the sides of draws, in the order in which they are first met."""
        both = np.concatenate([draws.left, draws.right])
        numbers: dict[bytes, int] = {}
        which = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.packbits(both, axis=1)]
        first = np.unique(which, return_index=True)[1]
        left, right = np.split(np.array(which), 2)
        return cls(both[first], left, right, np.concatenate(draws.sizes)[first])


def sum_sides(rows: Embeddings, draws: Draws, features: Callable[[Embeddings], Floats]) -> tuple[Subsets, Floats]:
    """Return the different sides of draws and the sum of the features of the rows of each."""
    sides = Subsets.of(draws)
    if draws.groups is None:
        units = features(rows)
    else:
        units = sum_by_group(rows, draws.groups, lambda some: features(some).sum(axis=0))
    return sides, sides.masks.astype(np.float64) @ units


def sum_by_group(rows: Embeddings, groups: Ints, total: Callable[[Embeddings], Floats]) -> Floats:
    """Return `total` of the rows of each group, for a function that adds up over rows; some thousand rows at a time."""
    sums: Floats | None = None
    for some, block in iterate_rows(rows, _AT_ONCE):
        order = np.argsort(groups[some], kind="stable")
        numbers, first = np.unique(groups[some][order], return_index=True)
        ordered = block[order]
        for group, (start, stop) in zip(numbers, pairwise([*first, len(order)]), strict=True):
            added = total(ordered[start:stop])
            sums = np.zeros((int(groups.max()) + 1, *added.shape)) if sums is None else sums
            sums[group] += added
    return np.empty((0, 0)) if sums is None else sums


def compute_components(X: Floats, weights: Floats, share: float) -> Floats:
    """Return scores of weighted rows on the fewest principal components that hold this share of the variance."""
    centred = X - (weights @ X) / weights.sum()
    heavy = np.sqrt(weights)[:, None]
    scaled = centred * heavy
    few = len(X) < X.shape[1]  # rows: their products are the smaller matrix
    values, vectors = np.linalg.eigh(scaled @ scaled.T if few else scaled.T @ scaled)
    values = np.maximum(values[::-1], 0.0)
    kept = 1 + int(np.searchsorted(np.cumsum(values), share * values.sum()))
    leading = vectors[:, ::-1][:, :kept]
    return np.asarray(leading * np.sqrt(values[:kept]) / heavy if few else centred @ leading)


def to_unit(X: Vectors) -> Floats:
    """Vectors along the last axis brought to length one, in float64; a zero vector stays zero."""
    rows = X.astype(np.float64)
    lengths = np.sqrt(np.einsum("...i,...i->...", rows, rows))[..., None]
    return np.asarray(rows / np.where(lengths == 0, 1.0, lengths))


def frechet(first: Moments, second: Moments) -> float:
    """‖μX − μY‖² + tr(ΣX + ΣY − 2(ΣXΣY)^½)."""
    gap = float(((first.mean - second.mean) ** 2).sum())
    M, root = first.factor @ second.factor.T, 0.0
    if M.size:  # a constant sample has a factor without rows
        # The sum of singular values, from the smaller Gram matrix. Eigenvalues below rounding (the usual numerical
        # rank) are zeros and must not enter as square roots of noise.
        ascending = np.linalg.eigvalsh(M @ M.T if M.shape[0] <= M.shape[1] else M.T @ M)
        noise = len(ascending) * np.finfo(np.float64).eps * ascending[-1]
        root = float(np.sqrt(ascending[ascending > noise]).sum())
    return max(gap + first.trace + second.trace - 2.0 * root, 0.0)


def frechet_many(sides: Subsets, moments: Callable[[int], Moments]) -> Floats:
    """`frechet` of all draws, given the moments of each side; NaN where a side has fewer than two rows."""
    of_side = cache(moments) if len(sides.masks) < _FEW_SIDES else moments

    def compute_one(draw: int) -> float:
        pair = int(sides.left[draw]), int(sides.right[draw])
        return np.nan if sides.sizes[list(pair)].min() < 2 else frechet(*map(of_side, pair))

    return map_threads(compute_one, len(sides.left))


class Moments(NamedTuple):
    """Mean, trace of the covariance, and a factor F with F^T F = covariance."""

    mean: Floats
    trace: float
    factor: Floats


def compute_moments(X: NDArray[np.floating]) -> Moments:
    """Return the moments of a sample."""
    n, d = X.shape
    mean = compute_mean_rows(X)
    if n <= d:
        F = X - mean
        F *= 1.0 / np.sqrt(n - 1.0)
        return Moments(mean, float(np.vdot(F, F)), F)
    return get_moments_of_scatter(n, mean, _compute_scatter(X, mean))


def get_moments_of_scatter(n: int, mean: Floats, scatter: Floats) -> Moments:
    """Return the moments of n rows with this mean and sum of products about it."""
    covariance = scatter / (n - 1.0)
    return Moments(mean, float(np.trace(covariance)), _factorise(covariance))


def _compute_scatter(X: NDArray[np.floating], mean: Floats) -> Floats:
    """Sum of the outer products of the centred rows.

    Many float32 rows, though no more than are held in memory by default, are multiplied as float32 in short blocks and
    added up in float64: twice as fast, within 1e-6 of the float64 distance (2e-9 on 10,000 sentence embeddings, where
    the rounding of the blocks averages out).
    """
    if X.dtype != np.float32 or not _MANY_ROWS <= len(X) <= _MOST_ROWS:
        parts = (rows - mean for _, rows in iterate_rows(X, _BLOCK))
        return np.asarray(sum(part.T @ part for part in parts))
    near = mean.astype(np.float32)
    total = np.zeros((X.shape[1], X.shape[1]))
    for some in split_into_blocks(len(X), _FLOAT32_BLOCK):
        block = X[some] - near
        total += block.T @ block
    return total - len(X) * np.outer(mean - near, mean - near)


def _factorise(covariance: Floats) -> Floats:
    """Cholesky; with pivots where the covariance is singular (repeated texts, constant coordinates)."""
    from scipy.linalg.lapack import dpotrf, dpstrf

    upper, failed = dpotrf(covariance.T)  # in the order of LAPACK, and symmetric
    if not failed:
        return np.asarray(upper)
    upper, pivots, rank, _ = dpstrf(covariance, tol=len(covariance) * 1e-16 * covariance.diagonal().max())
    factor = np.empty((rank, len(covariance)))
    factor[:, pivots - 1] = np.triu(upper)[:rank]
    return factor
