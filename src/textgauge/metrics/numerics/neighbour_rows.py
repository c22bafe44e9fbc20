"""Rows for neighbour search: different rows once, exact distances of chosen pairs, float32 bounds for all others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32, Ints
from textgauge.core.sizes import blocks

Rows = NDArray[np.floating[Any]]

_UNIT = 2.0**-24  # half the spacing of float32 at 1
AT_ONCE = 128  # float64 rows that stay in the processor's cache
ROUNDED = 4e-7  # more than rounding a distance to float32 changes its square
# Scaling a row to length one leaves some 1e-16 in each coordinate: directions this near to each other are one.
_SAME_DIRECTION = 1e-28
_OPPOSITE = 1e-14


@dataclass(frozen=True)
class Cloud:
    """The different rows of a corpus, in an order of their content alone; repeated rows are one row with a weight.

    `shrink` brings a row to length one where directions are compared, and is 0 for a zero vector. `first` is where a
    row first stands in the corpus, `inverse` the row of each text.
    """

    rows: Rows
    shrink: Floats
    weight: Ints
    first: Ints
    inverse: Ints
    directions: bool

    @classmethod
    def of(cls, X: Rows, ground: str) -> Cloud:
        """The cloud of embedding rows for a ground."""
        X = np.ascontiguousarray(X)
        content = X.view(np.dtype((np.void, X.shape[1] * X.itemsize))).ravel()
        _, first, inverse, weight = np.unique(content, return_index=True, return_inverse=True, return_counts=True)
        cloud = cls(X[first], np.ones(len(first)), weight, first, inverse.reshape(-1), False)
        return cloud if ground == "euclidean" else cloud.of_directions()

    def of_directions(self) -> Cloud:
        """The same rows, their directions compared."""
        return replace(self, shrink=_inverse_lengths(self.rows), directions=True)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Rows without a direction: zero vectors, where directions are compared."""
        empty: NDArray[np.bool_] = self.shrink == 0
        return empty

    def take(self, which: Ints | slice) -> Floats:
        """Prepared rows in float64; a zero vector stays zero."""
        prepared: Floats = self.rows[which].astype(np.float64)
        if self.directions:
            prepared *= self.shrink[which, None]
        return prepared


def _inverse_lengths(rows: Rows) -> Floats:
    parts = (rows[piece].astype(float) for piece in blocks(len(rows), AT_ONCE))
    squares = [np.einsum("ij,ij->i", part, part) for part in parts]
    lengths: Floats = np.sqrt(np.concatenate(squares))
    shrink: Floats = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return shrink


def squared_pairs(A: Cloud, B: Cloud, i: Ints, j: Ints) -> Floats:
    """‖a_i − b_j‖² of chosen pairs, from the differences: the same two rows give the same number to the last bit.

    A zero vector is at cosine distance 1 (squared distance 2) from every direction and at 0 from another one.
    """
    squares = np.empty(len(i))
    for piece in blocks(len(i), AT_ONCE):
        gap = A.take(i[piece]) - B.take(j[piece])
        squares[piece] = np.einsum("ij,ij->i", gap, gap)
    if A.directions:
        squares[squares < _SAME_DIRECTION] = 0.0
        squares[A.empty[i] != B.empty[j]] = 2.0
    return squares


def levels(squares: Floats) -> Floats32:
    """Distances as balls compare them: rounded to float32, so that rounding in float64 makes and breaks no ties."""
    with np.errstate(over="ignore"):
        return np.sqrt(squares).astype(np.float32)


def inside_ball(distances: NDArray[Any], radii: NDArray[Any], *, closed: bool) -> NDArray[np.bool_]:
    """Which distances lie inside balls of these radii; a closed ball holds what is exactly on its border."""
    inside: NDArray[np.bool_] = distances <= radii if closed else distances < radii
    return inside


def below(values: NDArray[np.floating]) -> Floats32:
    """Float32 numbers just under these."""
    return np.nextafter(values.astype(np.float32), np.float32(-np.inf))


def to_ground(squares: Floats, ground: str) -> Floats:
    """Squared Euclidean distances of prepared rows as distances of the ground; all grounds keep their order."""
    if ground == "cosine":
        return np.minimum(squares / 2.0, 2.0)
    roots: Floats = np.sqrt(squares)
    if ground == "euclidean":
        return roots
    # Near opposite directions the arcsine makes 1e-8 of a rounding error of 1e-16.
    return np.arcsin(np.where(roots > 2.0 - _OPPOSITE, 1.0, roots / 2.0)) * (2.0 / np.pi)


@dataclass(frozen=True)
class Filter:
    """Float32 rows whose products bound −‖a − b‖²/2 from above, in units of `scale`².

    A row c (centred, scaled) is stored as [c, 1, −(½ − ε)‖c‖²]; its product with [e, −(½ − ε)‖e‖², 1] is
    −‖c − e‖²/2 + ε(‖c‖² + ‖e‖²). In float32 that sum of d + 2 products is off by at most (d + 2)u(‖c‖² + ‖e‖²) whatever
    its order (Higham 2002, §3.1); the squared norms are off by up to du/2, the entries by 4u. With ε = (2d + 32)u
    the computed product is never below −‖a − b‖²/2, and above it by at most `slack[i] + slack[j]`.
    """

    cloud: Cloud
    rows: NDArray[np.float32]
    slack: Floats
    scale: float
    centre: float  # its length, in units of `scale`

    def against(self, which: Ints | slice) -> NDArray[np.float32]:
        """Some rows as the right factor of a product."""
        columns = self.rows[which].T.copy()  # in its own order the product is faster than as a transposed view
        columns[-2:] = columns[:-3:-1].copy()
        return columns


def filters(*clouds: Cloud) -> list[Filter]:
    """One filter per cloud, with common centre and scale; any centre is right, one amid the rows makes tight bounds."""
    wide = any(cloud.empty.any() for cloud in clouds)
    samples = [_widened(cloud, slice(None, None, 1 + len(cloud) // AT_ONCE), wide) for cloud in clouds]
    centre = np.concatenate(samples).mean(axis=0)
    longest = 1.0 if clouds[0].directions else max(float(np.abs(cloud.rows).max()) for cloud in clouds)
    # Squares must not overflow or vanish in float32; within these limits they do not.
    scale = 1.0 if 1e-9 < longest < 1e9 else longest or 1.0
    return [_filter(cloud, centre, scale, wide) for cloud in clouds]


def _filter(cloud: Cloud, centre: Rows, scale: float, wide: bool) -> Filter:
    width = len(centre)
    epsilon = 1.01 * (2 * width + 32) * _UNIT
    rows = np.empty((len(cloud), width + 2), dtype=np.float32)
    norms = np.empty(len(cloud))
    for piece in blocks(len(cloud), AT_ONCE):
        centred = _widened(cloud, piece, wide) - centre
        rows[piece, :-2] = centred if scale == 1.0 else centred / scale
        norms[piece] = np.einsum("ij,ij->i", rows[piece, :-2], rows[piece, :-2])
    rows[:, -2] = 1.0
    rows[:, -1] = (epsilon - 0.5) * norms
    return Filter(cloud, rows, 2.0 * epsilon * norms + 1e-30, scale, float(np.linalg.norm(centre / scale)))


def _widened(cloud: Cloud, piece: slice, wide: bool) -> Rows:
    """Prepared rows, if `wide` with one more coordinate, in which all zero vectors point.

    Float32 rows stay float32: taking the centre from them is off by no more than a rounding of the difference.
    """
    rows = cloud.take(piece) if cloud.directions else cloud.rows[piece]
    return np.column_stack([rows, cloud.empty[piece]]) if wide else rows
