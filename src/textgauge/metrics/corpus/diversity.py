"""How varied corpora are, and how well one predicts the other: self_bleu_gap, vendi_gap, lm_cross_entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.parallel import map_threads
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.base import INFINITY, VALUE, Part, Range, take_single
from textgauge.metrics.corpus_metric import EmbeddingMetric, GapMetric, ManyValues, TokenMetric, Values
from textgauge.metrics.numerics.moments import scale_to_units
from textgauge.metrics.numerics.ngram_counts import number_ngrams
from textgauge.metrics.registry import register
from textgauge.metrics.token_counts import number_pairs, rank_alphabetically

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Smoothing = Literal["floor", "add1", "none"]

_CELLS = 1_000_000  # draws × n-grams held at once: 8 MB an array, about ten arrays at a time
_FLOOR = 0.1  # what Zhu et al. count for no match; method 1 of Chen & Cherry 2014


@dataclass(frozen=True)
class NgramEntries:
    """The (text, n-gram) pairs of a corpus, n-grams together and each n-gram's largest count first.

    N-grams of one text only are left out: no other text can match them. `slot` = order × texts + text.
    """

    lengths: Ints
    orders: int
    text: Ints
    gram: Ints
    slot: Ints
    count: Floats


def list_entries(corpus: Corpus, tokenizer: str, orders: int) -> NgramEntries:
    """Return the n-grams of a corpus, orders 1 to `orders`."""
    tokens = corpus.tokens(tokenizer)
    lengths, seen = tokens.lengths, 0
    owner, occurrences = np.repeat(np.arange(len(lengths)), lengths), []
    for place, (gram, start) in enumerate(number_ngrams(tokens, orders)):
        occurrences.append(np.stack([owner[start], seen + gram, place * len(lengths) + owner[start]]))
        seen += int(gram.max(initial=-1)) + 1
    text, gram, slot = np.concatenate(occurrences, axis=1)
    _, first, count = np.unique(gram * len(lengths) + text, return_index=True, return_counts=True)
    text, gram, slot = text[first], gram[first], slot[first]
    order = np.lexsort((-count, gram))
    order = order[(np.bincount(gram) > 1)[gram[order]]]
    return NgramEntries(lengths, orders, text[order], gram[order], slot[order], count[order].astype(np.float64))


def count_matches(entries: NgramEntries, members: NDArray[np.bool_]) -> Floats:
    """Clipped matches of each text against all other members, orders by texts.

    A count is clipped to the largest among the others: itself, unless it is the first of its n-gram; then the second.
    """
    kept = np.flatnonzero(members[entries.text])
    gram, count = entries.gram[kept], entries.count[kept]
    clipped = count.copy()
    first = np.diff(gram, prepend=-1) != 0
    follower = np.append(np.where(first[1:], 0.0, count[1:]), 0.0)
    clipped[first] = follower[: len(first)][first]
    texts = len(members)
    matched = np.bincount(entries.slot[kept], weights=clipped, minlength=entries.orders * texts)
    return matched.reshape(-1, texts).astype(np.float64)


def find_closest_lengths(lengths: Ints) -> Ints:
    """For each text the length, among the others, nearest to its own; the shorter of two equally near."""
    found, where, times = np.unique(lengths, return_inverse=True, return_counts=True)
    far = np.int64(4 * (found[-1] + 1))
    below, above = np.append(-far, found[:-1]), np.append(found[1:], far)
    nearest = np.where(found - below <= above - found, below, above)
    return np.where(times > 1, found, nearest)[where.reshape(-1)]


def compute_self_bleu(entries: NgramEntries, members: NDArray[np.bool_], *, smoothing: Smoothing) -> float:
    """Mean BLEU of the members, each against all the others as references."""
    lengths = entries.lengths[members]
    matched = count_matches(entries, members)[:, members]
    possible = np.maximum(lengths - np.arange(entries.orders)[:, None], 1).astype(np.float64)
    if smoothing == "floor":
        matched = np.where(matched == 0, _FLOOR, matched) * (matched[0] > 0)
    elif smoothing == "add1":
        matched, possible = np.vstack([matched[:1], matched[1:] + 1]), np.vstack([possible[:1], possible[1:] + 1])
    alive = (matched > 0).all(axis=0)
    logs = np.log(np.where(alive, matched, 1.0) / possible).mean(axis=0)
    brevity = np.minimum(1.0 - find_closest_lengths(lengths) / np.maximum(lengths, 1), 0.0)
    return float(np.where(alive, np.exp(logs + brevity), 0.0).mean())


@register
class SelfBleuGap(GapMetric, TokenMetric):
    """How differently repetitive two corpora are.

    |selfBLEU(P) − selfBLEU(Q)|; selfBLEU = mean over texts of BLEU (orders 1 to `n`, brevity by the closest length)
    against all other texts of its corpus. `smoothing` for orders without a match: `floor` counts 0.1 match as the
    source does, `add1` adds one to matches and possible matches from order 2 on, `none` gives 0. A text that shares no
    token with the others scores 0. Self-BLEU grows with the corpus: compare corpora of one size. It counts words by
    default, as BLEU does. Undefined when a corpus has no tokens. Source: Zhu et al. 2018.
    """

    name, label, source = "self_bleu_gap", "Self-BLEU gap", "Zhu et al. 2018"
    min_texts_interval = 300
    default_on = "words"
    ranges = (Range("n", 1, 100),)

    n: int = 4
    smoothing: Smoothing = "floor"

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws, which share the numbered n-grams."""
        entries = joint.derive(list_entries, self.on, self.n)
        usable = draws.smaller >= self.min_texts
        return self.of_sides(
            *(
                np.array([self._mean(entries, members, fit) for members, fit in zip(side, usable, strict=True)])
                for side in (draws.left, draws.right)
            )
        )

    def _mean(self, entries: NgramEntries, members: NDArray[np.bool_], usable: bool) -> float:
        if not usable or not entries.lengths[members].any():
            return float("nan")
        return compute_self_bleu(entries, members, smoothing=self.smoothing)


def compute_vendi(units: Floats) -> float:
    """Effective number of different texts: exp of the entropy of the eigenvalues of the cosine kernel over n."""
    n, d = units.shape
    return float(np.exp(_compute_entropy((units @ units.T if n <= d else units.T @ units) / n)))


def compute_left_out_vendi(units: Floats, groups: Masks) -> Floats:
    """Return the logarithm of the Vendi score without each group of texts; a row of `groups` marks the texts that stay.

    >>> compute_left_out_vendi(np.eye(3), ~np.eye(3, dtype=bool)).round(4).tolist()
    [0.6931, 0.6931, 0.6931]
    """
    n, d = units.shape
    whole = units @ units.T if n <= d else units.T @ units
    found = []
    for kept in groups:
        gone = units[~kept]
        gram = whole[np.ix_(kept, kept)] if n <= d else whole - gone.T @ gone
        found.append(_compute_entropy(gram / kept.sum()))
    return np.array(found)


def _compute_entropy(gram: Floats) -> float:
    eigenvalues = np.linalg.eigvalsh(gram)
    shares = eigenvalues[eigenvalues > len(gram) * np.finfo(np.float64).eps]
    return float(-(shares * np.log(shares)).sum())


def measure_vendi(corpus: Corpus, embedder: str) -> float:
    """Return the Vendi score of a corpus."""
    return compute_vendi(scale_to_units(corpus.embeddings(embedder)))


@register
class VendiGap(GapMetric, EmbeddingMetric):
    """Difference of the log Vendi scores: the ratio of the effective numbers of different texts.

    |ln VS(P) − ln VS(Q)|, VS = exp(entropy of the eigenvalues of the cosine kernel over n). Parts are both scores.
    Grows with the difference in size: compare corpora of one size. Source: Friedman and Dieng 2023.
    """

    fitted = True
    name, label, source = "vendi_gap", "Vendi score gap", "Friedman and Dieng 2023"
    min_texts = 1  # one text has a score of 1
    min_texts_interval = 300
    interval_trials = 12
    headline = Part(VALUE, bounds=(0.0, float("inf")))
    parts = (
        Part("reference", closer="larger", bounds=(1.0, float("inf"))),
        Part("candidate", closer="larger", bounds=(1.0, float("inf"))),
    )

    def compute(self, comparison: Comparison) -> Values:
        scores = (np.asarray(side.derive(measure_vendi, self.embedder)) for side in comparison.sides)
        return take_single(self.of_sides(*scores))

    def difference(self, values: ManyValues) -> Floats:
        return np.asarray(np.log(values["reference"] / values["candidate"]))

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        units = scale_to_units(joint.embeddings(self.embedder))
        scores = (
            map_threads(lambda r, side=side: compute_vendi(units[side[r]]) if side[r].any() else np.nan, len(draws))  # type: ignore[misc]
            for side in (draws.left, draws.right)
        )
        return self.of_sides(*scores)


@dataclass(frozen=True)
class Order:
    """The n-grams of one order: counts of every text, their contexts (n-grams with one context lie together), and
    the n-gram of the order below that each one ends with.
    """

    counts: csr_matrix
    context: Ints
    first_of_context: Ints
    shorter: Ints


def list_orders(corpus: Corpus, tokenizer: str, order: int) -> list[Order]:
    """List the n-grams of a corpus, order 1 first; the end of a text is a token, its beginning a context only."""
    from scipy.sparse import csr_matrix

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
        shape = (len(lengths), int(gram.max(initial=-1)) + 1)
        counts = csr_matrix((np.ones(len(gram)), (text, gram)), shape=shape)
        counts.sum_duplicates()
        an_occurrence = np.unique(gram, return_index=True)[1]
        of_gram = context[an_occurrence]
        orders.append(Order(counts, of_gram, np.unique(of_gram, return_index=True)[1], shorter[an_occurrence]))
    return orders


def witten_bell(orders: list[Order], counts: list[Floats], vocabulary: Floats) -> Floats:
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


def compute_entropies(orders: list[Order], draws: Draws) -> tuple[Floats, Floats]:
    """Nats per token of each draw's candidate under the model of its reference, and under its own."""
    P = [order.counts.T @ draws.left.T.astype(np.float64) for order in orders]
    Q = [order.counts.T @ draws.right.T.astype(np.float64) for order in orders]
    vocabulary = np.maximum(((P[0] + Q[0]) > 0).sum(axis=0), 1).astype(np.float64)
    size = np.maximum(Q[-1].sum(axis=0), 1.0)
    crossed = -(Q[-1] * np.log(witten_bell(orders, P, vocabulary))).sum(axis=0) / size
    own = -(Q[-1] * np.log(witten_bell(orders, Q, vocabulary))).sum(axis=0) / size
    return crossed, own


@register
class CrossEntropy(TokenMetric):
    """How many more nats per token the candidate costs under a model of the reference than under a model of itself.

    H_P(Q) − H_Q(Q), H_M(Q) = −mean ln M(token | the `order` − 1 tokens before) over the candidate's tokens and ends of
    text, M = interpolated Witten–Bell n-gram model of a corpus over the joint vocabulary, with a uniform floor. Parts:
    `cross_entropy` H_P(Q), `own_entropy` H_Q(Q), measured on the texts it learnt from. 0 for identical corpora; below 0
    where a larger reference holds all of the candidate. Undefined when a corpus has no tokens.
    Source: Witten & Bell 1991.
    """

    name, label, source = "lm_cross_entropy", "LM cross-entropy", "Witten & Bell 1991"
    min_texts_interval = 300
    headline = Part(VALUE, bounds=(-INFINITY, INFINITY))
    parts = (Part("cross_entropy", bounds=(0.0, INFINITY)), Part("own_entropy", bounds=(0.0, INFINITY)))
    symmetric = False
    ranges = (Range("order", 1, 100),)

    order: int = 3

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws, which share the numbered n-grams."""
        orders, lengths = joint.derive(list_orders, self.on, self.order), joint.tokens(self.on).lengths
        pairs = [compute_entropies(orders, part) for part in draws.chunks(_CELLS, len(orders[-1].context))]
        crossed, own = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
        tokens = np.minimum(draws.left @ lengths, draws.right @ lengths)
        undefined = (draws.smaller < self.min_texts) | (tokens == 0)
        crossed[undefined] = own[undefined] = np.nan
        return {VALUE: crossed - own, "cross_entropy": crossed, "own_entropy": own}
