"""Recommendations on small data: the choice is the top tier of the ordinary run, and wrong use is refused."""

import sys

import numpy as np
import pytest

from textgauge.bench import Plan, Store, run
from textgauge.bench.boards.leaderboard import leaderboard
from textgauge.bench.inputs.pair_sources import read_rated
from textgauge.bench.protocols import Agreement
from textgauge.bench.recommend import recommend
from textgauge.bench.recommend.experiments import corpora_ladder
from textgauge.bench.recommend.recommend import all_metrics
from textgauge.bench.results import Results
from textgauge.core.errors import InputError, ResourceError, UnknownName
from textgauge.metrics import get_corpus_metrics, get_pair_metrics

recommend_module = sys.modules["textgauge.bench.recommend.recommend"]
CORPUS_METRICS = "jsd@words,energy@given,zipf@words,medoid@given"
PAIR_METRICS = "jaccard,levenshtein,chrf"


def top_tier(plan, folder):
    run([plan], Store(folder))
    board = leaderboard(Results(Store(folder)).judged())
    return {board.rows[0].metric, *board.tied}


@pytest.fixture
def corpora(make_sources):
    return make_sources(120, apart=0.4, name="reference,candidate").corpora


def test_two_corpora(corpora, make_sources, tmp_path):
    steps = []
    answer = recommend(
        reference=corpora["a"],
        candidate=corpora["b"],
        metrics=CORPUS_METRICS,
        budget=60,
        effect=0.5,
        out=tmp_path / "kept",
        on_step=steps.append,
    )
    sources = make_sources(120, apart=0.4)
    plan = Plan(corpora_ladder(sources, 0).steps[0].protocol, sources, get_corpus_metrics(CORPUS_METRICS), 0)
    assert set(answer.choice) == top_tier(plan, tmp_path / "whole")
    assert answer.about["protocol"] == plan.protocol.key
    assert {row.metric for row in answer.board} == {metric.key for metric in plan.metrics}
    assert (
        {row.metric for row in answer.power} == {cost.metric for cost in answer.costs} == set(CORPUS_METRICS.split(","))
    )
    rank, detect = answer.answers
    assert answer.sentences[0].startswith(f"To rank corpora, use {answer.choice[0]}")
    assert answer.sentences[1].startswith(f"To detect 50 % of foreign texts with 80 % power, use {detect.choice[0]}")
    assert [row.metric for row in rank.board][: len(rank.choice)] == list(rank.choice)
    assert [row.metric for row in answer.power][: len(detect.choice)] == list(detect.choice)
    counts = [row.count for row in answer.power if row.known]
    assert counts == sorted(counts)
    assert Store.open(tmp_path / "kept").manifests()
    assert "timing jsd@words" in steps


def test_the_store_of_another_run_does_not_count(corpora, tmp_path):
    given = {"reference": corpora["a"], "candidate": corpora["b"], "budget": 9, "effect": 0.5, "out": tmp_path}
    recommend(metrics="cbdf@words,jsd@words", **given)
    assert len(recommend(metrics="jsd@words,energy@given", **given).board) == 2


def test_corpora_too_alike_are_warned_of(make_sources):
    alike = make_sources(160).corpora["a"]
    halves = {"reference": alike.take(np.arange(80)), "candidate": alike.take(np.arange(80, 160))}
    answer = recommend(**halves, metrics="jsd@words,energy@given", budget=5)
    assert any(text.startswith("no metric orders mixtures of the corpora well") for text in answer.warnings)


def test_embeddings_alone_and_a_metric_of_texts():
    rng = np.random.default_rng(0)
    given = {"reference": rng.normal(size=(90, 4)), "candidate": rng.normal(size=(90, 4)) + 0.5, "budget": 5}
    assert recommend(**given, metrics="energy,medoid").choice[0] in ("energy@given", "medoid@given")
    with pytest.raises(InputError, match="jsd needs texts"):
        recommend(**given, metrics="jsd")


def test_a_metric_that_fails_is_named_and_comes_last(corpora, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(type(get_corpus_metrics("zipf")[0]), "compute_many", fail)
    monkeypatch.setattr(type(get_corpus_metrics("zipf")[0]), "compute", fail)
    given = {"reference": corpora["a"], "candidate": corpora["b"], "budget": 20, "effect": 0.5}
    answer = recommend(metrics="jsd@words,zipf@words", **given)
    assert answer.choice == ("jsd@words",)
    assert [row.metric for row in answer.board] == ["jsd@words", "zipf@words"]
    assert any("broken" in text for text in answer.warnings)
    assert [row.metric for row in answer.power] == ["jsd@words"]


def test_rated_pairs(tmp_path):
    sources = read_rated("sample:graded", limit=500)
    answer = recommend(pairs=sources, metrics=PAIR_METRICS, budget=60)
    plan = Plan(Agreement(), sources, get_pair_metrics(PAIR_METRICS))
    assert answer.about["pairs"] == 500
    assert set(answer.choice) == top_tier(plan, tmp_path)
    assert [row.metric for row in answer.power] == [row.metric for row in answer.board][1:]
    assert {cost.metric for cost in answer.costs} == set(PAIR_METRICS.split(","))


def test_all_metrics_that_are_installed_are_tried_and_none_is_fetched(monkeypatch):
    def absent(*_, **__):
        raise ResourceError("wordllama is not here")

    names = {metric.name for metric in all_metrics("pair")}
    assert {"bertscore", "tfidf", "cosine", "chrf"} < names
    assert not names & {"judge", "cross_encoder", "ensemble"}
    assert [metric.name for metric in all_metrics("corpus")][:3] == ["energy", "mmd", "mauve"]
    monkeypatch.setattr("textgauge.encode.word_vectors.word_vectors", absent)
    monkeypatch.setattr(recommend_module, "all_metrics", lambda _: get_pair_metrics("jaccard,overlap,wordvec_cosine"))
    sources = read_rated("sample:graded", limit=100)
    answer = recommend(pairs=sources, budget=30)
    assert {row.metric for row in answer.board} == {"jaccard", "overlap"}
    assert "not installed here: wordvec_cosine" in answer.notes
    with pytest.raises(ResourceError, match="wordllama is not here"):
        recommend(pairs=sources, metrics="jaccard,wordvec_cosine", budget=30)


def test_the_power_asked_for_counts_for_agreement_as_a_task():
    sources = read_rated("sample:graded", limit=300)
    given = {"metrics": "jaccard,levenshtein", "budget": 30, "power": 0.95}
    as_task = recommend(task="agreement", data=sources, **given)
    assert as_task.about["power"] == 0.95
    assert as_task.power == recommend(pairs=sources, **given).power
    assert as_task.power[0].count > recommend(pairs=sources, **given | {"power": 0.8}).power[0].count


def test_a_task():
    answer = recommend(task="clustering", data="sample:intents", metrics="jaccard,levenshtein", budget=60)
    assert answer.kind == "task"
    assert answer.choice[0] in ("jaccard", "levenshtein")
    assert not answer.power


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give two corpora"),
        ({"reference": ["a", "b"]}, "two corpora are needed"),
        ({"pairs": "sample:graded", "task": "clustering"}, "give two corpora"),
        ({"task": "clustering"}, "needs data"),
        ({"reference": ["a", "b"], "candidate": ["c", "d"]}, "too few different texts"),
        ({"pairs": "sample:graded", "effect": 0.0}, "the effect is"),
        ({"pairs": "sample:graded", "power": 1.0}, "the power lies"),
        ({"pairs": "sample:graded", "budget": "soon"}, "a budget is"),
        ({"pairs": "sample:graded", "metrics": ","}, "at least one metric"),
    ],
)
def test_wrong_use_is_one_clear_error(given, said):
    with pytest.raises(InputError, match=said):
        recommend(**given)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="clustering"):
        recommend(task="clusterin", data="sample:intents")
    with pytest.raises(InputError, match="compares corpora"):
        recommend(pairs="sample:graded", metrics="energy")
