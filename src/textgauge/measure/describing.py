"""`describe`: measure corpora by themselves, or generated ones next to what they were learned from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.parallel import map_parts, open_dask_executor, use_one_blas_thread
from textgauge.core.progress import begin_step, name_counts
from textgauge.core.settings import check_seed, split_into_blocks
from textgauge.data import Corpus, load_corpus
from textgauge.data.pool import Pool
from textgauge.data.source import Source
from textgauge.data.units import FEWEST_GROUPS
from textgauge.encode.embedders import EmbedderLike
from textgauge.encode.embedders.own import name_embedder
from textgauge.encode.tokenizers import replace_surrogates
from textgauge.measure.dependence import LabelSource, read_labels, read_side_labels
from textgauge.measure.description import NO_TEST, Description, measure_properties
from textgauge.measure.findings import find_warnings
from textgauge.measure.lists import RATING, check_threshold
from textgauge.metrics.numerics.passages import PASSAGE
from textgauge.metrics.properties.base import (
    NEAR_COPY,
    TOKENIZER,
    CorpusProperty,
    MeasuredCorpus,
    NearestMatches,
    Parts,
)
from textgauge.metrics.properties.meaning import COVERED, find_nearest_meaning, find_nearest_wording
from textgauge.metrics.properties.texts import number_forms

Columns = tuple[Floats | Ints, Floats | Ints]

Ratings: TypeAlias = "Sequence[float] | NDArray[np.floating]"

GENERATED, ALONE = "generated", "corpus"  # what the only corpus is called, next to train and by itself
_TAKEN = ("train", "test", "validation", "against")
NO_TRAIN = "no train texts were given"
YARDSTICKS = ("test", "train")
_LEFT_OUT = "not asked for"
_PORTION = 2_000  # texts between two messages of progress
PARTS = 10  # random parts of a corpus that is compared with a smaller one


class BackendColumns(NamedTuple):
    """Two numbers for each text of a pool, NaN where not needed, and the backend's signature."""

    columns: Floats
    signature: str

    def of(self, corpus: Corpus) -> tuple[Floats, Floats]:
        """Return both numbers of the texts of a corpus."""
        return self.columns[0, corpus.index], self.columns[1, corpus.index]


@dataclass(frozen=True, eq=False)
class CorpusSets:
    """Generated corpora by name, and what they are compared with: views of one pool, and more texts to learn from."""

    generated: Mapping[str, Corpus]
    train: Corpus | None
    test: Corpus | None
    validation: Sequence[str] = ()
    against: Corpus | None = None
    groups: Ints | None = None
    """The number of the group of each text of the pool, where groups were named."""

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
    passage: int = PASSAGE
    train_sample: int = 5_000
    """Train texts enough for a mean: its standard error is a seventieth of their deviation."""
    cluster: Executor | None = None
    seed: int = 0

    def generated(self) -> tuple[MeasuredCorpus, ...]:
        """Return each generated corpus, compared with test and train."""
        return tuple(self._measure_corpus(name, corpus) for name, corpus in self.sets.generated.items())

    def test(self) -> MeasuredCorpus | None:
        """Return the yardstick of what good texts would be: test, compared with train."""
        return None if self.sets.test is None else self._measure_corpus("test", self.sets.test)

    @cached_property
    def train(self) -> MeasuredCorpus:
        """Train, compared with test as if it had been generated."""
        if self.sets.train is None:
            raise InputError("there are no train texts")
        return self._measure_corpus("train", self.sets.train)

    def signatures(self) -> dict[str, str]:
        """Return the backends, spelled out with versions, by what needs them."""
        found = {}
        if self.embedder is not None:
            from textgauge.encode.embedders import get_embedder

            found["embeddings"] = get_embedder(self.embedder).identity
        rows = {"grammar": self._grammar, "plausibility": self._surprise}
        found |= {name: row.signature for name, row in rows.items() if row is not None}
        return found | {"passage": str(self.passage)}

    def draw_parts(
        self, known: CorpusProperty, measured: MeasuredCorpus, yardstick: MeasuredCorpus
    ) -> tuple[Parts, Parts]:
        """Return random parts of a corpus and of test or train that have as many texts, to compare a property of both.

        What is new in a part of train is not in the rest of train, and parts of the corpus are compared with that too.
        """
        is_new = yardstick.name == "train" and "test" not in known.needs
        size = max(min(len(measured.corpus), len(yardstick.corpus) // (2 if is_new else 1)), 1)
        kind = "new" if is_new else yardstick.name
        return measured.derive(self._draw_parts, kind, size), yardstick.derive(self._draw_parts, kind, size)

    def _draw_parts(self, measured: MeasuredCorpus, kind: str, size: int) -> Parts:
        """Return parts with the nearest texts that a comparison with test or train needs, or with the rest of train."""
        draws = self._draw_rows(measured, size)
        if kind == "new":
            rows, places = itertools.cycle(draws), np.arange(len(self.train.corpus))
            rests = [self.train.take(np.setdiff1d(places, part)) for part in self._draw_rows(self.train, size)]
            return tuple(measured.take(next(rows), train=rest) for rest in rests)
        sides = {"test": ("echoed", self.sets.train), "train": ("covered", self.sets.test)}
        (side, others), match = sides[kind], self._match_wording if kind == "test" else self._match_meaning
        if others is None or (len(draws) == 1 and getattr(measured, side) is not None):
            return (measured,)
        corpora = (measured.corpus.take(rows) for rows in draws)
        found = [match(measured.name, self._sample_corpus(others), corpus, back=True) for corpus in corpora]
        near = np.concatenate([one.similarity for one in found])
        reach = float(np.quantile(near, COVERED)) if measured.name == "train" else measured.reach
        return tuple(measured.take(rows, **{"reach": reach, side: one}) for rows, one in zip(draws, found, strict=True))

    def _draw_rows(self, measured: MeasuredCorpus, size: int) -> list[Ints]:
        """Return the rows of random parts, of whole groups but for the last, by content and seed; one of all texts."""
        if size >= len(measured.corpus):
            return [np.arange(len(measured.corpus))]
        order = np.argsort(measured.corpus.keys, kind="stable")
        groups = measured.groups
        units = np.arange(len(order)) if groups is None else np.unique(groups[order], return_inverse=True)[1]
        dealt = (np.random.default_rng([self.seed, part]).permutation(units.max() + 1) for part in range(PARTS))
        return [order[np.argsort(places[units], kind="stable")[:size]] for places in dealt]

    def _measure_corpus(self, name: str, corpus: Corpus) -> MeasuredCorpus:
        begin_step(f"forms and vocabulary of {name}", kind="forms and vocabulary")
        meaning = None if name == "test" or self.embedder is None else self.sets.test
        is_train = name == "train"
        wording = None if is_train else self.sets.train
        missing = self._list_missing(name)
        return MeasuredCorpus(
            name=name,
            corpus=corpus,
            forms=self._forms[corpus.index],
            train=None if wording is None else self.train,
            embedder=self.embedder,
            grammar=None if self._grammar is None else self._grammar.of(corpus),
            surprise=None if "plausibility" in missing or self._surprise is None else self._surprise.of(corpus),
            semantic=None if meaning is None else self._match_meaning(name, corpus, meaning),
            covered=None if meaning is None or is_train else self._match_meaning(name, meaning, corpus, back=True),
            syntactic=None if wording is None else self._match_wording(name, corpus, wording),
            echoed=None if wording is None else self._match_wording(name, wording, corpus, back=True),
            against=None if name in YARDSTICKS else self.sets.against,
            missing=missing,
            near_copy=self.near_copy,
            passage=self.passage,
            reach=math.nan if meaning is None or wording is None else self._find_reach(len(corpus)),
            groups=None if self.sets.groups is None else self.sets.groups[corpus.index],
        )

    def _find_reach(self, size: int) -> float:
        """Return the similarity that as many train texts have to all but 5 % of the test texts, or all of train."""
        return self.train.derive(self._draw_parts, "train", min(size, len(self.train.corpus)))[0].reach

    def _list_missing(self, name: str) -> dict[str, str]:
        """Return what properties may need and a corpus does not have, and why."""
        backends = {"embeddings": self.embedder, "grammar": self.grammar, "plausibility": self.plausibility}
        found = {need: _LEFT_OUT for need, backend in backends.items() if backend is None}
        others = {"train": (self.sets.train, NO_TRAIN), "test": (self.sets.test, NO_TEST)}
        found |= {role: reason for role, (corpus, reason) in others.items() if corpus is None}
        if self.sets.against is None or name in YARDSTICKS:
            found["against"] = "no other file was given"
        if self._made_from_train and self.sets.train is None:
            found["plausibility"] = "needs train texts"
        elif name == "train" and self._made_from_train:
            found["plausibility"] = "the language model was made from it"
        return found

    @property
    def _made_from_train(self) -> bool:
        """Whether the language model is one that is made from texts, and no other texts were given for it."""
        return (self.plausibility or "").startswith("kneser-ney") and self.representative is None

    @cached_property
    def _forms(self) -> Ints:
        return number_forms(self.sets.pool.texts)[0]

    @cached_property
    def _grammar(self) -> BackendColumns | None:
        """Grammatical errors and words of generated and test texts, and of a sample of train."""
        if self.grammar is None:
            return None
        from textgauge.encode.grammar import get_grammar_checker

        signature = get_grammar_checker(self.grammar).signature
        return self._rows(
            self._list_modelled(with_train=True), partial(_count_errors, self.grammar), "grammar", signature
        )

    @cached_property
    def _surprise(self) -> BackendColumns | None:
        """−ln P and tokens of generated and test texts, and of a sample of train unless the model was made from it."""
        if self.plausibility is None or (self._made_from_train and self.sets.train is None):
            return None
        from textgauge.encode.language_models import get_language_model

        begin_step("language model of plausibility")
        own = self._made_from_train
        learned = () if self.sets.train is None else self.sets.train.texts
        known = [*learned, *self.sets.validation] if own else self.representative
        model = get_language_model(self.plausibility, representative=known)
        # A model that was made here, from texts, is not sent to workers.
        surprise = (
            model.surprise if model.name.startswith("kneser-ney") else partial(_compute_surprise, self.plausibility)
        )
        return self._rows(self._list_modelled(with_train=not own), surprise, "plausibility", model.signature)

    def _list_modelled(self, *, with_train: bool) -> list[Corpus]:
        """Return the corpora that models see: of a large train, or of corpora without one, a sample."""
        sets = self.sets
        if sets.train is None:
            return [self._sample_corpus(corpus) for corpus in sets.generated.values()]
        others = (sets.test, self._sample_corpus(sets.train) if with_train else None)
        return [*sets.generated.values(), *(corpus for corpus in others if corpus is not None)]

    def _sample_corpus(self, corpus: Corpus) -> Corpus:
        """At most `train_sample` texts: the first by content key, which is as good as random."""
        few = len(corpus) <= self.train_sample
        return corpus if few else corpus.canonical().take(np.arange(self.train_sample))

    def _rows(
        self, corpora: Sequence[Corpus], compute: Callable[[Sequence[str]], Columns], doing: str, backend: str
    ) -> BackendColumns:
        """Return two numbers of every text of some corpora; equal texts are measured once, in portions."""
        pool = self.sets.pool
        wanted = np.concatenate([corpus.index for corpus in corpora])
        _, first, inverse = np.unique(pool.keys[wanted], return_index=True, return_inverse=True)
        texts = [pool.texts[row] for row in wanted[first].tolist()]
        parts = []
        places = split_into_blocks(len(texts), _PORTION)
        workers = self.cluster if isinstance(compute, partial) else None
        measured = map_parts(workers, compute, [texts[place] for place in places])
        for place, columns in zip(places, measured, strict=True):
            parts.append([np.asarray(column, dtype=np.float64) for column in columns])
            begin_step(f"{doing}: texts", place.stop, len(texts), doing)
        found = np.full((2, pool.size), np.nan)
        found[:, wanted] = np.concatenate(parts, axis=1)[:, inverse]
        return BackendColumns(found, backend)

    def embed(self) -> None:
        """Embed all texts, with progress: the pool keeps their vectors."""
        if self.embedder is not None and self.embedder not in self.sets.pool.list_embedders():
            begin_step(f"embedding with {self.embedder}")
            with name_counts(f"texts embedded with {self.embedder}"):
                self.sets.pool.embeddings(self.embedder, executor=self.cluster)

    def _match_meaning(self, name: str, queries: Corpus, documents: Corpus, *, back: bool = False) -> NearestMatches:
        """Return the nearest text by meaning, searched among the different texts of either side.

        Of equal ones the first.
        """
        self.embed()
        begin_step(f"nearest texts of {name} by meaning", kind="nearest texts by meaning")
        _, asking, inverse = np.unique(queries.keys, return_index=True, return_inverse=True)
        given = np.sort(np.unique(documents.keys, return_index=True)[1])
        sides = (queries.take(asking), documents.take(given))
        found = find_nearest_meaning(*(side.embeddings(self.embedder or "") for side in sides))
        found = NearestMatches(given[found.index], found.similarity).take(inverse)
        return self._add_units(found, queries, documents if back else None)

    def _match_wording(self, name: str, queries: Corpus, documents: Corpus, *, back: bool = False) -> NearestMatches:
        begin_step(f"nearest texts of {name} by wording", kind="nearest texts by wording")
        others = documents.canonical() if back else documents  # of equally near ones the same, whatever their order
        found = find_nearest_wording(queries.tokens(TOKENIZER), others.tokens(TOKENIZER))
        return self._add_units(found, queries, others if back else None)

    def _add_units(self, found: NearestMatches, queries: Corpus, fresh: Corpus | None) -> NearestMatches:
        """Add what texts belong to: their groups and, where the nearest ones might be other texts, these or theirs."""
        groups = self.sets.groups
        units = [] if groups is None else [groups[queries.index]]
        if fresh is not None:
            nearest = fresh.index[found.index]
            units.append(nearest if groups is None else groups[nearest])
        return replace(found, units=tuple(units))


def _count_errors(checker: str, texts: Sequence[str]) -> Columns:
    from textgauge.encode.grammar import get_grammar_checker

    found = get_grammar_checker(checker)
    return found.errors(texts), found.lengths(texts)


def _compute_surprise(model: str, texts: Sequence[str]) -> Columns:
    from textgauge.encode.language_models import get_language_model

    return get_language_model(model).surprise(texts)


def describe(
    generated: Source | Mapping[str, Source],
    *,
    train: Source | None = None,
    held_out: Source | None = None,
    validation: Source | None = None,
    against: Source | None = None,
    column: str | None = None,
    group: LabelSource | None = None,
    ratings: str | Sequence[str] | Ratings | Mapping[str, Ratings | Mapping[str, Ratings]] | None = None,
    embedder: EmbedderLike | None = "minilm",
    grammar: str | None = "harper",
    plausibility: str | None = "kneser-ney",
    representative: Source | None = None,
    near_copy: float = NEAR_COPY,
    passage: int = PASSAGE,
    label: LabelSource | None = None,
    ci: bool = True,
    limit: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    scheduler: str | None = None,
) -> Description:
    """Describe texts by themselves, or generated texts in comparison with train and held-out texts.

    By themselves: size, lengths, exact and near duplicates (of each other, and of the texts `against`), diversity,
    outliers, grammar, plausibility. With `train`: how many texts are new, repeated, plausible, near to held-out texts
    in meaning, copied from train in wording. Every property comes with an interval and, next to train, with the same
    property of held-out texts and train; what needs texts that were not given is empty, with the reason.

    Parameters
    ----------
    generated
        One corpus, or several by name: lists of texts, files, names, columns, frames.
    train
        The texts that the generator learned from. Without them, texts are described by themselves.
    held_out
        Real texts that the generator has not seen.
    validation
        More real texts for the language model that judges plausibility.
    against
        Without train: another file, such as a test split, to search for near duplicates and copied passages.
    column
        The column that holds the texts, for tables; by default `text`, or the only column of texts.
    group
        The column of what texts belong together by, such as their document or user: intervals and what is called worse
        count groups. In Python also the labels of the texts of all corpora, in their order or by name.
    ratings
        People's ratings, one for each generated text; for files the name of their column, or of several, one for each
        question. In Python also by corpus, and for several questions by corpus and question.
    embedder
        The embedder that compares meanings, or `none`.
    grammar
        The grammar checker, or `none`.
    plausibility
        The language model that judges plausibility, or `none`. kneser-ney learns from train or `representative`.
    representative
        The texts that the language model learns from; by default train and validation.
    near_copy
        The similarity of wording to a train text from which a text counts as a near copy.
    passage
        The words from which on a run that stands in another text too counts as a copied passage.
    label
        The column of a label of the texts: equal texts and near duplicates with different labels are listed. In Python
        also the labels themselves, by corpus or in their order.
    ci
        Add a confidence interval to every value.
    limit
        Use a random sample of this many generated texts; by default all.
    level
        Confidence level of the intervals.
    seed
        Random seed.
    scheduler
        Use a Dask cluster: tcp://HOST:PORT, or local:N for N processes on this machine. The numbers are those of one
        process.

    Examples
    --------
    >>> found = describe(generated=["A red dog.", "a cat"], train=["a cat"], embedder=None, grammar=None,
    ...                  plausibility=None)
    >>> found["unique"].value, found["vocab"].value, round(found["syntactic_precision"].value, 3)
    (0.5, 2.0, 0.786)
    >>> describe(["A red dog.", "a cat", "A cat!"], embedder=None, grammar=None, plausibility=None)["unique"].value
    0.3333
    """
    check_seed(seed)
    if not 0.5 <= level < 1:
        raise InputError(f"the level of an interval lies between 0.5 and 1, not {level}")
    if train is None:
        needing = {"held_out": held_out, "validation": validation, "ratings": ratings}
        named = next((name for name, value in needing.items() if value is not None), None)
        if named is not None:
            raise ArgumentError(f"`{named}` needs `train`: without it texts are described by themselves")
    elif against is not None:
        raise ArgumentError("`against` is for texts that are described by themselves, without `train`")
    check_threshold(near_copy)
    if passage < 2:
        raise InputError(f"a passage has 2 words or more, not {passage}")
    sources = _name_sources(generated, train)
    drawn = sources
    if limit is not None:
        drawn = {name: load_corpus(source, column=column, limit=limit, seed=seed) for name, source in sources.items()}
    sets = load_sets(drawn, train, held_out, validation, against=against, column=column)
    if group is not None:
        given = sources | {"train": train, "test": held_out}
        sets = replace(sets, groups=_read_groups(sets, given, group, column))
    labels = _read_cells(sets, sources, label, column)
    rated = _read_ratings(sets, sources, ratings, column)
    known = None if representative is None else load_source_texts(representative, "representative", column=column)
    encoder = None if embedder is None else name_embedder(embedder)
    named_backends = {"embedder": encoder, "grammar": grammar, "plausibility": plausibility}
    backends: Any = {need: None if name == "none" else name for need, name in named_backends.items()}
    limits: Any = {"near_copy": near_copy, "passage": passage}
    with open_dask_executor(scheduler) as cluster, use_one_blas_thread():
        measuring = Measuring(sets, representative=known, cluster=cluster, seed=seed, **limits, **backends)
        if train is None:
            measuring.embed()
        corpora, yardstick = measuring.generated(), measuring.test()
        learned = None if train is None else measuring.train
        how: Any = {"draw_parts": measuring.draw_parts, "signatures": measuring.signatures(), "level": level, "ci": ci}
        rows = measure_properties(corpora, yardstick, learned, **how)
        return Description(
            rows=tuple(rows),
            generated=corpora,
            held_out=yardstick,
            train=learned,
            warnings=tuple(find_warnings(corpora, yardstick, learned)),
            ratings=rated,
            labels=labels,
            level=level,
            seed=seed,
        )


def _parse_rating(mark: str, name: str) -> float:
    try:
        return float(mark) if mark.strip() else float("nan")
    except ValueError:
        raise InputError(f"{name}: the rating {str(mark)!r} is not a number") from None


def _read_groups(sets: CorpusSets, sources: Mapping[str, Any], group: LabelSource, column: str | None) -> Ints:
    """Return the number of the group of each text of the pool; refused where a corpus has few groups."""
    named = {**sets.generated, "train": sets.train, "test": sets.test}
    corpora = {name: corpus for name, corpus in named.items() if corpus is not None}
    numbers = np.full(sets.pool.size, -1)
    for name, labels in read_labels(corpora, sources, group, column, "group").items():
        if (count := len(np.unique(labels))) < FEWEST_GROUPS:
            raise InputError(f"groups of {name}: {count}; intervals that count groups need at least {FEWEST_GROUPS}")
        numbers[corpora[name].index] = labels
    return numbers


def _read_cells(
    sets: CorpusSets, sources: Mapping[str, Any], given: Any, column: str | None, *, blank: bool = False
) -> dict[str, NDArray[Any]]:
    """Return labels or ratings of texts by corpus: a column of its file, or the cells as given, by name or in order."""
    names = list(sets.generated)
    if given is None:
        return {}
    if isinstance(given, str) or (len(names) == 1 and not isinstance(given, Mapping)):
        given = dict.fromkeys(names, given)
    elif not isinstance(given, Mapping):
        given = dict(zip(names, given, strict=False)) if len(given) == len(names) else {"": given}
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise InputError(f"labels and ratings are given for each of {', '.join(names)}, not for {unknown!r}")
    return {
        name: read_side_labels(sets.generated[name], sources[name], cells, column, name, blank=blank)
        for name, cells in given.items()
    }


def _read_ratings(
    sets: CorpusSets, sources: Mapping[str, Any], ratings: Any, column: str | None
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return ratings by corpus and question, one for each text; a missing one is NaN."""
    names = [ratings] if isinstance(ratings, str) else ratings
    if isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
        questions = {name if len(names) > 1 else RATING: name for name in names}
    elif isinstance(ratings, Mapping) and any(isinstance(values, Mapping) for values in ratings.values()):
        every = dict.fromkeys(question for values in ratings.values() for question in values)
        questions = {
            question: {name: values[question] for name, values in ratings.items() if question in values}
            for question in every
        }
    else:
        questions = {RATING: ratings}
    found: dict[str, dict[str, NDArray[np.float64]]] = {}
    for question, given in questions.items():
        for name, cells in _read_cells(sets, sources, given, column, blank=True).items():
            found.setdefault(name, {})[question] = np.array([_parse_rating(cell, name) for cell in cells])
    return found


def load_sets(
    generated: Source | Mapping[str, Source],
    train: Source | None,
    held_out: Source | None,
    validation: Source | None,
    *,
    against: Source | None = None,
    column: str | None = None,
) -> CorpusSets:
    """Read and check the corpora; an empty or blank one is refused."""
    sources = _name_sources(generated, train)
    if not sources:
        raise InputError("there is no corpus to describe")
    taken = next((name for name in sources if name in _TAKEN), None)
    if taken is not None:
        raise InputError(f"a generated corpus cannot be called {taken!r}: that name stands for the {taken} texts")
    others = {"train": train, "test": held_out, "against": against}
    named: dict[str, Source] = {**sources, **{role: other for role, other in others.items() if other is not None}}
    corpora = {name: _load_checked(source, name, column) for name, source in named.items()}
    rows = np.concatenate([corpus.source_rows for corpus in corpora.values()])
    pool = Pool([replace_surrogates(text) for corpus in corpora.values() for text in corpus.texts], source_rows=rows)
    spans = itertools.pairwise(itertools.accumulate(map(len, corpora.values()), initial=0))
    views = {name: Corpus(pool, np.arange(*span)) for name, span in zip(corpora, spans, strict=True)}
    more = () if validation is None else load_source_texts(validation, "validation", column=column)
    own = {name: views[name] for name in sources}
    return CorpusSets(own, views.get("train"), views.get("test"), more, views.get("against"))


def _name_sources(generated: Source | Mapping[str, Source], train: Source | None) -> dict[str, Source]:
    only = ALONE if train is None else GENERATED
    return dict(generated) if isinstance(generated, Mapping) else {only: generated}


def load_source_texts(source: Source, role: str, *, column: str | None = None) -> Sequence[str]:
    """Read the texts of one corpus and check them."""
    return [replace_surrogates(text) for text in _load_checked(source, role, column).texts]


def _load_checked(source: Source, role: str, column: str | None) -> Corpus:
    corpus = load_corpus(source, column=column)
    texts = corpus.texts
    if not texts:
        raise InputError(f"{role}: there are no texts")
    if not any(map(str.strip, texts)):
        raise InputError(f"{role}: all texts are empty")
    return corpus
