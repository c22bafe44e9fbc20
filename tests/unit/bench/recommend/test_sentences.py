"""Sentences, pages and JSON say what the numbers say."""

import json
from dataclasses import replace

import pytest

from textgauge.bench.recommend import LeftOut, MetricCost
from textgauge.bench.recommend.detection import TextsNeeded
from textgauge.bench.recommend.power import PairsNeeded


def test_the_answer_in_words(make_answer):
    assert make_answer().sentences == (
        "To rank corpora, use quick; slow is statistically tied with it.",
        "To detect 10 % of foreign texts with 80 % power, use slow: "
        "it needs about 92 texts a side (extrapolated from 64).",
        "For this, quick needs about 240 texts a side.",
        "Tested together with the other recommended metrics, 2 metrics in all, slow needs at most about 100: "
        "p-values are adjusted then.",
        "quick reaches 0.850 overall in 5 repetitions: accuracy 0.900, linearity 0.800 "
        "(overall is their mean, each rescaled to 0 to 1).",
        "Next comes poor with 0.500.",
        "A comparison of 100 texts a side takes 1.23 ms (plus 1.5 s to embed the texts with minilm the first time) "
        "with quick and 250 ms with slow.",
    )


def test_where_only_bounds_are_known(make_answer):
    nan = float("nan")
    power = (TextsNeeded("slow", nan, 512, nan, 300, 40), TextsNeeded("quick", nan, 900, nan, 300, 40))
    said = make_answer(power=power, detect=()).sentences[1]
    assert said == (
        "To detect 10 % of foreign texts with 80 % power, "
        "more than 510 texts a side are needed with every metric tried."
    )


def test_metrics_that_may_need_fewer_texts_than_the_best_known_are_named(make_answer):
    nan = float("nan")
    power = (TextsNeeded("slow", 92, 80, 110, 128, 50, 105), TextsNeeded("quick", nan, 40, nan, 32, 6))
    said = make_answer(power=power).sentences[2]
    assert said == "Too few tests were simulated to rule out fewer texts for quick: a larger budget decides."


def test_a_sole_winner_and_a_sole_metric(make_answer):
    whole = make_answer()
    sole = make_answer(choice=("quick",))
    assert sole.sentences[0] == "To rank corpora, use quick: it is better than the other 2 metrics."
    unranked = replace(whole.board.rows[2], overall=float("nan"), rank=None, rank_low=None, rank_high=None, tier=None)
    two = type(whole.board)((*whole.board.rows[:2], unranked), whole.board.measures)
    said = make_answer(choice=("quick",), board=two).sentences[0]
    assert said == "To rank corpora, use quick: it is better than the other metric."
    board = type(whole.board)(whole.board.rows[:1], whole.board.measures)
    alone = make_answer(choice=("quick",), board=board)
    assert alone.sentences[0] == "Only quick was ranked: there is nothing to compare it with."
    assert not any("rest" in sentence for sentence in alone.sentences)


def test_many_tied_metrics_are_counted(make_answer):
    tied = tuple(f"m{place}" for place in range(8))
    said = make_answer(choice=("quick", *tied)).sentences[0]
    assert said == "To rank corpora, use quick; m0, m1, m2, m3 and 4 more are statistically tied with it."


def test_the_quickest_of_those_tied_is_named_where_it_is_not_the_best(make_answer):
    costs = (MetricCost("quick", 0.2, 100, 1.5, "minilm"), MetricCost("slow", 0.1, 100))
    said = make_answer(costs=costs, detect=("quick",)).sentences
    assert said[-1] == "Of the recommended metrics, slow is the fastest: 100 ms."


def test_what_was_left_out_is_in_the_first_sentence(make_answer):
    nan, about = float("nan"), {**make_answer().about, "budget": 20.0}
    gone = (LeftOut("cosine", 24.3), LeftOut("wmd"), LeftOut("meteor", 1_220.0), LeftOut("ter", nan))
    one = make_answer(left_out=gone[:1], about=about)
    assert one.sentences[0] == (
        "To rank corpora, use quick; slow is statistically tied with it. Within 20 s, "
        "cosine was left out: it needs about 25 s."
    )
    sole = make_answer(left_out=gone, choice=("quick",), about=about)
    assert sole.sentences[0].endswith(
        " Within 20 s, cosine and meteor were left out: they need about 1,300 s; "
        "wmd and ter were left out: there was no time to try them."
    )
    none = make_answer(kind="pairs", left_out=gone[1:2], choice=(), power=(), costs=(), about=about)
    assert none.sentences == (
        "No metric has a value on these data. Within 20 s, wmd was left out: there was no time to try it.",
    )
    found = json.loads(sole.to_json(), parse_constant=pytest.fail)["details"]
    assert found["sentences"][0] == sole.sentences[0]
    assert found["left_out"][:2] == [{"metric": "cosine", "seconds": 24.3}, {"metric": "wmd", "seconds": None}]


def test_no_choice_is_said(make_answer):
    none = make_answer(kind="pairs", choice=(), power=(), costs=())
    assert none.sentences == ("No metric has a value on these data.",)


def test_rated_pairs_in_words(make_answer):
    about = {"power": 0.9, "pairs": 1234}
    power = (PairsNeeded("slow", "quick", 0.05, 812.0, 400.0, 2400.0),)
    said = make_answer(kind="pairs", power=power, about=about).sentences
    assert said[0] == "To score pairs, use quick; slow is statistically tied with it."
    assert said[3] == (
        "To separate quick from slow, tested alone, by Spearman's ρ with 90 % power you need about 810 rated pairs; "
        "1,234 were used here."
    )
    assert said[4].startswith("Scoring 100 pairs takes 1.23 ms (plus 1.5 s to embed")
    nan = float("nan")
    none = make_answer(kind="pairs", power=(PairsNeeded("slow", "quick", -0.01, nan, nan, nan),), about=about)
    assert none.sentences[3] == "Spearman's ρ of quick is not above that of slow on these pairs."


def test_json_holds_everything_and_no_nan(make_answer):
    answer = make_answer(warnings=("beware",), notes=("so",))
    whole = json.loads(answer.to_json(), parse_constant=pytest.fail)
    found = whole["details"] | {"warnings": whole["warnings"]}
    assert found["answers"] == [
        {"purpose": "rank corpora", "choice": ["quick", "slow"]},
        {"purpose": "detect 10 % of foreign texts", "choice": ["slow"]},
    ]
    assert found["choice"] == ["quick", "slow"]
    assert found["runners_up"] == ["slow"] == list(answer.runners_up)
    assert found["sentences"] == list(answer.sentences)
    assert [row["count"] for row in found["power"]] == [92, 241, None]
    assert [row["together"] for row in found["power"]] == [105, 280, None]
    assert found["power"][0]["extrapolated"] is True
    assert [row["embedding_seconds"] for row in found["costs"]] == [1.5, 0.0]
    assert (found["warnings"], found["notes"]) == (["beware"], ["so"])
    assert [row["needed.count"] for row in answer.to_dicts()] == [241, 92, None]
    assert str(answer).splitlines()[-1] == "warning: beware"


def test_pages_hold_all_sentences_and_tables_in_the_order_of_the_answers(make_answer):
    answer = make_answer(warnings=("beware",), notes=("so",))
    titles = [title for title, _ in answer.tables()]
    assert titles == [
        "To rank corpora, best first",
        "To detect 10 % of foreign texts: texts needed a side, fewest first",
        "Cost, CPU seconds",
    ]
    for one, (_, rows) in zip(answer.answers, answer.tables(), strict=False):
        assert tuple(row["metric"] for row in rows)[: len(one.choice)] == one.choice
    for page in (answer.markdown(), answer.html(), answer._repr_html_()):
        assert all(text in page for text in [*answer.sentences, *titles, "Warnings"])
    assert "| slow | 92 | 80 | 110 |" in answer.markdown()
    assert answer.html().startswith("<!doctype html>")
    assert "://" not in answer.html()


def test_what_comes_from_data_is_text(make_answer):
    evil = "<script>alert(1)</script> [x](y) | *z*"
    power = (TextsNeeded(evil, 10, 5, 20, 16, 10, 12),)
    answer = make_answer(data=(evil, "b"), warnings=(evil,), power=power, detect=(evil,))
    for page in (answer.html(), answer._repr_html_()):
        assert "<script" not in page
        assert "&lt;script&gt;" in page
    page = answer.markdown()
    assert "<script" not in page.replace("\\<", "")
    assert "[x](y)" not in page.replace("\\[", "")
    table = next(block for block in page.split("\n\n") if "| metric | count |" in block)
    assert {line.replace("\\|", "").count("|") for line in table.splitlines()} == {9}
