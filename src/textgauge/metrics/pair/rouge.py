"""Precision and recall of what two texts share: words and runs of them (rouge), and characters (chrf)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.data import Pairs
from textgauge.data.pool import Pool
from textgauge.encode.languages import stem_porter
from textgauge.encode.tokenizers import SplitTokenizer, Tokens, get_tokenizer
from textgauge.metrics.base import POSITIVE, VALUE, Part, Range
from textgauge.metrics.numerics.ngram_counts import find_best_rows
from textgauge.metrics.numerics.search import compute_common_lengths
from textgauge.metrics.pair_metric import Columns, Grid, GridMetric, NgramMetric, PairMetric, divide
from textgauge.metrics.registry import register

Sentences = Sequence[Sequence[int]]
COMPAT = "rouge_score"  # the tokenizer under which empty texts count as that package counts them


def compute_precision_recall_f1(shared: Floats, left: Floats, right: Floats) -> Columns:
    """Share of the left and of the right that is in both, and their harmonic mean; 0 where there is nothing.

    >>> compute_precision_recall_f1(np.array([2.0]), np.array([4.0]), np.array([2.0]))["value"].round(3)
    array([0.667])
    """
    precision, recall = divide(shared, left), divide(shared, right)
    value = divide(2 * precision * recall, precision + recall)
    return {VALUE: value, "precision": precision, "recall": recall}


def stem(tokens: Tokens) -> Tokens:
    """Return the same texts with words of more than three letters cut to their stems, as rouge-score cuts them."""
    numbers: dict[str, int] = {}
    stems = (stem_porter(word) if len(word) > 3 else word for word in tokens.vocabulary)
    table = np.array([numbers.setdefault(stem, len(numbers)) for stem in stems], dtype=np.int32)
    return Tokens(table[tokens.ids], tokens.offsets, tuple(numbers))


@dataclass(frozen=True, kw_only=True)
class _Rouge(PairMetric):
    source = "Lin 2004"
    needs, default_on = "tokens", "alphanumeric"
    parts = (Part("precision", closer="larger"), Part("recall", closer="larger"))

    stem: bool = False

    def _get_tokens(self, pool: Pool) -> Tokens:
        tokens = pool.tokens(self.on)
        return pool.get_or_compute("stems", self.on, lambda _: stem(tokens)) if self.stem else tokens

    def _score(self, shared: Floats, left: Floats, right: Floats, same: Floats | np.bool_) -> Columns:
        """Precision, recall and F1, 1 where there is nothing on either side and the texts are the same."""
        columns = compute_precision_recall_f1(shared, left, right)
        if self.on == COMPAT:
            return columns
        nothing = (left == 0) & (right == 0) & same
        return {name: np.where(nothing, 1.0, column) for name, column in columns.items()}


class _NgramRouge(_Rouge, NgramMetric):
    orders: ClassVar[tuple[int, ...]]  # whose scores are averaged

    def streams(self, pool: Pool) -> Sequence[tuple[Tokens, int]]:
        return [(self._get_tokens(pool), max(self.orders))]

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        same = (shared[..., 0] == left[..., 0]) & (shared[..., 0] == right[..., 0])
        found = [self._score(shared[..., n - 1], left[..., n - 1], right[..., n - 1], same) for n in self.orders]
        return {name: np.mean([columns[name] for columns in found], axis=0) for name in found[0]}


@register
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

    name, label = "rouge1", "ROUGE-1"
    orders = (1,)


@register
class Rouge2(_NgramRouge):
    """Pairs of neighbouring words that two texts share.

    Precision = shared pairs / pairs of left, recall = shared pairs / pairs of right; value = F1. Words as for
    `rouge1`. Two texts of at most one word score 1 if they are the same words, else 0 (`@rouge_score`: 0 always).
    Source: Lin 2004.
    """

    name, label = "rouge2", "ROUGE-2"
    orders = (2,)


@register
class Rouge(_NgramRouge):
    """Mean of ROUGE-1 and ROUGE-2, as the USMB benchmark takes it.

    Value = (F1 of words + F1 of pairs of words) / 2; precision and recall are means too. Words and texts without words
    as for `rouge1` and `rouge2`. `side=left` is the precision alone, the n-grams of left found in right over those of
    left, as the benchmark's appendix words it. Source: USMB.
    """

    name, label = "rouge", "ROUGE (1, 2)"
    orders = (1, 2)

    side: Literal["both", "left"] = "both"

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.side == "both"

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        means = super().of_counts(shared, left, right)
        return means | {VALUE: means["precision"]} if self.side == "left" else means


@register
class RougeL(_Rouge, GridMetric):
    """Words that two texts share in the same order: the longest common subsequence.

    Precision = its length / words of left, recall = its length / words of right; value = F1. Words and texts without
    words as for `rouge1`. Source: Lin 2004.
    """

    name, label = "rougeL", "ROUGE-L"
    libraries = ("rapidfuzz",)

    def of_grid(self, grid: Grid) -> Columns:
        tokens, left, right = self._get_tokens(grid.left.pool), grid.left.index, grid.right.index
        lengths = tokens.lengths.astype(np.float64)
        shared = compute_common_lengths(tokens, left, right, crossed=grid.crossed)
        return self._score(shared, *grid.spread(lengths[left], lengths[right]), np.True_)


@register
class RougeLsum(_Rouge):
    """Words that summaries of several sentences share in the order of their sentences.

    For each sentence of right, the union of its longest common subsequences with all sentences of left; hits = tokens
    of these unions, none more often than in either text. Precision = hits / words of left, recall = hits / words of
    right; value = F1. A sentence is a line. Words and texts without words as for `rouge1`. Source: Lin 2004.
    """

    name, label = "rougeLsum", "ROUGE-Lsum"
    libraries = ("rapidfuzz",)
    symmetric = False

    def compute(self, pairs: Pairs) -> Columns:
        tokens, edges = self._get_lines(pairs.left.pool)
        whole = Tokens(tokens.ids, tokens.offsets[edges], tokens.vocabulary)
        left, right = pairs.left.index, pairs.right.index
        hits, lines = compute_common_lengths(whole, left, right), np.diff(edges)
        for pair in np.flatnonzero((lines[left] > 1) | (lines[right] > 1)).tolist():
            a, b = (
                [tokens[line].tolist() for line in range(*edges[[row, row + 1]])] for row in (left[pair], right[pair])
            )
            hits[pair] = count_union_hits(a, b)
        lengths = whole.lengths.astype(np.float64)
        return self._score(hits, lengths[left], lengths[right], np.True_)

    def _get_lines(self, pool: Pool) -> tuple[Tokens, Ints]:
        """Return the tokens of all lines, and the first line of each text."""
        tokens, edges = pool.get_or_compute("lines", self.on, lambda name: tokenize_lines(pool.texts, name))
        stems = pool.get_or_compute("stems of lines", self.on, lambda _: stem(tokens)) if self.stem else tokens
        return stems, edges


def tokenize_lines(texts: Sequence[str], name: str) -> tuple[Tokens, Ints]:
    """Return tokens of the lines of texts, one line after the other, and where the lines of each text begin.

    >>> tokenize_lines(["a b\\nc", "d"], "words")[1]
    array([0, 2, 3])
    """
    lines = [text.split("\n") for text in texts]
    edges = np.cumsum([0, *map(len, lines)])
    return get_tokenizer(name).encode([line for text in lines for line in text]), edges


def count_union_hits(candidate: Sentences, reference: Sentences) -> int:
    """Tokens of the reference in a longest common subsequence of its sentence with any sentence of the candidate.

    No token counts more often than it is in either text. Where there are several longest subsequences, the one found
    from the end, going back in the reference first, is taken.
    """
    left, right = (Counter(token for sentence in text for token in sentence) for text in (candidate, reference))
    hits: Counter[int] = Counter()
    for sentence in reference:
        places = set[int]().union(*(_find_subsequence(sentence, other) for other in candidate))
        hits.update(sentence[place] for place in places)
    return sum(min(count, left[token], right[token]) for token, count in hits.items())


def _find_subsequence(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Places in `first` of a longest common subsequence."""
    table = [[0] * (len(second) + 1)]
    for token in first:
        above, row = table[-1], [0]
        for j, other in enumerate(second):
            row.append(above[j] + 1 if token == other else max(above[j + 1], row[j]))
        table.append(row)
    i, j, places = len(first), len(second), []
    while i and j:
        if first[i - 1] == second[j - 1]:
            i, j = i - 1, j - 1
            places.append(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places


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
    shares = [divide(shared, left), divide(shared, right)]
    precision, recall = (np.where(both, share, 0.0).sum(axis=-1) / orders for share in shares)
    p, r = shares if epsilon else (precision, recall)
    value = divide((1 + beta**2) * p * r, beta**2 * p + r)
    if epsilon:
        value = np.where(both, value, epsilon).mean(axis=-1)
    return {VALUE: value, "precision": precision, "recall": recall}


def number_characters(texts: Sequence[str], *, whitespace: bool) -> Tokens:
    """Return the characters of texts, numbered in the order of their code points, with or without white space."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    offsets = np.cumsum(np.fromiter([0, *map(len, texts)], dtype=np.int64, count=len(texts) + 1))
    if not whitespace:
        kept = ~_make_space_table()[codes]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[offsets]
        codes = codes[kept]
    in_use = np.zeros(_CODE_POINTS, dtype=bool)
    in_use[codes] = True
    numbers = np.cumsum(in_use, dtype=np.int32) - 1
    return Tokens(numbers[codes], offsets, [chr(code) for code in np.flatnonzero(in_use)])


def split_chrf_words(text: str) -> list[str]:
    """Words between white space, one sign of punctuation split off: the last character if it is one, else the first.

    >>> split_chrf_words("(so) it's, -")
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
def _make_space_table() -> NDArray[np.bool_]:
    table = np.zeros(_CODE_POINTS, dtype=bool)
    table[[code for code in range(0x3001) if chr(code).isspace()]] = True
    return table


@register
class Chrf(NgramMetric):
    """Character n-grams that two texts share, for n from 1 to `order`.

    Precision and recall = means over n of shared n-grams / n-grams of left and of right; value = (1 + β²) · precision ·
    recall / (β² · precision + recall), all times 100: recall counts `beta` times as much. Orders that a text is too
    short for are left out. White space is left out unless `whitespace`; `word_order=2` adds words and pairs of words
    (chrF++).
    `smoothing=epsilon` takes the mean over all n of their F-measures, 1e-16 where a text is too short, as chrF++.py,
    NLTK and Moses do (`eps_smoothing` of sacrebleu). With the defaults it is chrF of sacrebleu, from 0 to 100, and over
    a set its corpus chrF. Several references: the closest counts. Two texts without characters score 100, one alone 0.
    Source: Popović 2015, 2017.

    >>> from textgauge import get_metric
    >>> get_metric("chrf")(left=["colour"], right=["color"]).values.round(3)
    array([55.169])
    """

    name, label, source = "chrf", "chrF", "Popović 2015"
    version = 2
    factor = 100.0
    needs, default_on = "texts", ""
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
        variant = f"lowercase={self.lowercase}, whitespace={self.whitespace}"
        texts = [text.lower() for text in pool.texts] if self.lowercase else pool.texts
        characters = pool.get_or_compute(
            "chrF characters", variant, lambda _: number_characters(texts, whitespace=self.whitespace)
        )
        if not self.word_order:
            return [(characters, self.order)]
        words = pool.get_or_compute("chrF words", variant, lambda _: SplitTokenizer(split_chrf_words).encode(texts))
        return [(characters, self.order), (words, self.word_order)]

    def of_counts(self, shared: Floats, left: Floats, right: Floats) -> Columns:
        empty = (left[..., 0] == 0) & (right[..., 0] == 0)
        found = chrf(shared, left, right, beta=self.beta, epsilon=_EPSILON if self.smoothing == "epsilon" else 0.0)
        return {name: np.where(empty, 1.0, column) for name, column in found.items()}

    def statistics(self, pairs: Pairs) -> Floats:
        """N-grams of left, of right and of both for every order, of the closest reference."""
        shared, left, right = self.counts(Grid.of(pairs))
        chosen = find_best_rows(self.of_counts(shared, left, right)[VALUE], pairs.items)
        return np.concatenate([np.where(right > 0, left, 0.0), right, shared], axis=1)[chosen]

    def of_statistics(self, sums: Floats) -> Floats:
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
