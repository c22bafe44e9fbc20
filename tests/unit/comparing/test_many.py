import numpy as np
import pytest

import textgauge
from textgauge.comparing.many import compare_many
from textgauge.errors import InputError

RNG = np.random.default_rng(3)


def texts(words, n=200):
    return [" ".join(RNG.choice(words, 4)) for _ in range(n)]


ANIMALS, SHIPS = ["cat", "dog", "cow", "hen", "red"], ["ship", "boat", "sail", "mast", "red"]
REFERENCE = texts(ANIMALS)
CANDIDATES = {"ships": texts(SHIPS), "animals": texts(ANIMALS), "more": texts(ANIMALS)}
METRICS = "jsd@words,cbdf@words"


@pytest.fixture(scope="module")
def report():
    return textgauge.compare(REFERENCE, CANDIDATES, metrics=METRICS)


def test_values_are_those_of_each_comparison_alone(report):
    for name, candidate in CANDIDATES.items():
        alone = textgauge.compare(REFERENCE, candidate, metrics=METRICS)
        for score in alone:
            row = next(r for r in report.to_dicts() if r["metric"] == score.metric and r["candidate"] == name)
            assert row["value"] == pytest.approx(score.value, rel=1e-12)


def test_the_answer_follows_from_the_ranks(report):
    assert report.answer == (
        "No candidate is nearer than all others: animals and more tied by jsd@words and cbdf@words "
        "(95 % for all together)."
    ) or report.answer.startswith("No candidate is nearer than all others: more and animals")
    ships = [row for row in report.to_dicts() if row["candidate"] == "ships"]
    assert [(row["rank"], row["rank_low"], row["tier"]) for row in ships] == [(3, 3, 2)] * 2


def test_differences_hold_for_every_pair_and_metric(report):
    rows = report.differences()
    assert len(rows) == 2 * 3
    for row in rows:
        assert (row["better"] is not None) == (row["low"] > 0)
        assert row["low"] <= row["ahead"] <= row["high"]


def test_the_result_is_saved_drawn_and_shown(report, tmp_path):
    saved = textgauge.load(report.save(tmp_path / "many.json"))
    assert saved.answer == report.answer
    assert len(saved.details["differences"]) == 6
    assert saved.plot().to_dict() == report.plot().to_dict()
    assert "ships" in report._repr_html_()
    assert len(report.plot().to_dict()["vconcat"]) == 2


def test_p_values_are_adjusted_for_all_candidates():
    found = compare_many(REFERENCE, CANDIDATES, metrics=METRICS, test=True, permutations=99)
    for name, candidate in CANDIDATES.items():
        alone = textgauge.compare(REFERENCE, candidate, metrics=METRICS, test=True, permutations=99)
        for score, mine in zip(alone, found.reports[name], strict=True):
            assert mine.p_adjusted >= score.p_adjusted - 1e-12


def test_metrics_that_need_more_texts_rank_nothing_and_say_so():
    found = compare_many(REFERENCE[:20], {name: rows[:20] for name, rows in CANDIDATES.items()}, metrics=METRICS)
    assert found.answer == "No candidate is nearer than all others: no metric has errors for these sizes."
    assert any("no ranks by jsd@words" in text for text in found.warnings)
    assert {row["rank"] for row in found.to_dicts()} == {None}


def test_paired_candidates_need_the_same_places():
    with pytest.raises(InputError, match="equally many texts; they have: a 200, b 199"):
        compare_many(REFERENCE, {"a": REFERENCE, "b": REFERENCE[1:]}, metrics=METRICS, paired=True)
    with pytest.raises(InputError, match="text 3 of the candidate a is blank"):
        compare_many(REFERENCE, {"a": [*REFERENCE[:2], " ", *REFERENCE[3:]]}, metrics=METRICS, paired=True)


def test_bad_candidates_are_one_clear_line():
    with pytest.raises(InputError, match="there is no candidate"):
        textgauge.compare(REFERENCE, {}, metrics=METRICS)
    with pytest.raises(InputError, match="the candidate b has 1 text"):
        textgauge.compare(REFERENCE, {"a": REFERENCE, "b": ["one"]}, metrics=METRICS)
    with pytest.raises(InputError, match="for one candidate"):
        textgauge.compare(REFERENCE, {"a": REFERENCE}, metrics=METRICS, explain=True)  # type: ignore[call-overload]
