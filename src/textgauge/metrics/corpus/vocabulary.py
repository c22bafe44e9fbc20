"""Words of one corpus that the other has, and how well a language model of one predicts the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.base import INFINITY, VALUE, Part, Range
from textgauge.metrics.corpus_metric import GapMetric, ManyValues, TokenMetric, Values
from textgauge.metrics.registry import register
from textgauge.metrics.token_counts import CountMetric, compute_as_draw, number_pairs, rank_alphabetically

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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
        sizes_P, sizes_Q = P.sum(axis=1), Q.sum(axis=1)
        if self.rarefy:
            sizes_P = sizes_Q = np.minimum(sizes_P, sizes_Q)
        reference, candidate = estimate_type_token_ratios(P, sizes_P), estimate_type_token_ratios(Q, sizes_Q)
        return {VALUE: np.abs(reference - candidate), "reference": reference, "candidate": candidate}


_CELLS = 1_000_000  # draws × n-grams held at once: 8 MB an array, about ten arrays at a time


@dataclass(frozen=True)
class Order:
    """The n-grams of one order: counts of every text, their contexts (n-grams with one context lie together), and
    the n-gram of the order below that each one ends with.
    """

    counts: csr_matrix
    context: Ints
    first_of_context: Ints
    shorter: Ints


@dataclass(frozen=True)
class NgramTable:
    """The n-grams of a corpus, order 1 first; the end of a text is a token, its beginning a context only."""

    lengths: Ints
    orders: tuple[Order, ...]


def number_ngrams(corpus: Corpus, tokenizer: str, order: int) -> NgramTable:
    """Assign numbers to the n-grams of a corpus, orders 1 to `order`."""
    tokens = corpus.tokens(tokenizer)
    lengths = np.diff(tokens.offsets).astype(np.int64)
    text = np.repeat(np.arange(len(lengths)), lengths + 1)
    place = np.arange(len(text)) - (np.cumsum(lengths + 1) - lengths - 1)[text]
    begin, end = 0, 1
    token = np.full(len(text), end, dtype=np.int64)
    token[place < lengths[text]] = rank_alphabetically(tokens) + 2
    context = gram = np.zeros(len(text), dtype=np.int64)
    orders = []
    for back in range(order):
        if back:
            context = number_pairs(context, np.where(place >= back, np.roll(token, back), begin))
        shorter, gram = gram, number_pairs(context, token)
        orders.append(_order(count_per_text(text, gram, len(lengths)), gram, context, shorter))
    return NgramTable(lengths, tuple(orders))


def count_per_text(text: Ints, gram: Ints, texts: int) -> csr_matrix:
    """Return how often each text has each n-gram, given one (text, n-gram) pair per occurrence."""
    from scipy.sparse import csr_matrix

    shape = (texts, int(gram.max(initial=-1)) + 1)
    counts = csr_matrix((np.ones(len(gram)), (text, gram)), shape=shape)
    counts.sum_duplicates()
    return counts


def _order(counts: csr_matrix, gram: Ints, context: Ints, shorter: Ints) -> Order:
    an_occurrence = np.unique(gram, return_index=True)[1]
    of_gram = context[an_occurrence]
    return Order(counts, of_gram, np.unique(of_gram, return_index=True)[1], shorter[an_occurrence])


def witten_bell(orders: tuple[Order, ...], counts: list[Floats], vocabulary: Floats) -> Floats:
    """Probability of each longest n-gram's last token after its context, n-grams by models.

    P(w|h) = (c(hw) + T(h)·P(w|h')) / (c(h) + T(h)), T(h) = different tokens seen after h, h' = h without its first
    token; below order 1 every token of the vocabulary is equally likely; an unseen context leaves P(w|h').
    """
    probability = (1.0 / vocabulary)[None]
    for order, count in zip(orders, counts, strict=True):
        seen = np.add.reduceat(count, order.first_of_context, axis=0)
        kinds = np.add.reduceat((count > 0).astype(np.float64), order.first_of_context, axis=0)
        weight = np.divide(kinds, seen + kinds, out=np.ones_like(kinds), where=seen > 0)
        scale = np.where(seen > 0, seen + kinds, 1.0)
        shorter = probability[order.shorter]
        probability = count / scale[order.context] + weight[order.context] * shorter
    return probability


def compute_entropies(table: NgramTable, draws: Draws) -> tuple[Floats, Floats]:
    """Nats per token of each draw's candidate under the model of its reference, and under its own."""
    P = [order.counts.T @ draws.left.T.astype(np.float64) for order in table.orders]
    Q = [order.counts.T @ draws.right.T.astype(np.float64) for order in table.orders]
    vocabulary = np.maximum(((P[0] + Q[0]) > 0).sum(axis=0), 1).astype(np.float64)
    size = np.maximum(Q[-1].sum(axis=0), 1.0)
    crossed = -(Q[-1] * np.log(witten_bell(table.orders, P, vocabulary))).sum(axis=0) / size
    own = -(Q[-1] * np.log(witten_bell(table.orders, Q, vocabulary))).sum(axis=0) / size
    return crossed, own


@register
@dataclass(frozen=True, kw_only=True)
class CrossEntropy(TokenMetric):
    """How many more nats per token the candidate costs under a model of the reference than under a model of itself.

    H_P(Q) − H_Q(Q), H_M(Q) = −mean ln M(token | the `order` − 1 tokens before) over the candidate's tokens and ends of
    text, M = interpolated Witten–Bell n-gram model of a corpus over the joint vocabulary, with a uniform floor. Parts:
    `cross_entropy` H_P(Q), `own_entropy` H_Q(Q), measured on the texts it learnt from. 0 for identical corpora; below 0
    where a larger reference holds all of the candidate. Undefined when a corpus has no tokens.
    Source: Witten & Bell 1991.
    """

    name = "lm_cross_entropy"
    label = "LM cross-entropy"
    min_texts_interval = 300
    source = "Witten & Bell 1991"
    headline = Part(VALUE, bounds=(-INFINITY, INFINITY))
    parts = (Part("cross_entropy", bounds=(0.0, INFINITY)), Part("own_entropy", bounds=(0.0, INFINITY)))
    symmetric = False
    ranges = (Range("order", 1, 100),)

    order: int = 3

    def compute(self, comparison: Comparison) -> Values:
        return compute_as_draw(self, comparison)

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws, which share the numbered n-grams."""
        table = joint.derive(number_ngrams, self.on, self.order)
        grams = len(table.orders[-1].context)
        pairs = [compute_entropies(table, part) for part in draws.chunks(_CELLS, grams)]
        crossed, own = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
        tokens = np.minimum(draws.left @ table.lengths, draws.right @ table.lengths)
        undefined = (draws.smaller < self.min_texts) | (tokens == 0)
        crossed[undefined] = own[undefined] = np.nan
        return {VALUE: crossed - own, "cross_entropy": crossed, "own_entropy": own}
