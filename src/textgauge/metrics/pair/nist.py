"""N-grams in common, weighted by the information they carry: nist."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.data import Pairs
from textgauge.metrics.base import VALUE, Range
from textgauge.metrics.ngram_metric import tokens_of
from textgauge.metrics.numerics.ngram_counts import gram_counter
from textgauge.metrics.pair_metric import Columns, PairMetric
from textgauge.metrics.registry import register

Ids = Sequence[int]
Grams = Counter[tuple[Any, ...]]

# The penalty is 1/2 for a text of 2/3 of the reference's length (Doddington 2002, eq. 3).
_PENALTY = math.log(0.5) / math.log(1.5) ** 2


def nist(candidate: Ids, references: Sequence[Ids], orders: int) -> float:
    """NIST score: information of the matches per n-gram of the candidate, summed over orders, times a length penalty.

    Of several references, each order takes the one with most information, as nltk does; an order for which the
    candidate has no n-grams adds nothing.
    """
    shorter: Grams = Counter({(): sum(map(len, references))})
    score, length = 0.0, 0
    for n in range(1, orders + 1):
        grams = gram_counter(candidate, n)
        found = [gram_counter(reference, n) for reference in references]
        counts = found[0] if len(found) == 1 else sum(found, Counter())
        gains = [_gain(_both(grams, one), counts, shorter) for one in found]
        gain, words = max(zip(gains, map(len, references), strict=True))
        score += gain / grams.total() if gain else 0.0
        length += words
        shorter = counts
    return score * penalty(orders * len(candidate), length)


def penalty(length: int, reference: int) -> float:
    """1 for a text as long as the reference or longer, falling to 0: exp(β · log²(length / reference)).

    >>> round(penalty(2, 3), 3)
    0.5
    """
    if not length:
        return 0.0
    return math.exp(_PENALTY * math.log(min(length / reference, 1.0)) ** 2) if reference else 1.0


def _both(grams: Grams, others: Grams) -> dict[tuple[Any, ...], int]:
    return {gram: min(count, others[gram]) for gram, count in grams.items() if gram in others}


def _gain(matches: dict[tuple[Any, ...], int], counts: Grams, shorter: Grams) -> float:
    """The bits of the matches: of each log2(count without its last token / count), as counted in the references."""
    # An exact sum, so that the order of the n-grams, which differs from batch to batch, does not matter.
    return math.fsum(count * math.log2(shorter[gram[:-1]] / counts[gram]) for gram, count in matches.items())


@register
@dataclass(frozen=True, kw_only=True)
class Nist(PairMetric):
    """How much of the information in right is in left: n-grams that match, rare ones counting more.

    Score = Σ_n (information of the matching n-grams / n-grams of left) · length penalty, n = 1 … `order`; the
    information of an n-gram is log2 of how much rarer it is than the n-gram without its last token, counted in the
    references of the pair, as sentence_nist of nltk does. Value = the score divided by the score of right itself, at
    most 1; of several references the closest counts. `normalise=false` gives the score of nltk, also with several
    references; it has no upper bound. An order that left is too short for adds nothing (nltk fails there). If right
    has no information (one word, say), the value is 1 for the same tokens, else 0. Source: Doddington 2002.

    >>> from textgauge import get_metric
    >>> get_metric("nist")(left=["the cat sat on a mat"], right=["the cat sat on the mat"]).values.round(3)
    array([0.825])
    """

    name = "nist"
    label = "NIST"
    source = "Doddington 2002"
    needs = "tokens"
    default_on = "13a"
    symmetric = False
    ranges = (Range("order", 1, 100),)

    order: int = 5
    lowercase: bool = False
    normalise: bool = True

    @property
    def bounds(self) -> tuple[float, float]:
        """Scores that are not normalised have no upper bound."""
        return super().bounds if self.normalise else (0.0, float("inf"))

    def compute(self, pairs: Pairs) -> Columns:
        """NIST with one reference."""
        tokens = tokens_of(pairs.left.pool, self.on, lowercase=self.lowercase)
        rows = zip(pairs.left.index.tolist(), pairs.right.index.tolist(), strict=True)
        found = [self._score(tokens[a].tolist(), tokens[b].tolist()) for a, b in rows]
        return {VALUE: np.array(found, dtype=np.float64)}

    def compute_items(self, pairs: Pairs) -> Columns:
        """NIST with any number of references: the closest, or all together where scores are not normalised."""
        if self.normalise or not pairs.several:
            return super().compute_items(pairs)
        tokens = tokens_of(pairs.left.pool, self.on, lowercase=self.lowercase)
        first = pairs.first_rows
        ends = np.append(first[1:], len(pairs))
        found = []
        for start, end in zip(first, ends, strict=True):
            references = [tokens[row].tolist() for row in pairs.right.index[start:end]]
            found.append(nist(tokens[pairs.left.index[start]].tolist(), references, self.order))
        return {VALUE: np.array(found, dtype=np.float64)}

    def _score(self, candidate: Ids, reference: Ids) -> float:
        score = nist(candidate, [reference], self.order)
        if not self.normalise:
            return score
        most = nist(reference, [reference], self.order)
        return min(1.0, score / most) if most else float(candidate == reference)
