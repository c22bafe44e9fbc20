"""Batches: one trial by itself is that trial of the whole, models run once, and times are of one trial."""

import numpy as np
import pytest

from textgauge.bench.sources import CorpusBatch, MatrixBatch, PairBatch
from textgauge.data import Corpus, Draws, Pairs
from textgauge.metrics import get_metric

TEXTS = ["the red cat sat", "a red dog sat", "pay the fee", "the bank takes a fee", "birds sing", "the cat sang"]


def corpora():
    """Two trials of three texts a side."""
    place, vectors = np.arange(6), np.random.default_rng(0).normal(size=(6, 3))
    left = np.array([place < 3, place % 2 == 0])
    return CorpusBatch(0, Corpus.of(TEXTS, embeddings=vectors), Draws(left, ~left), {})


def pairs():
    corpus = Corpus.of(TEXTS)
    return PairBatch(0, Pairs(corpus.take([0, 2]), corpus.take([1, 3])), {})


def matrix():
    corpus = Corpus.of(TEXTS)
    return MatrixBatch(0, corpus, None, {}, corpus)


@pytest.mark.parametrize("name", ["jsd@words", "energy@given", "pr.recall(k=1)@given"])
def test_one_trial_of_corpora_is_that_of_all(name):
    batch, metric = corpora(), get_metric(name)
    whole = batch.compute(metric)
    for trial in range(len(batch)):
        found, reason = batch.one(metric, trial)
        assert reason is None
        assert metric.select(found) == pytest.approx(float(metric.select(whole)[trial]))


def test_one_trial_without_a_value_says_why():
    found, reason = corpora().one(get_metric("pr(k=5)@given"), 0)
    assert np.isnan(found["value"])
    assert reason


@pytest.mark.parametrize("make", [pairs, matrix])
def test_models_run_on_all_texts_of_the_pool_once(make, monkeypatch):
    batch, asked = make(), []
    pool = (batch.pairs.left if make is pairs else batch.rows).pool
    monkeypatch.setattr(type(pool), "embeddings", lambda self, name: asked.append((self, name)))
    batch.prepare(get_metric("cosine@wordllama"))
    assert asked == [(pool, "wordllama")]
    batch.prepare(get_metric("rouge"))
    assert len(asked) == 1
