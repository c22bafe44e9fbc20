"""Edits that turn one text into another: levenshtein on characters or tokens, ter with shifts of phrases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.core.errors import ParameterError
from textgauge.core.settings import EDIT_CELLS
from textgauge.data import Corpus, Pairs
from textgauge.data.pool import Pool
from textgauge.encode.tokenizers import forget_texts, get_characters
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.numerics.search import compare_sequences
from textgauge.metrics.pair_metric import Columns, Grid, GridMetric, PairMetric
from textgauge.metrics.registry import register

Kind = Literal["levenshtein", "indel", "osa", "damerau"]
Norm = Literal["sum", "max"]
Sequences = Sequence[str] | Sequence[list[int]]

_COST = 10_000  # times that of edits without shifts
_SHORT = 32  # so short, rapidfuzz is faster on a full matrix, many at a time, than on half of one, one by one


def compute_similarity(edits: Floats, left: Floats, right: Floats, *, norm: Norm) -> Floats:
    """Return what edits leave of sequences of these lengths, as a share; 1 for two empty ones.

    >>> compute_similarity(np.array([3.0, 0.0]), np.array([6.0, 0.0]), np.array([7.0, 0.0]), norm="sum")
    array([0.76923077, 1.        ])
    """
    whole = left + right if norm == "sum" else np.maximum(left, right)
    return np.where(whole > 0, (whole - edits) / np.maximum(whole, 1.0), 1.0)


def get_edited_sequences(corpus: Corpus, on: str) -> Sequences:
    """Return what is edited in each text: its characters, as a string, or its token ids."""
    if on == "characters":
        return [get_characters(text) for text in corpus.texts]
    tokens = corpus.tokens(on)
    ids, offsets = tokens.ids.tolist(), tokens.offsets.tolist()
    return [ids[start:end] for start, end in pairwise(offsets)]


@register
class Levenshtein(GridMetric):
    """How much of two texts stays when one is edited into the other, by characters or (`@words`) by tokens.

    (|s| + |t| − d) / (|s| + |t|), or (max(|s|, |t|) − d) / max(|s|, |t|) with `norm=max`, where d is the least number
    of edits: insertions, deletions and substitutions (`kind=levenshtein`); no substitutions (`indel`: the value is
    the `ratio` of rapidfuzz and python-Levenshtein); swaps of neighbours too, which are not edited again (`osa`) or
    may be (`damerau`). Never undefined: two empty texts score 1, an empty text and another 0. With `sum`, two texts
    of one length that share nothing score 1/2. Characters are code points after NFC.
    Source: Levenshtein 1966, in the form of Yamshchikov et al. 2021.

    >>> Levenshtein()(left=["kitten"], right=["sitting"]).values
    array([0.76923077])
    """

    name, label, source = "levenshtein", "Levenshtein similarity", "Levenshtein 1966"
    libraries = ("rapidfuzz",)
    needs, default_on = "tokens", "characters"

    kind: Kind = "levenshtein"
    norm: Norm = "sum"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind == "indel" and self.norm == "max":
            raise ParameterError("levenshtein: kind=indel takes up to |s| + |t| edits, so its norm is sum")

    def of_grid(self, grid: Grid) -> Columns:
        left, right = get_edited_sequences(grid.left, self.on), get_edited_sequences(grid.right, self.on)
        sizes = _get_lengths(left), _get_lengths(right)
        if np.array_equal(grid.left.index, grid.right.index) and sizes[0].sum() > _SHORT * len(left):
            right = left  # the same object tells rapidfuzz that a matrix is symmetric
        from rapidfuzz import distance

        modules = {"levenshtein": "Levenshtein", "indel": "Indel", "osa": "OSA", "damerau": "DamerauLevenshtein"}
        edits = compare_sequences(left, right, getattr(distance, modules[self.kind]).distance, crossed=grid.crossed)
        return {VALUE: compute_similarity(edits, *grid.spread(*sizes), norm=self.norm)}


def _get_lengths(items: Sequences) -> Floats:
    return np.fromiter(map(len, items), dtype=np.float64, count=len(items))


def count_edits(candidate: list[str], reference: list[str]) -> int:
    """Count insertions, deletions, substitutions and shifts from candidate to reference, as Tercom finds them.

    >>> count_edits("on the mat sat the cat".split(), "the cat sat on the mat".split())
    2
    """
    if candidate == reference:
        return 0
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    EDIT_CELLS.check(_COST * len(candidate) * len(reference), "edits with shifts between long texts")
    return int(translation_edit_rate(candidate, reference)[0])


def rate(counts: NDArray[np.float64]) -> Floats:
    """Edits per word of the reference, from rows of both; 1 for edits without a reference, 0 for nothing at all."""
    found, words = counts[:, 0], counts[:, 1]
    return np.divide(found, words, out=(found > 0).astype(np.float64), where=words > 0)


@register
class Ter(PairMetric):
    """Edits that turn left into right, where moving a phrase is one edit, per word of right.

    Value = 100 · (insertions + deletions + substitutions + shifts) / words of right; it exceeds 100 where left is much
    longer. Shifts are chosen greedily, as Tercom does; with the defaults it is TER of sacrebleu, and over a set its
    corpus TER. Several references: the fewest edits, per mean number of words. Words stand between white space, in
    lower case unless `case_sensitive`; `normalized` splits signs off, `no_punct` drops them, `asian_support` does both
    to Chinese and Japanese too. If right has no words, the value is 100, or 0 if left has none either. Time grows with
    the product of the lengths, and faster where much is shifted. Source: Snover et al. 2006.

    >>> from textgauge import get_metric
    >>> get_metric("ter")(left=["on the mat sat the cat"], right=["the cat sat on the mat"]).values.round(3)
    array([33.333])
    """

    name, label, source = "ter", "TER", "Snover et al. 2006"
    version = 2
    factor = 100.0
    libraries = ("sacrebleu",)
    needs, default_on = "texts", ""
    headline = Part(VALUE, closer="smaller", bounds=(0.0, float("inf")))
    value_at_identity: ClassVar[float] = 0.0
    symmetric = False

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    def compute(self, pairs: Pairs) -> Columns:
        return {VALUE: rate(self._count_edits(pairs))}

    def compute_items(self, pairs: Pairs) -> Columns:
        return {VALUE: rate(self.statistics(pairs))} if pairs.several else super().compute_items(pairs)

    def statistics(self, pairs: Pairs) -> Floats:
        """Fewest edits, and mean words of the references."""
        distinct, inverse = pairs.distinct()
        counts = self._count_edits(distinct)[inverse]
        first = pairs.first_rows
        references = np.diff(first, append=len(pairs))
        words = np.add.reduceat(counts[:, 1], first) / references if len(first) else counts[:, 1]
        return np.column_stack([np.minimum.reduceat(counts[:, 0], first) if len(first) else counts[:, 0], words])

    def of_statistics(self, sums: Floats) -> Floats:
        return rate(sums)

    def as_sacrebleu(self, sums: Floats) -> tuple[str, Any] | None:
        from sacrebleu.metrics.ter import TER

        return "TER", TER(**self._settings)

    def _count_edits(self, pairs: Pairs) -> NDArray[np.float64]:
        words = self._split_words(pairs.left.pool)
        found = [
            (count_edits(words[left], words[right]), len(words[right]))
            for left, right in zip(pairs.left.index.tolist(), pairs.right.index.tolist(), strict=True)
        ]
        return np.array(found, dtype=np.float64).reshape(-1, 2)

    @property
    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("normalized", "no_punct", "asian_support", "case_sensitive")}

    def _split_words(self, pool: Pool) -> list[list[str]]:
        from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

        split = forget_texts(TercomTokenizer(**self._settings))
        return pool.get_or_compute(
            "TER words", str(self._settings), lambda _: [split(text.rstrip()).split() for text in pool.texts]
        )
