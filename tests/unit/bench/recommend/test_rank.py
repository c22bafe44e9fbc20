"""A budget is kept whatever is slow: loading, embedding, one metric, all of them, judging; by a clock under control."""

import pytest

from textgauge.bench import Store
from textgauge.bench.inputs.pair_sources import read_rated
from textgauge.bench.protocols import Agreement, Clustering, CorpusBatch, Ksc, MatrixBatch, PairBatch
from textgauge.bench.recommend.budget import Embeddings, Line
from textgauge.bench.recommend.experiments import Experiment
from textgauge.bench.recommend.rank import Forecast
from textgauge.bench.recommend.recommend import Recommender
from textgauge.data import Comparison, Corpus
from textgauge.metrics import get_corpus_metrics

PAIR_METRICS = "jaccard,levenshtein,chrf,cosine@wordllama"
CORPUS_METRICS = "jsd@words,energy@wordllama,zipf@words,medoid@wordllama"
QUICK = {"metric": 1e-6, "chrf": 1e-6, "zipf@words": 1e-6, "load": 0.01, "text": 1e-4, "judge": 1e-6}
SLOW = {
    "nothing": {},
    "loading": {"load": 0.4},
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
def slow(hands, fake_embedder, monkeypatch):
    """Let the clock run when metrics, the embedder and judges are at work; gives how to set what takes long."""
    cost, loaded = dict(QUICK), set()

    def works(name, what, amount):
        if (name, what) not in loaded:
            loaded.add((name, what))
            hands.seconds += cost["load"]
        hands.seconds += cost.get(name, cost["metric"]) * amount

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
    fake_embedder(lambda texts: works("text", "text", len(texts)))
    monkeypatch.setattr("textgauge.bench.recommend.detection.rejects", _rejects(works))
    return cost.update


def _rejects(works):
    def rejects(metric, comparison, **_):
        works(metric.key, "test", 40 * len(comparison.joint) / 100)
        return len(comparison.reference) > 100

    return rejects


@pytest.fixture
def ask(tmp_path, intents, graded, make_sources):
    """Recommendations on small data by a clock; gives the answer."""

    def asked(clock, metrics):
        return Recommender(Store(tmp_path), clock, metrics, 0.8, 0, lambda _: None)

    def pairs(clock, metrics=PAIR_METRICS):
        return asked(clock, metrics).pairs(graded)

    def task(clock, metrics=PAIR_METRICS):
        return asked(clock, metrics).task(Clustering(), intents)

    def corpora(clock, metrics=CORPUS_METRICS):
        a, b = (Corpus.of(list(corpus.texts)) for corpus in make_sources(400, apart=0.4).corpora.values())
        return asked(clock, metrics).corpora(Comparison(a, b), ("a", "b"), 0.3)

    return {"pairs": pairs, "task": task, "corpora": corpora}


def kept(clock):
    return clock.spent <= 1.25 * clock.budget


def texts_a_fold(answer):
    return int(answer.about["protocol"].partition("n=")[2].partition(",")[0])


def ranked_or_named(answer, metrics):
    """Whether every metric is on the board or in the first sentence as left out, and none is both."""
    gone = [item.metric for item in answer.left_out]
    _, within, end = answer.sentences[0].partition(" Within ")
    named = all(name in end for name in gone) and bool(gone) == bool(within)
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
    if kind == "pairs":
        assert answer.power
        assert (answer.about["pairs"] < 700) == ("pairs were drawn" in notes)
    if kind == "task":
        assert (answer.about["protocol"] != Clustering().key) == ("the task was made smaller" in notes)


def test_where_texts_are_slow_to_embed_mixtures_share_them(ask, slow, make_clock):
    slow({"text": 0.03})
    answer = ask["corpora"](make_clock(20.0))
    assert any("texts could be embedded in the time" in note for note in answer.notes)
    assert not answer.left_out


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


def test_what_does_not_fit_is_drawn_smaller_before_it_is_dropped(ask, slow, make_clock):
    for seconds, gone in ((0.05, []), (0.1, []), (0.3, ["chrf"])):
        slow({"chrf": seconds})
        clock = make_clock(20.0)
        answer = ask["pairs"](clock)
        assert kept(clock), clock.spent
        assert [item.metric for item in answer.left_out] == gone
        assert (answer.about["pairs"] < 700) != bool(gone)


def test_what_is_dropped_is_named_with_a_budget_that_has_room_for_it(ask, slow, make_clock):
    slow({"chrf": 0.3})
    (gone,) = ask["pairs"](make_clock(20.0)).left_out
    assert gone.metric == "chrf"
    assert gone.seconds > 20.0
    assert not ask["pairs"](make_clock(1.1 * gone.seconds)).left_out


def test_a_fixed_overhead_does_not_make_a_metric_slow(ask, slow, make_clock):
    slow({"load": 1.0, "metric": 1e-4})
    answer = ask["pairs"](make_clock(20.0))
    assert answer.about["pairs"] == 700
    assert not answer.left_out


def test_an_encoder_that_becomes_slower_does_not_break_the_budget(ask, slow, hands, make_clock, fake_embedder):
    slow({})
    seen = []

    def works(texts):
        seen.extend(texts)
        hands.seconds += len(texts) * (0.2 if len(seen) > 150 else 0.002)

    fake_embedder(works)
    clock = make_clock(20.0)
    answer = ask["task"](clock)
    assert kept(clock), clock.spent
    assert answer.left_out or texts_a_fold(answer) < Clustering().n
    assert ranked_or_named(answer, PAIR_METRICS)


def test_a_longer_budget_is_used(ask, slow, make_clock):
    slow({"metric": 1e-2, "chrf": 1e-2})
    counts = [ask["pairs"](make_clock(budget)).about["pairs"] for budget in (12.0, 20.0, 60.0)]
    assert counts[0] < counts[1] < counts[2] == 700


def test_recommended_metrics_have_their_power_simulated_first(ask, slow, make_clock):
    slow({"text": 1e-5})
    answer = ask["corpora"](make_clock(30.0))
    assert {row.metric for row in answer.power} >= set(answer.choice)


def test_quick_metrics_come_first_where_not_all_fit(make_sources, make_clock):
    experiment = Experiment(Ksc(k=3, n=6, repetitions=1), make_sources(60))
    metrics = get_corpus_metrics("jsd@words,cbdf@words,zipf@words,energy@wordllama,medoid@wordllama")
    found = Embeddings(make_clock(20.0))
    found.pace["wordllama"] = 10.0 / len(experiment.texts)
    lines = {metric.key: Line(each) for metric, each in zip(metrics, (1, 2, 3, 1, 1), strict=True)}
    forecast = Forecast(found, lines, Line())
    assert forecast.total(experiment, metrics) == pytest.approx(18.0)

    def kept_in(seconds):
        return [metric.key for metric in forecast.affordable(experiment, metrics, seconds)]

    everything = [metric.key for metric in metrics]
    assert kept_in(20.0) == everything
    assert kept_in(17.5) == everything[:4]
    assert kept_in(8.0) == everything[:3]
    assert kept_in(0.5) == everything[:2]
