"""Leaderboards of runs in which metrics of several kinds went through protocols of their own."""

import pytest

from textgauge.bench.leaderboard import leaderboards
from textgauge.bench.protocols import Clustering, Ksc, Size, Speed
from textgauge.bench.protocols.base import over_repetitions
from textgauge.bench.results import Judged
from textgauge.core.errors import InputError


def judged(metric, protocol, value):
    verdicts = [over_repetitions(measure.name, [value, value + 0.01, value]) for measure in protocol.measures]
    return Judged("data", protocol, 0, metric, tuple(verdicts))


CORPORA = [
    judged(name, protocol, value)
    for name, value in (("fid", 0.9), ("pr", 0.2))
    for protocol in (Ksc(), Size(), Speed())
]
PAIRS = [judged(name, Clustering(), value) for name, value in (("chrf", 0.8), ("bleu", 0.3))]


def test_one_kind_of_metrics_has_one_board_and_throughput_stands_on_it():
    (board,) = leaderboards(CORPORA).values()
    assert list(leaderboards(CORPORA)) == [""]
    assert [row.metric for row in board] == ["fid", "pr"]
    assert {"accuracy", "size_robustness", "throughput"} <= set(board.measures)


def test_metrics_of_two_kinds_are_ranked_apart():
    found = leaderboards([*CORPORA, *PAIRS])
    assert list(found) == ["Comparing corpora (known mixtures, sample size and speed)", "Clustering"]
    assert [[row.metric for row in board] for board in found.values()] == [["fid", "pr"], ["chrf", "bleu"]]
    assert [row.rank for board in found.values() for row in board] == [1, 2, 1, 2]
    assert "clustering" not in found["Comparing corpora (known mixtures, sample size and speed)"].measures


def test_what_ranks_nothing_and_shares_no_metric_has_a_board_of_its_own():
    assert list(leaderboards([judged("jsd", Speed(), 0.5), *PAIRS])) == ["Clustering", "Speed"]


def test_weights_count_on_the_boards_that_have_the_measure():
    found = leaderboards([*CORPORA, *PAIRS], {"accuracy": 3.0})
    assert len(found) == 2
    with pytest.raises(InputError, match="no measure 'beauty'"):
        leaderboards([*CORPORA, *PAIRS], {"beauty": 1.0})
