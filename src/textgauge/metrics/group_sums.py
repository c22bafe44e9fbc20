"""Sums over the texts of groups: what metrics that are functions of sums need of draws of whole groups.

A sum of a draw is the sum over its groups, so that many exchanges of a million texts read them once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from textgauge.core.arrays import Embeddings, Floats, Ints
from textgauge.core.sizes import blocks
from textgauge.data import Corpus, Draws
from textgauge.data.pool import PADDED
from textgauge.data.storage import PARTITION, iterate_rows
from textgauge.metrics.numerics.moments import Subsets

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def list_sides(draws: Draws) -> Subsets:
    """Return the different sides of draws, of texts or of groups."""
    return Subsets.of(draws.left, draws.right, draws.unit_sizes)


def sum_by_group(rows: Embeddings, groups: Ints, total: Callable[[Embeddings], Floats]) -> Floats:
    """Return `total` of the rows of each group, for a function that adds up over rows."""
    sums: Floats | None = None
    for found, group in _iterate_groups(rows, groups):
        added = total(found)
        sums = np.zeros((int(groups.max()) + 1, *added.shape)) if sums is None else sums
        sums[group] += added
    return np.empty((0, 0)) if sums is None else sums


def _iterate_groups(rows: Embeddings, groups: Ints) -> Iterator[tuple[Embeddings, int]]:
    """Yield the rows of each group, some thousand rows of all of them at a time."""
    for some, block in iterate_rows(rows):
        order = np.argsort(groups[some], kind="stable")
        numbers, first = np.unique(groups[some][order], return_index=True)
        ordered = block[order]
        for group, (start, stop) in zip(numbers.tolist(), pairwise([*first, len(order)]), strict=True):
            yield ordered[start:stop], group


def count_by_group(corpus: Corpus, tokenizer: str, groups: Ints | None = None, count: int = 1) -> csr_matrix:
    """Return how often each group, or the whole corpus, has each token of the pool's vocabulary; `[PAD]` is last."""
    from scipy.sparse import csr_matrix

    bare = tokenizer.removesuffix(PADDED)
    tokens = corpus.tokens(bare)
    own = np.zeros(len(corpus), dtype=np.int64) if groups is None else groups
    sums = csr_matrix((count, int(corpus.pool.tokens(bare).ids.max(initial=-1)) + (1 if bare == tokenizer else 2)))
    for some in blocks(len(corpus), PARTITION):
        ids = tokens.ids[tokens.offsets[some.start] : tokens.offsets[some.stop]]
        cells = np.repeat(own[some], tokens.lengths[some]), ids
        sums = sums + csr_matrix((np.ones(len(ids)), cells), shape=sums.shape)
    if bare == tokenizer:
        return sums
    missing = np.bincount(own, corpus.pool.padding(bare)[corpus.index], minlength=count)
    places = np.arange(count), np.full(count, sums.shape[1] - 1)
    return sums + csr_matrix((missing, places), shape=sums.shape)
