"""Recommendations on small data: the choice is the top tier of the ordinary run, and sentences say what numbers say."""

import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from textgauge.bench import PairSources, Plan, Store, run
from textgauge.bench.inputs import read_rated
from textgauge.bench.leaderboard import Leaderboard, RankedMetric, rank_metrics
from textgauge.bench.power import TextsNeeded
from textgauge.bench.recommend import (
    EFFORTS,
    Answer,
    Recommendation,
    choose_by_record,
    choose_mixtures,
    list_usable_metrics,
    read_records,
    recommend,
    take_texts,
)
from textgauge.bench.results import Results
from textgauge.core import listen
from textgauge.core.errors import InputError, ResourceError
from textgauge.data import Corpus
from textgauge.metrics import get_corpus_metrics, get_pair_metrics, list_metrics

CORPUS_METRICS = "jsd@words,energy@given,zipf@words,medoid@given"
QUICK = EFFORTS["quick"]
NAN = float("nan")


def top_tier(plan, folder):
    run([plan], Store(folder))
    board = rank_metrics(Results(Store(folder)).groups())
    return {board.rows[0].metric, *board.tied}


@pytest.fixture
def corpora(make_two_sources):
    return make_two_sources(120, apart=0.4, name="reference,candidate").corpora


@pytest.fixture
def two(corpora):
    return {"reference": corpora["a"], "candidate": corpora["b"], "effort": "quick", "effect": 0.5}


def test_two_corpora(two, make_two_sources, tmp_path):
    steps = []
    with listen(steps.append):
        answer = recommend(**two, metrics=CORPUS_METRICS, out=tmp_path / "kept")
    sources = make_two_sources(120, apart=0.4)
    plan = Plan(choose_mixtures(sources, QUICK), sources, get_corpus_metrics(CORPUS_METRICS), 0)
    assert set(answer.choice) == top_tier(plan, tmp_path / "whole")
    assert (answer.about["protocol"], answer.about["effort"]) == (plan.protocol.key, "quick")
    metrics = set(CORPUS_METRICS.split(","))
    assert {row.metric for row in answer.board} == metrics
    assert {row.metric for row in answer.power} == {cost["metric"] for cost in answer.costs} == metrics
    rank, detect = answer.answers
    assert answer.sentences[0].startswith(f"To rank corpora, use {answer.choice[0]}")
    assert answer.sentences[1].startswith(f"To detect 50 % of foreign texts with 80 % power, use {detect.choice[0]}")
    assert [row.metric for row in rank.board][: len(rank.choice)] == list(rank.choice)
    assert [row.metric for row in answer.power][: len(detect.choice)] == list(detect.choice)
    counts = [row.count for row in answer.power if row.known]
    assert counts == sorted(counts)
    assert Store.open(tmp_path / "kept").manifests()
    assert "simulating tests with jsd@words" in steps


def test_the_answer_is_the_same_every_time_but_for_the_seconds(two):
    first, second = (recommend(**two, metrics="jsd@words,energy@given") for _ in range(2))
    assert first.answers == second.answers or str(first.board) == str(second.board)
    assert repr((first.power, first.notes)) == repr((second.power, second.notes))  # NaN is not equal to itself


def test_the_store_of_another_run_does_not_count(two, tmp_path):
    recommend(**two, metrics="cbdf@words,jsd@words", out=tmp_path)
    assert len(recommend(**two, metrics="jsd@words,energy@given", out=tmp_path).board) == 2


def test_corpora_too_alike_are_warned_of(make_two_sources):
    alike = make_two_sources(160).corpora["a"]
    halves = {"reference": alike.take(np.arange(80)), "candidate": alike.take(np.arange(80, 160))}
    answer = recommend(**halves, metrics="jsd@words,energy@given", effort="quick")
    assert any("no metric orders mixtures" in text for text in answer.warnings)


def test_embeddings_alone_and_a_metric_of_texts():
    rng = np.random.default_rng(0)
    given = {"reference": rng.normal(size=(90, 4)), "candidate": rng.normal(size=(90, 4)) + 0.5, "effort": "quick"}
    assert recommend(**given, metrics="energy,medoid").choice[0] in ("energy@given", "medoid@given")
    with pytest.raises(InputError, match="jsd"):
        recommend(**given, metrics="jsd")


def test_a_metric_that_fails_is_named_and_comes_last(two, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(type(get_corpus_metrics("zipf")[0]), "compute_many", fail)
    monkeypatch.setattr(type(get_corpus_metrics("zipf")[0]), "compute", fail)
    answer = recommend(**two, metrics="jsd@words,zipf@words")
    assert answer.choice == ("jsd@words",)
    assert [row.metric for row in answer.board] == ["jsd@words", "zipf@words"]
    assert any("broken" in text for text in answer.warnings)
    assert [row.metric for row in answer.power] == ["jsd@words"]


def test_all_metrics_that_are_installed_are_tried_and_none_is_fetched(monkeypatch):
    def absent(*_, **__):
        raise ResourceError("wordllama is not here")

    names = {metric.name for metric in list_usable_metrics("pair")}
    assert {"bertscore", "tfidf", "cosine", "chrf"} < names
    assert not names & {"judge", "cross_encoder", "ensemble"}
    assert [metric.name for metric in list_usable_metrics("corpus")][:3] == ["energy", "mmd", "mauve"]
    monkeypatch.setattr("textgauge.metrics.pair.word_vectors.get_word_vectors", absent)
    some = get_pair_metrics("jaccard,overlap,wordvec_cosine")
    monkeypatch.setattr(sys.modules["textgauge.bench.recommend"], "list_usable_metrics", lambda _: some)
    sources = read_rated("sample:graded", limit=100)
    answer = recommend(pairs=sources)
    assert {row.metric for row in answer.board} == {"jaccard", "overlap"}
    assert "not installed here: wordvec_cosine" in answer.notes
    with pytest.raises(ResourceError, match="wordllama"):
        recommend(pairs=sources, metrics="jaccard,wordvec_cosine")


def test_the_power_asked_for_counts_for_agreement_as_a_task():
    sources = read_rated("sample:graded", limit=300)
    given = {"metrics": "jaccard,levenshtein", "power": 0.95}
    as_task = recommend(task="agreement", data=sources, **given)
    assert as_task.about["power"] == 0.95
    assert as_task.power == recommend(pairs=sources, **given).power
    assert as_task.power[0].count > recommend(pairs=sources, **given | {"power": 0.8}).power[0].count


def test_a_task():
    answer = recommend(task="clustering", data="sample:intents", metrics="jaccard,levenshtein", effort="quick")
    assert answer.kind == "task"
    assert answer.choice[0] in ("jaccard", "levenshtein")
    assert not answer.power
    assert "n=75" in answer.about["protocol"]


@pytest.mark.parametrize(("texts", "k", "n"), [(2_000, 7, 30), (100, 7, 12), (40, 7, 10), (20, 4, 10), (9, 3, 5)])
def test_mixtures_are_smaller_only_where_texts_are_few(make_two_sources, texts, k, n):
    sources = make_two_sources(texts)
    protocol = choose_mixtures(sources, QUICK)
    protocol.check(sources)
    assert (protocol.k, protocol.n) == (k, pytest.approx(n, abs=1))


def test_texts_are_taken_by_content(make_two_sources):
    sources = make_two_sources(60)
    turned = type(sources)("x", {role: corpus.take(np.arange(59, -1, -1)) for role, corpus in sources.corpora.items()})
    (some, _), (same, _) = take_texts(sources, 20), take_texts(turned, 20)
    assert some.fingerprint == same.fingerprint
    assert some.joint.pool.size == 40
    groups = np.arange(60) // 3, np.arange(60) // 6
    (_, labels) = take_texts(sources, 20, groups)
    assert [np.unique(own, return_counts=True)[1].max() for own in labels] == [3, 6]
    assert [len(np.unique(own)) for own in labels] == [7, 4]


def test_what_is_needed_is_counted_in_groups_where_these_are_named(two, tmp_path):
    labels = np.arange(120) // 4
    how = {"metrics": "energy@given", "effort": "quick", "effect": 0.5}
    answer = recommend(two["reference"], two["candidate"], group=(labels, 100 + labels), **how)
    (needed,) = answer.power
    assert needed.group_size == pytest.approx(4, abs=0.1)
    assert needed.largest < 30
    assert "groups of 4 texts a side" in answer.answer
    with pytest.raises(InputError, match="group"):
        recommend(task="clustering", data="sample:intents", group="doc")


def test_rated_pairs_of_a_document_count_together(tmp_path):
    pairs = read_rated("sample:graded", limit=200)
    columns = {"left": list(pairs.left.texts), "right": list(pairs.right.texts), "rating": pairs.columns["rating"]}
    frame = pl.DataFrame(columns | {"doc": np.repeat(np.arange(10), 20)})
    frame.write_csv(tmp_path / "rated.csv")
    how = {"pairs": tmp_path / "rated.csv", "rating": "rating", "metrics": "jaccard,levenshtein"}
    grouped, alone = recommend(**how, group="doc"), recommend(**how)
    assert grouped.power[0].difference == alone.power[0].difference
    assert grouped.power[0].count != alone.power[0].count


def test_drawn_pairs_keep_columns_and_references_together():
    left, texts = [f"l{i}" for i in range(30)], [f"r{i}.{j}" for i in range(30) for j in range(1 + i % 2)]
    items = np.repeat(np.arange(30), [1 + i % 2 for i in range(30)])
    sources = PairSources("x", Corpus.of(left), Corpus.of(texts), {"rating": np.arange(30.0)}, items)
    some = sources.draw(10, seed=1)
    assert some.pairs.n_items == len(some.left) == 10
    for pair in range(len(some.pairs)):
        item = some.items[pair]
        number = some.left.texts[item][1:]
        assert some.pairs.left.texts[pair] == f"l{number}"
        assert some.right.texts[pair].startswith(f"r{number}.")
        assert some.columns["rating"][item] == float(number)
    assert sources.draw(30, seed=1) is sources


@pytest.fixture
def make_answer():
    """Three metrics; the first two are tied to rank corpora, the second alone is best to detect foreign texts."""

    def ranked(name, measures, overall, *ranks):
        return RankedMetric(
            name, measures, overall, **dict(zip(("rank", "rank_low", "rank_high", "tier"), ranks, strict=True))
        )

    def make(*, choice=("quick", "slow"), board=None, detect=("slow",), **changed):
        rows = [
            ranked("quick", {"accuracy": 0.9, "linearity": 0.8}, 0.85, 1, 1, 2, 1),
            ranked("slow", {"accuracy": 0.88, "linearity": 0.8}, 0.84, 2, 1, 2, 1),
            ranked("poor", {"accuracy": 0.5, "linearity": NAN}, 0.5, 3, 3, 3, 2),
        ]
        places = [("slow", 0.7, 1, 1, 1, 1), ("quick", 0.6, 2, 2, 2, 2), ("poor", 0.3, 3, 3, 3, 3)]
        detection = [ranked(name, {"detection": score}, score, *ranks) for name, score, *ranks in places]
        given = {
            "kind": "corpora",
            "data": ("a.txt", "b.txt"),
            "answers": (
                Answer("rank corpora", choice, board or Leaderboard(tuple(rows), ("accuracy", "linearity"))),
                Answer("detect 10 % of foreign texts", detect, Leaderboard(tuple(detection), ("detection",))),
            ),
            "power": (
                TextsNeeded("slow", 92, 80, 110, 64, 50, 105),
                TextsNeeded("quick", 241, 207, 296, 256, 90, 280),
                TextsNeeded("poor", NAN, 4321, NAN, 128, 40),
            ),
            "costs": tuple(
                {"metric": metric, "seconds": seconds, "size": 100, "embedding_seconds": 1.5, "embedder": "minilm"}
                for metric, seconds in (("quick", 0.00123), ("slow", 0.25))
            ),
            "about": {"effect": 0.1, "power": 0.8, "experiment": "5 repetitions"},
        }
        if changed.get("kind", "corpora") != "corpora":
            given["answers"] = (replace(given["answers"][0], purpose="score pairs"),)
        return Recommendation(**given | changed)

    return make


def test_among_tied_metrics_the_one_with_the_best_record_is_named(make_answer, monkeypatch):
    records = {"slow": (0.7, "mean power over 3 pairs of corpora"), "poor": (0.9, "mean power over 3 pairs of corpora")}
    monkeypatch.setattr("textgauge.bench.recommend.read_records", lambda: records)
    board = replace(make_answer().board, tied=("slow",))
    chosen = choose_by_record("rank corpora", board)
    assert chosen.choice == ("slow", "quick")
    assert make_answer(answers=(chosen,)).sentences[0] == (
        "To rank corpora, use slow: quick comes first here, slow is statistically tied with it, "
        "and slow has the best record elsewhere (mean power over 3 pairs of corpora: 0.70). "
        "Worse than quick here: poor."
    )
    records["quick"] = (0.8, "mean power over 3 pairs of corpora")
    assert make_answer(answers=(choose_by_record("rank corpora", board),)).sentences[0] == (
        "To rank corpora, use quick; slow is statistically tied with it, "
        "and quick has the best record elsewhere (mean power over 3 pairs of corpora: 0.80). "
        "Worse than quick here: poor."
    )
    assert choose_by_record("rank corpora", replace(board, tied=())).choice == ("quick",)


def test_records_are_of_metrics_that_there_are():
    names = {metric.key for metric in list_metrics()}
    assert {"bertscore", "cosine", "chrf", "blend"} <= read_records().keys() <= names


def test_pages_hold_all_sentences_and_the_table_and_what_comes_from_data_is_text(make_answer):
    evil = "<script>alert(1)</script> [x](y) | *z*"
    answer = make_answer(warnings=("beware",), notes=("so",))
    page = answer.to_markdown()
    assert all(text in page for text in [*answer.sentences, "## Warnings", "- beware", "## How this was found", "- so"])
    assert " ".join([answer.answer, answer.footnote]) == " ".join(answer.sentences)
    assert [row["metric"] for row in answer.readable()] == ["quick", "slow", "poor"]
    assert [row["needed"] for row in answer.readable()] == ["241 (207 … 296)", "92 (80 … 110)", "more than 4,300"]
    assert [row["CPU seconds"] for row in answer.readable()] == ["0.00123", "0.25", None]
    power = (TextsNeeded(evil, 10, 5, 20, 16, 10, 12),)
    answer = make_answer(data=(evil, "b"), warnings=(evil,), power=power, detect=(evil,))
    assert "<script" not in answer._repr_html_()
    assert "&lt;script&gt;" in answer._repr_html_()
    page = answer.to_markdown()
    assert "<script" not in page.replace("\\<", "")
    assert "[x](y)" not in page.replace("\\[", "")
