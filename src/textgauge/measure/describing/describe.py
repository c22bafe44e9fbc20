"""`describe`: what a generated corpus is like, compared with what it was learned from and what it should be like."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.parallel import dask_executor
from textgauge.core.progress import Step, show_in_notebook
from textgauge.data import Corpus, load_corpus
from textgauge.data.pool import Pool
from textgauge.data.source import Source
from textgauge.encode.tokenizers import without_surrogates
from textgauge.measure.describing.alone import CorpusDescription, describe_alone
from textgauge.measure.describing.lists import check_threshold
from textgauge.measure.describing.measure import CorpusSets, Measuring
from textgauge.measure.describing.report import Description, property_rows
from textgauge.measure.describing.significance import rating_links
from textgauge.measure.describing.warnings import find_warnings
from textgauge.metrics.properties.base import NEAR_COPY

Ratings: TypeAlias = "Sequence[float] | NDArray[np.floating]"

GENERATED, ALONE = "generated", "corpus"  # what the only corpus is called, next to train and by itself
MOST_CHARACTERS = 1_000_000  # of a text; files have the same limit
_TAKEN = ("train", "test", "validation", "against")


class _Options(TypedDict, total=False):
    test: Source | None
    validation: Source | None
    ratings: Ratings | Mapping[str, Ratings] | None
    embedder: str | None
    grammar: str | None
    plausibility: str | None
    representative: Source | None
    against: Source | None
    near_copy: float
    column: str | None
    ci: bool
    level: float
    seed: int
    scheduler: str | None
    on_step: Step


@overload
def describe(
    generated: Source | Mapping[str, Source], *, train: Source, **options: Unpack[_Options]
) -> Description: ...
@overload
def describe(
    generated: Source | Mapping[str, Source], *, train: None = None, **options: Unpack[_Options]
) -> CorpusDescription: ...
def describe(
    generated: Source | Mapping[str, Source],
    *,
    train: Source | None = None,
    test: Source | None = None,
    validation: Source | None = None,
    ratings: Ratings | Mapping[str, Ratings] | None = None,
    embedder: str | None = "minilm",
    grammar: str | None = "harper",
    plausibility: str | None = "kneser-ney",
    representative: Source | None = None,
    against: Source | None = None,
    near_copy: float = NEAR_COPY,
    column: str | None = None,
    ci: bool = True,
    level: float = 0.95,
    seed: int = 0,
    scheduler: str | None = None,
    on_step: Step = show_in_notebook,
) -> Description | CorpusDescription:
    """Describe texts by themselves, or generated texts next to train and test.

    By themselves: size, lengths, exact and near duplicates (of each other, and of the texts `against`), diversity,
    outliers, grammar, plausibility. With `train`: unique, new words, near to test by meaning, copied from train.

    Corpora are what `textgauge.data.load_corpus` reads: lists of texts, files, names, columns, frames; `column` names
    the column of files and frames. `generated` may be several corpora, by name. Every property comes with an interval
    and with the same property of test and train. Without `test`, what needs it is empty, with the reason.
    `representative` texts are what plausibility is judged by; the default is train and validation. `ratings` are
    people's, one for each generated text. A text is a near copy from the similarity of wording `near_copy` on. A
    backend of None is left out. `scheduler` is the address of a Dask scheduler whose workers embed the texts and run
    grammar checker and language model, or `local:N` for N processes here; the numbers are those of one process.

    >>> found = describe(generated=["A red dog.", "a cat"], train=["a cat"], embedder=None, grammar=None,
    ...                  plausibility=None)
    >>> found["unique"].value, found["vocab"].value, round(found["syntactic_precision"].value, 3)
    (0.5, 2.0, 0.786)
    >>> describe(["A red dog.", "a cat", "A cat!"], embedder=None, grammar=None, plausibility=None)["unique"].value
    0.3333
    """
    if not 0.5 <= level < 1:
        raise InputError(f"the level of an interval lies between 0.5 and 1, not {level}")
    known = None if representative is None else texts_of_source(representative, "representative", column=column)
    if train is None:
        _refuse_without_train(test=test, validation=validation, ratings=ratings)
        alone = gather(generated, None, None, None, against=against, column=column)
        backends: dict[str, Any] = {"embedder": embedder, "grammar": grammar, "plausibility": plausibility}
        with dask_executor(scheduler) as cluster:
            return describe_alone(
                alone, representative=known, level=level, ci=ci, on_step=on_step, cluster=cluster, **backends
            )
    if against is not None:
        raise ArgumentError("{against} is for texts that are described by themselves, without {train}")
    check_threshold(near_copy)
    sets = gather(generated, train, test, validation, column=column)
    rated = _rated(sets, ratings)
    with dask_executor(scheduler) as cluster:
        measuring = Measuring(sets, embedder, grammar, plausibility, known, on_step, near_copy, cluster=cluster)
        corpora, held_out, learned = measuring.generated(), measuring.test(), measuring.train
        rows = property_rows(corpora, held_out, learned, signatures=measuring.signatures(), level=level, ci=ci)
    return Description(
        properties=tuple(rows),
        generated=corpora,
        test=held_out,
        train=learned,
        links=tuple(rating_links(corpora, rated, level=level, seed=seed)),
        warnings=tuple(find_warnings(corpora, held_out, learned)),
        ratings=rated,
    )


def _refuse_without_train(**given: object) -> None:
    named = next((name for name, value in given.items() if value is not None), None)
    if named is not None:
        raise ArgumentError(f"{{{named}}} needs {{train}}: without it texts are described by themselves")


def gather(
    generated: Source | Mapping[str, Source],
    train: Source | None,
    test: Source | None,
    validation: Source | None,
    *,
    against: Source | None = None,
    column: str | None = None,
) -> CorpusSets:
    """Read and check the corpora; an empty or blank one is refused, and so is a text of over a million characters."""
    sources = (
        dict(generated) if isinstance(generated, Mapping) else {GENERATED if train is not None else ALONE: generated}
    )
    if not sources:
        raise InputError("there is no corpus to describe")
    taken = next((name for name in sources if name in _TAKEN), None)
    if taken is not None:
        raise InputError(f"a generated corpus cannot be called {taken!r}: that name stands for the {taken} texts")
    others = {"train": train, "test": test, "against": against}
    named: dict[str, Source] = {**sources, **{role: other for role, other in others.items() if other is not None}}
    corpora = {name: _checked(source, name, column) for name, source in named.items()}
    rows = np.concatenate([corpus.source_rows for corpus in corpora.values()])
    pool = Pool([without_surrogates(text) for corpus in corpora.values() for text in corpus.texts], source_rows=rows)
    spans = itertools.pairwise(itertools.accumulate(map(len, corpora.values()), initial=0))
    views = {name: Corpus(pool, np.arange(*span)) for name, span in zip(corpora, spans, strict=True)}
    more = () if validation is None else texts_of_source(validation, "validation", column=column)
    own = {name: views[name] for name in sources}
    return CorpusSets(own, views.get("train"), views.get("test"), more, views.get("against"))


def texts_of_source(source: Source, role: str, *, column: str | None = None) -> Sequence[str]:
    """Read the texts of one corpus and check them."""
    return [without_surrogates(text) for text in _checked(source, role, column).texts]


def _checked(source: Source, role: str, column: str | None) -> Corpus:
    corpus = load_corpus(source, column=column)
    texts = corpus.texts
    if not texts:
        raise InputError(f"{role}: there are no texts")
    if not any(map(str.strip, texts)):
        raise InputError(f"{role}: all texts are empty")
    longest = max(map(len, texts))
    if longest > MOST_CHARACTERS:
        raise InputError(f"{role}: a text of {longest:,} characters; the limit is {MOST_CHARACTERS:,}")
    return corpus


def _rated(sets: CorpusSets, ratings: Ratings | Mapping[str, Ratings] | None) -> dict[str, NDArray[np.float64]]:
    """Ratings by corpus, one for each text; a missing one is NaN."""
    if ratings is None:
        return {}
    if not isinstance(ratings, Mapping):
        if len(sets.generated) > 1:
            raise InputError("ratings of several generated corpora are given by their names")
        ratings = {next(iter(sets.generated), GENERATED): ratings}
    found = {}
    for name, values in ratings.items():
        if name not in sets.generated:
            raise InputError(f"ratings for {name!r}, but the generated corpora are {', '.join(sets.generated)}")
        found[name] = np.asarray(values, dtype=np.float64)
        if found[name].shape != (len(sets.generated[name]),):
            texts = f"{len(sets.generated[name])} texts (blank ones are left out)"
            raise InputError(f"{name}: {texts} but {found[name].size} ratings")
    return found
