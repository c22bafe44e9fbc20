"""Words in common, by n-grams or in order: rouge1, rouge2, rougeL, rougeLsum, and rouge of the USMB benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.data import Corpus, Pairs
from textgauge.data.pool import Pool
from textgauge.data.view import in_one_pool
from textgauge.encode.tokenizers import Tokens, tokenizer
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.ngram_metric import NgramMetric, divided
from textgauge.metrics.numerics.sequences import common_length_matrix, common_lengths, union_hits
from textgauge.metrics.pair_metric import Columns, PairMetric
from textgauge.metrics.registry import register

COMPAT = "rouge_score"  # the tokenizer under which empty texts count as that package counts them


def precision_recall_f1(shared: Floats, left: Floats, right: Floats) -> Columns:
    """Share of the left and of the right that is in both, and their harmonic mean; 0 where there is nothing.

    >>> precision_recall_f1(np.array([2.0]), np.array([4.0]), np.array([2.0]))["value"].round(3)
    array([0.667])
    """
    precision, recall = divided(shared, left), divided(shared, right)
    return {
        VALUE: divided(2 * precision * recall, precision + recall),
        "precision": precision,
        "recall": recall,
    }


def stemmed(tokens: Tokens) -> Tokens:
    """The same texts with words of more than three letters cut to their stems, as rouge-score cuts them."""
    from textgauge.encode.languages import porter

    numbers: dict[str, int] = {}
    stems = (porter(word) if len(word) > 3 else word for word in tokens.vocabulary)
    table = np.array([numbers.setdefault(stem, len(numbers)) for stem in stems], dtype=np.int32)
    return Tokens(table[tokens.ids], tokens.offsets, tuple(numbers))


@dataclass(frozen=True, kw_only=True)
class _Rouge(PairMetric):
    source = "Lin 2004"
    needs = "tokens"
    default_on = "alphanumeric"
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))

    stem: bool = False

    def _tokens(self, pool: Pool) -> Tokens:
        tokens = pool.tokens(self.on)
        return pool.get_or_compute("stems", self.on, lambda _: stemmed(tokens)) if self.stem else tokens

    def _score(self, shared: Floats, left: Floats, right: Floats, same: Floats | np.bool_) -> Columns:
        """Precision, recall and F1, 1 where there is nothing on either side and the texts are the same."""
        columns = precision_recall_f1(shared, left, right)
        if self.on == COMPAT:
            return columns
        nothing = (left == 0) & (right == 0) & same
        return {name: np.where(nothing, 1.0, column) for name, column in columns.items()}


@dataclass(frozen=True, kw_only=True)
class _NgramRouge(_Rouge, NgramMetric):
    longest: ClassVar[int] = 2

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        """Words, up to n-grams of the longest."""
        return [(self._tokens(pool), self.longest)]

    def _order(self, n: int, shared: Floats, left: Floats, right: Floats) -> Columns:
        words = shared[..., 0], left[..., 0], right[..., 0]
        same = (words[0] == words[1]) & (words[0] == words[2])
        return self._score(shared[..., n - 1], left[..., n - 1], right[..., n - 1], same)


@register
@dataclass(frozen=True, kw_only=True)
class Rouge1(_NgramRouge):
    """Words that two texts share, whatever their order.

    Precision = shared words / words of left, recall = shared words / words of right; value = F1. A word counts as
    often as it is in both. Words are lower-case runs of letters and digits of any script (`@rouge_score`: of a-z and
    0-9 only, to the bit as the package rouge-score; `@rouge`: cut at white space and full stops as the package rouge
    does, which counts each n-gram once though; it gives the means of Yamshchikov et al. 2021 within 0.02); `stem` cuts
    English endings. Two texts without words score 1, one alone 0 (`@rouge_score`: 0 always). Source: Lin 2004.

    >>> from textgauge import get_metric
    >>> get_metric("rouge1")(left=["the cat sat"], right=["The cat sat down."]).values.round(3)
    array([0.857])
    """

    name = "rouge1"
    label = "ROUGE-1"
    longest = 1

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """Of single words."""
        return self._order(1, shared, left, right)


@register
@dataclass(frozen=True, kw_only=True)
class Rouge2(_NgramRouge):
    """Pairs of neighbouring words that two texts share.

    Precision = shared pairs / pairs of left, recall = shared pairs / pairs of right; value = F1. Words as for
    `rouge1`. Two texts of at most one word score 1 if they are the same words, else 0 (`@rouge_score`: 0 always).
    Source: Lin 2004.
    """

    name = "rouge2"
    label = "ROUGE-2"

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """Of pairs of words."""
        return self._order(2, shared, left, right)


@register
@dataclass(frozen=True, kw_only=True)
class Rouge(_NgramRouge):
    """Mean of ROUGE-1 and ROUGE-2, as the USMB benchmark takes it.

    Value = (F1 of words + F1 of pairs of words) / 2; precision and recall are means too. Words and texts without words
    as for `rouge1` and `rouge2`. `side=left` is the precision alone, the n-grams of left found in right over those of
    left, as the benchmark's appendix words it. Source: USMB.
    """

    name = "rouge"
    label = "ROUGE (1, 2)"

    side: Literal["both", "left"] = "both"

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether both texts count."""
        return self.side == "both"

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        """Means of both orders."""
        first, second = (self._order(n, shared, left, right) for n in (1, 2))
        means = {name: (first[name] + second[name]) / 2 for name in first}
        return means | {VALUE: means["precision"]} if self.side == "left" else means


@register
@dataclass(frozen=True, kw_only=True)
class RougeL(_Rouge):
    """Words that two texts share in the same order: the longest common subsequence.

    Precision = its length / words of left, recall = its length / words of right; value = F1. Words and texts without
    words as for `rouge1`. Source: Lin 2004.
    """

    name = "rougeL"
    libraries = ("rapidfuzz",)
    label = "ROUGE-L"

    def compute(self, pairs: Pairs) -> Columns:
        """Of the whole text as one sequence."""
        tokens = self._tokens(pairs.left.pool)
        left, right = pairs.left.index, pairs.right.index
        lengths = tokens.lengths.astype(np.float64)
        return self._score(common_lengths(tokens, left, right), lengths[left], lengths[right], np.True_)

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """All pairs at once."""
        rows, columns = in_one_pool(rows, columns)
        tokens = self._tokens(rows.pool)
        lengths = tokens.lengths.astype(np.float64)
        shared = common_length_matrix(tokens, rows.index, columns.index)
        found = self._score(shared, lengths[rows.index][:, None], lengths[columns.index][None], np.True_)
        return np.asarray(self.select(found))


@register
@dataclass(frozen=True, kw_only=True)
class RougeLsum(_Rouge):
    """Words that summaries of several sentences share in the order of their sentences.

    For each sentence of right, the union of its longest common subsequences with all sentences of left; hits = tokens
    of these unions, none more often than in either text. Precision = hits / words of left, recall = hits / words of
    right; value = F1. A sentence is a line. Words and texts without words as for `rouge1`. Source: Lin 2004.
    """

    name = "rougeLsum"
    libraries = ("rapidfuzz",)
    label = "ROUGE-Lsum"
    symmetric = False

    def compute(self, pairs: Pairs) -> Columns:
        """Of the lines of each text."""
        tokens, edges = self._lines(pairs.left.pool)
        whole = Tokens(tokens.ids, tokens.offsets[edges], tokens.vocabulary)
        left, right = pairs.left.index, pairs.right.index
        hits, lines = common_lengths(whole, left, right), np.diff(edges)
        for pair in np.flatnonzero((lines[left] > 1) | (lines[right] > 1)).tolist():
            a, b = (
                [tokens[line].tolist() for line in range(*edges[[row, row + 1]])] for row in (left[pair], right[pair])
            )
            hits[pair] = union_hits(a, b)
        lengths = whole.lengths.astype(np.float64)
        return self._score(hits, lengths[left], lengths[right], np.True_)

    def _lines(self, pool: Pool) -> tuple[Tokens, Ints]:
        """The tokens of all lines, and the first line of each text."""
        found: tuple[Tokens, Ints] = pool.get_or_compute("lines", self.on, lambda name: line_tokens(pool.texts, name))
        tokens, edges = found
        return (
            (pool.get_or_compute("stems of lines", self.on, lambda _: stemmed(tokens)), edges) if self.stem else found
        )


def line_tokens(texts: Sequence[str], name: str) -> tuple[Tokens, Ints]:
    """Tokens of the lines of texts, one line after the other, and where the lines of each text begin.

    >>> line_tokens(["a b\\nc", "d"], "words")[1]
    array([0, 2, 3])
    """
    lines = [text.split("\n") for text in texts]
    edges = np.cumsum([0, *map(len, lines)])
    return tokenizer(name).encode([line for text in lines for line in text]), edges
