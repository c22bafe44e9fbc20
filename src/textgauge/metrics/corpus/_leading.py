"""The largest eigenvalues of symmetric matrices and their vectors, without the vectors that nobody asked for.

LAPACK brings each matrix to tridiagonal form and finds its eigenvalues. The vectors of the tridiagonal form come from
twisted factorisations (Parlett and Dhillon 1997), for all wanted eigenvalues of many matrices in step. That is
inverse iteration without orthogonalisation, right to ε·‖T‖/gap: where eigenvalues are too near to each other for
that, and for small or few matrices, LAPACK does the whole work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Pair = tuple[Rows, Rows]  # eigenvalues, falling, and their vectors as columns

_FEW, _SMALL, _LARGE = 4, 48, 256  # so small, or fewer than few and not large: the whole work is cheaper
_GAP = 1e-5  # eigenvalues nearer than this, relative to the largest, have vectors wrong in the tenth digit
_RESIDUAL = 1e-13  # of a vector, relative to the largest eigenvalue
_CELLS = 1 << 16  # entries of vectors computed in step: half a megabyte, and as much again for each way
_BLOCK = 64  # columns that LAPACK takes at a time


def leading(matrices: Sequence[Rows], share: float) -> list[Pair]:
    """For each covariance the fewest largest eigenvalues that hold this share of their sum, and their vectors."""
    found: dict[int, Pair] = {}
    waiting: list[tuple[int, _Reduced]] = []
    for place, matrix in enumerate(matrices):
        alone = len(matrices) < _FEW and len(matrix) < _LARGE
        reduced = None if alone or len(matrix) <= _SMALL else _Reduced.of(matrix, share)
        if reduced is None:
            found[place] = _by_lapack(matrix, share)
        else:
            waiting.append((place, reduced))
    for some in _together(waiting):
        vectors, right = _twisted([reduced for _, reduced in some])
        for at, (place, reduced) in enumerate(some):
            values = reduced.values
            if right[at, : len(values)].all():
                found[place] = values, reduced.back(vectors[:, at, : len(values)])
            else:
                found[place] = _by_lapack(reduced.whole(), share)
    return [found[place] for place in range(len(matrices))]


def _kept(values: Rows, share: float) -> int:
    return 1 + int(np.searchsorted(np.cumsum(values), share * values.sum()))


def _by_lapack(matrix: Rows, share: float) -> Pair:
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    kept = _kept(values, share)
    return values[:kept], np.ascontiguousarray(vectors[:, :kept])


@dataclass(frozen=True)
class _Reduced:
    """A matrix as Q T Qᵀ, Q the product of reflections, T tridiagonal; and the eigenvalues that are wanted."""

    reflections: Rows
    factors: Rows
    diagonal: Rows
    beside: Rows
    values: Rows
    largest: float

    @classmethod
    def of(cls, matrix: Rows, share: float) -> _Reduced | None:
        """None where wanted eigenvalues are too near to each other or to the next; the matrix stays as it is."""
        from scipy.linalg.lapack import dsterf, dsytrd

        reflections, diagonal, beside, factors, failed = dsytrd(matrix.T, lower=1, lwork=_BLOCK * len(matrix))
        if failed:
            return None
        values, failed = dsterf(diagonal, beside)
        if failed:
            return None
        values = np.maximum(values[::-1], 0.0)
        kept = _kept(values, share)
        if -np.diff(values[: kept + 1]).max(initial=-np.inf) <= _GAP * values[0]:
            return None
        return cls(reflections, factors, diagonal, beside, values[:kept], float(values[0]))

    def back(self, vectors: Rows) -> Rows:
        """Vectors of T as vectors of the matrix."""
        from scipy.linalg.lapack import dormqr

        vectors = np.ascontiguousarray(vectors)
        turned, _, _ = dormqr(
            "R", "T", self.reflections[1:, :-1], self.factors, vectors[1:].T, _BLOCK * vectors.shape[1], overwrite_c=1
        )
        vectors[1:] = turned.T
        return vectors

    def whole(self) -> Rows:
        """The matrix again."""
        T = np.diag(self.diagonal) + np.diag(self.beside, 1) + np.diag(self.beside, -1)
        half = self.back(T)
        return self.back(np.ascontiguousarray(half.T))


def _together(waiting: list[tuple[int, _Reduced]]) -> Iterator[list[tuple[int, _Reduced]]]:
    """Matrices of one size, with about as many wanted vectors, as many at a time as may be held."""
    waiting = sorted(waiting, key=lambda one: (-len(one[1].diagonal), -len(one[1].values)))
    while waiting:
        size, kept = len(waiting[0][1].diagonal), len(waiting[0][1].values)
        most = waiting[: max(1, _CELLS // (size * kept))]
        some = [one for one in most if len(one[1].diagonal) == size]
        yield some
        waiting = waiting[len(some) :]


def _twisted(some: Sequence[_Reduced]) -> tuple[Rows, NDArray[np.bool_]]:
    """Vectors of the tridiagonal matrices, rows by matrices by eigenvalues, and which of them are right.

    With T − λ = L D Lᵀ from above and U E Uᵀ from below, the place where D + E − (T − λ) is least is where the vector
    is large; from there it is a product of ratios upwards and downwards.
    """
    widest = max(len(one.values) for one in some)
    wanted = np.stack([np.append(one.values, np.repeat(one.values[-1:], widest - len(one.values))) for one in some])
    beside = np.stack([one.beside for one in some], axis=1)[:, :, None]
    shifted = np.stack([one.diagonal for one in some], axis=1)[:, :, None] - wanted
    square, last = _both_ways(beside * beside), len(shifted) - 1
    pivots = _both_ways(shifted)
    with np.errstate(all="ignore"):  # what is not finite is not right
        step = np.empty_like(pivots[0])
        for i in range(last):
            np.divide(square[i], pivots[i], out=step)
            pivots[i + 1] -= step
        above, below = pivots[:, 0], pivots[::-1, 1]
        shifted -= above
        shifted -= below
        np.abs(shifted, out=shifted)
        middle = shifted.argmin(axis=0)[None]
        residual = np.take_along_axis(shifted, middle, axis=0)[0]
        place = np.arange(last)[:, None, None]
        upwards, downwards = np.divide(-beside, above[:-1]), np.divide(-beside, below[1:])
        upwards[place >= middle], downwards[place < middle] = 0.0, 0.0
        vectors = np.zeros_like(shifted)
        np.put_along_axis(vectors, middle, 1.0, axis=0)
        parts, ratios = _both_ways(vectors), np.stack([downwards, upwards[::-1]], axis=1)
        for i in range(last):
            np.multiply(ratios[i], parts[i], out=step)
            parts[i + 1] += step
        np.add(parts[:, 0], parts[::-1, 1], out=vectors)
        np.put_along_axis(vectors, middle, 1.0, axis=0)
        lengths = np.sqrt(np.einsum("ipm,ipm->pm", vectors, vectors))
        vectors /= lengths
        largest = np.array([one.largest for one in some])[:, None]
        return vectors, residual / lengths <= _RESIDUAL * largest


def _both_ways(rows: Rows) -> Rows:
    """From the first row on and from the last one back, beside each other, so that one loop goes both ways."""
    return np.stack([rows, rows[::-1]], axis=1)
