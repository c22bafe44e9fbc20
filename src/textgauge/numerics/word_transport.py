"""Optimal transport between the words of many pairs of texts: exact, and relaxed.

Both sides of a pair are rows of a sparse matrix, texts by words. Pairs of one shape (words left, words right) are taken
together: their distances come from one stacked product, whose rounding depends on the pair alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Index = NDArray[np.int64]
Block = tuple[Index, Numbers, Numbers, Numbers]

MOST_CELLS = 1 << 24  # of one pair: a network of half a gigabyte, some minutes of work
_LARGE_CELLS = 1 << 12  # from here on a product per pair saves nothing
_BLOCK_NUMBERS = 1 << 17  # numbers held of a block: a megabyte, which stays in the cache of a core
_CLOSE = 1e-9  # part of both squared lengths below which a squared distance is taken from the differences


class WordTable(Protocol):
    """Vectors of words, one a row, and their squared lengths."""

    @property
    def vectors(self) -> NDArray[np.float32]:
        """One row per word."""

    @property
    def squares(self) -> Numbers:
        """The squared length of each row."""


def exact_costs(left: Any, right: Any, words: WordTable) -> Numbers:
    """Least mean distance that word mass travels from left to right, per pair; every row holds a word.

    Mass that a word has on both sides stays where it is, which is optimal as distances obey the triangle inequality.
    Masses are whole numbers (counts times the other side's total), so that no rounding enters the network. NaN where
    more than `MOST_CELLS` pairs of words are left.
    """
    totals = np.asarray(left.sum(axis=1)).ravel(), np.asarray(right.sum(axis=1)).ravel()
    supply, demand = _surplus(_scaled(left, totals[1]) - _scaled(right, totals[0]))
    cells = np.diff(supply.indptr).astype(np.int64) * np.diff(demand.indptr)
    costs = np.where(cells <= MOST_CELLS, 0.0, np.nan)
    rows = np.flatnonzero((cells > 0) & (cells <= MOST_CELLS))
    for block, a, b, distances in _blocks(supply, demand, rows, words):
        costs[block] = _solved(a, b, distances)
    return np.asarray(costs / (totals[0] * totals[1]))


def relaxed_costs(left: Any, right: Any, words: WordTable) -> tuple[Numbers, Numbers]:
    """Mean distance of left words to their nearest right word, and the other way; every row holds a word."""
    forward, backward = np.zeros(left.shape[0]), np.zeros(left.shape[0])
    cells = np.diff(left.indptr).astype(np.int64) * np.diff(right.indptr)
    for block, a, b, distances in _blocks(left, right, np.flatnonzero(cells <= MOST_CELLS), words):
        forward[block] = (a * distances.min(axis=2)).sum(axis=1) / a.sum(axis=1)
        backward[block] = (b * distances.min(axis=1)).sum(axis=1) / b.sum(axis=1)
    for row in np.flatnonzero(cells > MOST_CELLS):
        forward[row] = _nearest(left[row], right[row], words)
        backward[row] = _nearest(right[row], left[row], words)
    return forward, backward


def gathered(counts: Any, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the words and counts of rows that have equally many words, shape (rows, words)."""
    starts = counts.indptr[rows]
    places = starts[:, None] + np.arange(counts.indptr[rows[0] + 1] - starts[0])
    return counts.indices[places], np.asarray(counts.data[places], dtype=np.float64)


def _scaled(counts: Any, factors: Numbers) -> Any:
    from scipy.sparse import csr_matrix

    data = counts.data * np.repeat(factors, np.diff(counts.indptr))
    return csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape)


def _surplus(difference: Any) -> tuple[Any, Any]:
    """Split into what left has too much and what right has; the side of fewer words first, whichever it is.

    Exchanging left and right thus gives the same problem, and the same value to the last bit.
    """
    difference.eliminate_zeros()
    ends, data = difference.indptr, difference.data
    row_of = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    surplus = np.bincount(row_of, weights=np.sign(data), minlength=len(ends) - 1)
    first = np.zeros(len(ends) - 1)
    first[row_of[::-1]] = data[::-1]
    turned = (surplus > 0) | ((surplus == 0) & (first < 0))
    data = np.where(turned[row_of], -data, data)
    return _kept(difference, data, data > 0), _kept(difference, -data, data < 0)


def _kept(matrix: Any, data: Numbers, kept: NDArray[np.bool_]) -> Any:
    from scipy.sparse import csr_matrix

    ends = np.append(0, np.cumsum(kept))[matrix.indptr]
    return csr_matrix((data[kept], matrix.indices[kept], ends), shape=matrix.shape)


def _blocks(left: Any, right: Any, rows: Index, words: WordTable) -> Iterator[Block]:
    """Yield pairs of one shape: their rows, masses of both sides, and distances (pairs, left words, right words)."""
    widths = np.diff(left.indptr)[rows], np.diff(right.indptr)[rows]
    order = np.lexsort(widths)
    rows, m, n = rows[order], widths[0][order], widths[1][order]
    starts = np.flatnonzero(np.diff(m, prepend=-1) | np.diff(n, prepend=-1))
    for start, end in zip(starts, np.append(starts, len(rows))[1:], strict=True):
        held = int(m[start]) * int(n[start]) + (int(m[start]) + int(n[start])) * words.vectors.shape[1]
        step = max(1, _BLOCK_NUMBERS // held)
        for first in range(start, end, step):
            block = rows[first : min(first + step, end)]
            (x, a), (y, b) = gathered(left, block), gathered(right, block)
            yield block, a, b, _distances(x, y, words)


def _distances(left: Index, right: Index, words: WordTable) -> Numbers:
    X, Y = words.vectors[left].astype(np.float64), words.vectors[right].astype(np.float64)
    if left.shape[1] * right.shape[1] >= _LARGE_CELLS:
        from scipy.spatial.distance import cdist

        return np.stack([cdist(x, y) for x, y in zip(X, Y, strict=True)])
    both = words.squares[left][:, :, None] + words.squares[right][:, None, :]
    squared = both - 2.0 * (X @ Y.swapaxes(1, 2))
    pair, i, j = np.nonzero(squared < _CLOSE * both)
    squared[pair, i, j] = ((X[pair, i] - Y[pair, j]) ** 2).sum(axis=1)
    return np.sqrt(squared)


def _solved(a: Numbers, b: Numbers, distances: Numbers) -> Numbers:
    """Least costs of one block; a single word on the left has no choice."""
    if a.shape[1] == 1:
        return np.asarray((b * distances[:, 0]).sum(axis=1))
    from ot.lp.emd_wrap import emd_c

    # The C core under `ot.emd2`, whose checks and dual values cost ten times the solution of a small problem.
    solved = [emd_c(*problem, 1 << 40, 1) for problem in zip(a, b, distances, strict=True)]
    return np.array([cost if code == 1 else np.nan for _, cost, _, _, code in solved])


def _nearest(left: Any, right: Any, words: WordTable) -> float:
    """One direction for two very long texts, some left words at a time."""
    from scipy.spatial.distance import cdist

    targets, step = words.vectors[right.indices].astype(np.float64), max(1, _BLOCK_NUMBERS // right.nnz)
    parts = (left.indices[start : start + step] for start in range(0, left.nnz, step))
    nearest = np.concatenate([cdist(words.vectors[part].astype(np.float64), targets).min(axis=1) for part in parts])
    return float(left.data @ nearest / left.data.sum())
