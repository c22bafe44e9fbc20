"""Precision of n-grams with a penalty for short texts: bleu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.data import Pairs
from textgauge.data.pool import Pool
from textgauge.encode.tokenizers import Tokens
from textgauge.metrics.base import POSITIVE, VALUE, Part, Range
from textgauge.metrics.ngram_metric import NgramMetric, divided, tokens_of
from textgauge.metrics.numerics.ngram_counts import best_rows, gram_counter
from textgauge.metrics.pair_metric import Columns
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
    precision = divided(_smoothed(shared, counted, smoothing, value), possible) * counted
    alive = matched & np.asarray(np.where(counted | (not effective), precision > 0, True).all(axis=-1))
    used = counted.sum(axis=-1) if effective else shared.shape[-1]
    logs = np.log(np.where(counted & alive[..., None], precision, 1.0)).sum(axis=-1)
    return np.asarray(np.where(alive, brevity(possible[..., 0], reference) * np.exp(logs / np.maximum(used, 1)), 0.0))


def brevity(length: Floats, reference: Floats) -> Floats:
    """exp(1 − r/c) for a candidate of c tokens shorter than the reference length r, else 1."""
    shorter = np.minimum(1.0 - divided(reference, length), 0.0)
    return np.asarray(np.where(length > 0, np.exp(shorter), np.where(reference > 0, 0.0, 1.0)))


def _smoothed(shared: Floats, counted: Floats, smoothing: Smoothing, value: float) -> Floats:
    """Matches with what stands for none: 1/2, 1/4, … at the first, second, … order without a match, or a floor."""
    missed = (shared == 0) & counted
    if smoothing == "exp":
        return np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), shared)
    return np.where(missed, value, shared) if smoothing == "floor" else shared


def clipped_by_any(candidate: Sequence[int], references: Sequence[Sequence[int]], orders: int) -> list[int]:
    """N-grams of the candidate, each as often as the reference that has it most often, for n = 1 … orders.

    >>> clipped_by_any([1, 1, 2], [[1, 3], [1, 1, 1, 2]], 2)
    [3, 2]
    """
    found = []
    for n in range(1, orders + 1):
        most = gram_counter(references[0], n)
        for reference in references[1:]:
            most |= gram_counter(reference, n)
        found.append((gram_counter(candidate, n) & most).total())
    return found


def closest_lengths(candidate: Floats, reference: Floats, items: Ints) -> Floats:
    """For every item the length, among those of its references, closest to its own; the shorter of two."""
    order = np.lexsort((reference, np.abs(candidate - reference), items))
    return np.asarray(reference[order[np.flatnonzero(np.diff(items[order], prepend=-1))]])


@register
@dataclass(frozen=True, kw_only=True)
class Bleu(NgramMetric):
    """How many of the n-grams of left are in right, for n = 1 … `order`, with a penalty if left is shorter.

    Value = min(1, exp(1 − |right| / |left|)) · (Π precision_n)^(1/order); an n-gram matches as often as it is in right.
    `smoothing` of an order without matches: `exp` counts 1/2, 1/4, … match, `floor` counts `floor`, `add-k` adds `k` to
    matches and n-grams from n = 2 on, `none` scores 0. `effective` leaves out orders that left is too short for. With
    the defaults it is sentence BLEU of sacrebleu, divided by 100, and over a set its corpus BLEU. Several references:
    an n-gram matches as often as in the reference that has most of it; the length closest to left's counts.
    Tokens of mteval-v13a, which leaves Chinese and Japanese in runs: use `@zh` or `@char` there. Two texts without
    tokens score 1, one alone 0. Source: Papineni et al. 2002; smoothing: Chen & Cherry 2014.

    >>> from textgauge import get_metric
    >>> get_metric("bleu")(left=["the cat sat on a mat"], right=["the cat sat on the mat"]).values.round(3)
    array([0.537])
    """

    name = "bleu"
    label = "BLEU"
    source = "Papineni et al. 2002"
    needs = "tokens"
    default_on = "13a"
    symmetric = False
    ranges = (Range("order", 1, 100), Range("floor", POSITIVE), Range("k", POSITIVE))

    smoothing: Smoothing = "exp"
    floor: float = 0.1
    k: float = 1.0
    order: int = 4
    lowercase: bool = False
    effective: bool = True

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        """One stream of tokens."""
        return [(tokens_of(pool, self.on, lowercase=self.lowercase), self.order)]

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """Sentence BLEU with one reference."""
        return {VALUE: self._bleu(shared, left, right[..., 0])}

    def compute_items(self, pairs: Pairs) -> Columns:
        """Sentence BLEU with any number of references."""
        if not pairs.several:
            return super().compute_items(pairs)
        found = self.statistics(pairs)
        return {VALUE: self._bleu(found[:, 2 : 2 + self.order], found[:, 2 + self.order :], found[:, 1])}

    def statistics(self, pairs: Pairs) -> Floats:
        """Candidate length, reference length, matches and n-grams of every order."""
        shared, left, right = self.counts(pairs)
        first = pairs.first_rows
        closest = closest_lengths(left[:, 0], right[:, 0], pairs.items)
        if pairs.several:
            shared[first] = self._clipped(pairs, first, shared)
        return np.column_stack([left[first, 0], closest, shared[first], left[first]])

    def of_statistics(self, sums: Floats) -> Floats:
        """Corpus BLEU."""
        return self._bleu(sums[:, 2 : 2 + self.order], sums[:, 2 + self.order :], sums[:, 1])

    def as_sacrebleu(self, sums: Floats) -> tuple[str, Any] | None:
        """BLEU with these settings; `effective` only where it matters, which is in sets without a single n-gram."""
        from sacrebleu.metrics.bleu import BLEU

        tokenizer = {"whitespace": "none"}.get(self.on, self.on)
        if tokenizer not in BLEU.TOKENIZERS or self.order != BLEU().max_ngram_order:
            return None
        matters = bool(self.of_statistics(sums) != replace(self, effective=False).of_statistics(sums))
        value = {"floor": self.floor, "add-k": self.k}.get(self.smoothing)
        kind: dict[str, Any] = {"smooth_method": self.smoothing, "smooth_value": value, "effective_order": matters}
        return "BLEU", BLEU(lowercase=self.lowercase, tokenize=tokenizer, **kind)

    def _clipped(self, pairs: Pairs, first: Ints, shared: Floats) -> Floats:
        """Matches of each item: those of its one pair, or with any of its references."""
        found = shared[first]
        tokens, _ = self.streams(pairs.left.pool)[0]
        for item, (start, end) in enumerate(zip(first, [*first[1:], len(pairs)], strict=True)):
            if end - start > 1:
                references = [tokens[row].tolist() for row in pairs.right.index[start:end]]
                found[item] = clipped_by_any(tokens[pairs.left.index[start]].tolist(), references, self.order)
        return found

    def _bleu(self, shared: Floats, possible: Floats, reference: Floats) -> Floats:
        value = self.floor if self.smoothing == "floor" else self.k
        score = bleu(shared, possible, reference, smoothing=self.smoothing, value=value, effective=self.effective)
        return np.asarray(np.where((possible[..., 0] == 0) & (reference == 0), 1.0, score))


@register
@dataclass(frozen=True, kw_only=True)
class Gleu(NgramMetric):
    """N-grams of 1 … `order` tokens that two texts share, all orders counted together.

    Precision = shared n-grams / n-grams of left, recall = shared n-grams / n-grams of right; value = the smaller of
    both. It is sentence_gleu of nltk on the same tokens, and over a set its corpus_gleu. Several references: the
    closest counts. Two texts without tokens score 1, one alone 0. Source: Wu et al. 2016 ("Google BLEU").

    >>> from textgauge import get_metric
    >>> get_metric("gleu")(left=["the the the the the the the"], right=["the cat is on the mat"]).values.round(4)
    array([0.0909])
    """

    name = "gleu"
    label = "GLEU"
    source = "Wu et al. 2016"
    needs = "tokens"
    default_on = "13a"
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))
    ranges = (Range("order", 1, 100),)

    order: int = 4
    lowercase: bool = False

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        """One stream of tokens."""
        return [(tokens_of(pool, self.on, lowercase=self.lowercase), self.order)]

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """The smaller of precision and recall of all orders together."""
        shared, left, right = (np.asarray(counts.sum(axis=-1)) for counts in (shared, left, right))
        empty = (left == 0) & (right == 0)
        found = {
            VALUE: divided(shared, np.maximum(left, right)),
            "precision": divided(shared, left),
            "recall": divided(shared, right),
        }
        return {name: np.where(empty, 1.0, column) for name, column in found.items()}

    def statistics(self, pairs: Pairs) -> Floats:
        """Shared n-grams, and those of the longer text, of the closest reference."""
        shared, left, right = self.counts(pairs)
        chosen = best_rows(self.of_counts(shared, left, right)[VALUE], pairs.items)
        return np.column_stack([shared.sum(axis=1), np.maximum(left.sum(axis=1), right.sum(axis=1))])[chosen]

    def of_statistics(self, sums: Floats) -> Floats:
        """Corpus GLEU; 1 for a set without tokens."""
        return np.asarray(np.where(sums[:, 1] == 0, 1.0, divided(sums[:, 0], sums[:, 1])))
