"""The largest eigenvalues of symmetric matrices and their vectors, without the vectors that nobody asked for.

LAPACK brings each matrix to tridiagonal form. The eigenvalues and vectors of that come from compiled kernels, or from
LAPACK and numpy. Vectors are found by inverse iteration without orthogonalisation, right to ε·‖T‖/gap: where
eigenvalues are too near to each other for that, and for small matrices, LAPACK does the whole work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.native import kernels
from textgauge.numerics.tridiagonal import CACHED, Tridiagonal
from textgauge.numerics.tridiagonal_vectors import in_step

Rows = NDArray[np.float64]
Pair = tuple[Rows, Rows]  # eigenvalues, falling, and their vectors as columns

_SMALL = 48  # up to here the whole work is cheaper
_FEW = 4  # fewer that fit into the cache are left to LAPACK as well, if numpy is to find the vectors
_AT_ONCE = 8  # matrices reduced before their eigenvalues are looked for
_GAP = 1e-5  # eigenvalues nearer than this, relative to the largest, have vectors wrong in the tenth digit
_RESIDUAL = 1e-13  # of a vector, relative to the largest eigenvalue


def leading(matrices: Sequence[Rows], share: float) -> list[Pair]:
    """For each covariance the fewest largest eigenvalues that hold this share of their sum, and their vectors."""
    found: dict[int, Pair | None] = {}
    for places in _together(matrices):
        reduced = [Tridiagonal.of(matrices[place]) for place in places]
        wanted = [_wanted(values, share) for values in eigenvalues(reduced)]
        sure = [at for at, values in enumerate(wanted) if len(values)]
        vectors = _vectors([reduced[at] for at in sure], [wanted[at] for at in sure])
        for at, (columns, residuals) in zip(sure, vectors, strict=True):
            if (residuals <= _RESIDUAL * wanted[at][0]).all():
                found[places[at]] = wanted[at], columns
    return [found.get(place) or _by_lapack(matrix, share) for place, matrix in enumerate(matrices)]


def eigenvalues(matrices: Sequence[Tridiagonal]) -> list[Rows]:
    """Falling, of matrices that have none below 0; those of a matrix do not depend on the others."""
    short = [place for place, one in enumerate(matrices) if len(one.diagonal) <= CACHED and kernels.built()]
    by_kernel = kernels.eigenvalues([(matrices[place].diagonal, matrices[place].beside) for place in short])
    found = dict(zip(short, by_kernel, strict=True))
    return [
        one.eigenvalues() if (values := found.get(place)) is None else np.maximum(values[::-1], 0.0)
        for place, one in enumerate(matrices)
    ]


def _together(matrices: Sequence[Rows]) -> Iterator[list[int]]:
    """Places of the matrices that are not left to LAPACK, those of like size beside each other."""
    few = len(matrices) < _FEW and not kernels.built()
    large = [place for place, matrix in enumerate(matrices) if len(matrix) > (CACHED - 1 if few else _SMALL)]
    large.sort(key=lambda place: len(matrices[place]))
    for start in range(0, len(large), _AT_ONCE):
        yield large[start : start + _AT_ONCE]


def _wanted(values: Rows, share: float) -> Rows:
    """The eigenvalues asked for; none where they are too near to each other or to the next."""
    kept = _kept(values, share)
    near = -np.diff(values[: kept + 1]).max(initial=-np.inf) <= _GAP * values[0]
    return values[: 0 if near else kept]


def _vectors(matrices: Sequence[Tridiagonal], values: Sequence[Rows]) -> list[Pair]:
    """Vectors as columns for eigenvalues of each matrix, and what is left of (T − λ)z."""
    if not kernels.built():
        found = in_step(matrices, values)
        return [(matrix.back(z), residuals) for matrix, (z, residuals) in zip(matrices, found, strict=True)]
    return [_by_kernel(matrix, wanted) for matrix, wanted in zip(matrices, values, strict=True)]


def _by_kernel(matrix: Tridiagonal, values: Rows) -> Pair:
    if len(matrix.diagonal) <= CACHED:
        turned = matrix.reflections.T, matrix.factors
        return kernels.eigenvectors(matrix.diagonal, matrix.beside, values, turned)
    vectors, residuals = kernels.eigenvectors(matrix.diagonal, matrix.beside, values)
    return matrix.back(vectors), residuals


def _kept(values: Rows, share: float) -> int:
    return 1 + int(np.searchsorted(np.cumsum(values), share * values.sum()))


def _by_lapack(matrix: Rows, share: float) -> Pair:
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    kept = _kept(values, share)
    return values[:kept], np.ascontiguousarray(vectors[:, :kept])
