"""`describe`: what a generated corpus is like, compared with what it was learned from and what it should be like."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus, load_corpus
from textgauge.data.pool import Pool
from textgauge.data.source import Source
from textgauge.describing.lists import check_threshold
from textgauge.describing.measure import CorpusSets, Measuring, Step
from textgauge.describing.report import Description, property_rows
from textgauge.describing.significance import rating_links
from textgauge.describing.warnings import find_warnings
from textgauge.encode.tokenizers import without_surrogates
from textgauge.errors import InputError
from textgauge.metrics.properties.base import NEAR_COPY

Ratings: TypeAlias = "Sequence[float] | NDArray[np.floating]"

GENERATED = "generated"
MOST_CHARACTERS = 1_000_000  # of a text; files have the same limit
_TAKEN = ("train", "test", "validation")


def describe(
    *,
    generated: Source | Mapping[str, Source],
    train: Source,
    test: Source | None = None,
    validation: Source | None = None,
    ratings: Ratings | Mapping[str, Ratings] | None = None,
    embedder: str | None = "minilm",
    grammar: str | None = "harper",
    plausibility: str | None = "kneser-ney",
    representative: Source | None = None,
    near_copy: float = NEAR_COPY,
    column: str | None = None,
    ci: bool = True,
    level: float = 0.95,
    seed: int = 0,
    on_step: Step = lambda _: None,
) -> Description:
    """Describe generated texts: unique, new words, grammar, plausibility, near to test by meaning, copied from train.

    Corpora are what `textgauge.data.load_corpus` reads: lists of texts, files, names, columns, frames; `column` names
    the column of files and frames. `generated` may be several corpora, by name. Every property comes with an interval
    and with the same property of test and train. Without `test`, what needs it is empty, with the reason.
    `representative` texts are what plausibility is judged by; the default is train and validation. `ratings` are
    people's, one for each generated text. A text is a near copy from the similarity of wording `near_copy` on. A
    backend of None is left out.

    >>> found = describe(generated=["A red dog.", "a cat"], train=["a cat"], embedder=None, grammar=None,
    ...                  plausibility=None)
    >>> found["unique"].value, found["vocab"].value, round(found["syntactic_precision"].value, 3)
    (0.5, 2.0, 0.786)
    """
    if not 0.5 <= level < 1:
        raise InputError(f"the level of an interval lies between 0.5 and 1, not {level}")
    check_threshold(near_copy)
    sets = gather(generated, train, test, validation, column=column)
    rated = _rated(sets, ratings)
    known = None if representative is None else texts_of_source(representative, "representative", column=column)
    measuring = Measuring(sets, embedder, grammar, plausibility, known, on_step, near_copy)
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


def gather(
    generated: Source | Mapping[str, Source],
    train: Source,
    test: Source | None,
    validation: Source | None,
    *,
    column: str | None = None,
) -> CorpusSets:
    """Read and check the corpora; an empty or blank one is refused, and so is a text of over a million characters."""
    sources = dict(generated) if isinstance(generated, Mapping) else {GENERATED: generated}
    if not sources:
        raise InputError("there is no generated corpus to describe")
    taken = next((name for name in sources if name in _TAKEN), None)
    if taken is not None:
        raise InputError(f"a generated corpus cannot be called {taken!r}: that name stands for the {taken} texts")
    named: dict[str, Source] = {**sources, "train": train} | ({} if test is None else {"test": test})
    texts = {name: texts_of_source(source, name, column=column) for name, source in named.items()}
    pool = Pool([text for part in texts.values() for text in part])
    spans = itertools.pairwise(itertools.accumulate(map(len, texts.values()), initial=0))
    views = {name: Corpus(pool, np.arange(*span)) for name, span in zip(texts, spans, strict=True)}
    more = () if validation is None else texts_of_source(validation, "validation", column=column)
    return CorpusSets({name: views[name] for name in sources}, views["train"], views.get("test"), more)


def texts_of_source(source: Source, role: str, *, column: str | None = None) -> Sequence[str]:
    """Read the texts of one corpus and check them."""
    texts = load_corpus(source, column=column).texts
    if not texts:
        raise InputError(f"{role}: there are no texts")
    if not any(map(str.strip, texts)):
        raise InputError(f"{role}: all texts are empty")
    longest = max(map(len, texts))
    if longest > MOST_CHARACTERS:
        raise InputError(f"{role}: a text of {longest:,} characters; the limit is {MOST_CHARACTERS:,}")
    return [without_surrogates(text) for text in texts]


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
