"""Sentences, pages and JSON say what the numbers say."""

import json
from dataclasses import replace

import pytest

from textgauge.evaluate.recommend import LeftOut
from textgauge.evaluate.recommend.power import PairsNeeded
from textgauge.evaluate.recommend.texts_needed import TextsNeeded


def test_the_answer_in_words(make_answer):
    assert make_answer().sentences == (
        "Use quick; slow is statistically tied with it.",
        "Of these 2, quick is named first: it has the best mean place in cost and texts needed.",
        "quick reaches 0.850 of 1 on average in 5 repetitions: accuracy 0.900, linearity 0.800.",
        "The best of the rest is poor with 0.500.",
        "To detect 10 % contamination with 80 % power you need about 92 texts a side with slow (extrapolated from 64) "
        "and 240 with quick, and more than 4,300 with poor.",
        "A comparison of 100 texts a side takes 1.23 ms with quick and 250 ms with slow.",
    )


def test_where_only_bounds_are_known(make_answer):
    nan = float("nan")
    power = (TextsNeeded("quick", nan, 900, nan, 300, 40), TextsNeeded("slow", nan, 512, nan, 300, 40))
    said = make_answer(power=power).sentences[4]
    assert said == (
        "To detect 10 % contamination with 80 % power you need more than 510 texts a side with slow and 900 with quick."
    )
    assert not any("contamination" in sentence for sentence in make_answer(power=()).sentences)


def test_a_sole_winner_and_a_sole_metric(make_answer):
    whole = make_answer()
    sure = type(whole.board)((replace(whole.board.rows[0], rank_high=1), *whole.board.rows[1:]), whole.board.measures)
    sole = make_answer(choice=("quick",), board=sure)
    assert sole.sentences[0] == "Use quick: it is surely better than the other 2 metrics."
    first = make_answer(choice=("quick",))
    assert first.sentences[0] == "Use quick: it comes first, and is surely better than 1 of the other 2 metrics."
    board = type(whole.board)(whole.board.rows[:1], whole.board.measures)
    alone = make_answer(choice=("quick",), board=board)
    assert alone.sentences[0] == "Only quick was ranked: there is nothing to compare it with."
    assert not any("rest" in sentence for sentence in alone.sentences)


def test_what_was_left_out_is_in_the_first_sentence(make_answer):
    nan, about = float("nan"), {**make_answer().about, "budget": 20.0}
    gone = (LeftOut("cosine", 24.3), LeftOut("wmd"), LeftOut("meteor", 1_220.0), LeftOut("ter", nan))
    one = make_answer(left_out=gone[:1], about=about)
    assert one.sentences[0] == (
        "Of the metrics that fit into 20 s, use quick; slow is statistically tied with it; "
        "cosine was left out, including it needs about 25 s."
    )
    sole = make_answer(left_out=gone, choice=("quick",), about=about)
    assert sole.sentences[0] == (
        "Of the metrics that fit into 20 s, use quick: it comes first, "
        "and is surely better than 1 of the other 2 metrics; "
        "cosine and meteor were left out, including them needs about 1,300 s; "
        "wmd and ter were left out, as there was no time to try them."
    )
    none = make_answer(left_out=gone[1:2], choice=(), power=(), costs=(), about=about)
    assert none.sentences == (
        "Of the metrics that fit into 20 s, none has a value on these data; "
        "wmd was left out, as there was no time to try it.",
    )
    for page in (one.markdown(), one.html(), str(one)):
        assert page.index("cosine was left out") < page.index("quick reaches")
    found = json.loads(sole.to_json(), parse_constant=pytest.fail)
    assert found["sentences"][0] == sole.sentences[0]
    assert found["left_out"][:2] == [{"metric": "cosine", "seconds": 24.3}, {"metric": "wmd", "seconds": None}]


def test_no_choice_is_said(make_answer):
    assert make_answer(choice=(), power=(), costs=()).sentences == ("No metric has a value on these data.",)


def test_rated_pairs_in_words(make_answer):
    about = {"power": 0.9, "pairs": 1234, "named_by": ("cost",)}
    power = (PairsNeeded("slow", "quick", 0.05, 812.0, 400.0, 2400.0),)
    said = make_answer(kind="pairs", power=power, about=about).sentences
    assert said[1] == "Of these 2, quick is named first: it is best in cost."
    assert said[4] == (
        "To separate quick from slow by Spearman's ρ with 90 % power you need about 810 rated pairs; there are 1,234."
    )
    assert said[5] == "Scoring 100 pairs takes 1.23 ms with quick and 250 ms with slow."
    nan = float("nan")
    none = make_answer(kind="pairs", power=(PairsNeeded("slow", "quick", -0.01, nan, nan, nan),), about=about)
    assert none.sentences[4] == "Spearman's ρ of quick is not above that of slow on these pairs."


def test_json_holds_everything_and_no_nan(make_answer):
    answer = make_answer(warnings=("beware",), notes=("so",))
    found = json.loads(answer.to_json(), parse_constant=pytest.fail)
    assert found["choice"] == ["quick", "slow"]
    assert found["runners_up"] == ["slow"] == list(answer.runners_up)
    assert found["sentences"] == list(answer.sentences)
    assert [row["count"] for row in found["power"]] == [241, 92, None]
    assert found["power"][1]["extrapolated"] is True
    assert (found["warnings"], found["notes"]) == (["beware"], ["so"])
    assert [row["needed.count"] for row in answer.to_dicts()] == [241, 92, None]
    assert str(answer).splitlines()[-1] == "warning: beware"


def test_pages_hold_all_sentences_and_tables(make_answer):
    answer = make_answer(warnings=("beware",), notes=("so",))
    for page in (answer.markdown(), answer.html(), answer._repr_html_()):
        assert all(sentence in page for sentence in answer.sentences)
        assert all(title in page for title in ("Metrics, best first", "Texts needed a side", "Cost", "Warnings"))
    assert "| quick | 241 | 207 | 296 |" in answer.markdown()
    assert answer.html().startswith("<!doctype html>")
    assert "http" not in answer.html()


def test_what_comes_from_data_is_text(make_answer):
    evil = "<script>alert(1)</script> [x](y) | *z*"
    answer = make_answer(data=(evil, "b"), warnings=(evil,), power=(TextsNeeded(evil, 10, 5, 20, 16, 10),))
    for page in (answer.html(), answer._repr_html_()):
        assert "<script" not in page
        assert "&lt;script&gt;" in page
    page = answer.markdown()
    assert "<script" not in page.replace("\\<", "")
    assert "[x](y)" not in page.replace("\\[", "")
    table = next(block for block in page.split("\n\n") if "| metric | count |" in block)
    assert {line.replace("\\|", "").count("|") for line in table.splitlines()} == {8}
