"""Greedy matching of token vectors: each token takes its most similar token of the other text.

Products are taken in float64: all ways to a number agree far below the rounding of the encoder.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Index = NDArray[np.int64]

_CELLS = 1 << 21  # numbers of a block that is worked on at once: 16 MB


def unit(vectors: NDArray[np.floating]) -> Rows:
    """Vectors scaled to length one, in float64; zero vectors stay zero."""
    wide = np.asarray(vectors, dtype=np.float64)
    norms = np.sqrt(np.einsum("...i,...i->...", wide, wide))[..., None]
    return np.asarray(wide / np.where(norms == 0, 1.0, norms))


def greedy_match(X: Rows, Y: Rows, x_weights: Rows, y_weights: Rows) -> tuple[Rows, Rows]:
    """Precision and recall of texts of equal lengths, X (pairs, m, d) and Y (pairs, n, d) of unit rows.

    Precision is the weighted mean over tokens of X of their largest cosine with a token of Y; recall the same from Y.
    """
    cosines = np.matmul(X, Y.swapaxes(1, 2))
    precision = (cosines.max(axis=2) * x_weights).sum(axis=1) / x_weights.sum(axis=1)
    recall = (cosines.max(axis=1) * y_weights).sum(axis=1) / y_weights.sum(axis=1)
    return precision, recall


def match_pairs(
    vectors: NDArray[np.float32], weights: Rows, offsets: Index, left: Index, right: Index
) -> tuple[Rows, Rows]:
    """Precision and recall of pairs of texts that have tokens, given as rows of `offsets`."""
    precision, recall = np.empty(len(left)), np.empty(len(left))
    lengths = np.diff(offsets)
    for pairs in _equal_shapes(lengths[left], lengths[right], vectors.shape[1]):
        x, y = (_places(offsets, lengths, texts[pairs]) for texts in (left, right))
        precision[pairs], recall[pairs] = greedy_match(unit(vectors[x]), unit(vectors[y]), weights[x], weights[y])
    return precision, recall


def match_all(
    vectors: NDArray[np.float32], weights: Rows, offsets: Index, rows: Index, columns: Index
) -> tuple[Rows, Rows]:
    """Precision and recall of every text of `rows` with every text of `columns`, all of which have tokens."""
    shape = len(rows), len(columns)
    precision, recall = np.empty(shape), np.empty(shape)
    lengths = np.diff(offsets)
    height, width = lengths[rows].max(initial=1), lengths[columns].max(initial=1)
    down = max(1, int(np.sqrt(_CELLS) // height))
    across = max(1, int(_CELLS // (down * height) // width))
    for top in range(0, len(rows), down):
        first = _segments(vectors, weights, offsets, rows[top : top + down])
        for side in range(0, len(columns), across):
            second = _segments(vectors, weights, offsets, columns[side : side + across])
            block = np.s_[top : top + down, side : side + across]
            precision[block], recall[block] = _match_segments(first, second)
    return precision, recall


def f1(precision: Rows, recall: Rows, *, any_sign: bool = False) -> Rows:
    """Harmonic mean of precision and recall; 0 where their sum is, and where signs differ unless `any_sign`."""
    sane = (precision + recall != 0) if any_sign else precision * recall > 0
    return np.divide(2 * precision * recall, precision + recall, out=np.zeros_like(precision), where=sane)


def _equal_shapes(m: Index, n: Index, dimension: int) -> Iterator[Index]:
    """Pairs with equally long texts on each side, few enough for one block."""
    order = np.lexsort((n, m))
    changes = np.flatnonzero((np.diff(m[order]) != 0) | (np.diff(n[order]) != 0)) + 1
    for pairs in np.split(order, changes) if len(order) else []:
        step = max(1, int(_CELLS // ((m[pairs[0]] + n[pairs[0]]) * dimension)))
        yield from (pairs[start : start + step] for start in range(0, len(pairs), step))


def _places(offsets: Index, lengths: Index, texts: Index) -> Index:
    return np.asarray(offsets[texts][:, None] + np.arange(lengths[texts[0]]))


_Segments = tuple[Rows, Rows, Index]


def _segments(vectors: NDArray[np.float32], weights: Rows, offsets: Index, texts: Index) -> _Segments:
    """Unit vectors and weights that sum to one in each text, flat, and where the texts begin."""
    lengths = np.diff(offsets)[texts]
    starts = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(offsets[texts] - starts, lengths)
    sums = np.add.reduceat(weights[places], starts)
    return unit(vectors[places]), weights[places] / np.repeat(sums, lengths), starts


def _match_segments(first: _Segments, second: _Segments) -> tuple[Rows, Rows]:
    (X, x_weights, x_starts), (Y, y_weights, y_starts) = first, second
    cosines = X @ Y.T
    nearest = np.maximum.reduceat(cosines, y_starts, axis=1) * x_weights[:, None]
    back = np.maximum.reduceat(cosines, x_starts, axis=0) * y_weights
    return np.add.reduceat(nearest, x_starts, axis=0), np.add.reduceat(back, y_starts, axis=1)
