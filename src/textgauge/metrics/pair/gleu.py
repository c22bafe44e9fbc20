"""N-grams in common against those of the longer text: gleu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textgauge.corpus import Pairs
from textgauge.corpus.pool import Pool
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.pair._ngram_counts import Matrix, best_rows
from textgauge.metrics.pair._ngram_metric import NgramMetric, at_least, divided, tokens_of
from textgauge.metrics.pair_metric import Column, Columns
from textgauge.metrics.registry import register
from textgauge.represent.tokenizers import Tokens


@register
@dataclass(frozen=True, kw_only=True)
class Gleu(NgramMetric):
    """N-grams of 1 … `order` tokens that two texts share, all orders counted together.

    Precision = shared n-grams / n-grams of left, recall = shared n-grams / n-grams of right; value = the smaller of
    both. It is sentence_gleu of nltk on the same tokens, and over a set its corpus_gleu. Several references: the
    closest counts. Two texts without tokens score 1, one alone 0. Source: Wu et al. 2016 ("Google BLEU").

    >>> from textgauge import get_metric
    >>> get_metric("gleu")(left=["the the the the the the the"], right=["the cat is on the mat"]).values.round(4)
    array([0.0909])
    """

    name = "gleu"
    label = "GLEU"
    source = "Wu et al. 2016"
    needs = "tokens"
    default_on = "13a"
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))

    order: int = 4
    lowercase: bool = False

    def check(self) -> None:
        """The order must be positive."""
        at_least(self.name, "order", self.order, 1)

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        """One stream of tokens."""
        return [(tokens_of(pool, self.on, lowercase=self.lowercase), self.order)]

    def of_counts(self, shared: Matrix, left: Matrix, right: Matrix) -> Columns:
        """The smaller of precision and recall of all orders together."""
        shared, left, right = (np.asarray(counts.sum(axis=-1)) for counts in (shared, left, right))
        empty = (left == 0) & (right == 0)
        found = {
            VALUE: divided(shared, np.maximum(left, right)),
            "precision": divided(shared, left),
            "recall": divided(shared, right),
        }
        return {name: np.where(empty, 1.0, column) for name, column in found.items()}

    def statistics(self, pairs: Pairs) -> Column:
        """Shared n-grams, and those of the longer text, of the closest reference."""
        shared, left, right = self.counts(pairs)
        chosen = best_rows(self.of_counts(shared, left, right)[VALUE], pairs.items)
        return np.column_stack([shared.sum(axis=1), np.maximum(left.sum(axis=1), right.sum(axis=1))])[chosen]

    def of_statistics(self, sums: Column) -> Column:
        """Corpus GLEU; 1 for a set without tokens."""
        return np.asarray(np.where(sums[:, 1] == 0, 1.0, divided(sums[:, 0], sums[:, 1])))
