"""How far words have to travel from one text to the other: wmd and its relaxed lower bound rwmd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.corpus import Pairs
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.pair._transport import MOST_CELLS, exact_costs, relaxed_costs
from textgauge.metrics.pair._words import NO_WORD, StopWords, WordCounts, WordVectorMetric, alike
from textgauge.metrics.pair_metric import Columns
from textgauge.metrics.registry import register

_ANY = (0.0, float("inf"))


@dataclass(frozen=True, kw_only=True)
class TransportMetric(WordVectorMetric):
    """Base of the metrics that move words; subclasses implement `costs`."""

    headline = Part(VALUE, bounds=_ANY)
    stopwords: StopWords = "keep"
    unit: bool = False

    def costs(self, left: Any, right: Any, words: WordCounts) -> Columns:
        """The columns of pairs whose texts all have words with vectors."""
        raise NotImplementedError

    def compute(self, pairs: Pairs) -> Columns:
        """Costs of all pairs: 0 for equal texts, NaN where a text has no word with a vector."""
        words = self.words(pairs.left.pool, stopwords=self.stopwords)
        known, same = words.totals > 0, alike(pairs.left, pairs.right, words)
        rows = np.flatnonzero(known[pairs.left.index] & known[pairs.right.index] & ~same)
        left, right = (words.counts[side.index[rows]] for side in (pairs.left, pairs.right))
        found = self.costs(left, right, words.unit if self.unit else words)
        columns = {name: np.where(same, 0.0, np.nan) for name in found}
        for name, values in found.items():
            columns[name][rows] = values
        return columns


@register
@dataclass(frozen=True, kw_only=True)
class Wmd(TransportMetric):
    """The least distance that the words of one text have to travel to become the words of the other.

    min over T ≥ 0 of Σᵢⱼ Tᵢⱼ ‖xᵢ − yⱼ‖ with Σⱼ Tᵢⱼ the share of word i in the left text and Σᵢ Tᵢⱼ that of word j in
    the right one: exact optimal transport in float64. Words without a vector are left out; with `stopwords=drop` so are
    scikit-learn's English stop words and signs, as the source does without stop words. `unit` scales vectors to length
    1 first, as gensim does. Undefined (NaN) when a text has no word with a vector and the texts differ, or when more
    than 2^24 pairs of different words would have to be compared. Source: Kusner et al. 2015.
    """

    name = "wmd"
    label = "WMD"
    source = "Kusner et al. 2015"
    undefined = f"{NO_WORD}, or the two have more than {MOST_CELLS:,} pairs of different words"

    def costs(self, left: Any, right: Any, words: WordCounts) -> Columns:
        """Exact costs."""
        return {VALUE: exact_costs(left, right, words)}


@register
@dataclass(frozen=True, kw_only=True)
class Rwmd(TransportMetric):
    """How far the words of each text are from the nearest words of the other: a lower bound of `wmd`, and faster.

    max(forward, backward); forward = Σᵢ share of word i × minⱼ ‖xᵢ − yⱼ‖ over the left text's words, backward the same
    from the right. Words without a vector are left out; `stopwords` and `unit` as for `wmd`. Undefined (NaN) when a
    text has no word with a vector and the texts differ. Source: Kusner et al. 2015.
    """

    name = "rwmd"
    label = "Relaxed WMD"
    source = "Kusner et al. 2015"
    parts = (Part("forward", bounds=_ANY), Part("backward", bounds=_ANY))

    def costs(self, left: Any, right: Any, words: WordCounts) -> Columns:
        """Relaxed costs, both directions."""
        forward, backward = relaxed_costs(left, right, words)
        return {VALUE: np.maximum(forward, backward), "forward": forward, "backward": backward}
