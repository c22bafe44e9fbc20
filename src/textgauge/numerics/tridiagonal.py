"""A symmetric matrix as Q T Qᵀ, T tridiagonal: by LAPACK, or by the kernel where the matrix fits into the cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.native import kernels

Rows = NDArray[np.float64]

CACHED = 256  # rows of a matrix of which one half stays in the second cache
_BLOCK = 64  # columns that LAPACK takes at a time


@dataclass(frozen=True)
class Tridiagonal:
    """T by its diagonal and what stands beside it; Q as the product of reflections, each with a factor."""

    reflections: Rows
    factors: Rows
    diagonal: Rows
    beside: Rows

    @classmethod
    def of(cls, matrix: Rows) -> Tridiagonal:
        """The matrix stays as it is."""
        if kernels.built() and 0 < len(matrix) <= CACHED:
            rows, factors, diagonal, beside = kernels.tridiagonal(np.array(matrix, order="C"))
            return cls(rows.T, factors, diagonal, beside)
        from scipy.linalg.lapack import dsytrd

        reflections, diagonal, beside, factors, _ = dsytrd(matrix.T, lower=1, lwork=_BLOCK * len(matrix))
        return cls(reflections, factors, diagonal, beside)

    def eigenvalues(self) -> Rows:
        """Falling; what rounding moved below 0 is 0."""
        from scipy.linalg.lapack import dsterf

        values, failed = dsterf(self.diagonal, self.beside)
        if failed:
            raise np.linalg.LinAlgError("eigenvalues of a tridiagonal matrix were not found")
        found: Rows = np.maximum(values[::-1], 0.0)
        return found

    def back(self, vectors: Rows) -> Rows:
        """Vectors of T as vectors of the matrix, in their place."""
        from scipy.linalg.lapack import dormqr

        turned, _, _ = dormqr(
            "R", "T", self.reflections[1:, :-1], self.factors, vectors[1:].T, _BLOCK * vectors.shape[1], overwrite_c=1
        )
        vectors[1:] = turned.T
        return vectors
