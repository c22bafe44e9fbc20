"""Which tokens two corpora use at all, and how varied they are: vocab_overlap, ttr_gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.corpus_metric import GapMetric, ManyValues
from textgauge.metrics.registry import register
from textgauge.metrics.token_counts import CountMetric


@register
@dataclass(frozen=True, kw_only=True)
class VocabularyOverlap(CountMetric):
    """How much of their vocabulary two corpora share.

    |V(P) ∩ V(Q)| ÷ |V(P) ∪ V(Q)|, V = the set of different tokens; `vocab_overlap.new` is the share of the
    candidate's vocabulary that the reference does not have. Larger corpora share more. Undefined when a corpus has no
    tokens. Source: Jaccard 1901.
    """

    name = "vocab_overlap"
    label = "Vocabulary overlap"
    min_texts_interval = 30
    source = "Jaccard 1901"
    headline = Part(VALUE, closer="larger")
    parts = (Part("new"),)
    value_at_identity = 1.0

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        """Overlap, and the candidate's share of new types."""
        both = ((P > 0) & (Q > 0)).sum(axis=1)
        either = ((P > 0) | (Q > 0)).sum(axis=1)
        return {VALUE: both / either, "new": 1.0 - both / (Q > 0).sum(axis=1)}


def expected_types(counts: NDArray[np.float64], sample: float) -> float:
    """Different tokens expected in a random sample, without replacement, of `sample` tokens of a corpus.

    Σ over types of 1 − C(N − c, t)/C(N, t): each type minus its chance of being missed.

    >>> expected_types(np.array([2.0, 1.0, 1.0]), 2)
    1.8333333333333333
    """
    from scipy.special import gammaln

    size = counts.sum()
    seen, types = np.unique(counts[counts > 0], return_counts=True)
    if sample >= size:
        return float(types.sum())
    left = size - seen
    possible = left >= sample
    missed = np.zeros(len(seen))
    ways = gammaln(left[possible] + 1) - gammaln(left[possible] - sample + 1)
    missed[possible] = np.exp(ways - (gammaln(size + 1) - gammaln(size - sample + 1)))
    return float(types @ (1.0 - missed))


def type_token_ratios(counts: Floats, sizes: Floats) -> Floats:
    """Expected types in samples of the given sizes, per token."""
    return np.array([expected_types(row, size) / size for row, size in zip(counts, sizes, strict=True)])


@register
@dataclass(frozen=True, kw_only=True)
class TypeTokenGap(GapMetric, CountMetric):
    """How differently varied the words of two corpora are.

    |TTR(P) − TTR(Q)|, TTR = different tokens ÷ tokens. It falls as a corpus grows, so both are taken at the size of the
    smaller corpus: the larger one by the expected number of types in a random sample of that many tokens
    (`rarefy=false`: as they stand). Undefined when a corpus has no tokens. Source: Hurlbert 1971 for the expectation.
    """

    name = "ttr_gap"
    label = "Type–token gap"
    source = "Hurlbert 1971"
    headline = Part(VALUE)
    parts = (Part("reference"), Part("candidate"))
    rarefy: bool = True

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        """The gap, and both ratios."""
        sizes_P, sizes_Q = P.sum(axis=1), Q.sum(axis=1)
        if self.rarefy:
            sizes_P = sizes_Q = np.minimum(sizes_P, sizes_Q)
        reference, candidate = type_token_ratios(P, sizes_P), type_token_ratios(Q, sizes_Q)
        return {VALUE: np.abs(reference - candidate), "reference": reference, "candidate": candidate}
