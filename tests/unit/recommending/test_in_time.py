"""A budget is kept whatever is slow: loading, embedding, one metric, all of them, judging; by a clock that is told."""

import numpy as np
import pytest

from textgauge.bench.rated import rated_sources
from textgauge.bench.tasks import task_sources
from textgauge.protocols import Agreement, Clustering, CorpusBatch, Ksc, MatrixBatch, PairBatch
from textgauge.recommending import rated, tasks
from textgauge.recommending.budget import LEAST, Clock
from textgauge.recommending.corpora import recommend_corpora
from textgauge.recommending.pair_draws import DrawnPairs
from textgauge.recommending.rated import recommend_pairs
from textgauge.recommending.tasks import recommend_task

PAIR_METRICS = "jaccard,levenshtein,chrf,cosine@wordllama"
CORPUS_METRICS = "jsd@words,energy@wordllama,zipf@words,medoid@wordllama"
QUICK = {"metric": 1e-6, "chrf": 1e-6, "zipf@words": 1e-6, "load": 0.01, "text": 1e-4, "judge": 1e-6}
SLOW = {
    "nothing": {},
    "loading": {"load": 1.5},
    "one metric": {"chrf": 0.02, "zipf@words": 5e-3},
    "all metrics": {"metric": 5e-3, "chrf": 5e-3, "zipf@words": 5e-3},
    "embedding": {"text": 0.02},
    "embedding by far": {"text": 0.2},
    "judging": {"judge": 1e-3},
}


@pytest.fixture(scope="module")
def graded():
    return rated_sources("sample:graded", limit=700)


@pytest.fixture(scope="module")
def intents():
    return task_sources(Clustering, "sample:intents")


@pytest.fixture
def slow(hands, monkeypatch):
    """Let the clock run when metrics, the embedder and judges are at work; gives how to set what takes long."""
    cost, loaded = dict(QUICK), set()

    def works(name, what, amount):
        if (name, what) not in loaded:
            loaded.add((name, what))
            hands.seconds += cost["load"]
        hands.seconds += cost.get(name, cost["metric"]) * amount

    def encode(_, texts):
        works("text", "text", len(texts))
        return np.array([[len(text), text.count("a"), text.count("e"), 1.0] for text in texts], dtype=np.float32)

    def watched(kind, name, amount_of):
        whole = getattr(kind, name)

        def watching(self, given, *rest):
            amount, metric = amount_of(self, given)
            works(metric, name, amount)
            return whole(self, given, *rest)

        monkeypatch.setattr(kind, name, watching)

    watched(PairBatch, "compute", lambda batch, metric: (len(batch), metric.key))
    watched(MatrixBatch, "compute", lambda batch, metric: (len(batch) / 30, metric.key))
    watched(CorpusBatch, "compute", lambda batch, metric: (len(batch.joint) * len(batch.draws) / 100, metric.key))
    watched(CorpusBatch, "seconds", lambda batch, metric: (len(batch.joint) / 100, metric.key))
    for judge in (Agreement, Clustering, Ksc):
        watched(judge, "judge", lambda _, seen: (min(len(seen.value), 500), "judge"))
    monkeypatch.setattr("textgauge.recommending.texts.encode_cached", encode)
    monkeypatch.setattr("textgauge.recommending.needed.rejects", _rejects(works))
    return cost.update


def _rejects(works):
    def rejects(metric, comparison, **_):
        works(metric.key, "test", 40 * len(comparison.joint) / 100)
        return len(comparison.reference) > 100

    return rejects


def kept(clock):
    return clock.spent <= max(1.15 * clock.budget, LEAST)


@pytest.mark.parametrize("budget", [5.0, 20.0])
@pytest.mark.parametrize("what", SLOW)
def test_rated_pairs_in_time(graded, slow, make_clock, budget, what):
    slow(SLOW[what])
    clock = make_clock(budget)
    answer = recommend_pairs(graded, metrics=PAIR_METRICS, clock=clock)
    assert kept(clock), clock.spent
    assert len(answer.board) >= 2
    assert answer.power
    told = " ".join(answer.notes)
    assert answer.about["pairs"] >= 200
    assert (answer.about["pairs"] < 700) == ("pairs were drawn" in told)
    gone = " ".join(note for note in answer.notes if "left out" in note)
    assert {row.metric for row in answer.board} == {name for name in PAIR_METRICS.split(",") if name not in gone}
    assert (budget < LEAST) == ("15 s is what the smallest run may take" in told)


@pytest.mark.parametrize("budget", [5.0, 20.0])
@pytest.mark.parametrize("what", SLOW)
def test_a_task_in_time(intents, slow, make_clock, budget, what):
    slow(SLOW[what])
    clock = make_clock(budget)
    answer = recommend_task(Clustering(), intents, metrics=PAIR_METRICS, clock=clock)
    assert kept(clock), clock.spent
    assert answer.choice
    told = " ".join(answer.notes)
    assert (answer.about["protocol"] != Clustering().key) == ("the task was made smaller" in told)
    gone = " ".join(note for note in answer.notes if "left out" in note)
    assert {row.metric for row in answer.board} == {name for name in PAIR_METRICS.split(",") if name not in gone}


@pytest.mark.parametrize("budget", [5.0, 20.0])
@pytest.mark.parametrize("what", SLOW)
def test_two_corpora_in_time(make_sources, slow, make_clock, budget, what):
    slow(SLOW[what])
    clock, corpora = make_clock(budget), make_sources(400, apart=0.4).corpora
    answer = recommend_corpora(
        list(corpora["a"].texts), list(corpora["b"].texts), metrics=CORPUS_METRICS, clock=clock, effect=0.3
    )
    assert kept(clock), clock.spent
    assert answer.choice


def test_a_longer_budget_is_used(graded, slow, make_clock):
    slow({"metric": 1e-2, "chrf": 1e-2})
    looked_at = []
    for budget in (15.0, 24.0, 60.0):
        answer = recommend_pairs(graded, metrics=PAIR_METRICS, clock=make_clock(budget))
        looked_at.append(answer.about["pairs"])
    assert looked_at[0] < looked_at[1] < looked_at[2] == 700


def test_pairs_whose_texts_are_slow_to_embed_are_fewer_not_late(graded, slow, hands):
    slow({"text": 0.02})
    pairs = DrawnPairs(graded, rated.chosen("cosine@wordllama"), seed=0)
    count = pairs.reach(700, Clock(20.0, hands), share=0.5)
    assert 240 < count <= 250
    assert hands.seconds <= 0.5 * 20.0
    assert pairs.first(count).pairs.left.embeddings("wordllama").shape == (count, 4)


def test_the_slowest_pair_metrics_go_where_too_few_pairs_would_be_left(hands):
    quick = {"a": 0.001, "b": 0.001}
    assert rated.fitting(quick, 0.0, 5_000, Clock(100.0, hands)) == (quick, 5_000, [])
    assert rated.fitting(quick, 0.001, 5_000, Clock(20.0, hands)) == (quick, 4_250, [])
    names, count, notes = rated.fitting({"a": 0.001, "b": 1.0, "c": 2.0}, 0.0, 5_000, Clock(20.0, hands))
    assert (names, count) == ({"a": 0.001, "b": 1.0}, 200)
    assert notes == ["c was left out: it takes 2000.0 ms a pair"]
    assert rated.fitting({"a": 1.0}, 0.0, 50, Clock(5.0, hands))[1] == 50


def test_a_task_becomes_smaller_before_metrics_go(hands):
    assert tasks.fitting({"a": 0.01, "b": 0.01}, 0.1, [500, 100], Clock(20.0, hands)) == tasks.Fit(0)
    assert tasks.fitting({"a": 0.01, "b": 0.03}, 0.1, [500, 100], Clock(20.0, hands)) == tasks.Fit(1)
    slow = {"a": 0.01, "b": 0.02, "c": 0.3}
    assert tasks.fitting(slow, 0.1, [500, 100], Clock(20.0, hands)) == tasks.Fit(1, ("c",))
    assert [size.n for size in tasks.smaller_ones(Clustering(n=330))] == [330, 165, 82, 41]


def test_a_short_budget_is_told_of(hands):
    assert Clock(5.0, hands).account == [
        "15 s is what the smallest run may take: a budget of 5 s may be overdrawn",
        "all this took 0.0 s of a budget of 5 s",
    ]
    assert len(Clock(LEAST, hands).account) == 1
