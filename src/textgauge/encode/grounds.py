"""Grounds: distances between two texts, as blocks over embedding rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats

# A column whose middle is this many times the widest range of a column costs squared distances six digits or more.
_FAR = 1e3
# Vectors are stored as float32 (spacing 6e-8 near 1): a smaller angle between two of them is rounding, not distance.
_SAME_DIRECTION = 1.0 - 1e-14


def scale_to_units(X: NDArray[np.floating]) -> Floats:
    """Return rows scaled to length one, in float64; a zero row gets a direction of its own, shared by all zero rows.

    So zero vectors are at cosine distance 0 from each other and 1 from everything else. Rows that are to be compared
    must be prepared together.
    """
    X64 = np.asarray(X, dtype=np.float64)
    norms = np.linalg.norm(X64, axis=1)
    zero = norms == 0
    units: Floats = X64 / np.where(zero, 1.0, norms)[:, None]
    return np.column_stack([units, zero.astype(np.float64)]) if zero.any() else units


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


def prepare(X: NDArray[np.floating], ground: str) -> Floats:
    """Bring embedding rows into the form the ground's block function takes; rows to be compared, together."""
    return move_near_zero(np.asarray(X, dtype=np.float64)) if ground == "euclidean" else scale_to_units(X)


def move_near_zero(X: Floats) -> Floats:
    """Return rows as they are, but columns that lie far from zero are moved to it, which changes no distance."""
    if not len(X):
        return X
    low, high = X.min(axis=0), X.max(axis=0)
    middle = low / 2 + high / 2
    far = np.abs(middle) > _FAR * (high - low).max(initial=0.0)
    return np.asarray(X - np.where(far, middle, 0.0)) if far.any() else X
