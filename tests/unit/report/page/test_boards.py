"""Sentences of a page: every number and every claim is true of the ranking."""

import math

import numpy as np
import pytest

from textgauge.bench import Distributionality, Ksc, Size
from textgauge.bench.leaderboard import group_boards
from textgauge.bench.protocols.base import Verdict, summarise_repetitions
from textgauge.bench.results import Group
from textgauge.report.page.tables import format_board, list_averaged_columns

MEASURES = [measure.name for measure in Ksc.measures]


def judged(metric, centre, *, spread=0.001, data="a,b", repetitions=8, missing=0, reason=None):
    """A metric whose measures all lie about a number."""
    rng = np.random.default_rng(len(metric))
    values = centre + spread * rng.normal(size=(len(MEASURES), repetitions))
    verdicts = [summarise_repetitions(name, row.tolist(), [reason]) for name, row in zip(MEASURES, values, strict=True)]
    return Group(data, Ksc(repetitions=repetitions), 0, missing={metric: missing}, judged={metric: verdicts})


def first_board(items):
    return group_boards(items)[0][0]


def said(*items):
    board = first_board(items)
    return board, " ".join(format_board(board))


def test_the_answer_of_the_ranking_and_what_it_rests_on():
    board, text = said(judged("energy", 0.9), judged("fid", 0.7), judged("zipf", 0.2))
    assert text.startswith(board.answer)
    assert "Best: energy, better than fid and zipf" in text
    assert "This rests on 8 repetitions with `a,b`." in text


def test_metrics_without_an_overall_score_are_named():
    nothing = [Verdict(name, math.nan) for name in MEASURES]
    undefined = Group("a,b", Ksc(repetitions=8), 0, judged={"ahd": nothing})
    _, text = said(judged("energy", 0.9), judged("fid", 0.5), undefined)
    assert "Best: energy, better than fid" in text
    assert "`ahd` has no overall score here." in text


def sized(metric, value):
    verdicts = tuple(summarise_repetitions(measure.name, [value, value + 0.01]) for measure in Size.measures)
    return Group("a,b", Size(repetitions=2), 0, judged={metric: verdicts})


def test_protocols_that_rank_the_same_metrics_are_also_ranked_together():
    ranked = [judged("energy", 0.9), judged("fid", 0.5), judged("zipf", 0.2)]
    ((board, single),) = group_boards([*ranked, sized("energy", 0.5), sized("fid", 0.9)])
    assert (board.title, board.heading) == ("Comparing corpora (known mixtures and sample size)", "Comparing corpora")
    assert [(one.title, one.heading) for one in single] == [("Known mixtures",) * 2, ("Sample size",) * 2]
    assert [row.metric for row in board if math.isnan(row.overall)] == ["zipf"]
    apart = group_boards([*ranked, sized("energy", 0.5)])
    assert [board.title for board, _ in apart] == ["Known mixtures", "Sample size"]
    assert [single for _, single in apart] == [(board,) for board, _ in apart]


def test_a_board_names_the_measures_that_its_overall_score_is_a_mean_of():
    def like(metric, score):
        verdict = summarise_repetitions("distributionality", [score] * 3, [None])
        return Group("a,b", Distributionality(), 0, judged={metric: [verdict]})

    likes = [like("energy", 0.9), like("fid", -0.2)]
    together = first_board([*likes, judged("energy", 0.9), judged("fid", 0.5)])
    assert together.title == "Comparing corpora (distribution or neighbours and known mixtures)"
    assert set(list_averaged_columns(together)) == set(MEASURES)
    row = next(row for row in together if row.metric == "fid")
    assert row.overall == pytest.approx(np.mean([m.share(row.measures[m.name]) for m in Ksc.measures]))
    assert list_averaged_columns(first_board(likes)) == ["distributionality"]
