"""A budget is kept whatever is slow: loading, embedding, one metric, all of them, judging; by a clock under control."""

import numpy as np
import pytest

from textgauge.data import Comparison, Corpus
from textgauge.evaluate import Store
from textgauge.evaluate.pair_sources import read_rated
from textgauge.evaluate.protocols import Agreement, Clustering, CorpusBatch, Ksc, MatrixBatch, PairBatch
from textgauge.evaluate.recommend import encodings
from textgauge.evaluate.recommend.budget import GRACE, LEAST
from textgauge.evaluate.recommend.corpora import recommend_corpora
from textgauge.evaluate.recommend.encodings import Encodings
from textgauge.evaluate.recommend.experiments import Experiment, task_ladder
from textgauge.evaluate.recommend.recommend import recommend_pairs, recommend_task
from textgauge.evaluate.recommend.schedule import Forecast
from textgauge.metrics import get_corpus_metrics

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
    return read_rated("sample:graded", limit=700)


@pytest.fixture(scope="module")
def intents():
    return Clustering.data.read("sample:intents")


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
    monkeypatch.setattr("textgauge.evaluate.recommend.encodings.encode_cached", encode)
    monkeypatch.setattr("textgauge.evaluate.recommend.texts_needed.rejects", _rejects(works))
    return cost.update


def _rejects(works):
    def rejects(metric, comparison, **_):
        works(metric.key, "test", 40 * len(comparison.joint) / 100)
        return len(comparison.reference) > 100

    return rejects


@pytest.fixture
def ask(tmp_path, intents, graded, make_sources):
    """Recommendations on small data by a clock; gives the answer."""

    def pairs(clock, metrics=PAIR_METRICS):
        return recommend_pairs(graded, metrics, Store(tmp_path), clock=clock)

    def task(clock, metrics=PAIR_METRICS):
        return recommend_task(Clustering(), intents, metrics, Store(tmp_path), clock=clock)

    def corpora(clock, metrics=CORPUS_METRICS):
        a, b = (Corpus.of(list(corpus.texts)) for corpus in make_sources(400, apart=0.4).corpora.values())
        given = {"clock": clock, "effect": 0.3, "power": 0.8, "seed": 0, "on_step": lambda _: None}
        return recommend_corpora(Comparison(a, b), ("a", "b"), metrics, Store(tmp_path), **given)

    return {"pairs": pairs, "task": task, "corpora": corpora}


def kept(clock):
    return clock.spent <= max(1.1 * clock.budget, LEAST) + GRACE


def texts_a_fold(answer):
    return int(answer.about["protocol"].partition("n=")[2].partition(",")[0])


def ranked_or_named(answer, metrics):
    """Whether every metric is on the board or in the first sentence as left out, and none is both."""
    gone = [item.metric for item in answer.left_out]
    _, _, end = answer.sentences[0].partition("; ")
    named = all(name in end for name in gone) and bool(gone) == answer.sentences[0].startswith("Of the metrics that")
    return named and sorted([*gone, *(row.metric for row in answer.board)]) == sorted(metrics.split(","))


@pytest.mark.parametrize("budget", [5.0, 20.0])
@pytest.mark.parametrize("what", SLOW)
@pytest.mark.parametrize(
    ("kind", "metrics"), [("pairs", PAIR_METRICS), ("task", PAIR_METRICS), ("corpora", CORPUS_METRICS)]
)
def test_budgets_are_kept(ask, slow, make_clock, budget, what, kind, metrics):
    slow(SLOW[what])
    clock = make_clock(budget)
    answer = ask[kind](clock)
    assert kept(clock), clock.spent
    assert len(answer.board) >= 2
    assert ranked_or_named(answer, metrics)
    notes = " ".join(answer.notes)
    assert (budget < LEAST) == ("15 s is what the smallest run may take" in notes)
    if kind == "pairs":
        assert answer.power
        assert answer.about["pairs"] >= (100 if what.startswith("embedding") else 200)
        assert (answer.about["pairs"] < 700) == ("pairs were drawn" in notes)
    if kind == "task":
        assert (answer.about["protocol"] != Clustering().key) == ("the task was made smaller" in notes)


def test_where_texts_are_slow_to_embed_mixtures_share_them(ask, slow, make_clock):
    slow({"text": 0.03})
    answer = ask["corpora"](make_clock(20.0))
    assert any("texts could be embedded in the time" in note for note in answer.notes)
    assert answer.about["protocol"].startswith("ksc(k=7,n=50,")


def test_a_slow_start_still_leaves_enough_texts_to_rank_metrics_by(ask, slow, make_clock, hands):
    slow({"text": 0.02})
    clock = make_clock(20.0)
    hands.seconds += 7.0
    answer = ask["corpora"](clock)
    assert kept(clock), clock.spent
    assert answer.about["protocol"].startswith("ksc(k=7,n=30,")


def test_an_encoder_takes_part_in_a_smaller_task_where_the_budget_allows_it(ask, slow, make_clock):
    slow({"text": 0.04, "load": 1.5})
    short, long = (ask["task"](make_clock(budget)) for budget in (20.0, 60.0))
    for answer in (short, long):
        assert "cosine@wordllama" in {row.metric for row in answer.board}
        assert not answer.left_out
    assert texts_a_fold(short) < texts_a_fold(long) == Clustering().n


def test_most_of_the_budget_is_used_before_a_task_becomes_smaller(ask, slow, make_clock):
    slow({"text": 0.04, "load": 1.5})
    clock = make_clock(20.0)
    ask["task"](clock)
    assert clock.spent > 0.5 * clock.budget


def test_an_encoder_that_does_not_fit_is_named_first_with_what_it_needs(ask, slow, make_clock):
    slow({"text": 0.2})
    answer = ask["task"](make_clock(20.0))
    (gone,) = answer.left_out
    assert gone.metric == "cosine@wordllama"
    assert answer.sentences[0].startswith("Of the metrics that fit into 20 s, use ")
    assert answer.sentences[0].endswith("; cosine@wordllama was left out, including it needs about 30 s.")
    assert not ask["task"](make_clock(gone.seconds)).left_out


def test_without_the_metrics_that_went_the_task_is_as_large_as_fits(ask, slow, make_clock):
    slow({"chrf": 0.5})
    clock = make_clock(20.0)
    answer = ask["task"](clock)
    assert kept(clock), clock.spent
    assert [item.metric for item in answer.left_out] == ["chrf"]
    assert texts_a_fold(answer) == Clustering().n


def test_one_slow_encoder_does_not_take_the_quick_one_with_it(ask, slow, make_clock, monkeypatch):
    slow({"text": 1e-4})
    quick = encodings.encode_cached

    def encode(embedder, some):
        for _ in range(3_000 if embedder.name == "minilm" else 1):
            found = quick(embedder, some)
        return found

    monkeypatch.setattr(encodings, "encode_cached", encode)
    for kind in ("task", "pairs"):
        answer = ask[kind](make_clock(20.0), "jaccard,cosine@minilm,cosine@wordllama")
        assert [item.metric for item in answer.left_out] == ["cosine"]
        assert {row.metric for row in answer.board} == {"jaccard", "cosine@wordllama"}


def test_where_every_metric_embeds_slowly_fewer_pairs_are_scored(ask, slow, make_clock):
    slow({"text": 0.1})
    clock = make_clock(20.0)
    answer = ask["pairs"](clock, "cosine@wordllama")
    assert kept(clock), clock.spent
    assert 30 < answer.about["pairs"] < 100
    assert not answer.left_out


def test_where_all_corpus_metrics_share_a_slow_encoder_all_of_them_stay(ask, slow, make_clock):
    slow({"text": 0.2})
    answer = ask["corpora"](make_clock(5.0), "energy@wordllama,medoid@wordllama")
    assert not answer.left_out
    assert answer.about["protocol"].startswith("ksc(k=4,n=10,")


def test_an_encoder_that_becomes_slower_makes_the_task_smaller(ask, slow, hands, make_clock, monkeypatch):
    slow({"text": 0.002})
    quick, seen = encodings.encode_cached, []

    def encode(embedder, some):
        seen.extend(some)
        hands.seconds += 0.05 * len(some) * (len(seen) > 120)
        return quick(embedder, some)

    monkeypatch.setattr(encodings, "encode_cached", encode)
    clock = make_clock(20.0)
    answer = ask["task"](clock)
    assert kept(clock), clock.spent
    assert texts_a_fold(answer) < Clustering().n
    assert ranked_or_named(answer, PAIR_METRICS)


def test_a_longer_budget_is_used(ask, slow, make_clock):
    slow({"metric": 1e-2, "chrf": 1e-2})
    counts = [ask["pairs"](make_clock(budget)).about["pairs"] for budget in (15.0, 24.0, 60.0)]
    assert counts[0] < counts[1] < counts[2] == 700


def test_embedding_takes_what_scoring_leaves(ask, slow, make_clock):
    slow({"text": 0.02})
    clock = make_clock(20.0)
    answer = ask["pairs"](clock)
    assert 0.65 * clock.budget < clock.spent < clock.budget
    assert answer.about["pairs"] > 300


def test_quick_metrics_stay_where_a_slow_start_has_used_up_the_time(ask, slow, make_clock, hands):
    slow({"text": 0.01})
    for kind in ("pairs", "task"):
        clock = make_clock(5.0)
        hands.seconds += 11.9
        answer = ask[kind](clock)
        assert kept(clock), clock.spent
        assert {row.metric for row in answer.board} >= {"jaccard", "levenshtein", "chrf"}
        assert ranked_or_named(answer, PAIR_METRICS)


def test_as_few_metrics_as_possible_are_dropped(make_sources, make_clock):
    experiment = Experiment(Ksc(k=3, n=6, repetitions=1), make_sources(60))
    metrics = get_corpus_metrics("jsd@words,cbdf@words,zipf@words,energy@wordllama,medoid@wordllama")
    found = Encodings(make_clock(20.0))
    found.pace["wordllama"] = 10.0 / len(experiment.texts)
    seconds = zip(metrics, (1, 2, 3, 1, 1), strict=True)
    times = {metric.key: ([experiment.amount], [each]) for metric, each in seconds}
    forecast = Forecast(found, times=times)
    assert forecast.total(experiment, metrics) == pytest.approx(18.0)

    def kept_in(seconds):
        return [metric.key for metric in forecast.affordable(experiment, metrics, seconds)]

    everything = [metric.key for metric in metrics]
    assert kept_in(20.0) == everything
    assert kept_in(16.0) == [key for key in everything if key != "zipf@words"]
    assert kept_in(8.0) == everything[:3]
    assert kept_in(3.5) == everything[:2]


def test_texts_are_embedded_once_and_until_the_time_is_up(make_clock, hands, monkeypatch):
    seen = []

    def encode(_, texts):
        hands.seconds += len(texts)
        seen.extend(texts)
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    monkeypatch.setattr(encodings, "encode_cached", encode)
    texts = [f"text {i}" for i in range(300)]
    found = Encodings(make_clock(1000.0))
    found.probe(["wordllama"], texts)
    assert found.pace == {"wordllama": 1.0}
    assert not found.embed(["wordllama"], texts, 100.0)
    known = 300 - len(found.missing("wordllama", texts))
    assert found.embed(["wordllama"], texts[:100])
    corpus = Corpus.of(texts[:100])
    found.fill([corpus.pool], ["wordllama"])
    assert corpus.embeddings("wordllama")[:, 0].tolist() == [len(text) for text in corpus.texts]
    assert len(seen) == len(set(seen))
    assert known < 50


def test_pilots_grow_and_are_small(intents):
    assert [len(batch) for batch in task_ladder(Clustering(), intents, 0).pilots] == [10, 36, 210]
