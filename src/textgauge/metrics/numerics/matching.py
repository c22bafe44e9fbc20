"""Matching the words of two texts by vectors: each with its best (greedy), or all at the least cost (transport)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.sizes import cap_size, split_into_blocks
from textgauge.metrics.numerics.moments import to_unit

_CELLS = 1 << 21  # numbers of a block that is worked on at once: 16 MB
_Segments = tuple[Floats, Floats, Ints]
Block = tuple[Ints, Floats, Floats, Floats]
MOST_CELLS = 1 << 24  # of one pair: a network of half a gigabyte, some minutes of work
_LARGE_CELLS = 1 << 12  # from here on a product per pair saves nothing
_BLOCK_NUMBERS = 1 << 17  # numbers held of a block: a megabyte, which stays in the cache of a core
_CLOSE = 1e-9  # part of both squared lengths below which a squared distance is taken from the differences


def match_greedily(X: Floats, Y: Floats, x_weights: Floats, y_weights: Floats) -> tuple[Floats, Floats]:
    """Precision and recall of texts of equal lengths, X (pairs, m, d) and Y (pairs, n, d) of unit rows.

    Precision is the weighted mean over tokens of X of their largest cosine with a token of Y; recall the same from Y.
    """
    cosines = np.matmul(X, Y.swapaxes(1, 2))
    precision = (cosines.max(axis=2) * x_weights).sum(axis=1) / x_weights.sum(axis=1)
    recall = (cosines.max(axis=1) * y_weights).sum(axis=1) / y_weights.sum(axis=1)
    return precision, recall


def match_pairs(
    vectors: NDArray[np.float32], weights: Floats, offsets: Ints, left: Ints, right: Ints
) -> tuple[Floats, Floats]:
    """Precision and recall of pairs of texts that have tokens, given as rows of `offsets`."""
    precision, recall = np.empty(len(left)), np.empty(len(left))
    lengths = np.diff(offsets)
    for pairs in _group_equal_shapes(lengths[left], lengths[right], vectors.shape[1]):
        x, y = (_get_places(offsets, lengths, texts[pairs]) for texts in (left, right))
        precision[pairs], recall[pairs] = match_greedily(
            to_unit(vectors[x]), to_unit(vectors[y]), weights[x], weights[y]
        )
    return precision, recall


def match_all(
    vectors: NDArray[np.float32], weights: Floats, offsets: Ints, rows: Ints, columns: Ints
) -> tuple[Floats, Floats]:
    """Precision and recall of every text of `rows` with every text of `columns`, all of which have tokens."""
    shape = len(rows), len(columns)
    precision, recall = np.empty(shape), np.empty(shape)
    lengths = np.diff(offsets)
    height, width = lengths[rows].max(initial=1), lengths[columns].max(initial=1)
    down = max(1, int(np.sqrt(cap_size(_CELLS)) // height))
    for top in split_into_blocks(len(rows), down):
        first = _make_segments(vectors, weights, offsets, rows[top])
        for side in split_into_blocks(len(columns), _CELLS, down * height * width):
            second = _make_segments(vectors, weights, offsets, columns[side])
            precision[top, side], recall[top, side] = _match_segments(first, second)
    return precision, recall


def f1(precision: Floats, recall: Floats, *, any_sign: bool = False) -> Floats:
    """Harmonic mean of precision and recall; 0 where their sum is, and where signs differ unless `any_sign`."""
    sane = (precision + recall != 0) if any_sign else precision * recall > 0
    return np.divide(2 * precision * recall, precision + recall, out=np.zeros_like(precision), where=sane)


def _group_equal_shapes(m: Ints, n: Ints, dimension: int) -> Iterator[Ints]:
    """Yield pairs with equally long texts on each side, few enough for one block."""
    order = np.lexsort((n, m))
    changes = np.flatnonzero((np.diff(m[order]) != 0) | (np.diff(n[order]) != 0)) + 1
    for pairs in np.split(order, changes) if len(order) else []:
        yield from (
            pairs[some] for some in split_into_blocks(len(pairs), _CELLS, (m[pairs[0]] + n[pairs[0]]) * dimension)
        )


def _get_places(offsets: Ints, lengths: Ints, texts: Ints) -> Ints:
    return np.asarray(offsets[texts][:, None] + np.arange(lengths[texts[0]]))


def _make_segments(vectors: NDArray[np.float32], weights: Floats, offsets: Ints, texts: Ints) -> _Segments:
    """Unit vectors and weights that sum to one in each text, flat, and where the texts begin."""
    lengths = np.diff(offsets)[texts]
    starts = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(offsets[texts] - starts, lengths)
    sums = np.add.reduceat(weights[places], starts)
    return to_unit(vectors[places]), weights[places] / np.repeat(sums, lengths), starts


def _match_segments(first: _Segments, second: _Segments) -> tuple[Floats, Floats]:
    (X, x_weights, x_starts), (Y, y_weights, y_starts) = first, second
    cosines = X @ Y.T
    nearest = np.maximum.reduceat(cosines, y_starts, axis=1) * x_weights[:, None]
    back = np.maximum.reduceat(cosines, x_starts, axis=0) * y_weights
    return np.add.reduceat(nearest, x_starts, axis=0), np.add.reduceat(back, y_starts, axis=1)


class WordTable(Protocol):
    """Vectors of words, one a row, and their squared lengths."""

    @property
    def vectors(self) -> NDArray[np.float32]:
        """One row per word."""

    @property
    def squares(self) -> Floats:
        """The squared length of each row."""


def compute_exact_costs(left: Any, right: Any, words: WordTable) -> Floats:
    """Least mean distance that word mass travels from left to right, per pair; every row holds a word.

    Mass that a word has on both sides stays where it is, which is optimal as distances obey the triangle inequality.
    Masses are whole numbers (counts times the other side's total), so that no rounding enters the network. NaN where
    more than `MOST_CELLS` pairs of words are left.
    """
    totals = np.asarray(left.sum(axis=1)).ravel(), np.asarray(right.sum(axis=1)).ravel()
    supply, demand = _split_surplus(_scale(left, totals[1]) - _scale(right, totals[0]))
    cells = np.diff(supply.indptr).astype(np.int64) * np.diff(demand.indptr)
    costs = np.where(cells <= MOST_CELLS, 0.0, np.nan)
    rows = np.flatnonzero((cells > 0) & (cells <= MOST_CELLS))
    for block, a, b, distances in _iterate_blocks(supply, demand, rows, words):
        costs[block] = _solve(a, b, distances)
    return np.asarray(costs / (totals[0] * totals[1]))


def compute_relaxed_costs(left: Any, right: Any, words: WordTable) -> tuple[Floats, Floats]:
    """Mean distance of left words to their nearest right word, and the other way; every row holds a word."""
    forward, backward = np.zeros(left.shape[0]), np.zeros(left.shape[0])
    cells = np.diff(left.indptr).astype(np.int64) * np.diff(right.indptr)
    for block, a, b, distances in _iterate_blocks(left, right, np.flatnonzero(cells <= MOST_CELLS), words):
        forward[block] = (a * distances.min(axis=2)).sum(axis=1) / a.sum(axis=1)
        backward[block] = (b * distances.min(axis=1)).sum(axis=1) / b.sum(axis=1)
    for row in np.flatnonzero(cells > MOST_CELLS):
        forward[row] = _find_nearest(left[row], right[row], words)
        backward[row] = _find_nearest(right[row], left[row], words)
    return forward, backward


def gather(counts: Any, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the words and counts of rows that have equally many words, shape (rows, words)."""
    starts = counts.indptr[rows]
    places = starts[:, None] + np.arange(counts.indptr[rows[0] + 1] - starts[0])
    return counts.indices[places], np.asarray(counts.data[places], dtype=np.float64)


def _scale(counts: Any, factors: Floats) -> Any:
    from scipy.sparse import csr_matrix

    data = counts.data * np.repeat(factors, np.diff(counts.indptr))
    return csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape)


def _split_surplus(difference: Any) -> tuple[Any, Any]:
    """Split into what left has too much and what right has; the side of fewer words first, whichever it is.

    Exchanging left and right thus gives the same problem, and the same value to the last bit.
    """
    difference.eliminate_zeros()
    ends, data = difference.indptr, difference.data
    row_of = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    surplus = np.bincount(row_of, weights=np.sign(data), minlength=len(ends) - 1)
    first = np.zeros(len(ends) - 1)
    first[row_of[::-1]] = data[::-1]
    swapped = (surplus > 0) | ((surplus == 0) & (first < 0))
    data = np.where(swapped[row_of], -data, data)
    return _select_cells(difference, data, data > 0), _select_cells(difference, -data, data < 0)


def _select_cells(matrix: Any, data: Floats, kept: NDArray[np.bool_]) -> Any:
    from scipy.sparse import csr_matrix

    ends = np.append(0, np.cumsum(kept))[matrix.indptr]
    return csr_matrix((data[kept], matrix.indices[kept], ends), shape=matrix.shape)


def _iterate_blocks(left: Any, right: Any, rows: Ints, words: WordTable) -> Iterator[Block]:
    """Yield pairs of one shape: their rows, masses of both sides, and distances (pairs, left words, right words)."""
    widths = np.diff(left.indptr)[rows], np.diff(right.indptr)[rows]
    order = np.lexsort(widths)
    rows, m, n = rows[order], widths[0][order], widths[1][order]
    starts = np.flatnonzero(np.diff(m, prepend=-1) | np.diff(n, prepend=-1))
    for alike in np.split(np.arange(len(rows)), starts[1:]) if len(rows) else []:
        tall, wide = int(m[alike[0]]), int(n[alike[0]])
        for some in split_into_blocks(len(alike), _BLOCK_NUMBERS, tall * wide + (tall + wide) * words.vectors.shape[1]):
            block = rows[alike[some]]
            (x, a), (y, b) = gather(left, block), gather(right, block)
            yield block, a, b, _compute_distances(x, y, words)


def _compute_distances(left: Ints, right: Ints, words: WordTable) -> Floats:
    X, Y = words.vectors[left].astype(np.float64), words.vectors[right].astype(np.float64)
    if left.shape[1] * right.shape[1] >= _LARGE_CELLS:
        from scipy.spatial.distance import cdist

        return np.stack([cdist(x, y) for x, y in zip(X, Y, strict=True)])
    both = words.squares[left][:, :, None] + words.squares[right][:, None, :]
    squared = both - 2.0 * (X @ Y.swapaxes(1, 2))
    pair, i, j = np.nonzero(squared < _CLOSE * both)
    squared[pair, i, j] = ((X[pair, i] - Y[pair, j]) ** 2).sum(axis=1)
    return np.sqrt(squared)


def _solve(a: Floats, b: Floats, distances: Floats) -> Floats:
    """Least costs of one block; a single word on the left has no choice."""
    if a.shape[1] == 1:
        return np.asarray((b * distances[:, 0]).sum(axis=1))
    from ot.lp.emd_wrap import emd_c

    # The C core under `ot.emd2`, whose checks and dual values cost ten times the solution of a small problem.
    solved = [emd_c(*problem, 1 << 40, 1) for problem in zip(a, b, distances, strict=True)]
    return np.array([cost if code == 1 else np.nan for _, cost, _, _, code in solved])


def _find_nearest(left: Any, right: Any, words: WordTable) -> float:
    """Return one direction for two very long texts, some left words at a time."""
    from scipy.spatial.distance import cdist

    targets = words.vectors[right.indices].astype(np.float64)
    parts = (left.indices[some] for some in split_into_blocks(left.nnz, _BLOCK_NUMBERS, right.nnz))
    nearest = np.concatenate([cdist(words.vectors[part].astype(np.float64), targets).min(axis=1) for part in parts])
    return float(left.data @ nearest / left.data.sum())
