"""How much of a text stands in another one, word for word: copied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.data import Corpus, Pairs
from textgauge.encode.tokenizers import Tokens
from textgauge.metrics.base import VALUE, Range
from textgauge.metrics.numerics.passages import find_passages
from textgauge.metrics.pair_metric import Columns, PairMetric
from textgauge.metrics.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Copied(PairMetric):
    """The share of the words of the left text that stand in the right one in runs of `words` words or more.

    Words are runs of letters and digits in lower case. Texts with the same words in the same order score 1, however
    short they are. Never undefined: without words, a text scores 1 with another one without, and 0 otherwise.
    Source: textgauge; scripts that look for leaked texts compare runs of 8 or 13 words.

    >>> Copied()(left=["We saw: the red cat!"], right=["Now the RED cat slept"]).values
    array([0.6])
    """

    name = "copied"
    label = "Copied share"
    source = "textgauge"
    needs = "tokens"
    default_on = "alphanumeric"
    symmetric = False
    ranges = (Range("words", 2),)

    words: int = 3

    def compute(self, pairs: Pairs) -> Columns:
        left, right = pairs.left.tokens(self.on), pairs.right.tokens(self.on)
        rows = (slice(row, row + 1) for row in range(len(pairs)))
        return {VALUE: np.array([self._find_shares(left.take(row), right.take(row))[0] for row in rows])}

    def find_best(self, rows: Corpus, columns: Corpus) -> Floats:
        """Return the share of each row text that stands in any of the column texts."""
        return self._find_shares(rows.tokens(self.on), columns.tokens(self.on))

    def _find_shares(self, texts: Tokens, others: Tokens) -> Floats:
        whole = {others[row].tobytes() for row in range(len(others))}
        is_equal = [texts[row].tobytes() in whole for row in range(len(texts))]
        return np.where(is_equal, 1.0, find_passages(texts, others, words=self.words).shares)
