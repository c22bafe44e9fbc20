"""Similarity of the sets of tokens of two texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.data import Corpus, Pairs
from textgauge.data.view import in_one_pool
from textgauge.metrics.base import VALUE
from textgauge.metrics.numerics.ngram_counts import factor, product, with_data
from textgauge.metrics.pair_metric import Columns, PairMetric
from textgauge.metrics.registry import register

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def share(common: Floats, left: Floats, right: Floats) -> Floats:
    """|A ∩ B| / |A ∪ B| from the sizes of the intersection and of both sets; 1 for two empty sets.

    >>> share(np.array([1.0, 0.0]), np.array([2.0, 0.0]), np.array([3.0, 0.0]))
    array([0.25, 1.  ])
    """
    union = left + right - common
    return np.where(union > 0, common / np.maximum(union, 1.0), 1.0)


@register
@dataclass(frozen=True, kw_only=True)
class Jaccard(PairMetric):
    """The share of the different words of two texts that both have.

    |A ∩ B| / |A ∪ B| of the two sets of tokens. Never undefined: two texts without tokens score 1, a text without
    tokens and another 0.
    Source: Jaccard 1912.

    >>> Jaccard()(left=["A red cat"], right=["a red dog"]).values
    array([0.5])
    """

    name = "jaccard"
    label = "Jaccard"
    source = "Jaccard 1912"
    needs = "tokens"
    default_on = "words"

    def compute(self, pairs: Pairs) -> Columns:
        """The share of each pair."""
        left, right = _sets(pairs.left, self.on), _sets(pairs.right, self.on)
        common = np.asarray(left.multiply(right).sum(axis=1)).reshape(-1)
        return {VALUE: share(common, _sizes(left), _sizes(right))}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """The share of every row text with every column text."""
        rows, columns = in_one_pool(rows, columns)
        left, right = _sets(rows, self.on), _sets(columns, self.on)
        found, width = product(left, factor(right)), _sizes(right)
        for row, size in zip(found, _sizes(left), strict=True):
            row[:] = share(row, size, width)
        return found


@register
@dataclass(frozen=True, kw_only=True)
class Overlap(Jaccard):
    """The share of the different words of two texts that both have, words as they stand between white space.

    |A ∩ B| / |A ∪ B|; capitals and attached punctuation count. Never undefined: see `jaccard`.
    Source: word overlap of Yamshchikov et al. 2021.

    >>> Overlap()(left=["A red cat"], right=["a red dog"]).values
    array([0.2])
    """

    name = "overlap"
    label = "Word overlap"
    source = "Yamshchikov et al. 2021"
    default_on = "whitespace"


def _sets(corpus: Corpus, on: str) -> csr_matrix:
    counts = corpus.counts(on)
    return with_data(counts, np.ones(len(counts.data)))


def _sizes(sets: csr_matrix) -> Floats:
    return np.diff(sets.indptr).astype(np.float64)
