"""Small plans that need no model, and a plain look at what a store holds."""

import numpy as np
import polars as pl
import pytest

from textgauge.bench import Ksc, Plan, Sources
from textgauge.data import Corpus
from textgauge.metrics import get_corpus_metrics


@pytest.fixture
def make_plan(make_two_sources):
    def make(metrics="jsd@words,cbdf@words", *, seed=0, name="a,b", **parameters):
        protocol = Ksc(**{"k": 4, "n": 8, "repetitions": 3} | parameters)
        return Plan(protocol, make_two_sources(40, name=name), get_corpus_metrics(metrics), seed)

    return make


@pytest.fixture
def contents():
    """All cells of a store by file name, without the time they took."""

    def read(folder):
        paths = sorted(folder.glob("cells/*/*.parquet"))
        return {path.name: pl.read_parquet(path, memory_map=False).drop("seconds") for path in paths}

    return read


@pytest.fixture
def same():
    """Whether two such looks are equal bit by bit."""

    def equal(first, second):
        return first.keys() == second.keys() and all(
            first[name].equals(second[name], null_equal=True) for name in first
        )

    return equal


@pytest.fixture
def make_two_sources():
    """Two small sources of texts with embeddings of their own."""

    def make(n=60, *, apart=1.0, seed=5, name="a,b"):
        rng = np.random.default_rng(seed)
        corpora = {}
        for role, words in (("a", "red green blue cat dog bird"), ("b", "pay card bank loan fee cat")):
            texts = [f"{' '.join(rng.choice(words.split(), 5))} {i}" for i in range(n)]
            corpora[role] = Corpus.of(texts, embeddings=rng.normal(size=(n, 6)) + apart * (role == "b"))
        return Sources(name, corpora)

    return make
