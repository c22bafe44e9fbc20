"""How much more varied one corpus is than another, by wording and by meaning: self_bleu_gap, vendi_gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.parallel import map_threads
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.base import VALUE, Part, Range
from textgauge.metrics.corpus_metric import EmbeddingMetric, GapMetric, ManyValues, TokenMetric, Values
from textgauge.metrics.numerics.moments import scale_to_units
from textgauge.metrics.numerics.ngram_counts import number_ngrams
from textgauge.metrics.registry import register
from textgauge.metrics.token_counts import compute_as_draw

Smoothing = Literal["floor", "add1", "none"]

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
@dataclass(frozen=True, kw_only=True)
class SelfBleuGap(GapMetric, TokenMetric):
    """How differently repetitive two corpora are.

    |selfBLEU(P) − selfBLEU(Q)|; selfBLEU = mean over texts of BLEU (orders 1 to `n`, brevity by the closest length)
    against all other texts of its corpus. `smoothing` for orders without a match: `floor` counts 0.1 match as the
    source does, `add1` adds one to matches and possible matches from order 2 on, `none` gives 0. A text that shares no
    token with the others scores 0. Self-BLEU grows with the corpus: compare corpora of one size. It counts words by
    default, as BLEU does. Undefined when a corpus has no tokens. Source: Zhu et al. 2018.
    """

    name = "self_bleu_gap"
    label = "Self-BLEU gap"
    min_texts_interval = 300
    source = "Zhu et al. 2018"
    default_on = "words"
    headline = Part(VALUE)
    parts = (Part("reference"), Part("candidate"))
    ranges = (Range("n", 1, 100),)

    n: int = 4
    smoothing: Smoothing = "floor"

    def compute(self, comparison: Comparison) -> Values:
        return compute_as_draw(self, comparison)

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws, which share the numbered n-grams."""
        entries = joint.derive(list_entries, self.on, self.n)
        usable = draws.smaller >= self.min_texts
        reference = np.array([self._mean(entries, side, fit) for side, fit in zip(draws.left, usable, strict=True)])
        candidate = np.array([self._mean(entries, side, fit) for side, fit in zip(draws.right, usable, strict=True)])
        gap = np.abs(reference - candidate)
        undefined = np.isnan(gap)
        reference[undefined] = candidate[undefined] = np.nan
        return {VALUE: gap, "reference": reference, "candidate": candidate}

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
@dataclass(frozen=True, kw_only=True)
class VendiGap(GapMetric, EmbeddingMetric):
    """Difference of the log Vendi scores: the ratio of the effective numbers of different texts.

    |ln VS(P) − ln VS(Q)|, VS = exp(entropy of the eigenvalues of the cosine kernel over n). Parts are both scores.
    Grows with the difference in size: compare corpora of one size. Source: Friedman and Dieng 2023.
    """

    fitted = True
    name = "vendi_gap"
    label = "Vendi score gap"
    min_texts = 1  # one text has a score of 1
    min_texts_interval = 300
    interval_trials = 12
    source = "Friedman and Dieng 2023"
    headline = Part(VALUE, bounds=(0.0, float("inf")))
    parts = (
        Part("reference", closer="larger", bounds=(1.0, float("inf"))),
        Part("candidate", closer="larger", bounds=(1.0, float("inf"))),
    )

    def compute(self, comparison: Comparison) -> Values:
        scores = [side.derive(measure_vendi, self.embedder) for side in comparison.sides]
        return {VALUE: abs(float(np.log(scores[0] / scores[1]))), "reference": scores[0], "candidate": scores[1]}

    def difference(self, values: ManyValues) -> Floats:
        """Return the difference of the logarithms."""
        return np.asarray(np.log(values["reference"] / values["candidate"]))

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        units = scale_to_units(joint.embeddings(self.embedder))
        reference, candidate = (
            map_threads(lambda r, side=side: compute_vendi(units[side[r]]) if side[r].any() else np.nan, len(draws))  # type: ignore[misc]
            for side in (draws.left, draws.right)
        )
        gap = np.abs(np.log(reference / candidate))
        lost = np.isnan(gap)
        return {
            VALUE: gap,
            "reference": np.where(lost, np.nan, reference),
            "candidate": np.where(lost, np.nan, candidate),
        }
