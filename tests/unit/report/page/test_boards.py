"""Sentences of a page: every number and every claim is true of the ranking."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from textgauge.evaluate.boards import boards
from textgauge.evaluate.protocols import Distributionality, Ksc, Size, Speed
from textgauge.evaluate.protocols.base import Verdict, over_repetitions
from textgauge.evaluate.results import Judged
from textgauge.report.page.boards import board_sentences, warnings

MEASURES = [measure.name for measure in Ksc.measures]


def judged(metric, centre, *, spread=0.001, data="a,b", repetitions=8, missing=0, reason=None):
    """A metric whose measures all lie about a number."""
    rng = np.random.default_rng(len(metric))
    values = centre + spread * rng.normal(size=(len(MEASURES), repetitions))
    verdicts = [over_repetitions(name, row.tolist(), [reason]) for name, row in zip(MEASURES, values, strict=True)]
    return Judged(data, Ksc(repetitions=repetitions), 0, metric, tuple(verdicts), missing)


def said(*items):
    board = boards(items)[0]
    return board, " ".join(board_sentences(board))


def test_the_first_with_its_score_and_what_it_rests_on():
    board, text = said(judged("energy", 0.9), judged("fid", 0.7), judged("zipf", 0.2))
    rows = board.ranking.rows
    tiers = len({row.tier for row in rows})
    assert text.startswith(f"`energy` comes first of 3 metrics, which fall into {tiers} tiers: overall ")
    assert float(re.search(r"overall (\d\.\d{3}) of 1", text)[1]) == round(rows[0].overall, 3)
    assert "It is better than the other 2 metrics (95 % for all together, these texts)." in text
    assert "This rests on 8 repetitions with `a,b`." in text


def test_tied_metrics_are_named():
    board, text = said(judged("energy", 0.8, spread=0.1), judged("mmd", 0.8, spread=0.1), judged("zipf", 0.1))
    top = [row.metric for row in board.ranking if row.tier == 1]
    assert len(top) == 2
    assert f"`{top[1]}` is statistically tied with it (95 % for all together, these texts)." in text
    assert "better than" not in text
    assert "2 tiers" in text


def test_one_metric_is_not_compared_with_itself():
    _, text = said(judged("energy", 0.9))
    assert text.startswith("`energy` comes first of 1 metric: overall 0.9")
    assert "better" not in text
    assert "tier" not in text


def test_metrics_without_an_overall_score_are_named():
    undefined = Judged("a,b", Ksc(repetitions=8), 0, "ahd", tuple(Verdict(name, math.nan) for name in MEASURES))
    _, text = said(judged("energy", 0.9), judged("fid", 0.5), undefined)
    assert "first of 2 metrics" in text
    assert "`ahd` has no overall score here." in text


def test_measures_without_two_ends_are_not_ranked():
    verdicts = tuple(over_repetitions(measure.name, [0.5, 0.6]) for measure in Speed.measures)
    items = [Judged("a,b", Speed(), 0, metric, verdicts) for metric in ("energy", "fid")]
    text = " ".join(board_sentences(boards(items)[0]))
    assert "nothing is ranked" in text


def sized(metric, value):
    verdicts = tuple(over_repetitions(measure.name, [value, value + 0.01]) for measure in Size.measures)
    return Judged("a,b", Size(repetitions=2), 0, metric, verdicts)


def test_protocols_that_rank_the_same_metrics_are_also_ranked_together():
    ranked = [judged("energy", 0.9), judged("fid", 0.5), judged("zipf", 0.2)]
    both = boards([*ranked, sized("energy", 0.5), sized("fid", 0.9)])
    assert [board.title for board in both] == ["ksc and size together", "ksc", "size"]
    assert [row.metric for row in both[0].ranking if math.isnan(row.overall)] == ["zipf"]
    assert [board.title for board in boards([*ranked, sized("energy", 0.5)])] == ["ksc", "size"]


def test_a_board_names_the_measures_that_its_overall_score_is_a_mean_of():
    def like(metric, score):
        verdict = over_repetitions("distributionality", [score] * 3, [None])
        return Judged("a,b", Distributionality(), 0, metric, (verdict,), 0)

    likes = [like("energy", 0.9), like("fid", -0.2)]
    together = boards([*likes, judged("energy", 0.9), judged("fid", 0.5)])[0]
    assert together.title == "distributionality and ksc together"
    assert set(together.averaged) == set(MEASURES)
    row = next(row for row in together.ranking if row.metric == "fid")
    assert row.overall == pytest.approx(np.mean([m.share(row.measures[m.name]) for m in Ksc.measures]))
    assert boards(likes)[0].averaged == ("distributionality",)


def test_missing_cells_and_reasons_are_warned_of():
    items = [judged("energy", 0.9, missing=2), judged("fid", math.nan, reason="too few texts")]
    run = SimpleNamespace(count=16, warnings=["ensembles are not trained"])
    lacking, missing, reason = warnings([run, run], items)
    assert lacking == "Ensembles are not trained."
    assert missing == "2 of 32 results are missing; the same `textgauge run` command computes them."
    assert reason == "`fid`, accuracy, weighted accuracy, monotonicity and 2 more (a,b): too few texts."
    assert warnings([], [judged("energy", 0.9)]) == []
