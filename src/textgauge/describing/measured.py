"""Everything about one corpus that properties are made of, text by text; the same for generated, test and train."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus
from textgauge.metrics.properties.nearest import Nearest
from textgauge.metrics.properties.uniqueness import Counts
from textgauge.metrics.properties.vocabulary import NewTerms

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Modes:
    """The group of each text (see `repetition.groups`), and the number of texts of each group."""

    group: Ints
    sizes: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """One corpus. What it lacks is None, and `reasons` has why, under the name of the property without its part.

    `semantic` leads to the nearest test text and `covered` from each test text back; `syntactic` leads to the nearest
    train text and `echoed` from each train text back.
    """

    name: str
    corpus: Corpus
    forms: Ints
    counts: Counts
    terms: NewTerms
    modes: Modes
    grammar: tuple[Floats, Floats] | None = None
    surprise: tuple[Floats, Floats] | None = None
    semantic: Nearest | None = None
    covered: Nearest | None = None
    syntactic: Nearest | None = None
    echoed: Nearest | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    def per_text(self) -> dict[str, Floats]:
        """The values of each text under the names of the properties: what is tested, correlated and exported.

        Grammar is errors per word, plausibility the surprise per token (the logarithm of perplexity).
        """
        found = {}
        if self.grammar is not None:
            found["grammar"] = _ratio(*self.grammar)
        if self.surprise is not None:
            found["plausibility"] = _ratio(*self.surprise)
        if self.semantic is not None:
            found["semantic"] = self.semantic.similarity
        if self.syntactic is not None:
            found["syntactic"] = self.syntactic.similarity
        return found


def _ratio(top: Floats, below: Floats) -> Floats:
    """NaN where nothing was counted."""
    return np.asarray(np.divide(top, below, out=np.full(len(top), np.nan), where=below > 0))
