"""N-grams of a candidate that its references have: bleu, gleu, and by the information they carry nist."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.data import Pairs
from textgauge.data.pool import Pool
from textgauge.encode.tokenizers import Tokens
from textgauge.metrics.base import POSITIVE, VALUE, Part, Range
from textgauge.metrics.numerics.ngram_counts import count_grams, find_best_rows
from textgauge.metrics.pair_metric import Columns, Grid, NgramMetric, PairMetric, divide, get_tokens
from textgauge.metrics.registry import register

Smoothing = Literal["exp", "floor", "add-k", "none"]


def bleu(
    shared: Floats, possible: Floats, reference: Floats, *, smoothing: Smoothing, value: float, effective: bool
) -> Floats:
    """BLEU from n-grams shared with the references and n-grams of the candidate (orders last), and reference lengths.

    Orders up to the last that the candidate has n-grams of count, or all if not `effective`: one without n-grams or
    (unsmoothed) matches then makes the score 0. No match at all is 0 under every smoothing.

    >>> bleu(np.array([3.0, 1.0]), np.array([4.0, 3.0]), np.array(4.0), smoothing="none", value=0.0, effective=True)
    array(0.5)
    """
    matched = np.asarray(shared.any(axis=-1))
    if smoothing == "add-k":
        more = np.where(np.arange(shared.shape[-1]) > 0, value, 0.0)
        shared, possible = shared + more, possible + more
    counted = np.logical_and.accumulate(possible > 0, axis=-1)
    precision = divide(_smooth(shared, counted, smoothing, value), possible) * counted
    alive = matched & np.asarray(np.where(counted | (not effective), precision > 0, True).all(axis=-1))
    used = counted.sum(axis=-1) if effective else shared.shape[-1]
    logs = np.log(np.where(counted & alive[..., None], precision, 1.0)).sum(axis=-1)
    return np.asarray(
        np.where(alive, compute_brevity(possible[..., 0], reference) * np.exp(logs / np.maximum(used, 1)), 0.0)
    )


def compute_brevity(length: Floats, reference: Floats) -> Floats:
    """exp(1 − r/c) for a candidate of c tokens shorter than the reference length r, else 1."""
    shorter = np.minimum(1.0 - divide(reference, length), 0.0)
    return np.asarray(np.where(length > 0, np.exp(shorter), np.where(reference > 0, 0.0, 1.0)))


def _smooth(shared: Floats, counted: Floats, smoothing: Smoothing, value: float) -> Floats:
    """Replace missing matches: by 1/2, 1/4, … at the first, second, … order without one, or by a floor."""
    missed = (shared == 0) & counted
    if smoothing == "exp":
        return np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), shared)
    return np.where(missed, value, shared) if smoothing == "floor" else shared


def count_clipped(candidate: Sequence[int], references: Sequence[Sequence[int]], orders: int) -> list[int]:
    """N-grams of the candidate, each as often as the reference that has it most often, for n = 1 … orders.

    >>> count_clipped([1, 1, 2], [[1, 3], [1, 1, 1, 2]], 2)
    [3, 2]
    """
    found = []
    for n in range(1, orders + 1):
        most = count_grams(references[0], n)
        for reference in references[1:]:
            most |= count_grams(reference, n)
        found.append((count_grams(candidate, n) & most).total())
    return found


def find_closest_lengths(candidate: Floats, reference: Floats, items: Ints) -> Floats:
    """For every item the length, among those of its references, closest to its own; the shorter of two."""
    return np.asarray(reference[find_best_rows(-np.abs(candidate - reference), items, reference)])


@register
class Bleu(NgramMetric):
    """How many of the n-grams of left are in right, for n from 1 to `order`, with a penalty if left is shorter.

    Value = 100 · min(1, exp(1 − |right| / |left|)) · (Π precision_n)^(1/order); an n-gram matches as often as it is in
    right. `smoothing` of an order without matches: `exp` counts 1/2, 1/4, … match, `floor` counts `floor`, `add-k` adds
    `k` to matches and n-grams from n = 2 on, `none` scores 0. `effective` leaves out orders that left is too short for.
    With the defaults it is sentence BLEU of sacrebleu with `effective_order`, and over a set its corpus BLEU, which
    counts every order; both from 0 to 100, as sacrebleu prints them. Several references: an n-gram matches as often as
    in the reference that has most of it; the length closest to left's counts. Tokens of mteval-v13a, which leaves
    Chinese and Japanese in runs: use `@zh` or `@char` there. Two texts without tokens score 100, one alone 0.
    Source: Papineni et al. 2002; smoothing: Chen & Cherry 2014.

    >>> from textgauge import get_metric
    >>> get_metric("bleu")(left=["the cat sat on a mat"], right=["the cat sat on the mat"]).values.round(3)
    array([53.728])
    """

    name, label, source = "bleu", "BLEU", "Papineni et al. 2002"
    version = 2
    factor = 100.0
    needs, default_on = "tokens", "13a"
    symmetric = False
    ranges = (Range("order", 1, 100), Range("floor", POSITIVE), Range("k", POSITIVE))

    smoothing: Smoothing = "exp"
    floor: float = 0.1
    k: float = 1.0
    order: int = 4
    lowercase: bool = False
    effective: bool = True

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        return [(get_tokens(pool, self.on, lowercase=self.lowercase), self.order)]

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        return {VALUE: self._bleu(shared, left, right[..., 0])}

    def compute_items(self, pairs: Pairs) -> Columns:
        if not pairs.several:
            return super().compute_items(pairs)
        found = self.statistics(pairs)
        return {VALUE: self._bleu(found[:, 2 : 2 + self.order], found[:, 2 + self.order :], found[:, 1])}

    def statistics(self, pairs: Pairs) -> Floats:
        """Candidate length, reference length, matches and n-grams of every order."""
        shared, left, right = self.counts(Grid.of(pairs))
        first = pairs.first_rows
        closest = find_closest_lengths(left[:, 0], right[:, 0], pairs.items)
        if pairs.several:
            shared[first] = self._clip_matches(pairs, first, shared)
        return np.column_stack([left[first, 0], closest, shared[first], left[first]])

    def of_statistics(self, sums: Floats) -> Floats:
        every = replace(self, effective=False)  # as sacrebleu does for sets, whose orders are seldom empty
        return every._bleu(sums[:, 2 : 2 + self.order], sums[:, 2 + self.order :], sums[:, 1])

    def as_sacrebleu(self, sums: Floats) -> tuple[str, Any] | None:
        from sacrebleu.metrics.bleu import BLEU

        tokenizer = {"whitespace": "none"}.get(self.on, self.on)
        if tokenizer not in BLEU.TOKENIZERS or self.order != BLEU().max_ngram_order:
            return None
        value = {"floor": self.floor, "add-k": self.k}.get(self.smoothing)
        kind: dict[str, Any] = {"smooth_method": self.smoothing, "smooth_value": value}
        return "BLEU", BLEU(lowercase=self.lowercase, tokenize=tokenizer, **kind)

    def _clip_matches(self, pairs: Pairs, first: Ints, shared: Floats) -> Floats:
        """Return the matches of each item: those of its one pair, or with any of its references."""
        found = shared[first]
        tokens, _ = self.streams(pairs.left.pool)[0]
        for item, (start, end) in enumerate(pairwise([*first, len(pairs)])):
            if end - start > 1:
                references = [tokens[row].tolist() for row in pairs.right.index[start:end]]
                found[item] = count_clipped(tokens[pairs.left.index[start]].tolist(), references, self.order)
        return found

    def _bleu(self, shared: Floats, possible: Floats, reference: Floats) -> Floats:
        value = self.floor if self.smoothing == "floor" else self.k
        score = bleu(shared, possible, reference, smoothing=self.smoothing, value=value, effective=self.effective)
        return np.asarray(np.where((possible[..., 0] == 0) & (reference == 0), 1.0, score))


@register
class Gleu(NgramMetric):
    """N-grams of 1 … `order` tokens that two texts share, all orders counted together.

    Precision = shared n-grams / n-grams of left, recall = shared n-grams / n-grams of right; value = the smaller of
    both. It is sentence_gleu of nltk on the same tokens, and over a set its corpus_gleu. Several references: the
    closest counts. Two texts without tokens score 1, one alone 0. Source: Wu et al. 2016 ("Google BLEU").

    >>> from textgauge import get_metric
    >>> get_metric("gleu")(left=["the the the the the the the"], right=["the cat is on the mat"]).values.round(4)
    array([0.0909])
    """

    name, label, source = "gleu", "GLEU", "Wu et al. 2016"
    needs, default_on = "tokens", "13a"
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))
    ranges = (Range("order", 1, 100),)

    order: int = 4
    lowercase: bool = False

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        return [(get_tokens(pool, self.on, lowercase=self.lowercase), self.order)]

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        shared, left, right = (np.asarray(counts.sum(axis=-1)) for counts in (shared, left, right))
        empty = (left == 0) & (right == 0)
        found = {
            VALUE: divide(shared, np.maximum(left, right)),
            "precision": divide(shared, left),
            "recall": divide(shared, right),
        }
        return {name: np.where(empty, 1.0, column) for name, column in found.items()}

    def statistics(self, pairs: Pairs) -> Floats:
        """Shared n-grams, and those of the longer text, of the closest reference."""
        shared, left, right = self.counts(Grid.of(pairs))
        chosen = find_best_rows(self.of_counts(shared, left, right)[VALUE], pairs.items)
        return np.column_stack([shared.sum(axis=1), np.maximum(left.sum(axis=1), right.sum(axis=1))])[chosen]

    def of_statistics(self, sums: Floats) -> Floats:
        return np.asarray(np.where(sums[:, 1] == 0, 1.0, divide(sums[:, 0], sums[:, 1])))


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
        grams = count_grams(candidate, n)
        found = [count_grams(reference, n) for reference in references]
        counts = found[0] if len(found) == 1 else sum(found, Counter())
        gains = [_compute_gain(_count_both(grams, one), counts, shorter) for one in found]
        gain, words = max(zip(gains, map(len, references), strict=True))
        score += gain / grams.total() if gain else 0.0
        length += words
        shorter = counts
    return score * compute_penalty(orders * len(candidate), length)


def compute_penalty(length: int, reference: int) -> float:
    """1 for a text as long as the reference or longer, falling to 0: exp(β · log²(length / reference)).

    >>> round(compute_penalty(2, 3), 3)
    0.5
    """
    if not length:
        return 0.0
    return math.exp(_PENALTY * math.log(min(length / reference, 1.0)) ** 2) if reference else 1.0


def _count_both(grams: Grams, others: Grams) -> dict[tuple[Any, ...], int]:
    return {gram: min(count, others[gram]) for gram, count in grams.items() if gram in others}


def _compute_gain(matches: dict[tuple[Any, ...], int], counts: Grams, shorter: Grams) -> float:
    """Sum the bits of the matches: log2(count without the last token / count), as counted in the references."""
    # An exact sum, so that the order of the n-grams, which differs from batch to batch, does not matter.
    return math.fsum(count * math.log2(shorter[gram[:-1]] / counts[gram]) for gram, count in matches.items())


@register
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

    name, label, source = "nist", "NIST", "Doddington 2002"
    needs, default_on = "tokens", "13a"
    symmetric = False
    ranges = (Range("order", 1, 100),)

    order: int = 5
    lowercase: bool = False
    normalise: bool = True

    @property
    def bounds(self) -> tuple[float, float]:
        return super().bounds if self.normalise else (0.0, float("inf"))

    def compute(self, pairs: Pairs) -> Columns:
        return self._score(pairs, np.arange(len(pairs)))

    def compute_items(self, pairs: Pairs) -> Columns:
        """NIST with any number of references: the closest, or all together where scores are not normalised."""
        together = pairs.several and not self.normalise
        return self._score(pairs, pairs.first_rows) if together else super().compute_items(pairs)

    def _score(self, pairs: Pairs, first: Ints) -> Columns:
        """Score the candidates whose references begin at these pairs."""
        tokens = get_tokens(pairs.left.pool, self.on, lowercase=self.lowercase)
        found = []
        for start, end in pairwise([*first, len(pairs)]):
            candidate = tokens[pairs.left.index[start]].tolist()
            references = [tokens[row].tolist() for row in pairs.right.index[start:end]]
            score = nist(candidate, references, self.order)
            if self.normalise:
                most = nist(references[0], references, self.order)
                score = min(1.0, score / most) if most else float(candidate == references[0])
            found.append(score)
        return {VALUE: np.array(found, dtype=np.float64)}
