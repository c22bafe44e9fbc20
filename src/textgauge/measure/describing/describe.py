"""`describe`: what a corpus is like, by itself or next to what it was learned from and what it should be like."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.parallel import dask_executor
from textgauge.data import Corpus, load_corpus, load_texts
from textgauge.data.pool import Pool
from textgauge.data.source import Source
from textgauge.encode.tokenizers import without_surrogates
from textgauge.measure.describing.findings import correlate_ratings, find_warnings
from textgauge.measure.describing.lists import check_threshold
from textgauge.measure.describing.measure import CorpusSets, Measuring
from textgauge.measure.describing.report import Description, measure_properties
from textgauge.metrics.properties.base import NEAR_COPY

Ratings: TypeAlias = "Sequence[float] | NDArray[np.floating]"

GENERATED, ALONE = "generated", "corpus"  # what the only corpus is called, next to train and by itself
MOST_CHARACTERS = 1_000_000  # of a text; files have the same limit
_TAKEN = ("train", "test", "validation", "against")


def describe(
    generated: Source | Mapping[str, Source],
    *,
    train: Source | None = None,
    held_out: Source | None = None,
    validation: Source | None = None,
    against: Source | None = None,
    column: str | None = None,
    ratings: str | Ratings | Mapping[str, Ratings] | None = None,
    embedder: str | None = "minilm",
    grammar: str | None = "harper",
    plausibility: str | None = "kneser-ney",
    representative: Source | None = None,
    near_copy: float = NEAR_COPY,
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
        Without train: another file, such as a test split, to search for near duplicates.
    column
        The column that holds the texts, for tables; by default `text`, or the only column of texts.
    ratings
        People's ratings, one for each generated text; for files the name of their column.
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
    if not 0.5 <= level < 1:
        raise InputError(f"the level of an interval lies between 0.5 and 1, not {level}")
    if train is None:
        needing = {"held_out": held_out, "validation": validation, "ratings": ratings}
        named = next((name for name, value in needing.items() if value is not None), None)
        if named is not None:
            raise ArgumentError(f"{{{named}}} needs {{train}}: without it texts are described by themselves")
    elif against is not None:
        raise ArgumentError("{against} is for texts that are described by themselves, without {train}")
    check_threshold(near_copy)
    sources, rated = _load_generated(generated, train is not None, column, ratings, limit, seed)
    sets = gather(sources, train, held_out, validation, against=against, column=column)
    known = None if representative is None else texts_of_source(representative, "representative", column=column)
    named_backends = {"embedder": embedder, "grammar": grammar, "plausibility": plausibility}
    backends: Any = {need: None if name == "none" else name for need, name in named_backends.items()}
    with dask_executor(scheduler) as cluster:
        measuring = Measuring(sets, representative=known, near_copy=near_copy, cluster=cluster, **backends)
        if train is None:
            measuring = _prepare_alone(measuring)
        corpora, yardstick = measuring.generated(), measuring.test()
        learned = None if train is None else measuring.train
        rows = measure_properties(corpora, yardstick, learned, signatures=measuring.signatures(), level=level, ci=ci)
        return Description(
            rows=tuple(rows),
            generated=corpora,
            held_out=yardstick,
            train=learned,
            links=tuple(correlate_ratings(corpora, marks := _check_ratings(sets, rated), level=level, seed=seed)),
            warnings=tuple(find_warnings(corpora, yardstick, learned)),
            ratings=marks,
        )


def _prepare_alone(measuring: Measuring) -> Measuring:
    """Leave plausibility out where there are no texts that its model could learn from; embed all texts."""
    if (measuring.plausibility or "").startswith("kneser-ney") and measuring.representative is None:
        measuring = replace(measuring, plausibility=None)
    measuring.embed()
    return measuring


def _load_generated(
    generated: Source | Mapping[str, Source],
    has_train: bool,
    column: str | None,
    ratings: Any,
    limit: int | None,
    seed: int,
) -> tuple[dict[str, Source], Any]:
    """Return the corpora by name, and their ratings, which may be a column of their files."""
    only = GENERATED if has_train else ALONE
    sources = dict(generated) if isinstance(generated, Mapping) else {only: generated}
    if limit is None and not isinstance(ratings, str):
        return sources, ratings
    labels = ratings if isinstance(ratings, str) else None
    marks = {}
    for name, source in sources.items():
        if isinstance(source, str | os.PathLike):
            part = load_texts(source, column=column, labels=labels, limit=limit, seed=seed)
            sources[name] = Corpus.of(part.texts, source_rows=part.rows)
            marks[name] = [_parse_rating(mark, name) for mark in part.labels or ()]
        elif labels is not None:
            raise ArgumentError("a column of {ratings} is for files; give the ratings themselves")
        else:
            sources[name] = load_corpus(source, column=column, limit=limit, seed=seed)
    return sources, marks if labels is not None else ratings


def _parse_rating(mark: str, name: str) -> float:
    try:
        return float(mark) if mark.strip() else float("nan")
    except ValueError:
        raise InputError(f"{name}: the rating {mark!r} is not a number") from None


def gather(
    generated: Source | Mapping[str, Source],
    train: Source | None,
    held_out: Source | None,
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
    others = {"train": train, "test": held_out, "against": against}
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


def _check_ratings(sets: CorpusSets, ratings: Ratings | Mapping[str, Ratings] | None) -> dict[str, NDArray[np.float64]]:
    """Return ratings by corpus, one for each text; a missing one is NaN."""
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
