"""Two small corpora with embeddings of their own, a fake clock, and an answer with known numbers."""

import numpy as np
import pytest

from textgauge.data import Corpus
from textgauge.evaluate.leaderboard import Leaderboard, RankedMetric
from textgauge.evaluate.protocols import Sources
from textgauge.evaluate.recommend import MetricCost, Recommendation
from textgauge.evaluate.recommend.budget import Clock
from textgauge.evaluate.recommend.texts_needed import TextsNeeded


@pytest.fixture
def make_sources():
    def make(n=60, *, apart=1.0, seed=5, name="a,b"):
        rng = np.random.default_rng(seed)
        corpora = {}
        for role, words in (("a", "red green blue cat dog bird"), ("b", "pay card bank loan fee cat")):
            texts = [f"{' '.join(rng.choice(words.split(), 5))} {i}" for i in range(n)]
            corpora[role] = Corpus.of(texts, embeddings=rng.normal(size=(n, 6)) + apart * (role == "b"))
        return Sources(name, corpora)

    return make


class Hands:
    """The hands of a clock that move on command."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def make_clock(hands):
    return lambda budget: Clock(budget, hands)


@pytest.fixture
def make_answer():
    """Three metrics; the first two are tied."""

    def make(**changed):
        rows = [
            RankedMetric("quick", {"accuracy": 0.9, "linearity": 0.8}, 0.85, 1, 1, 2, 1),
            RankedMetric("slow", {"accuracy": 0.88, "linearity": 0.8}, 0.84, 2, 1, 2, 1),
            RankedMetric("poor", {"accuracy": 0.5, "linearity": float("nan")}, 0.5, 3, 3, 3, 2),
        ]
        given = {
            "kind": "corpora",
            "data": ("a.txt", "b.txt"),
            "choice": ("quick", "slow"),
            "board": Leaderboard(tuple(rows), ("accuracy", "linearity")),
            "power": (
                TextsNeeded("quick", 241, 207, 296, 256, 90),
                TextsNeeded("slow", 92, 80, 110, 64, 50),
                TextsNeeded("poor", float("nan"), 4321, float("nan"), 128, 40),
            ),
            "costs": (MetricCost("quick", 0.00123, 100, 1.0), MetricCost("slow", 0.25, 100, 2.0)),
            "about": {
                "effect": 0.1,
                "power": 0.8,
                "experiment": "5 repetitions",
                "named_by": ("cost", "texts needed"),
            },
        }
        return Recommendation(**given | changed)

    return make
