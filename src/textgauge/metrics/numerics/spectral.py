"""Rows of length one, and principal components of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.core.sizes import blocks

Vectors = NDArray[np.floating[Any]]

_SPREAD = 1e-4  # directions nearer to each other than this have too few digits in their products
_BLOCK = 1_024  # rows in double precision at a time


class Spread(NamedTuple):
    """A matrix whose leading eigenvalues and vectors give the components of some rows, and how they give them."""

    matrix: Floats
    scores: Callable[[Floats, Floats], Floats]


def components(spread: Spread, share: float) -> Floats:
    """Scores of rows on the fewest principal components that hold this share of the variance."""
    values, vectors = np.linalg.eigh(spread.matrix)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    kept = 1 + int(np.searchsorted(np.cumsum(values), share * values.sum()))
    return spread.scores(values[:kept], np.ascontiguousarray(vectors[:, :kept]))


def spread_of(X: Floats, weights: Floats) -> Spread:
    """The spread of weighted rows: over their products where these are fewer than the dimensions."""
    centred = X - (weights @ X) / weights.sum()
    if len(X) < X.shape[1]:
        return spread_of_products(centred @ centred.T, weights)
    scaled = centred * np.sqrt(weights)[:, None] if weights.max() > 1 else centred
    return Spread(scaled.T @ scaled, lambda values, vectors: centred @ vectors)


def spread_of_products(products: Floats, weights: Floats) -> Spread:
    """The same from the products of rows about any origin; these are overwritten."""
    means = products @ weights / weights.sum()
    products -= means
    products -= (means - weights @ means / weights.sum())[:, None]
    heavy = np.sqrt(weights)[:, None]
    if weights.max() > 1:
        products *= heavy
        products *= heavy.T
    return Spread(products, lambda values, vectors: vectors * np.sqrt(values) / heavy)


def spread_of_directions(vectors: Vectors, weights: Floats) -> Spread:
    """The spread of weighted rows brought to length one, a block at a time where they are many."""
    n, d = vectors.shape
    if n < d:
        return spread_of(unit(vectors), weights)
    scatter, sums, total, lengths = np.zeros((d, d)), np.zeros(d), weights.sum(), np.empty((n, 1))
    parts = blocks(n, _BLOCK)
    for part in parts:
        rows, share = vectors[part].astype(np.float64), weights[part]
        lengths[part] = _lengths(rows)
        rows /= lengths[part]
        sums += share @ rows
        if share.max() > 1:
            rows *= np.sqrt(share)[:, None]
        scatter += rows.T @ rows
    if np.trace(scatter) - sums @ sums / total <= _SPREAD * total:
        return spread_of(unit(vectors), weights)

    def scores(values: Floats, directions: Floats) -> Floats:
        found = np.empty((n, directions.shape[1]))
        for part in parts:
            np.matmul(vectors[part].astype(np.float64), directions, out=found[part])
        found /= lengths
        found -= sums @ directions / total
        return found

    return Spread(scatter - np.outer(sums, sums / total), scores)


def unit(X: Vectors) -> Floats:
    """Vectors along the last axis brought to length one, in float64; a zero vector stays zero."""
    rows = X.astype(np.float64)
    rows /= _lengths(rows)
    return rows


def narrow_unit(X: Vectors) -> NDArray[np.float32]:
    """The same rounded to float32, a block at a time."""
    rows = np.empty(X.shape, dtype=np.float32)
    for part in blocks(len(X), _BLOCK):
        rows[part] = unit(X[part])
    return rows


def _lengths(rows: Floats) -> Floats:
    """Of each vector, along the last axis; 1 for a zero vector."""
    lengths = np.sqrt(np.einsum("...i,...i->...", rows, rows))[..., None]
    return np.where(lengths == 0, 1.0, lengths)
