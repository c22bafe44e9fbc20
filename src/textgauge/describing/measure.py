"""Measure every corpus: run the models once over all texts, then look for the nearest texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus
from textgauge.describing.measured import Measured, Modes
from textgauge.describing.models import grammar_row, made_from_train, surprise_row
from textgauge.describing.rows import Row, Step
from textgauge.describing.sets import Sets
from textgauge.metrics.base import versions
from textgauge.metrics.properties.nearest import Nearest, nearest_meaning, nearest_wording
from textgauge.metrics.properties.repetition import groups
from textgauge.metrics.properties.uniqueness import Counts, form, numbered
from textgauge.metrics.properties.vocabulary import new_terms

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOKENIZER = "words"
_UNASKED = "not asked for"


@dataclass(frozen=True, eq=False)
class Measuring:
    """The corpora and the names of the backends; None leaves out what needs one."""

    sets: Sets
    embedder: str | None
    grammar: str | None
    plausibility: str | None
    representative: Sequence[str] | None
    on_step: Step

    def generated(self) -> tuple[Measured, ...]:
        """Each generated corpus against test and train."""
        return tuple(self._one(name, corpus, self.sets.train) for name, corpus in self.sets.generated.items())

    def test(self) -> Measured | None:
        """The yardstick of what good texts would be: test against train."""
        return None if self.sets.test is None else self._one("test", self.sets.test, self.sets.train)

    def train(self) -> Measured:
        """Train against test, as if it had been generated."""
        return self._one("train", self.sets.train, self.sets.train.take(np.arange(0)))

    def _one(self, name: str, corpus: Corpus, known: Corpus) -> Measured:
        self.on_step(f"{name}: forms and vocabulary")
        forms = self._forms[corpus.index]
        meaning = None if name == "test" or self.embedder is None else self.sets.test
        wording = None if name == "train" else self.sets.train
        told = name == "train" and self._told
        return Measured(
            name=name,
            corpus=corpus,
            forms=forms,
            counts=Counts.of(forms, self._forms[known.index]),
            terms=new_terms(corpus.tokens(TOKENIZER), known.tokens(TOKENIZER)),
            modes=modes(corpus, forms),
            grammar=None if self._grammar is None else self._grammar.of(corpus),
            surprise=None if self._surprise is None or told else self._surprise.of(corpus),
            semantic=None if meaning is None else self._meaning(name, corpus, meaning),
            covered=None if meaning is None else self._meaning(name, meaning, corpus),
            syntactic=None if wording is None else self._wording(name, corpus, wording),
            echoed=None if wording is None else self._wording(name, wording, corpus),
            reasons=self._reasons(name),
        )

    def _reasons(self, name: str) -> dict[str, str]:
        """Why a property is not there, where it is not."""
        held = f"others are held against {name}"
        found = {
            "semantic": "no test texts were given" if self.sets.test is None else held,
            "syntactic": held,
            "plausibility": "the language model was made from it",
        }
        asked = {"semantic": self.embedder, "grammar": self.grammar, "plausibility": self.plausibility}
        return found | {part: _UNASKED for part, backend in asked.items() if backend is None}

    def backends(self) -> dict[str, str]:
        """What each property depends on, spelled out with versions."""
        found = {"unique": "form=lower-case,no-punctuation", "vocab": TOKENIZER}
        found["syntactic"] = f"synsim@{TOKENIZER}({','.join(versions('rapidfuzz'))})"
        if self.embedder is not None:
            from textgauge.encode.embedders import embedder

            found["semantic"] = f"cosine@{embedder(self.embedder).identity}"
        rows = {"grammar": self._grammar, "plausibility": self._surprise}
        return found | {name: row.backend for name, row in rows.items() if row is not None}

    @property
    def _told(self) -> bool:
        return self.plausibility is not None and made_from_train(self.plausibility, self.representative)

    @cached_property
    def _forms(self) -> Ints:
        return numbered(self.sets.pool.texts)[0]

    @cached_property
    def _grammar(self) -> Row | None:
        return None if self.grammar is None else grammar_row(self.grammar, self.sets, self.on_step)

    @cached_property
    def _surprise(self) -> Row | None:
        if self.plausibility is None:
            return None
        return surprise_row(self.plausibility, self.sets, self.representative, self.on_step)

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        from textgauge.data.cache import encode_cached
        from textgauge.encode.embedders import embedder

        def told(done: int, total: int) -> None:
            self.on_step(f"embedding: {100 * done // total} %")

        return encode_cached(embedder(self.embedder or ""), self.sets.pool.texts, progress=told)

    def _meaning(self, name: str, queries: Corpus, documents: Corpus) -> Nearest:
        vectors = self._vectors
        self.on_step(f"{name}: nearest by meaning")
        return among_distinct(queries, documents, lambda a, b: nearest_meaning(vectors[a], vectors[b]))

    def _wording(self, name: str, queries: Corpus, documents: Corpus) -> Nearest:
        self.on_step(f"{name}: nearest by wording")
        return nearest_wording(queries.tokens(TOKENIZER), documents.tokens(TOKENIZER))


def among_distinct(queries: Corpus, documents: Corpus, search: Callable[[Ints, Ints], Nearest]) -> Nearest:
    """Search for the different texts of either side, by their rows of the pool; of equal documents the first."""
    _, asked, inverse = np.unique(queries.keys, return_index=True, return_inverse=True)
    given = np.sort(np.unique(documents.keys, return_index=True)[1])
    found = search(queries.index[asked], documents.index[given])
    return Nearest(given[found.index], found.similarity).take(inverse)


def modes(corpus: Corpus, forms: Ints) -> Modes:
    """Put equal and nearly equal texts together."""
    numbers, first, inverse, times = np.unique(forms, return_index=True, return_inverse=True, return_counts=True)
    texts = corpus.pool.texts
    group = groups([form(texts[row]) for row in corpus.index[first].tolist()], times)[inverse]
    return Modes(group, np.bincount(group, minlength=len(numbers)))
