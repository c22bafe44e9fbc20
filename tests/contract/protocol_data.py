"""Small made-up data of every kind that protocols declare, and options with which protocols have enough of them."""

import numpy as np

from textgauge.bench.inputs import Paraphrases, PlantedCorpora, RatedPairs, TaskTable, TwoCorpora
from textgauge.bench.sources import PairSources, Sources
from textgauge.data import Corpus
from textgauge.testing.protocol_checks import ProtocolCase
from textgauge_papers.ifc import StepsAndReference, format_step_role

_WORDS = ["red", "blue", "old", "new", "cat", "dog", "bird", "train", "sees", "likes", "near", "far", "house", "tree"]
_OTHERS = ["please", "could", "you", "send", "pay", "money", "card", "bank", "rate", "loan", "fee", "now"]

SMALL = {
    "ksc": {"k": 4, "n": 12, "repetitions": 3, "draw": "disjoint"},
    "size": {"smallest": 5, "step": 10, "total": 40, "large": 50, "draws": 3, "repetitions": 3},
    "distributionality": {"n": 12, "k": 5, "repetitions": 3},
    "perturbation": {"n": 30, "repetitions": 3, "steps": 4},
    "robustness": {"documents_drawn": 20},
    "clustering": {"n": 60, "folds": 3},
    "retrieval": {"n": 40, "queries": 8, "folds": 2},
    "copies": {"n": 3, "train": 40},
}


def example_data(kind):
    """Data of a kind: made up, the built-in sample of a task, or what the kind has without being given anything."""
    if isinstance(kind, TaskTable) and kind.samples:
        return kind.read(kind.samples[0])
    make = _MADE.get(type(kind))
    return kind.load({}, 0) if make is None else make()


def _sentences(words, count, seed):
    rng = np.random.default_rng(seed)
    return [f"{' '.join(rng.choice(words, 5))} {n}" for n in range(count)]


def _two_corpora():
    return Sources("a,b", {"a": Corpus.of(_sentences(_WORDS, 120, 1)), "b": Corpus.of(_sentences(_OTHERS, 120, 2))})


def _steps():
    mixed = [_sentences(_WORDS, 30 - 7 * n, n) + _sentences(_OTHERS, 2 + 7 * n, 10 + n) for n in range(4)]
    corpora = {format_step_role(number): Corpus.of(texts) for number, texts in enumerate(mixed, start=1)}
    return Sources("steps", {"reference": Corpus.of(_sentences(_OTHERS, 32, 20)), **corpora})


def _pairs(**columns):
    left = _sentences(_WORDS, 60, 5)
    right = [" ".join(reversed(text.replace("red", "blue").split())) for text in left]
    return PairSources("pairs", Corpus.of(left), Corpus.of(right), columns)


def _rated():
    ratings = np.random.default_rng(8).integers(0, 6, 60).astype(np.float64)
    return _pairs(rating=ratings, set=np.repeat(["first", "second"], 30))


_MADE = {
    TwoCorpora: _two_corpora,
    PlantedCorpora: _two_corpora,
    StepsAndReference: _steps,
    RatedPairs: _rated,
    Paraphrases: _pairs,
}


def case_of(protocol):
    """A protocol on data made up for it."""
    return ProtocolCase(protocol, example_data(protocol.data))
