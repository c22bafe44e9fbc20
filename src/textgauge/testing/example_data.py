"""Small made-up data of every kind that protocols declare."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from textgauge.data import Corpus
from textgauge.evaluate.inputs.kinds import DataKind, Paraphrases, RatedPairs, StepsAndReference, TaskTable, TwoCorpora
from textgauge.evaluate.inputs.sources import REFERENCE, Column, Data, step_role
from textgauge.evaluate.protocols import PairSources, Sources

_WORDS = ["red", "blue", "old", "new", "cat", "dog", "bird", "train", "sees", "likes", "near", "far", "house", "tree"]
_OTHERS = ["please", "could", "you", "send", "pay", "money", "card", "bank", "rate", "loan", "fee", "now"]

# Options with which built-in protocols have enough of these data, and little to do.
SMALL: dict[str, dict[str, int]] = {
    "ksc": {"k": 4, "n": 12, "repetitions": 3},
    "size": {"repetitions": 3},
    "distributionality": {"n": 12, "k": 5, "repetitions": 3},
    "perturbation": {"n": 30, "repetitions": 3, "steps": 4},
    "robustness": {"documents_drawn": 20},
    "clustering": {"n": 60, "folds": 3},
    "retrieval": {"n": 40, "queries": 8, "folds": 2},
}


def example_data(kind: DataKind) -> Data:
    """Data of a kind: made up, the built-in sample of a task, or what the kind has without being given anything."""
    if isinstance(kind, TaskTable) and kind.samples:
        return kind.read(kind.samples[0])
    make = _MADE.get(type(kind))
    return kind.load({}, 0) if make is None else make()


def _sentences(words: Sequence[str], count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"{' '.join(rng.choice(words, 5))} {n}" for n in range(count)]


def _two_corpora() -> Sources:
    return Sources("a,b", {"a": Corpus.of(_sentences(_WORDS, 120, 1)), "b": Corpus.of(_sentences(_OTHERS, 120, 2))})


def _steps() -> Sources:
    mixed = [_sentences(_WORDS, 30 - 7 * n, n) + _sentences(_OTHERS, 2 + 7 * n, 10 + n) for n in range(4)]
    corpora = {step_role(number): Corpus.of(texts) for number, texts in enumerate(mixed, start=1)}
    return Sources("steps", {REFERENCE: Corpus.of(_sentences(_OTHERS, 32, 20)), **corpora})


def _pairs(**columns: Column) -> PairSources:
    left = _sentences(_WORDS, 60, 5)
    right = [" ".join(reversed(text.replace("red", "blue").split())) for text in left]
    return PairSources("pairs", Corpus.of(left), Corpus.of(right), columns)


def _rated() -> PairSources:
    ratings = np.random.default_rng(8).integers(0, 6, 60).astype(np.float64)
    return _pairs(rating=ratings, set=np.repeat(["first", "second"], 30))


_MADE: dict[type[DataKind], Callable[[], Data]] = {
    TwoCorpora: _two_corpora,
    StepsAndReference: _steps,
    RatedPairs: _rated,
    Paraphrases: _pairs,
}
