"""Measure every corpus: run the models once over all texts, then find the nearest texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.parallel import map_parts
from textgauge.core.progress import advance, begin_step, name_counts
from textgauge.core.sizes import blocks
from textgauge.data import Corpus
from textgauge.data.pool import Pool
from textgauge.metrics.properties.base import NEAR_COPY, TOKENIZER, MeasuredCorpus, NearestMatches
from textgauge.metrics.properties.meaning import nearest_meaning, nearest_wording
from textgauge.metrics.properties.texts import numbered

Columns = tuple[Floats | Ints, Floats | Ints]
BackendColumns = tuple[Floats, str]  # two numbers for each text, NaN where not needed, and the backend's signature

NO_TEST, NO_TRAIN = "no test texts were given", "no train texts were given"
YARDSTICKS = ("test", "train")
_LEFT_OUT = "not asked for"
_PORTION = 2_000  # texts between two messages of progress


@dataclass(frozen=True, eq=False)
class CorpusSets:
    """Generated corpora by name, and what they are compared with: views of one pool, and more texts to learn from."""

    generated: Mapping[str, Corpus]
    train: Corpus | None
    test: Corpus | None
    validation: Sequence[str] = ()
    against: Corpus | None = None

    @property
    def pool(self) -> Pool:
        """The pool of all texts."""
        return next(iter(self.generated.values())).pool


@dataclass(frozen=True, eq=False)
class Measuring:
    """The corpora and the names of the backends; None leaves out what needs one."""

    sets: CorpusSets
    embedder: str | None
    grammar: str | None
    plausibility: str | None
    representative: Sequence[str] | None
    near_copy: float = NEAR_COPY
    train_sample: int = 5_000
    """Train texts enough for a mean: its standard error is a seventieth of their deviation."""
    cluster: Executor | None = None

    def generated(self) -> tuple[MeasuredCorpus, ...]:
        """Each generated corpus, compared with test and train."""
        return tuple(self._one(name, corpus) for name, corpus in self.sets.generated.items())

    def test(self) -> MeasuredCorpus | None:
        """The yardstick of what good texts would be: test, compared with train."""
        return None if self.sets.test is None else self._one("test", self.sets.test)

    @cached_property
    def train(self) -> MeasuredCorpus:
        """Train, compared with test as if it had been generated."""
        if self.sets.train is None:
            raise InputError("there are no train texts")
        return self._one("train", self.sets.train)

    def signatures(self) -> dict[str, str]:
        """The backends, spelled out with versions, by what needs them."""
        found = {}
        if self.embedder is not None:
            from textgauge.encode.embedders import embedder

            found["embeddings"] = embedder(self.embedder).identity
        rows = {"grammar": self._grammar, "plausibility": self._surprise}
        return found | {name: row[1] for name, row in rows.items() if row is not None}

    def _one(self, name: str, corpus: Corpus) -> MeasuredCorpus:
        begin_step(f"forms and vocabulary of {name}", kind="forms and vocabulary")
        meaning = None if name == "test" or self.embedder is None else self.sets.test
        wording = None if name == "train" else self.sets.train
        missing = self._missing(name)
        return MeasuredCorpus(
            name=name,
            corpus=corpus,
            forms=self._forms[corpus.index],
            train=None if wording is None else self.train,
            embedder=self.embedder,
            grammar=_columns(self._grammar, corpus),
            surprise=None if "plausibility" in missing else _columns(self._surprise, corpus),
            semantic=None if meaning is None else self._meaning(name, corpus, meaning),
            covered=None if meaning is None else self._meaning(name, meaning, corpus),
            syntactic=None if wording is None else self._wording(name, corpus, wording),
            echoed=None if wording is None else self._wording(name, wording, corpus),
            against=None if name in YARDSTICKS else self.sets.against,
            missing=missing,
            near_copy=self.near_copy,
        )

    def _missing(self, name: str) -> dict[str, str]:
        """What properties may need and a corpus does not have, and why."""
        backends = {"embeddings": self.embedder, "grammar": self.grammar, "plausibility": self.plausibility}
        found = {need: _LEFT_OUT for need, backend in backends.items() if backend is None}
        others = {"train": (self.sets.train, NO_TRAIN), "test": (self.sets.test, NO_TEST)}
        found |= {role: reason for role, (corpus, reason) in others.items() if corpus is None}
        if self.sets.against is None or name in YARDSTICKS:
            found["against"] = "no other file was given"
        if name == "train" and self._made_from_train:
            found["plausibility"] = "the language model was made from it"
        return found

    @property
    def _made_from_train(self) -> bool:
        """Whether the language model is one that is made from texts, and no other texts were given for it."""
        trained = (self.plausibility or "").startswith("kneser-ney")
        return trained and self.representative is None and self.sets.train is not None

    @cached_property
    def _forms(self) -> Ints:
        return numbered(self.sets.pool.texts)[0]

    @cached_property
    def _grammar(self) -> BackendColumns | None:
        """Grammatical errors and words of generated and test texts, and of a sample of train."""
        if self.grammar is None:
            return None
        from textgauge.encode.grammar import get_grammar_checker

        signature = get_grammar_checker(self.grammar).signature
        return self._rows(self._modelled(with_train=True), partial(_errors, self.grammar), "grammar", signature)

    @cached_property
    def _surprise(self) -> BackendColumns | None:
        """−ln P and tokens of generated and test texts, and of a sample of train unless the model was made from it."""
        if self.plausibility is None:
            return None
        from textgauge.encode.language_models import get_language_model

        begin_step("language model of plausibility")
        own = self._made_from_train
        learned = () if self.sets.train is None else self.sets.train.texts
        known = [*learned, *self.sets.validation] if own else self.representative
        model = get_language_model(self.plausibility, representative=known)
        # A model that was made here, from texts, is not sent to workers.
        surprise = model.surprise if model.name.startswith("kneser-ney") else partial(_surprise, self.plausibility)
        return self._rows(self._modelled(with_train=not own), surprise, "plausibility", model.signature)

    def _modelled(self, *, with_train: bool) -> list[Corpus]:
        """The corpora that models see: of a large train, or of corpora without one, a sample."""
        sets = self.sets
        if sets.train is None:
            return [self._sampled(corpus) for corpus in sets.generated.values()]
        others = (sets.test, self._sampled(sets.train) if with_train else None)
        return [*sets.generated.values(), *(corpus for corpus in others if corpus is not None)]

    def _sampled(self, corpus: Corpus) -> Corpus:
        """At most `train_sample` texts: the first by content key, which is as good as random."""
        few = len(corpus) <= self.train_sample
        return corpus if few else corpus.canonical().take(np.arange(self.train_sample))

    def _rows(
        self, corpora: Sequence[Corpus], compute: Callable[[Sequence[str]], Columns], doing: str, backend: str
    ) -> BackendColumns:
        """Two numbers of every text of some corpora; equal texts are measured once, in portions."""
        pool = self.sets.pool
        wanted = np.concatenate([corpus.index for corpus in corpora])
        _, first, inverse = np.unique(pool.keys[wanted], return_index=True, return_inverse=True)
        texts = [pool.texts[row] for row in wanted[first].tolist()]
        parts = []
        places = blocks(len(texts), _PORTION)
        portions = [texts[place] for place in places]
        for place, columns in zip(places, map_parts(self._workers_of(compute), compute, portions), strict=True):
            parts.append([np.asarray(column, dtype=np.float64) for column in columns])
            begin_step(f"{doing}: texts", place.stop, len(texts), doing)
        found = np.full((2, pool.size), np.nan)
        found[:, wanted] = np.concatenate(parts, axis=1)[:, inverse]
        return found, backend

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        from textgauge.data.cache import encode_cached
        from textgauge.encode.embedders import embedder

        begin_step(f"embedding with {self.embedder}")
        with name_counts(f"texts embedded with {self.embedder}"):
            model, texts = embedder(self.embedder or ""), self.sets.pool.texts
            return encode_cached(model, texts, progress=advance, executor=self.cluster)

    def _workers_of(self, compute: Callable[[Sequence[str]], Columns]) -> Executor | None:
        return self.cluster if isinstance(compute, partial) else None

    def embed(self) -> None:
        """Embed all texts, with progress, so that whoever asks the pool for their vectors finds them."""
        if self.embedder is not None:
            self.sets.pool.set_rows("embeddings", self.embedder, self._vectors)

    def _meaning(self, name: str, queries: Corpus, documents: Corpus) -> NearestMatches:
        """The nearest text by meaning, searched among the different texts of either side; of equal ones the first."""
        vectors = self._vectors
        begin_step(f"nearest texts of {name} by meaning", kind="nearest texts by meaning")
        _, asking, inverse = np.unique(queries.keys, return_index=True, return_inverse=True)
        given = np.sort(np.unique(documents.keys, return_index=True)[1])
        found = nearest_meaning(vectors[queries.index[asking]], vectors[documents.index[given]])
        return NearestMatches(given[found.index], found.similarity).take(inverse)

    def _wording(self, name: str, queries: Corpus, documents: Corpus) -> NearestMatches:
        begin_step(f"nearest texts of {name} by wording", kind="nearest texts by wording")
        return nearest_wording(queries.tokens(TOKENIZER), documents.tokens(TOKENIZER))


def _errors(checker: str, texts: Sequence[str]) -> Columns:
    from textgauge.encode.grammar import get_grammar_checker

    found = get_grammar_checker(checker)
    return found.errors(texts), found.lengths(texts)


def _surprise(model: str, texts: Sequence[str]) -> Columns:
    from textgauge.encode.language_models import get_language_model

    return get_language_model(model).surprise(texts)


def _columns(rows: BackendColumns | None, corpus: Corpus) -> tuple[Floats, Floats] | None:
    return None if rows is None else (rows[0][0, corpus.index], rows[0][1, corpus.index])
