"""Counts of tokens over texts and over groups of texts, and metrics that are functions of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.settings import split_into_blocks
from textgauge.data import Comparison, Corpus, Draws
from textgauge.data.pool import PADDED, PARTITION
from textgauge.encode.tokenizers import Tokens
from textgauge.metrics.base import VALUE, Undefined, take_single
from textgauge.metrics.corpus_metric import ManyValues, TokenMetric, Values

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def count_by_group(corpus: Corpus, tokenizer: str, groups: Ints | None = None, count: int = 1) -> csr_matrix:
    """Return how often each group, or the whole corpus, has each token of the pool's vocabulary.

    Of texts that are padded, `[CLS]`, `[SEP]` and `[PAD]` are last.
    """
    from scipy.sparse import csr_matrix

    bare = tokenizer.removesuffix(PADDED)
    tokens = corpus.tokens(bare)
    own = np.zeros(len(corpus), dtype=np.int64) if groups is None else groups
    sums = csr_matrix((count, int(corpus.pool.tokens(bare).ids.max(initial=-1)) + (1 if bare == tokenizer else 4)))
    for some in split_into_blocks(len(corpus), PARTITION):
        ids = tokens.ids[tokens.offsets[some.start] : tokens.offsets[some.stop]]
        cells = np.repeat(own[some], tokens.lengths[some]), ids
        sums = sums + csr_matrix((np.ones(len(ids)), cells), shape=sums.shape)
    if bare == tokenizer:
        return sums
    texts = np.bincount(own, minlength=count)
    missing = np.bincount(own, corpus.pool.padding(bare)[corpus.index], minlength=count)
    places = np.tile(np.arange(count), 3), np.repeat(sums.shape[1] - np.array([3, 2, 1]), count)
    added = csr_matrix((np.concatenate([texts, texts, missing]), places), shape=sums.shape)
    return csr_matrix(sums + added)


_CELLS = 2_000_000  # draws × vocabulary held at once: 16 MB an array, a handful of arrays at a time


class CountMetric(TokenMetric):
    """A metric of the token counts of two corpora: subclasses give `of_counts`, for many pairs of corpora at once."""

    undefined: ClassVar[str] = "it does not exist for these counts"
    is_sum = True

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        """Return values of many comparisons: row r of P and Q counts the tokens of reference and candidate r.

        No row is empty. NaN as headline means undefined.
        """
        raise NotImplementedError

    def compute(self, comparison: Comparison) -> Values:
        """Headline and parts of one comparison."""
        P, Q = (count_tokens(corpus, self.token_rows) for corpus in comparison.sides)
        # In an order that the counts alone decide, so that sums round alike in every pool.
        order = np.lexsort((P[0], Q[0]))
        order = order[(P + Q)[0, order] > 0]
        values = self.of_counts(P[:, order], Q[:, order])
        if np.isnan(values[VALUE][0]):
            raise Undefined(self.undefined)
        return take_single(values)

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws: their counts are one product of the masks and the texts' counts."""
        if draws.groups is None:
            counts = joint.counts(self.token_rows)
        else:
            counts = count_by_group(joint, self.token_rows, draws.groups, draws.left.shape[1])
        counts = counts[:, np.flatnonzero(counts.sum(axis=0))]
        rows = [self._of_draws(counts, part) for part in draws.chunks(_CELLS, counts.shape[1])]
        return {name: np.concatenate([row[name] for row in rows]) for name in self.value_names}

    def _of_draws(self, counts: csr_matrix, draws: Draws) -> ManyValues:
        P, Q = sum_counts(counts, draws.left), sum_counts(counts, draws.right)
        usable = (draws.smaller >= self.min_texts) & (P.sum(axis=1) > 0) & (Q.sum(axis=1) > 0)
        values = self.of_counts(P[usable], Q[usable])
        found = {name: np.full(len(draws), np.nan) for name in self.value_names}
        for name, column in found.items():
            column[usable] = np.where(np.isnan(values[VALUE]), np.nan, values[name])
        return found


def count_tokens(corpus: Corpus, tokenizer: str) -> Floats:
    """Return how often a corpus has each token of the pool's vocabulary, as one row."""
    if corpus.pool.is_stored:
        return np.asarray(count_by_group(corpus, tokenizer).toarray())
    return np.asarray(corpus.counts(tokenizer).sum(axis=0), dtype=np.float64).reshape(1, -1)


def sum_counts(counts: csr_matrix, members: NDArray[np.bool_]) -> Floats:
    """Return the counts of each draw, draws by vocabulary."""
    return np.ascontiguousarray((counts.T @ members.T.astype(np.float64)).T)


def number_pairs(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> Ints:
    """Return a number for each different pair, in the order of the pairs.

    >>> number_pairs(np.array([1, 0, 1]), np.array([5, 7, 5]))
    array([1, 0, 1])
    """
    pairs = first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second
    return np.unique(pairs, return_inverse=True)[1].reshape(-1)


def rank_alphabetically(tokens: Tokens) -> Ints:
    """Token ids by the alphabetical order of the tokens in use, so that sums round alike in every pool."""
    used, place = np.unique(tokens.ids, return_inverse=True)
    strings = [tokens.vocabulary[token] for token in used.tolist()]
    rank = np.empty(len(used), dtype=np.int64)
    rank[sorted(range(len(used)), key=strings.__getitem__)] = np.arange(len(used))
    return rank[place.reshape(-1)]
