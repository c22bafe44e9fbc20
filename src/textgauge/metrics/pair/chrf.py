"""Character n-grams in common: chrf, and with words chrF++."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.data import Pairs
from textgauge.data.pool import Pool
from textgauge.encode.tokenizers import SplitTokenizer, Tokens
from textgauge.metrics.base import POSITIVE, VALUE, Part, Range
from textgauge.metrics.ngram_metric import NgramMetric, divided
from textgauge.metrics.numerics.ngram_counts import best_rows
from textgauge.metrics.pair_metric import Columns
from textgauge.metrics.registry import register

_CODE_POINTS = 0x110000
_EPSILON = 1e-16
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def chrf(shared: Floats, left: Floats, right: Floats, *, beta: float, epsilon: float = 0.0) -> Columns:
    """F-measure of precision and recall, each the mean over the orders that both texts have; 0 where there is none.

    With an `epsilon` it is the mean over all orders of their F-measures, that of missing orders `epsilon`.

    >>> chrf(np.array([2.0, 0.0]), np.array([4.0, 0.0]), np.array([2.0, 1.0]), beta=1.0)["value"].round(3)
    np.float64(0.667)
    """
    both = (left > 0) & (right > 0)
    orders = np.maximum(both.sum(axis=-1), 1)
    precision = np.where(both, divided(shared, left), 0.0).sum(axis=-1) / orders
    recall = np.where(both, divided(shared, right), 0.0).sum(axis=-1) / orders
    factor = beta**2
    value = divided((1 + factor) * precision * recall, factor * precision + recall)
    if epsilon:
        p, r = divided(shared, left), divided(shared, right)
        value = np.where(both, divided((1 + factor) * p * r, factor * p + r), epsilon).mean(axis=-1)
    return {
        VALUE: value,
        "precision": precision,
        "recall": recall,
    }


def code_points(texts: Sequence[str], *, whitespace: bool) -> Tokens:
    """The characters of texts, numbered in the order of their code points, with or without white space."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    offsets = np.cumsum(np.fromiter([0, *map(len, texts)], dtype=np.int64, count=len(texts) + 1))
    if not whitespace:
        kept = ~_spaces()[codes]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[offsets]
        codes = codes[kept]
    in_use = np.zeros(_CODE_POINTS, dtype=bool)
    in_use[codes] = True
    numbers = np.cumsum(in_use, dtype=np.int32) - 1
    return Tokens(numbers[codes], offsets, [chr(code) for code in np.flatnonzero(in_use)])


def chrf_words(text: str) -> list[str]:
    """Words between white space, one sign of punctuation split off: the last character if it is one, else the first.

    >>> chrf_words("(so) it's, -")
    ['(so', ')', "it's", ',', '-']
    """
    found = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            found += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            found += [word[0], word[1:]]
        else:
            found.append(word)
    return found


@cache
def _spaces() -> NDArray[np.bool_]:
    table = np.zeros(_CODE_POINTS, dtype=bool)
    table[[code for code in range(0x3001) if chr(code).isspace()]] = True
    return table


@register
@dataclass(frozen=True, kw_only=True)
class Chrf(NgramMetric):
    """Character n-grams that two texts share, for n = 1 … `order`.

    Precision and recall = means over n of shared n-grams / n-grams of left and of right; value = (1 + β²) · precision ·
    recall / (β² · precision + recall): recall counts `beta` times as much. Orders that a text is too short for are
    left out. White space is left out unless `whitespace`; `word_order=2` adds words and pairs of words (chrF++).
    `smoothing=epsilon` takes the mean over all n of their F-measures, 1e-16 where a text is too short, as chrF++.py,
    NLTK and Moses do (`eps_smoothing` of sacrebleu). With the defaults it is chrF of sacrebleu, divided by 100, and
    over a set its corpus chrF. Several references: the closest counts. Two texts without characters score 1, one alone
    0. Source: Popović 2015, 2017.

    >>> from textgauge import get_metric
    >>> get_metric("chrf")(left=["colour"], right=["color"]).values.round(3)
    array([0.552])
    """

    name = "chrf"
    label = "chrF"
    source = "Popović 2015"
    needs = "texts"
    default_on = ""
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))
    symmetric = False
    ranges = (Range("order", 1, 100), Range("word_order", 0, 100), Range("beta", POSITIVE))

    order: int = 6
    word_order: int = 0
    beta: float = 2.0
    lowercase: bool = False
    whitespace: bool = False
    smoothing: Literal["none", "epsilon"] = "none"

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        """Characters, and words if they count."""
        variant = f"lowercase={self.lowercase}, whitespace={self.whitespace}"
        characters = pool.get_or_compute("chrF characters", variant, lambda _: self._characters(pool))
        if not self.word_order:
            return [(characters, self.order)]
        words = pool.get_or_compute(
            "chrF words", variant, lambda _: SplitTokenizer(chrf_words).encode(self._texts(pool))
        )
        return [(characters, self.order), (words, self.word_order)]

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """The F-measure; two texts without characters are alike."""
        empty = (left[..., 0] == 0) & (right[..., 0] == 0)
        found = chrf(shared, left, right, beta=self.beta, epsilon=_EPSILON if self.smoothing == "epsilon" else 0.0)
        return {name: np.where(empty, 1.0, column) for name, column in found.items()}

    def statistics(self, pairs: Pairs) -> Floats:
        """N-grams of left, of right and of both for every order, of the closest reference."""
        shared, left, right = self.counts(pairs)
        chosen = best_rows(self.of_counts(shared, left, right)[VALUE], pairs.items)
        return np.concatenate([np.where(right > 0, left, 0.0), right, shared], axis=1)[chosen]

    def of_statistics(self, sums: Floats) -> Floats:
        """Corpus chrF."""
        left, right, shared = np.split(sums, 3, axis=1)
        return self.of_counts(shared, left, right)[self.part or VALUE]

    def as_sacrebleu(self, sums: Floats) -> tuple[str, Any] | None:
        """CHRF with these settings; a beta that is no whole number has no name there."""
        from sacrebleu.metrics.chrf import CHRF

        if self.beta != int(self.beta):
            return None
        orders: dict[str, Any] = {"char_order": self.order, "word_order": self.word_order, "beta": int(self.beta)}
        kept: dict[str, Any] = {"lowercase": self.lowercase, "whitespace": self.whitespace}
        return f"chrF{orders['beta']}{'+' * self.word_order}", CHRF(
            **orders, **kept, eps_smoothing=self.smoothing == "epsilon"
        )

    def _characters(self, pool: Pool) -> Tokens:
        return code_points(self._texts(pool), whitespace=self.whitespace)

    def _texts(self, pool: Pool) -> Sequence[str]:
        return [text.lower() for text in pool.texts] if self.lowercase else pool.texts
