"""Edit distance of two texts as a similarity, on characters or tokens, by rapidfuzz."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from textgauge.arrays import Floats
from textgauge.data import Corpus, Pairs
from textgauge.data.view import in_one_pool
from textgauge.encode.tokenizers import characters_of
from textgauge.errors import ParameterError
from textgauge.metrics.base import VALUE
from textgauge.metrics.pair_metric import Columns, PairMetric
from textgauge.metrics.registry import register
from textgauge.parallel import workers

Kind = Literal["levenshtein", "indel", "osa", "damerau"]
Norm = Literal["sum", "max"]
Sequences = Sequence[str] | Sequence[list[int]]

_SHORT = 32  # so short, rapidfuzz is faster on a full matrix, many at a time, than on half of one, one by one


def similarity(edits: Floats, left: Floats, right: Floats, *, norm: Norm) -> Floats:
    """What edits leave of sequences of these lengths, as a share; 1 for two empty ones.

    >>> similarity(np.array([3.0, 0.0]), np.array([6.0, 0.0]), np.array([7.0, 0.0]), norm="sum")
    array([0.76923077, 1.        ])
    """
    whole = left + right if norm == "sum" else np.maximum(left, right)
    return np.where(whole > 0, (whole - edits) / np.maximum(whole, 1.0), 1.0)


def sequences(corpus: Corpus, on: str) -> Sequences:
    """What is edited in each text: its characters, as a string, or its token ids."""
    if on == "characters":
        return [characters_of(text) for text in corpus.texts]
    tokens = corpus.tokens(on)
    ids, offsets = tokens.ids.tolist(), tokens.offsets.tolist()
    return [ids[start:end] for start, end in pairwise(offsets)]


@register
@dataclass(frozen=True, kw_only=True)
class Levenshtein(PairMetric):
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

    name = "levenshtein"
    label = "Levenshtein"
    source = "Levenshtein 1966"
    libraries = ("rapidfuzz",)
    needs = "tokens"
    default_on = "characters"

    kind: Kind = "levenshtein"
    norm: Norm = "sum"

    def check(self) -> None:
        """Refuse a norm that would give values below 0."""
        if self.kind == "indel" and self.norm == "max":
            raise ParameterError("levenshtein: kind=indel takes up to |s| + |t| edits, so its norm is sum")

    def compute(self, pairs: Pairs) -> Columns:
        """The similarity of each pair."""
        from rapidfuzz.process import cpdist

        left, right = sequences(pairs.left, self.on), sequences(pairs.right, self.on)
        edits = cpdist(left, right, scorer=_scorer(self.kind), dtype=np.float64)
        return {VALUE: similarity(edits, _lengths(left), _lengths(right), norm=self.norm)}

    def matrix(self, rows: Corpus, columns: Corpus, *, background: Corpus | None = None) -> Floats:
        """The similarity of every row text with every column text, on all cores; the halves of a square one once."""
        from rapidfuzz.process import cdist

        rows, columns = in_one_pool(rows, columns)
        left, right = sequences(rows, self.on), sequences(columns, self.on)
        if np.array_equal(rows.index, columns.index) and _lengths(left).sum() > _SHORT * len(left):
            right = left  # the same object tells rapidfuzz that the matrix is symmetric
        found: Floats = cdist(left, right, scorer=_scorer(self.kind), dtype=np.float64, workers=workers())
        height, width = _lengths(left), _lengths(right)
        for row, length in zip(found, height, strict=True):
            row[:] = similarity(row, length, width, norm=self.norm)
        return found


def _scorer(kind: Kind) -> Callable[..., Any]:
    from rapidfuzz import distance

    modules = {"levenshtein": "Levenshtein", "indel": "Indel", "osa": "OSA", "damerau": "DamerauLevenshtein"}
    return getattr(distance, modules[kind]).distance  # type: ignore[no-any-return]


def _lengths(items: Sequences) -> Floats:
    return np.fromiter(map(len, items), dtype=np.float64, count=len(items))
