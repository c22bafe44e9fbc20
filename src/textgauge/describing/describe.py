"""`describe`: what a generated corpus is like, beside the texts it was learned from and the texts it should be like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from textgauge.describing.measure import Measuring
from textgauge.describing.properties import Asked, reach_of_train, table
from textgauge.describing.report import Description
from textgauge.describing.rows import Step
from textgauge.describing.sets import GENERATED, Sets, Source, gather, texts_of_source
from textgauge.describing.significance import rating_links
from textgauge.describing.warnings import doubts
from textgauge.errors import InputError

Ratings = Sequence[float] | NDArray[np.floating]


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
    ci: bool = True,
    level: float = 0.95,
    seed: int = 0,
    on_step: Step = lambda _: None,
) -> Description:
    """Describe generated texts: unique, new words, grammar, plausibility, near to test by meaning, copied from train.

    Corpora are lists of texts, `Corpus` objects or what `textgauge.data.load_texts` reads; `generated` may be
    several, by name. Every property comes with an interval and with the same property of test and train. Without
    `test`, what needs it is empty and says so. `representative` texts are what plausibility is judged by: train and
    validation unless given. `ratings` are people's, one for each generated text. A backend of None is left out.

    >>> found = describe(generated=["A red dog.", "a cat"], train=["a cat"], embedder=None, grammar=None,
    ...                  plausibility=None)
    >>> found["unique"].value, found["vocab"].value, round(found["syntactic_precision"].value, 3)
    (0.5, 2.0, 0.786)
    """
    if not 0.5 <= level < 1:
        raise InputError(f"the level of an interval lies between 0.5 and 1, not {level}")
    sets = gather(generated, train, test, validation)
    rated = _rated(sets, ratings)
    known = None if representative is None else texts_of_source(representative, "representative")
    measuring = Measuring(sets, embedder, grammar, plausibility, known, on_step)
    corpora, held_out, learned = measuring.generated(), measuring.test(), measuring.train()
    asked = Asked(level, ci, reach_of_train(learned))
    return Description(
        tuple(table(corpora, held_out, learned, backends=measuring.backends(), asked=asked)),
        corpora,
        held_out,
        learned,
        asked.reach,
        tuple(rating_links(corpora, rated, level=level, seed=seed)),
        tuple(doubts(sets, corpora, held_out, learned)),
        rated,
    )


def _rated(sets: Sets, ratings: Ratings | Mapping[str, Ratings] | None) -> dict[str, NDArray[np.float64]]:
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
            raise InputError(f"{name}: {len(sets.generated[name])} texts but {found[name].size} ratings")
    return found
