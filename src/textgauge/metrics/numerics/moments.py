"""Moments of rows: length one, principal components, and the Fréchet distance without matrix square roots.

tr((ΣX ΣY)^½) is the nuclear norm of F G^T for any factors with F^T F = ΣX and G^T G = ΣY: the centred rows themselves
where there are fewer rows than dimensions, a Cholesky factor of the covariance otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.parallel import map_threads, use_one_blas_thread
from textgauge.core.progress import advance
from textgauge.core.sizes import split_into_blocks
from textgauge.data.storage import compute_mean_rows, iterate_rows

Vectors = NDArray[np.floating[Any]]

_SPREAD = 1e-4  # directions nearer to each other than this have too few digits in their products
_BLOCK = 1_024  # rows in double precision at a time
_FEW_SIDES = 64  # this many factors of 1 MB may be kept
_MANY_ROWS = 4_000
_MOST_ROWS = 50_000  # beyond, products are exact
_FLOAT32_BLOCK = 512


@dataclass(frozen=True, eq=False)
class Subsets:
    """The different sub-corpora of some draws, and which two of them each draw compares."""

    masks: Masks
    left: Ints
    right: Ints
    unit_sizes: Ints | None = None  # texts of each group where masks mark groups

    @classmethod
    def of(cls, left: Masks, right: Masks, unit_sizes: Ints | None = None) -> Subsets:
        """Return the sides of draws, one pair of masks a row, in the order in which they are first met."""
        both = np.concatenate([left, right])
        numbers: dict[bytes, int] = {}
        which = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.packbits(both, axis=1)]
        first = np.unique(which, return_index=True)[1]
        return cls(both[first], np.array(which[: len(left)]), np.array(which[len(left) :]), unit_sizes)

    def __len__(self) -> int:
        return len(self.masks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subsets) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @cached_property
    def _content(self) -> bytes:
        return b"".join(part.tobytes() for part in (self.masks, self.left, self.right))

    @cached_property
    def sizes(self) -> Ints:
        """How many texts each side has."""
        sizes: Ints = self.masks.sum(axis=1) if self.unit_sizes is None else self.masks @ self.unit_sizes
        return sizes

    @cached_property
    def rows(self) -> list[Ints]:
        """The texts of each side."""
        return [np.flatnonzero(mask) for mask in self.masks]


class Spread(NamedTuple):
    """A matrix whose leading eigenvalues and vectors give the components of some rows, and how they give them."""

    matrix: Floats
    scores: Callable[[Floats, Floats], Floats]


def compute_components(spread: Spread, share: float) -> Floats:
    """Return scores of rows on the fewest principal components that hold this share of the variance."""
    values, vectors = np.linalg.eigh(spread.matrix)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    kept = 1 + int(np.searchsorted(np.cumsum(values), share * values.sum()))
    return spread.scores(values[:kept], np.ascontiguousarray(vectors[:, :kept]))


def compute_spread(X: Floats, weights: Floats) -> Spread:
    """Return the spread of weighted rows: over their products where these are fewer than the dimensions."""
    centred = X - (weights @ X) / weights.sum()
    if len(X) < X.shape[1]:
        return compute_spread_of_products(centred @ centred.T, weights)
    scaled = centred * np.sqrt(weights)[:, None] if weights.max() > 1 else centred
    return Spread(scaled.T @ scaled, lambda values, vectors: centred @ vectors)


def compute_spread_of_products(products: Floats, weights: Floats) -> Spread:
    """Return the same from the products of rows about any origin; these are overwritten."""
    means = products @ weights / weights.sum()
    products -= means
    products -= (means - weights @ means / weights.sum())[:, None]
    heavy = np.sqrt(weights)[:, None]
    if weights.max() > 1:
        products *= heavy
        products *= heavy.T
    return Spread(products, lambda values, vectors: vectors * np.sqrt(values) / heavy)


def compute_spread_of_directions(vectors: Vectors, weights: Floats) -> Spread:
    """Return the spread of weighted rows brought to length one, a block at a time where they are many."""
    n, d = vectors.shape
    if n < d:
        return compute_spread(to_unit(vectors), weights)
    scatter, sums, total, lengths = np.zeros((d, d)), np.zeros(d), weights.sum(), np.empty((n, 1))
    parts = split_into_blocks(n, _BLOCK)
    for part in parts:
        rows, share = vectors[part].astype(np.float64), weights[part]
        lengths[part] = _compute_lengths(rows)
        rows /= lengths[part]
        sums += share @ rows
        if share.max() > 1:
            rows *= np.sqrt(share)[:, None]
        scatter += rows.T @ rows
    if np.trace(scatter) - sums @ sums / total <= _SPREAD * total:
        return compute_spread(to_unit(vectors), weights)

    def scores(values: Floats, directions: Floats) -> Floats:
        found = np.empty((n, directions.shape[1]))
        for part in parts:
            np.matmul(vectors[part].astype(np.float64), directions, out=found[part])
        found /= lengths
        found -= sums @ directions / total
        return found

    return Spread(scatter - np.outer(sums, sums / total), scores)


def to_unit(X: Vectors) -> Floats:
    """Vectors along the last axis brought to length one, in float64; a zero vector stays zero."""
    rows = X.astype(np.float64)
    rows /= _compute_lengths(rows)
    return rows


def to_narrow_unit(X: Vectors) -> NDArray[np.float32]:
    """Return the same rounded to float32, a block at a time."""
    rows = np.empty(X.shape, dtype=np.float32)
    for part in split_into_blocks(len(X), _BLOCK):
        rows[part] = to_unit(X[part])
    return rows


def _compute_lengths(rows: Floats) -> Floats:
    """Return the length of each vector, along the last axis; 1 for a zero vector."""
    lengths = np.sqrt(np.einsum("...i,...i->...", rows, rows))[..., None]
    return np.where(lengths == 0, 1.0, lengths)


def frechet(X: NDArray[np.floating], Y: NDArray[np.floating]) -> float:
    """‖μX − μY‖² + tr(ΣX + ΣY − 2(ΣXΣY)^½)."""
    return _compute_between(_compute_moments(X), _compute_moments(Y))


def frechet_of_groups(groups: Floats, sides: Subsets) -> Floats:
    """`frechet` of all draws of groups; of each group the sum of its rows, then the sums of their products."""
    weights, flat = sides.masks.astype(np.float64), groups.reshape(len(groups), -1)
    distances = np.full(len(sides.left), np.nan)
    with use_one_blas_thread():
        for draw, pair in enumerate(zip(sides.left, sides.right, strict=True)):
            advance(draw, len(distances))
            sizes = sides.sizes[list(pair)].tolist()
            if min(sizes) >= 2:
                sums = (weights[list(pair)] @ flat).reshape(2, *groups.shape[1:])
                moments = [_of_sums(n, total[0], total[1:]) for n, total in zip(sizes, sums, strict=True)]
                distances[draw] = _compute_between(*moments)
    return distances


def _of_sums(n: int, total: Floats, products: Floats) -> Moments:
    return _of_scatter(n, total / n, products - np.outer(total, total / n))


def _compute_between(first: Moments, second: Moments) -> float:
    gap = float(((first.mean - second.mean) ** 2).sum())
    root = compute_nuclear_norm(first.factor @ second.factor.T)
    return max(gap + first.trace + second.trace - 2.0 * root, 0.0)


def compute_nuclear_norm(M: Floats) -> float:
    """Return the sum of singular values, from the eigenvalues of the smaller Gram matrix.

    Eigenvalues below rounding (the usual numerical rank) are zeros and must not enter as square roots of noise.
    """
    if not M.size:  # a constant sample has a factor without rows
        return 0.0
    return _sum_of_roots(np.linalg.eigvalsh(M @ M.T if M.shape[0] <= M.shape[1] else M.T @ M))


def _sum_of_roots(ascending: NDArray[np.floating]) -> float:
    noise = len(ascending) * np.finfo(np.float64).eps * ascending[-1]
    return float(np.sqrt(ascending[ascending > noise]).sum())


def frechet_many(rows: NDArray[np.floating], sides: Subsets) -> Floats:
    """`frechet` of all draws of these sides; NaN where a side has fewer than two rows."""
    complements = _Complements.of(rows, sides)
    centre = rows.mean(axis=0, dtype=np.float64)  # the distance does not move with the origin, and cancels less

    def get_moments(side: int) -> Moments:
        return _compute_moments(rows[sides.rows[side]] - centre)

    moments: Callable[[int], Moments] = cache(get_moments) if len(sides) < _FEW_SIDES else get_moments

    def one(draw: int) -> float:
        a, b = int(sides.left[draw]), int(sides.right[draw])
        if min(sides.sizes[a], sides.sizes[b]) < 2:
            return np.nan
        return _compute_between(moments(a), moments(b)) if complements is None else complements.distance(sides.rows[a])

    return map_threads(one, len(sides.left))


class _Complements(NamedTuple):
    """Rows less their mean, and their scatter, of which every draw is a split in two: a permutation, for example.

    The scatter of one side is that of all rows less that of the other, and one Cholesky factor is enough for the
    eigenvalues of ΣXΣY.
    """

    rows: Floats
    scatter: Floats

    @classmethod
    def of(cls, rows: NDArray[np.floating], sides: Subsets) -> _Complements | None:
        """Return nothing where a draw leaves rows out, or a side has no more rows than dimensions."""
        few = not len(sides) or sides.sizes.min() <= rows.shape[1]
        if few or len(sides.left) < 2 or not (sides.masks[sides.left] ^ sides.masks[sides.right]).all():
            return None
        centred = rows - rows.mean(axis=0, dtype=np.float64)
        return cls(centred, centred.T @ centred)

    def distance(self, first: Ints) -> float:
        """Return the Fréchet distance between these rows and all others."""
        n, m = len(first), len(self.rows) - len(first)
        a = self.rows[first].mean(axis=0)
        b = a * (-n / m)
        within = _compute_scatter(self.rows[first], a)
        rest = self.scatter - within - np.outer((n * (1.0 + n / m)) * a, a)
        left, right = within / (n - 1.0), rest / (m - 1.0)
        traces = float(np.trace(left) + np.trace(right))
        return max(float(((a - b) ** 2).sum()) + traces - 2.0 * _compute_root_trace(left, right), 0.0)


def _compute_root_trace(A: Floats, B: Floats) -> float:
    """tr((AB)^½) of two covariance matrices: with A = UᵀU, the root eigenvalues of UBUᵀ."""
    from scipy.linalg.lapack import dpotrf, dsygst

    upper, failed = dpotrf(A.T)
    if failed:
        return compute_nuclear_norm(_factorise(A) @ _factorise(B).T)
    product, _ = dsygst(B.T, upper, itype=2)
    return _sum_of_roots(np.linalg.eigvalsh(product, UPLO="U"))


class Moments(NamedTuple):
    """Mean, trace of the covariance, and a factor F with F^T F = covariance."""

    mean: Floats
    trace: float
    factor: Floats


def _compute_moments(X: NDArray[np.floating]) -> Moments:
    n, d = X.shape
    mean = compute_mean_rows(X)
    if n <= d:
        F = X - mean
        F *= 1.0 / np.sqrt(n - 1.0)
        return Moments(mean, float(np.vdot(F, F)), F)
    return _of_scatter(n, mean, _compute_scatter(X, mean))


def _of_scatter(n: int, mean: Floats, scatter: Floats) -> Moments:
    covariance = scatter / (n - 1.0)
    return Moments(mean, float(np.trace(covariance)), _factorise(covariance))


def _compute_scatter(X: NDArray[np.floating], mean: Floats) -> Floats:
    """Sum of the outer products of the centred rows.

    Many float32 rows, though no more than are held in memory by default, are multiplied as float32 in short blocks and
    added up in float64: twice as fast, within 1e-6 of the float64 distance (2e-9 on 10,000 sentence embeddings, where
    the rounding of the blocks averages out).
    """
    if X.dtype != np.float32 or len(X) < _MANY_ROWS:
        centred = X - mean
        return np.asarray(centred.T @ centred)
    if len(X) > _MOST_ROWS:
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
