"""One large support vector problem: the kernel by float32 products of centred rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.svm_kernel import ABOVE_ONE, Floats, rbf, scale

Rows = NDArray[np.floating[Any]]

_BLOCK = 256


def scaled(train: Rows, test: Rows) -> tuple[Floats, Floats]:
    """Rows with k(x, y) = exp(−‖x − y‖²): centred, times √gamma."""
    centre = train.mean(axis=0, dtype=np.float64)
    near = centre.astype(train.dtype)
    left, right = (train - near).astype(np.float32, copy=False), (test - near).astype(np.float32, copy=False)
    within = np.einsum("ij,ij->i", left, left).sum(dtype=np.float64) / left.size
    factor = np.float32(np.sqrt(scale(len(centre), within + float(centre.var()))))
    left *= factor
    right *= factor
    return left, right


def curvatures(rows: Floats) -> Floats:
    """1 − k(x, y) between all rows: the lower triangle by blocks, mirrored, so exactly symmetric."""
    n, (left, right) = len(rows), (_as_left(rows), _as_right(rows))
    matrix = np.empty((n, n), dtype=np.float32)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        matrix[start:stop, :stop] = rbf(left[start:stop] @ right[:stop].T, 1.0, ABOVE_ONE, np.float32(-1.0))
        for first in range(0, start, _BLOCK):
            matrix[first : first + _BLOCK, start:stop] = matrix[start:stop, first : first + _BLOCK].T
    return matrix


def weighted(test: Floats, support: Floats, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ weight · k(support, x) for each test row x, by blocks."""
    left, right = _as_left(test), _as_right(support)
    parts = (left[start : start + _BLOCK] @ right.T for start in range(0, len(test), _BLOCK))
    return np.concatenate([rbf(part, 1.0, np.float32(0.0), np.float32(1.0)) @ weight for part in parts])


def _as_left(rows: Floats) -> Floats:
    """Rows whose products with those of `_as_right` are −‖x − y‖² = 2⟨x, y⟩ − ‖x‖² − ‖y‖²."""
    return np.column_stack([rows, -np.einsum("ij,ij->i", rows, rows), np.ones(len(rows), dtype=np.float32)])


def _as_right(rows: Floats) -> Floats:
    return np.column_stack([rows + rows, np.ones(len(rows), dtype=np.float32), -np.einsum("ij,ij->i", rows, rows)])
