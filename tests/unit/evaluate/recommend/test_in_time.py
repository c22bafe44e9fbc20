"""A budget is kept whatever is slow: loading, embedding, one metric, all of them, judging; by a clock that is told."""

import numpy as np
import pytest

from textgauge.evaluate.protocols import Agreement, Clustering, CorpusBatch, Ksc, MatrixBatch, PairBatch
from textgauge.evaluate.rated import rated_sources
from textgauge.evaluate.recommend import LeftOut, rated
from textgauge.evaluate.recommend.budget import GRACE, LEAST, Clock
from textgauge.evaluate.recommend.corpora import recommend_corpora
from textgauge.evaluate.recommend.pair_draws import DrawnPairs
from textgauge.evaluate.recommend.rated import recommend_pairs
from textgauge.evaluate.recommend.task_sizes import Costs, Sized, largest, smaller_ones, without_slowest
from textgauge.evaluate.recommend.tasks import recommend_task
from textgauge.evaluate.tasks import task_sources

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
    monkeypatch.setattr("textgauge.evaluate.recommend.texts.encode_cached", encode)
    monkeypatch.setattr("textgauge.evaluate.recommend.needed.rejects", _rejects(works))
    return cost.update


def _rejects(works):
    def rejects(metric, comparison, **_):
        works(metric.key, "test", 40 * len(comparison.joint) / 100)
        return len(comparison.reference) > 100

    return rejects


def kept(clock):
    return clock.spent <= max(1.1 * clock.budget, LEAST) + GRACE


def texts_a_fold(answer):
    return int(answer.about["protocol"].partition("n=")[2].partition(",")[0])


def looked_at_or_named(answer, metrics):
    """Whether every metric is on the board or in the first sentence as left out, and none is both."""
    gone = [item.metric for item in answer.left_out]
    _, _, said = answer.sentences[0].partition("; ")
    told = all(name in said for name in gone) and bool(gone) == answer.sentences[0].startswith("Of the metrics that")
    return told and sorted([*gone, *(row.metric for row in answer.board)]) == sorted(metrics.split(","))


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
    assert answer.about["pairs"] >= (100 if what == "embedding" else 200)
    assert (answer.about["pairs"] < 700) == ("pairs were drawn" in told)
    assert looked_at_or_named(answer, PAIR_METRICS)
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
    assert looked_at_or_named(answer, PAIR_METRICS)


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
    assert looked_at_or_named(answer, CORPUS_METRICS)


def test_both_corpora_are_embedded_alike_where_time_runs_out(make_sources, slow, make_clock):
    slow({"text": 0.03})
    corpora = make_sources(400, apart=0.4).corpora
    answer = recommend_corpora(
        list(corpora["a"].texts), list(corpora["b"].texts), metrics=CORPUS_METRICS, clock=make_clock(20.0), effect=0.3
    )
    assert any("texts could be embedded in the time" in note for note in answer.notes)
    assert answer.about["protocol"].startswith("ksc(k=7,n=42,")


def test_a_slow_start_still_leaves_enough_texts_to_rank_metrics_by(make_sources, slow, make_clock, hands):
    slow({"text": 0.02})
    clock, corpora = make_clock(20.0), make_sources(400, apart=0.4).corpora
    hands.seconds += 7.0
    answer = recommend_corpora(
        list(corpora["a"].texts), list(corpora["b"].texts), metrics=CORPUS_METRICS, clock=clock, effect=0.3
    )
    assert kept(clock), clock.spent
    assert answer.about["protocol"].startswith("ksc(k=7,n=22,")


def test_an_encoder_takes_part_in_a_smaller_task_where_the_budget_allows_it(intents, slow, make_clock):
    slow({"text": 0.04, "load": 1.5})
    short, long = (
        recommend_task(Clustering(), intents, metrics=PAIR_METRICS, clock=make_clock(budget)) for budget in (20.0, 60.0)
    )
    for answer in (short, long):
        assert "cosine@wordllama" in {row.metric for row in answer.board}
        assert not answer.left_out
    assert texts_a_fold(short) < texts_a_fold(long) == Clustering().n


def test_most_of_the_budget_is_used_before_a_task_becomes_smaller(intents, slow, make_clock):
    slow({"text": 0.04, "load": 1.5})
    clock = make_clock(20.0)
    recommend_task(Clustering(), intents, metrics=PAIR_METRICS, clock=clock)
    assert clock.spent > 0.5 * clock.budget


def test_an_encoder_that_does_not_fit_is_named_first_with_what_it_needs(intents, slow, make_clock):
    slow({"text": 0.2})
    answer = recommend_task(Clustering(), intents, metrics=PAIR_METRICS, clock=make_clock(20.0))
    (gone,) = answer.left_out
    assert gone.metric == "cosine@wordllama"
    assert answer.sentences[0].startswith("Of the metrics that fit into 20 s, use ")
    assert answer.sentences[0].endswith("; cosine@wordllama was left out, with it about 45 s are needed.")
    enough = recommend_task(Clustering(), intents, metrics=PAIR_METRICS, clock=make_clock(gone.seconds))
    assert not enough.left_out


def test_without_the_metrics_that_went_the_task_is_as_large_as_fits(intents, slow, make_clock):
    slow({"chrf": 0.5})
    clock = make_clock(20.0)
    answer = recommend_task(Clustering(), intents, metrics=PAIR_METRICS, clock=clock)
    assert kept(clock), clock.spent
    assert [item.metric for item in answer.left_out] == ["chrf"]
    assert texts_a_fold(answer) == Clustering().n


def test_one_slow_encoder_does_not_take_the_quick_one_with_it(graded, intents, slow, make_clock, monkeypatch):
    slow({"text": 1e-4})
    from textgauge.evaluate.recommend import texts

    quick = texts.encode_cached

    def encode(embedder, some):
        for _ in range(3_000 if embedder.name == "minilm" else 1):
            found = quick(embedder, some)
        return found

    monkeypatch.setattr(texts, "encode_cached", encode)
    asked = "jaccard,cosine@minilm,cosine@wordllama"
    answers = [
        recommend_task(Clustering(), intents, metrics=asked, clock=make_clock(20.0)),
        recommend_pairs(graded, metrics=asked, clock=make_clock(20.0)),
    ]
    for answer in answers:
        assert [item.metric for item in answer.left_out] == ["cosine"]
        assert {row.metric for row in answer.board} == {"jaccard", "cosine@wordllama"}


def test_where_every_metric_embeds_slowly_fewer_pairs_are_looked_at(graded, slow, make_clock):
    slow({"text": 0.1})
    clock = make_clock(20.0)
    answer = recommend_pairs(graded, metrics="cosine@wordllama", clock=clock)
    assert kept(clock), clock.spent
    assert 30 < answer.about["pairs"] < 100
    assert not answer.left_out


def test_an_encoder_that_becomes_slower_makes_the_task_smaller(intents, slow, hands, make_clock, monkeypatch):
    from textgauge.evaluate.recommend import texts

    slow({"text": 0.002})
    quick, seen = texts.encode_cached, []

    def encode(embedder, some):
        seen.extend(some)
        hands.seconds += 0.05 * len(some) * (len(seen) > 120)
        return quick(embedder, some)

    monkeypatch.setattr(texts, "encode_cached", encode)
    clock = make_clock(20.0)
    answer = recommend_task(Clustering(), intents, metrics=PAIR_METRICS, clock=clock)
    assert kept(clock), clock.spent
    assert texts_a_fold(answer) < Clustering().n
    assert looked_at_or_named(answer, PAIR_METRICS)


def test_a_longer_budget_is_used(graded, slow, make_clock):
    slow({"metric": 1e-2, "chrf": 1e-2})
    input_identity = []
    for budget in (15.0, 24.0, 60.0):
        answer = recommend_pairs(graded, metrics=PAIR_METRICS, clock=make_clock(budget))
        input_identity.append(answer.about["pairs"])
    assert input_identity[0] < input_identity[1] < input_identity[2] == 700


def test_embedding_takes_what_scoring_leaves(graded, slow, make_clock):
    slow({"text": 0.02})
    clock = make_clock(20.0)
    answer = recommend_pairs(graded, metrics=PAIR_METRICS, clock=clock)
    assert 0.75 * clock.budget < clock.spent < clock.budget
    assert answer.about["pairs"] > 300


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
    names, count, gone = rated.fitting({"a": 0.001, "b": 0.01, "c": 2.0}, 0.0, 5_000, Clock(20.0, hands))
    assert (names, count) == ({"a": 0.001, "b": 0.01}, 1_545)
    assert gone == [LeftOut("c", pytest.approx(200 * 2.011 / 0.85))]
    assert rated.fitting({"a": 1.0}, 0.0, 50, Clock(5.0, hands))[1] == 50


def test_a_task_becomes_smaller_before_metrics_go(intents):
    sizes = [Sized(protocol, intents, 0) for protocol in smaller_ones(Clustering())]
    smallest, alone = sizes[-1], Costs({"a": 1e-4}, {}, {}, 0.0)
    assert largest(sizes, alone, 1e9) == 0
    assert largest(sizes, alone, alone.scoring(smallest.like(sizes[2])[0])) == 2
    assert largest(sizes, alone, 0.0) == len(sizes) - 1
    both = Costs({"a": 1e-4, "c": 1e-3}, {"c": "x"}, {"x": 1.0, "unused": 9.0}, 1e-4)
    assert both.total(100, 10) == pytest.approx(100 * 13e-4 + 10.0)
    kept_costs, gone = without_slowest(both, 100, 10, 1.0)
    assert (list(kept_costs.trial), [name for name, _ in gone]) == (["a"], ["c"])
    assert [size.n for size in smaller_ones(Clustering(n=330))] == [330, 233, 165, 116, 82, 58, 41, 41]


def test_quick_metrics_stay_where_a_slow_start_has_used_up_the_time(intents, graded, slow, make_clock, hands):
    slow({"text": 0.01})
    for run, data in (
        (recommend_pairs, graded),
        (lambda *given, **more: recommend_task(Clustering(), *given, **more), intents),
    ):
        clock = make_clock(5.0)
        hands.seconds += 11.9
        answer = run(data, metrics=PAIR_METRICS, clock=clock)
        assert kept(clock), clock.spent
        assert {row.metric for row in answer.board} >= {"jaccard", "levenshtein", "chrf"}
        assert looked_at_or_named(answer, PAIR_METRICS)


def test_the_size_of_a_task_is_told_before_it_is_drawn(intents):
    few, many = (Sized(Clustering(n=n), intents, 0) for n in (30, 60))
    trials, texts = few.like(many)
    assert trials == pytest.approx(many.trials, rel=0.05)
    assert texts == len(many.corpus)


def test_a_short_budget_is_told_of(hands):
    assert Clock(5.0, hands).account == [
        "15 s is what the smallest run may take: a budget of 5 s may be overdrawn",
        "all this took 0.0 s of a budget of 5 s",
    ]
    assert len(Clock(LEAST, hands).account) == 1
