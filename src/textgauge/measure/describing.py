"""`describe`: measure corpora by themselves, or generated ones next to what they were learned from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.parallel import map_parts, open_dask_executor, use_one_blas_thread
from textgauge.core.progress import begin_step, name_counts
from textgauge.core.settings import check_seed_and_level, split_into_blocks
from textgauge.data import Corpus, load_corpus
from textgauge.data.pool import Pool
from textgauge.data.source import Source
from textgauge.data.tables import parse_number
from textgauge.data.units import FEWEST_GROUPS
from textgauge.encode.embedders import EmbedderLike, get_embedder, name_embedder
from textgauge.encode.tokenizers import replace_surrogates
from textgauge.measure.dependence import LabelSource, read_labels, read_side_labels
from textgauge.measure.description import Description, Property
from textgauge.measure.findings import find_worse
from textgauge.measure.lists import RATING, check_threshold
from textgauge.metrics.numerics.passages import PASSAGE
from textgauge.metrics.numerics.search import NearestMatches
from textgauge.metrics.properties.base import (
    NEAR_COPY,
    TOKENIZER,
    CorpusProperty,
    MeasuredCorpus,
    Parts,
    PropertyValue,
    list_properties,
)
from textgauge.metrics.properties.meaning import COVERED, find_nearest_wording, match_meaning
from textgauge.metrics.properties.texts import number_forms

Columns = tuple[Floats | Ints, Floats | Ints]

Ratings: TypeAlias = "Sequence[float] | NDArray[np.floating]"

_TAKEN = ("train", "test", "validation", "against")
_MISSING = {
    "train": "no train texts were given",
    "test": "no test texts were given",
    "against": "no other file was given",
}
YARDSTICKS = ("test", "train")
_PORTION = 2_000  # texts between two messages of progress
PARTS = 10  # random parts of a corpus that is compared with a smaller one


@dataclass(frozen=True, eq=False)
class Measuring:
    """Corpora by name, views of one pool, and the names of the backends; None leaves out what needs one.

    What is not called train, test or against was generated. `validation` are more texts to learn from, `groups` the
    number of the group of each text of the pool.
    """

    corpora: Mapping[str, Corpus]
    embedder: str | None = None
    grammar: str | None = None
    plausibility: str | None = None
    representative: Sequence[str] | None = None
    validation: Sequence[str] = ()
    near_copy: float = NEAR_COPY
    passage: int = PASSAGE
    train_sample: int = 5_000
    """Train texts enough for a mean: its standard error is a seventieth of their deviation."""
    groups: Ints | None = None
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    ratings: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)
    cluster: Executor | None = None
    seed: int = 0

    @cached_property
    def generated(self) -> tuple[MeasuredCorpus, ...]:
        """Each generated corpus, compared with test and train."""
        return tuple(self._measure_corpus(name) for name in self.corpora if name not in _TAKEN)

    @cached_property
    def test(self) -> MeasuredCorpus | None:
        """The yardstick of what good texts would be: test, compared with train."""
        return self._measure_corpus("test") if "test" in self.corpora else None

    @cached_property
    def train(self) -> MeasuredCorpus:
        """Train, compared with test as if it had been generated."""
        return self._measure_corpus("train")

    def measure_properties(self, *, level: float, ci: bool) -> Iterator[Property]:
        """Yield all registered properties of all generated corpora, next to the same ones of test and train."""
        is_alone, generated, signatures = "train" not in self.corpora, self.generated, self._list_signatures()
        yardsticks = {} if is_alone else {"test": self.test, "train": self.train}
        declared = list_properties(alone=is_alone)
        if "against" not in self.corpora:
            declared = [known for known in declared if "against" not in known.needs]
        for measured in generated:
            rows, gaps = list[Property](), dict[str, tuple[str, PropertyValue]]()
            for number, known in enumerate(declared):
                begin_step(f"{measured.name}: {known.name}", number, len(declared), "properties")
                value, reason = known.of(measured, level)
                fair, beside = value, dict[str, Any]()
                for role, one in yardsticks.items():
                    real, why, parts = PropertyValue(), _MISSING.get(role), None
                    if one is not None and known.depends_on_size and not known.undefined_reason(one):
                        parts = self._draw_pair(known, measured, one)
                        real, why = known.average(parts[1], level)
                    elif one is not None:
                        real, why = one.derive(known.of, level)
                    beside |= {role: real.value, f"{role}_reason": why}
                    if ci and known.better and known.name not in gaps and not math.isnan(real.value):
                        gap = None
                        if parts is not None and one is not None:
                            fair, _ = known.average(parts[0], level)
                            gap = known.subtract(*parts, max(len(measured.corpus), len(one.corpus)), level)
                        gaps[known.name] = role, gap or fair.subtract(real)
                row = Property(
                    corpus=measured.name,
                    property=known.name,
                    value=value.value,
                    low=value.low if ci else math.nan,
                    high=value.high if ci else math.nan,
                    backend=known.backend_of(signatures),
                    reason=reason or known.explain_no_interval(measured, value, alone=is_alone),
                    compared=math.nan if fair.value == value.value else fair.value,
                    **beside,
                )
                rows.append(row)
            worse = find_worse({name: gap for name, (_, gap) in gaps.items()}, level, len(generated))
            for row in rows:
                yield replace(row, worse_than=gaps[row.property][0]) if row.property in worse else row

    def _list_signatures(self) -> dict[str, str]:
        """Return the backends, spelled out with versions, by what needs them."""
        found = {"passage": str(self.passage)}
        if self.embedder is not None:
            found["embeddings"] = get_embedder(self.embedder).identity
        return found | {need: signature for need, (_, signature) in self._modelled.items()}

    def _draw_pair(
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
        side, role, by = {"test": ("echoed", "train", "wording"), "train": ("covered", "test", "meaning")}[kind]
        others = self.corpora.get(role)
        if others is None or (len(draws) == 1 and getattr(measured, side) is not None):
            return (measured,)
        corpora = (measured.corpus.take(rows) for rows in draws)
        found = [self._match(by, measured.name, self._sample_corpus(others), one, back=True) for one in corpora]
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

    def _measure_corpus(self, name: str) -> MeasuredCorpus:
        begin_step(f"forms and vocabulary of {name}", kind="forms and vocabulary")
        corpus, is_train = self.corpora[name], name == "train"
        meaning = None if name == "test" or self.embedder is None else self.corpora.get("test")
        wording = None if is_train else self.corpora.get("train")
        missing, reach = self._list_missing(name), math.nan
        if meaning is not None and wording is not None:  # as many train texts are as near to all but 5 % of test
            reach = self.train.derive(self._draw_parts, "train", min(len(corpus), len(self.train.corpus)))[0].reach
        columns = {need: of[:, corpus.index] for need, (of, _) in self._modelled.items() if need not in missing}
        return MeasuredCorpus(
            name=name,
            corpus=corpus,
            forms=self._forms[corpus.index],
            train=None if wording is None else self.train,
            test=self.corpora.get("test"),
            embedder=self.embedder,
            grammar=columns.get("grammar"),
            surprise=columns.get("plausibility"),
            semantic=None if meaning is None else self._match("meaning", name, corpus, meaning),
            covered=None if meaning is None or is_train else self._match("meaning", name, meaning, corpus, back=True),
            syntactic=None if wording is None else self._match("wording", name, corpus, wording),
            echoed=None if wording is None else self._match("wording", name, wording, corpus, back=True),
            against=None if name in YARDSTICKS else self.corpora.get("against"),
            missing=missing,
            near_copy=self.near_copy,
            passage=self.passage,
            reach=reach,
            groups=None if self.groups is None else self.groups[corpus.index],
            labels=self.labels.get(name),
            ratings=self.ratings.get(name, {}),
        )

    def _list_missing(self, name: str) -> dict[str, str]:
        """Return what properties may need and a corpus does not have, and why."""
        backends = {"embeddings": self.embedder, "grammar": self.grammar, "plausibility": self.plausibility}
        found = {need: "not asked for" for need, backend in backends.items() if backend is None}
        given = {role for role in self.corpora if role != "against" or name not in YARDSTICKS}
        found |= {role: reason for role, reason in _MISSING.items() if role not in given}
        if self._made_from_train and "train" not in given:
            found["plausibility"] = "needs train texts"
        elif name == "train" and self._made_from_train:
            found["plausibility"] = "the language model was made from it"
        return found

    @property
    def _made_from_train(self) -> bool:
        """Whether the language model is one that is made from texts, and no other texts were given for it."""
        return (self.plausibility or "").startswith("kneser-ney") and self.representative is None

    @cached_property
    def _pool(self) -> Pool:
        return next(iter(self.corpora.values())).pool

    @cached_property
    def _forms(self) -> Ints:
        return number_forms(self._pool.texts)[0]

    @cached_property
    def _modelled(self) -> dict[str, tuple[Floats, str]]:
        """Two numbers of each text that models see, and the backend: errors and words, −ln P and tokens.

        A language model that was made from train does not judge it.
        """
        found, own, train = dict[str, tuple[Floats, str]](), self._made_from_train, self.corpora.get("train")
        if self.grammar is not None:
            from textgauge.encode.grammar import get_grammar_checker

            rows = self._compute_rows(partial(_count_errors, self.grammar), "grammar", with_train=True)
            found["grammar"] = rows, get_grammar_checker(self.grammar).signature
        if self.plausibility is not None and not (own and train is None):
            from textgauge.encode.language_models import get_language_model

            begin_step("language model of plausibility")
            known = [*(train or ()), *self.validation] if own else self.representative
            model = get_language_model(self.plausibility, representative=known)
            # A model that was made here, from texts, is not sent to workers.
            is_here = model.name.startswith("kneser-ney")
            surprise = model.surprise if is_here else partial(_compute_surprise, self.plausibility)
            found["plausibility"] = self._compute_rows(surprise, "plausibility", with_train=not own), model.signature
        return found

    def _sample_corpus(self, corpus: Corpus) -> Corpus:
        """At most `train_sample` texts: the first by content key, which is as good as random."""
        few = len(corpus) <= self.train_sample
        return corpus if few else corpus.canonical().take(np.arange(self.train_sample))

    def _compute_rows(self, compute: Callable[[Sequence[str]], Columns], doing: str, *, with_train: bool) -> Floats:
        """Return two numbers of each text that models see, NaN of others; equal texts are measured once, in portions.

        Models see a sample of a large train, or of corpora without one.
        """
        pool, corpora = self._pool, []
        for name, corpus in self.corpora.items():
            if name != "against" and (with_train or name != "train"):
                is_whole = "train" in self.corpora and name != "train"
                corpora.append(corpus if is_whole else self._sample_corpus(corpus))
        wanted = np.concatenate([corpus.index for corpus in corpora])
        _, first, inverse = np.unique(pool.keys[wanted], return_index=True, return_inverse=True)
        texts = [pool.texts[row] for row in wanted[first].tolist()]
        parts = []
        places = split_into_blocks(len(texts), _PORTION)
        workers = self.cluster if isinstance(compute, partial) else None
        measured = map_parts(workers, compute, [texts[place] for place in places])
        for place, columns in zip(places, measured, strict=True):
            parts.append(np.array(columns, dtype=np.float64))
            begin_step(f"{doing}: texts", place.stop, len(texts), doing)
        found = np.full((2, pool.size), np.nan)
        found[:, wanted] = np.concatenate(parts, axis=1)[:, inverse]
        return found

    def embed(self) -> None:
        """Embed all texts, with progress: the pool keeps their vectors."""
        if self.embedder is not None and self.embedder not in self._pool.list_embedders():
            begin_step(f"embedding with {self.embedder}")
            with name_counts(f"texts embedded with {self.embedder}"):
                self._pool.embeddings(self.embedder, executor=self.cluster)

    def _match(self, kind: str, name: str, queries: Corpus, documents: Corpus, *, back: bool = False) -> NearestMatches:
        """Return the nearest document of each query by `meaning` or `wording`, with what texts belong to.

        That are their groups and, on the way `back`, where the nearest ones might be other texts, these or theirs.
        """
        if kind == "meaning":
            self.embed()
        begin_step(f"nearest texts of {name} by {kind}", kind=f"nearest texts by {kind}")
        if kind == "meaning":
            found = match_meaning(queries, documents, self.embedder)
        else:
            documents = documents.canonical() if back else documents  # equally near ones are the same in any order
            found = find_nearest_wording(queries.tokens(TOKENIZER), documents.tokens(TOKENIZER))
        nearest = [documents.index[found.index]] if back else []
        if self.groups is not None:
            nearest = [self.groups[rows] for rows in (queries.index, *nearest)]
        return replace(found, units=tuple(nearest))


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
    check_seed_and_level(seed, level)
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
    only = "corpus" if train is None else "generated"
    sources = dict(generated) if isinstance(generated, Mapping) else {only: generated}
    drawn = sources
    if limit is not None:
        drawn = {name: load_corpus(source, column=column, limit=limit, seed=seed) for name, source in sources.items()}
    corpora = load_corpora(drawn, train, held_out, against, column=column)
    given: dict[str, Any] = {**sources, "train": train, "test": held_out}
    learned = {"validation": validation, "representative": representative}
    texts: Any = {
        role: [replace_surrogates(text) for text in _load_checked(source, role, column).texts]
        for role, source in learned.items()
        if source is not None
    }
    backends: Any = {"grammar": grammar, "plausibility": plausibility}
    backends["embedder"] = None if embedder is None else name_embedder(embedder)
    backends = {need: None if name == "none" else name for need, name in backends.items()}
    with open_dask_executor(scheduler) as cluster, use_one_blas_thread():
        measuring = Measuring(
            corpora,
            near_copy=near_copy,
            passage=passage,
            groups=None if group is None else _read_groups(corpora, given, group, column),
            labels={
                name: read_side_labels(corpora[name], given[name], of, column, name)
                for name, of in _name_cells(corpora, label).items()
            },
            ratings=_read_ratings(corpora, given, ratings, column),
            cluster=cluster,
            seed=seed,
            **texts,
            **backends,
        )
        if train is None:
            measuring.embed()
        rows = tuple(measuring.measure_properties(level=level, ci=ci))
        yardsticks = (measuring.test, None if train is None else measuring.train)
        return Description(rows, measuring.generated, *yardsticks, level=level, seed=seed)


def _read_groups(corpora: Mapping[str, Corpus], sources: Mapping[str, Any], group: Any, column: str | None) -> Ints:
    """Return the number of the group of each text of the pool; refused where a corpus has few groups."""
    numbers = np.full(next(iter(corpora.values())).pool.size, -1)
    grouped = {name: corpus for name, corpus in corpora.items() if name != "against"}
    for name, labels in read_labels(grouped, sources, group, column, "group").items():
        if (count := len(np.unique(labels))) < FEWEST_GROUPS:
            raise InputError(f"groups of {name}: {count}; intervals that count groups need at least {FEWEST_GROUPS}")
        numbers[corpora[name].index] = labels
    return numbers


def _name_cells(corpora: Mapping[str, Corpus], given: Any) -> dict[str, Any]:
    """Return labels or ratings by the name of the generated corpus that they are of, as given by name or in order."""
    names = [name for name in corpora if name not in _TAKEN]
    if given is None:
        return {}
    if isinstance(given, str) or (len(names) == 1 and not isinstance(given, Mapping)):
        given = dict.fromkeys(names, given)
    elif not isinstance(given, Mapping):
        given = dict(zip(names, given, strict=False)) if len(given) == len(names) else {"": given}
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise InputError(f"labels and ratings are given for each of {', '.join(names)}, not for {unknown!r}")
    return dict(given)


def _read_ratings(
    corpora: Mapping[str, Corpus], sources: Mapping[str, Any], ratings: Any, column: str | None
) -> dict[str, dict[str, Floats]]:
    """Return ratings by corpus and question, one for each text; a missing one is NaN."""
    names = [ratings] if isinstance(ratings, str) else ratings
    if isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
        asked = {name if len(names) > 1 else RATING: name for name in names}
        ratings = {name: asked for name in corpora if name not in _TAKEN}
    found: dict[str, dict[str, Floats]] = {}
    for name, of in _name_cells(corpora, ratings).items():
        for question, given in (of if isinstance(of, Mapping) else {RATING: of}).items():
            cells = read_side_labels(corpora[name], sources[name], given, column, name, blank=True)
            marks = [parse_number(cell) for cell in cells.tolist()]
            if None in marks:
                raise InputError(f"{name}: the rating {str(cells[marks.index(None)])!r} is not a number")
            found.setdefault(name, {})[question] = np.array(marks, dtype=np.float64)
    return found


def load_corpora(
    generated: Mapping[str, Source],
    train: Source | None = None,
    held_out: Source | None = None,
    against: Source | None = None,
    *,
    column: str | None = None,
) -> dict[str, Corpus]:
    """Read and check corpora, as views of one pool: generated ones by name; an empty or blank one is refused."""
    if not generated:
        raise InputError("there is no corpus to describe")
    taken = next((name for name in generated if name in _TAKEN), None)
    if taken is not None:
        raise InputError(f"a generated corpus cannot be called {taken!r}: that name stands for the {taken} texts")
    others = {"train": train, "test": held_out, "against": against}
    named: dict[str, Source] = {**generated, **{role: other for role, other in others.items() if other is not None}}
    corpora = {name: _load_checked(source, name, column) for name, source in named.items()}
    rows = np.concatenate([corpus.source_rows for corpus in corpora.values()])
    pool = Pool([replace_surrogates(text) for corpus in corpora.values() for text in corpus.texts], source_rows=rows)
    spans = itertools.pairwise(itertools.accumulate(map(len, corpora.values()), initial=0))
    return {name: Corpus(pool, np.arange(*span)) for name, span in zip(corpora, spans, strict=True)}


def _load_checked(source: Source, role: str, column: str | None) -> Corpus:
    corpus = load_corpus(source, column=column)
    texts = corpus.texts
    if not texts:
        raise InputError(f"{role}: there are no texts")
    if not any(map(str.strip, texts)):
        raise InputError(f"{role}: all texts are empty")
    return corpus
