"""Two small corpora with embeddings of their own, a fake clock, and an answer with known numbers."""

from dataclasses import replace

import numpy as np
import pytest

from textgauge.bench.boards.leaderboard import Leaderboard, RankedMetric
from textgauge.bench.protocols import Sources
from textgauge.bench.recommend import Answer, MetricCost, Recommendation, budget
from textgauge.bench.recommend.budget import Clock
from textgauge.bench.recommend.detection import TextsNeeded
from textgauge.data import Corpus


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


class FakeEmbedder:
    """Vectors of lengths and letters; says what it embedded, and what the cache on disk is to hold."""

    name = identity = "fake"

    def __init__(self, works):
        self.works, self.seen, self.cached = works, [], set()

    def encode(self, texts, **_):
        self.works(texts)
        self.seen.extend(texts)
        return self.vectors(texts)

    @staticmethod
    def vectors(texts):
        return np.array([[len(text), text.count("a"), text.count("e"), 1.0] for text in texts], dtype=np.float32)


@pytest.fixture
def fake_embedder(monkeypatch):
    """Put an embedder that takes the time it is told in the place of all; `works` is called with its texts."""

    def make(works):
        fake = FakeEmbedder(works)

        def read(_, asked):
            found = np.array([text in fake.cached for text in asked], dtype=bool)
            return found, fake.vectors(asked)

        monkeypatch.setattr("textgauge.encode.embedders.embedder", lambda _: fake)
        monkeypatch.setattr(budget, "encode_cached", lambda embedder, texts: embedder.encode(texts))
        monkeypatch.setattr(budget, "text_keys", list)
        monkeypatch.setattr(budget.EmbeddingStore, "read", read)
        return fake

    return make


@pytest.fixture
def make_answer():
    """Three metrics; the first two are tied to rank corpora, the second alone is best to detect foreign texts."""

    def ranked(name, measures, overall, *ranks):
        places = dict(zip(("rank", "rank_low", "rank_high", "tier"), ranks, strict=True))
        return RankedMetric(name, measures, overall, **places)

    def detection(*places):
        rows = [ranked(name, {"detection": score}, score, *ranks) for name, score, *ranks in places]
        return Leaderboard(tuple(rows), ("detection",))

    def make(*, choice=("quick", "slow"), board=None, detect=("slow",), **changed):
        rows = [
            ranked("quick", {"accuracy": 0.9, "linearity": 0.8}, 0.85, 1, 1, 2, 1),
            ranked("slow", {"accuracy": 0.88, "linearity": 0.8}, 0.84, 2, 1, 2, 1),
            ranked("poor", {"accuracy": 0.5, "linearity": float("nan")}, 0.5, 3, 3, 3, 2),
        ]
        given = {
            "kind": "corpora",
            "data": ("a.txt", "b.txt"),
            "answers": (
                Answer("rank corpora", choice, board or Leaderboard(tuple(rows), ("accuracy", "linearity"))),
                Answer(
                    "detect 10 % of foreign texts",
                    detect,
                    detection(("slow", 0.7, 1, 1, 1, 1), ("quick", 0.6, 2, 2, 2, 2), ("poor", 0.3, 3, 3, 3, 3)),
                ),
            ),
            "power": (
                TextsNeeded("slow", 92, 80, 110, 64, 50, 105),
                TextsNeeded("quick", 241, 207, 296, 256, 90, 280),
                TextsNeeded("poor", float("nan"), 4321, float("nan"), 128, 40),
            ),
            "costs": (MetricCost("quick", 0.00123, 100, 1.5, "minilm"), MetricCost("slow", 0.25, 100)),
            "about": {"effect": 0.1, "power": 0.8, "experiment": "5 repetitions"},
        }
        if changed.get("kind", "corpora") != "corpora":
            given["answers"] = (replace(given["answers"][0], purpose="score pairs"),)
        return Recommendation(**given | changed)

    return make
