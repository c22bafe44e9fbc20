"""How much of a text stands in another one, word for word: copied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.data import Corpus, Pairs
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
        found = np.zeros(len(pairs))
        for row in range(len(pairs)):
            mine, theirs = (side.take(slice(row, row + 1)) for side in (left, right))
            if np.array_equal(mine.ids, theirs.ids):
                found[row] = 1.0
            elif min(len(mine.ids), len(theirs.ids)) >= self.words:
                found[row] = find_passages(mine, theirs, words=self.words).shares[0]
        return {VALUE: found}

    def find_best(self, rows: Corpus, columns: Corpus) -> Floats:
        """Return the share of each row text that stands in any of the column texts."""
        mine, theirs = rows.tokens(self.on), columns.tokens(self.on)
        whole = {theirs[row].tobytes() for row in range(len(theirs))}
        is_equal = [mine[row].tobytes() in whole for row in range(len(mine))]
        return np.where(is_equal, 1.0, find_passages(mine, theirs, words=self.words).shares)
