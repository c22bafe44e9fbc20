"""Distances between the tokens of two corpora: chi, cbdf, zipf, jsd, kl, vocab_overlap, ttr_gap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.data import Comparison
from textgauge.data.pool import PADDED
from textgauge.metrics.base import INFINITY, POSITIVE, VALUE, Part, Range
from textgauge.metrics.corpus_metric import GapMetric, ManyValues
from textgauge.metrics.registry import register
from textgauge.metrics.score import Contributions, SideTerms
from textgauge.metrics.token_counts import CountMetric, count_tokens

_TEXT = "sum over the text's tokens of (observed / expected count of the token in its corpus − 1)"


def mark_top_tokens(totals: Floats, top: int) -> Floats:
    """Which tokens of each row are among its `top` most frequent: 1 inside, 0 outside, a share for ties at the cut.

    Tokens tied at the cut share the places that are left equally, so that nothing depends on the order of tokens:
    the weights of a row sum to the number of tokens kept.

    >>> mark_top_tokens(np.array([[5.0, 2.0, 2.0, 0.0]]), 2)
    array([[1. , 0.5, 0.5, 0. ]])
    """
    present = (totals > 0).astype(np.float64)
    if totals.shape[1] <= top:
        return present
    cut = -np.partition(-totals, top - 1, axis=1)[:, top - 1 : top]
    above, tied = totals > cut, totals == cut
    share = (top - above.sum(axis=1, keepdims=True)) / np.maximum(tied.sum(axis=1, keepdims=True), 1)
    return np.where(cut > 0, above + tied * share, present)


def compute_chi_square(P: Floats, Q: Floats, *, top: int) -> tuple[Floats, Floats]:
    """Pearson's statistic of each 2 × V table of the most frequent tokens, and V.

    Both rows of the table are off their expectation by the same amount, so one sum gives χ²(P) + χ²(Q).
    """
    total = P + Q
    weight = mark_top_tokens(total, top)
    size_P, size_Q = (weight * P).sum(axis=1), (weight * Q).sum(axis=1)
    size = size_P + size_Q
    gap = P - total * (size_P / size)[:, None]
    scaled = (weight * gap * gap / np.where(total > 0, total, 1.0)).sum(axis=1)
    product = size_P * size_Q
    statistic = np.divide(scaled * size * size, product, out=np.full(len(P), np.nan), where=product > 0)
    return statistic, weight.sum(axis=1)


@dataclass(frozen=True, kw_only=True)
class _PaddedCounts(CountMetric):
    """Counts of tokens; `padding=source` counts those that begin, end and pad each text, too."""

    version = 2
    padding: Literal["none", "source"] = "none"

    @property
    def token_rows(self) -> str:
        return self.on + PADDED if self.padding == "source" else self.on


@dataclass(frozen=True, kw_only=True)
class _ChiSquare(_PaddedCounts):
    per_degree: ClassVar[bool] = False  # whether the value is the statistic per degree of freedom
    ranges = (Range("top", 2),)

    top: int = 5000
    df: Literal["two-sample", "paper"] = "two-sample"

    def table(self, P: Floats, Q: Floats) -> tuple[Floats, Floats]:
        statistic, kept = compute_chi_square(P, Q, top=self.top)
        return statistic, (kept - 1) * (2 if self.df == "paper" else 1)

    def explain(self, comparison: Comparison) -> Contributions:
        """Return what each token and text adds: a token Σ over both corpora of (O − E)²/E, a text Σ over its tokens of
        (O/E − 1) of its own corpus.

        Both sum to the statistic: in each corpus Σ O·(O/E − 1) = Σ (O − E)²/E + Σ (O − E), and the last sum is 0. So a
        text adds less than nothing where its tokens are the other corpus's. The value of `chi`, 1 − p, is no sum: its
        part `statistic`, which decides it, is. For `cbdf` all is divided by the degrees of freedom.
        """
        counts = np.vstack([count_tokens(side, self.token_rows) for side in comparison.sides])
        scale, of, formula = 1.0, "statistic", _TEXT
        if self.per_degree and self.part is None:
            degrees = self.table(counts[:1], counts[1:])[1].item()
            scale, of, formula = 1.0 / degrees, VALUE, f"{_TEXT} / degrees of freedom"
        total = counts.sum(axis=0)
        weight = mark_top_tokens(total[None], self.top)[0]
        sizes = counts @ weight
        expected = np.outer(sizes / sizes.sum(), total)
        excess = weight * (np.divide(counts, expected, out=np.ones_like(expected), where=expected > 0) - 1.0)
        reference, candidate = (
            SideTerms(scale * (side.counts(self.token_rows) @ more))
            for side, more in zip(comparison.sides, excess, strict=True)
        )
        adds = scale * ((counts - expected) * excess).sum(axis=0)
        vocabulary = comparison.joint.pool.tokens(self.token_rows).vocabulary
        tokens = tuple(
            {
                "token": vocabulary[i],
                "contribution": float(adds[i]),
                "count_reference": int(counts[0, i]),
                "count_candidate": int(counts[1, i]),
                "expected_reference": float(expected[0, i]),
                "expected_candidate": float(expected[1, i]),
            }
            for i in sorted(np.flatnonzero(weight > 0).tolist(), key=lambda i: (-adds[i], vocabulary[i]))
        )
        return Contributions(of, formula, reference, candidate, tokens)


@register
class Chi(_ChiSquare):
    """How sure a χ² test is that two corpora use tokens at different rates; it saturates at 1 for large corpora.

    1 − p of Pearson's χ² of the 2 × V table of token counts, over the `top` most frequent tokens of both corpora
    together; expected count = total × the corpus's share of the table's tokens; V − 1 degrees of freedom
    (`df=paper`: 2(V − 1)). Tokens tied at the cut share the places left. One kind of token only: 0. `padding=source`
    counts what the authors' code does: a token that begins each text, one that ends it, and those that pad it to the
    longest of its source.
    Undefined when a corpus has no tokens, or none among the most frequent. Source: Kour et al. 2022.
    """

    name, label, source = "chi", "χ²", "Kour et al. 2022"
    parts = (Part("statistic", bounds=(0.0, INFINITY)), Part("p", closer="larger"))
    undefined = "a corpus has none of the most frequent tokens"
    no_interval = "1 − p is bounded, and has no spread where it saturates"

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        from scipy.special import chdtr, chdtrc

        statistic, df = self.table(P, Q)
        some = np.maximum(df, 1.0)  # without degrees of freedom the statistic is 0, and so is 1 − p
        return {VALUE: chdtr(some, statistic), "statistic": statistic, "p": chdtrc(some, statistic)}


@register
class ChiByDf(_ChiSquare):
    """How far the token rates of two corpora differ, as χ² per degree of freedom; grows with the corpora.

    The statistic of `chi` ÷ its degrees of freedom; about 1 for samples of one population whose tokens are independent.
    Undefined as `chi`, and when both corpora know one kind of token only. Source: Kilgarriff 2001.
    """

    name, label, source = "cbdf", "χ² by df", "Kilgarriff 2001"
    min_texts_interval = 30
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("statistic", bounds=(0.0, INFINITY)),)
    undefined = "a corpus has none of the most frequent tokens, or there is one kind of token only"
    per_degree = True

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        statistic, df = self.table(P, Q)
        value = np.divide(statistic, df, out=np.full(len(P), np.nan), where=df > 0)
        return {VALUE: value, "statistic": statistic}


@cache
def thin_ranks(top: int) -> NDArray[np.int64]:
    """Return the ranks up to `top` that the slope is fitted to: the first of each distinct round(15·ln rank)/15.

    So ranks are evenly spread on the log scale and the long tail does not dominate.

    >>> thin_ranks(40)[-8:].tolist()
    [24, 26, 28, 29, 31, 34, 36, 38]
    """
    steps = np.round(15 * np.log(np.arange(1, top + 1)))
    return np.unique(steps, return_index=True)[1] + 1


def fit_zipf_slopes(counts: Floats, *, top: int, rounded: bool = False) -> Floats:
    """Slope of log count over log rank of each row, least squares at thinned ranks; NaN with fewer than two points.

    `rounded` takes round(15·ln rank)/15 for ln rank, and of each row all ranks but the last.
    """
    ranks = thin_ranks(top)
    ranks = ranks[ranks <= counts.shape[1]]
    ordered = -np.sort(-counts, axis=1)[:, ranks - 1]
    used = ordered > 0
    if rounded:
        used &= ranks < np.minimum((counts > 0).sum(axis=1), top)[:, None]
    points = used.sum(axis=1)
    scale = np.round(15 * np.log(ranks)) / 15 if rounded else np.log(ranks)
    x = np.where(used, scale, 0.0)
    y = np.log(np.where(used, ordered, 1.0))
    x = np.where(used, x - (x.sum(axis=1) / np.maximum(points, 1))[:, None], 0.0)
    spread = (x * x).sum(axis=1)
    return np.asarray(np.divide((x * y).sum(axis=1), spread, out=np.full(len(counts), np.nan), where=points >= 2))


@register
class Zipf(GapMetric, _PaddedCounts):
    """How differently steep the rank–frequency curves of two corpora fall; blind to which tokens they are.

    |slope(P) − slope(Q)|, slope = least squares of log count over log rank among the corpus's `top` tokens, at the
    first rank of each distinct round(15·ln rank)/15. `ranks=paper` fits over these rounded values in place of ln rank
    and leaves out the last rank of the corpus, as the authors' code does; `padding` as in `chi`. Parts: the slopes.
    Undefined when a corpus has fewer than two kinds of token (three with `ranks=paper`). Source: Kour et al. 2022.
    """

    name, label, source = "zipf", "Zipf slope", "Kour et al. 2022"
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("reference", bounds=(-INFINITY, 0.0)), Part("candidate", bounds=(-INFINITY, 0.0)))
    undefined = "a corpus has too few kinds of token for a slope"
    ranges = (Range("top", 2),)

    top: int = 5000
    ranks: Literal["exact", "paper"] = "exact"

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        return self.of_sides(*(fit_zipf_slopes(side, top=self.top, rounded=self.ranks == "paper") for side in (P, Q)))


def compute_relative_entropy(P: Floats, Q: Floats) -> Floats:
    """Σ p·ln(p/q) along rows of probabilities, in nats."""
    from scipy.special import rel_entr

    return np.asarray(np.maximum(rel_entr(P, Q).sum(axis=1), 0.0))


def compute_shares(counts: Floats) -> Floats:
    """Return rows divided by their sums."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@register
class JensenShannon(CountMetric):
    """How well a token tells which of two corpora it came from, in bits.

    JSD = ½·KL(p‖m) + ½·KL(q‖m), m = (p + q)/2, base 2, of the token distributions p and q; `root=true` takes the
    square root, which is a metric. Undefined when a corpus has no tokens. Source: Lin 1991.
    """

    name, label, source = "jsd", "Jensen–Shannon", "Lin 1991"
    min_texts_interval = 30
    root: bool = False

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        p, q = compute_shares(P), compute_shares(Q)
        middle = (p + q) / 2
        bits = (compute_relative_entropy(p, middle) + compute_relative_entropy(q, middle)) / (2 * math.log(2))
        bits = np.minimum(bits, 1.0)
        return {VALUE: np.sqrt(bits) if self.root else bits}


@register
class KullbackLeibler(CountMetric):
    """How surprising the candidate's tokens are to someone who knows the reference's token rates, in nats.

    KL(candidate‖reference) = Σ q·ln(q/p), each token's count raised by `alpha` over the joint vocabulary of the two
    corpora; `kl.reverse` is KL(reference‖candidate). Undefined when a corpus has no tokens.
    Source: Kullback & Leibler 1951.
    """

    name, label, source = "kl", "Kullback–Leibler", "Kullback & Leibler 1951"
    min_texts_interval = 30
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("reverse", bounds=(0.0, INFINITY)),)
    symmetric = False
    ranges = (Range("alpha", POSITIVE),)

    alpha: float = 0.5

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        extra = np.where(P + Q > 0, self.alpha, 0.0)
        p, q = compute_shares(P + extra), compute_shares(Q + extra)
        return {VALUE: compute_relative_entropy(q, p), "reverse": compute_relative_entropy(p, q)}


@register
class VocabularyOverlap(CountMetric):
    """How much of their vocabulary two corpora share.

    |V(P) ∩ V(Q)| ÷ |V(P) ∪ V(Q)|, V = the set of different tokens; `vocab_overlap.new` is the share of the
    candidate's vocabulary that the reference does not have. Larger corpora share more. Undefined when a corpus has no
    tokens. Source: Jaccard 1901.
    """

    name, label, source = "vocab_overlap", "Vocabulary overlap", "Jaccard 1901"
    min_texts_interval = 30
    headline = Part(VALUE, closer="larger")
    parts = (Part("new"),)
    value_at_identity = 1.0

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        both = ((P > 0) & (Q > 0)).sum(axis=1)
        either = ((P > 0) | (Q > 0)).sum(axis=1)
        return {VALUE: both / either, "new": 1.0 - both / (Q > 0).sum(axis=1)}


def estimate_types(counts: NDArray[np.float64], sample: float) -> float:
    """Different tokens expected in a random sample, without replacement, of `sample` tokens of a corpus.

    Σ over types of 1 − C(N − c, t)/C(N, t): each type minus its chance of being missed.

    >>> estimate_types(np.array([2.0, 1.0, 1.0]), 2)
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


def estimate_type_token_ratios(counts: Floats, sizes: Floats) -> Floats:
    """Return the expected types in samples of the given sizes, per token."""
    return np.array([estimate_types(row, size) / size for row, size in zip(counts, sizes, strict=True)])


@register
class TypeTokenGap(GapMetric, CountMetric):
    """How differently varied the words of two corpora are.

    |TTR(P) − TTR(Q)|, TTR = different tokens ÷ tokens. It falls as a corpus grows, so both are taken at the size of the
    smaller corpus: the larger one by the expected number of types in a random sample of that many tokens
    (`rarefy=false`: as they stand). Undefined when a corpus has no tokens. Source: Hurlbert 1971 for the expectation.
    """

    name, label, source = "ttr_gap", "Type–token gap", "Hurlbert 1971"
    rarefy: bool = True

    def of_counts(self, P: Floats, Q: Floats) -> ManyValues:
        sizes_P, sizes_Q = P.sum(axis=1), Q.sum(axis=1)
        if self.rarefy:
            sizes_P = sizes_Q = np.minimum(sizes_P, sizes_Q)
        return self.of_sides(estimate_type_token_ratios(P, sizes_P), estimate_type_token_ratios(Q, sizes_Q))
