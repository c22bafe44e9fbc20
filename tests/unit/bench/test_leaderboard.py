"""Leaderboards of verdicts that are made up, so that ranks, intervals and tiers are known."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from textgauge.bench import Clustering, Distributionality, Ksc, Size, Speed
from textgauge.bench.leaderboard import rank_by_kind, rank_metrics
from textgauge.bench.protocols.base import Verdict, summarise_repetitions
from textgauge.bench.results import Group, list_verdicts
from textgauge.core.errors import InputError
from textgauge_papers.perturbation import Perturbation


def judged(metric, data="a,b", protocol=None, **values):
    """One metric with the given values of single repetitions; `every` gives all measures of the protocol the same."""
    protocol = protocol or Ksc()
    every = values.pop("every", None)
    given = {m.name: values.get(m.name, every) for m in protocol.measures}
    verdicts = [summarise_repetitions(name, found) for name, found in given.items() if found is not None]
    return Group(data, protocol, 0, judged={metric: verdicts})


def spread(mean, noise=0.001, n=5, seed=0):
    return list(mean + noise * np.random.default_rng(seed).normal(size=n))


def by_name(board):
    return {row.metric: row for row in board}


def test_metrics_far_apart_have_one_rank_and_a_tier_of_their_own():
    means = {"good": 0.9, "bad": 0.1, "fair": 0.5}
    board = rank_metrics([judged(name, every=spread(mean, seed=i)) for i, (name, mean) in enumerate(means.items())])
    assert [row.metric for row in board] == ["good", "fair", "bad"]
    assert [(row.rank, row.rank_low, row.rank_high, row.tier) for row in board] == [
        (1, 1, 1, 1),
        (2, 2, 2, 2),
        (3, 3, 3, 3),
    ]
    assert board.measures == ("accuracy", "weighted_accuracy", "monotonicity", "separability", "linearity")


def test_a_small_difference_in_every_repetition_is_seen_by_pairing():
    rng = np.random.default_rng(2)
    common = 0.5 + 0.2 * rng.normal(size=8)
    paired = [judged("a", every=list(common + 0.01)), judged("b", every=list(common))]
    assert [(row.metric, row.tier) for row in rank_metrics(paired)] == [("a", 1), ("b", 2)]
    shuffled = [paired[0], judged("b", every=list(rng.permutation(common)))]
    assert {row.tier for row in rank_metrics(shuffled)} == {1}


def test_equal_metrics_are_ordered_by_name_and_hold_all_ranks():
    board = rank_metrics([judged(name, every=spread(0.5)) for name in ("c", "a", "b")])
    assert [row.metric for row in board] == ["a", "b", "c"]
    assert {(row.rank_low, row.rank_high, row.tier) for row in board} == {(1, 3, 1)}


def test_the_overall_score_is_the_mean_share_of_the_way_to_the_best():
    values = {"accuracy": 0.8, "weighted_accuracy": 0.6, "monotonicity": 0.0, "separability": -0.2, "linearity": 0.4}
    (row,) = rank_metrics([judged("a", **{name: [value] * 3 for name, value in values.items()})])
    assert row.measures == pytest.approx(values)
    assert row.overall == pytest.approx((0.8 + 0.6 + 0.5 + 0.0 + 0.4) / 5)


def test_weights_by_name():
    rows = [
        judged("exact", accuracy=spread(1.0), linearity=spread(0.2)),
        judged("straight", accuracy=spread(0.4), linearity=spread(0.9)),
    ]
    assert [row.metric for row in rank_metrics(rows)] == ["straight", "exact"]
    weighted = rank_metrics(rows, {"accuracy": 3})
    assert [row.metric for row in weighted] == ["exact", "straight"]
    exact = by_name(weighted)["exact"]
    assert exact.overall == pytest.approx(
        (3 * min(exact.measures["accuracy"], 1) + exact.measures["linearity"]) / 4, abs=1e-3
    )
    assert rank_metrics(rows, {"accuracy": 0}).rows[0].overall == pytest.approx(np.mean(spread(0.9)))


def test_all_weights_zero_is_no_order():
    board = rank_metrics([judged(name, accuracy=[0.5, 0.6]) for name in "ab"], {"accuracy": 0})
    assert all(math.isnan(row.overall) for row in board)
    assert {(row.rank, row.rank_low, row.rank_high, row.tier) for row in board} == {(None,) * 4}
    assert board.answer.startswith("Nothing is ranked")


def test_trials_that_were_judged_in_several_ways_count_once():
    ways = [Ksc(), Ksc(ties="wrong", judgements="paper")]
    rows = [
        judged(name, "d", way, accuracy=[value] * 3)
        for way, value in zip(ways, (0.9, 0.5), strict=True)
        for name in "ab"
    ]
    board = rank_metrics(rows)
    assert [row.measures["accuracy"] for row in board] == [0.5, 0.5]
    assert any("judged in several ways" in note for note in board.notes)
    assert not any("judged in several ways" in note for note in rank_metrics(rows[:2]).notes)


def test_data_sets_of_one_measure_share_its_weight():
    rows = [judged("a", data, accuracy=[value] * 2, linearity=[0.0] * 2) for data, value in (("x", 0.2), ("y", 0.6))]
    rows.append(judged("a", "z", Size(), size_robustness=[1.0] * 4))
    (row,) = rank_metrics(rows)
    assert row.measures["accuracy"] == pytest.approx(0.4)
    assert row.overall == pytest.approx((0.4 + 0.0 + 1.0) / 3)


def test_a_metric_without_an_overall_score_is_unranked_and_nobody_is_better_than_it():
    undefined = Verdict("accuracy", math.nan, values=(math.nan,) * 5, reason="why")
    nothing = Group("a,b", Ksc(), 0, judged={"nothing": [undefined]})
    board = rank_metrics([nothing, judged("bad", accuracy=spread(0.0)), judged("good", accuracy=spread(0.9, seed=1))])
    last = board.rows[-1].to_dict()
    assert last == dict.fromkeys(last) | {"metric": "nothing"}
    assert [(row.metric, row.rank, row.rank_low, row.rank_high, row.tier) for row in board][:2] == [
        ("good", 1, 1, 1, 1),
        ("bad", 2, 2, 2, 2),
    ]
    assert board.readable()[-1]["rank"] == "unranked"
    assert board.answer == "Best: good, better than bad (95 % confidence, these texts)."


def test_a_tier_ends_only_where_all_above_are_better_than_all_below():
    # The first is better than the last; the one between, with much noise, is tied with both.
    rows = [judged("first", accuracy=spread(0.8)), judged("last", accuracy=spread(0.6, seed=1))]
    board = rank_metrics([*rows, judged("between", accuracy=[0.3, 1.0, 0.9, 0.4, 0.9])])
    assert {row.metric: (row.rank_low, row.rank_high, row.tier) for row in board} == {
        "first": (1, 2, 1),
        "between": (1, 3, 1),
        "last": (2, 3, 1),
    }
    assert board.tied == ("between",)
    assert board.answer.startswith("Best: first, statistically tied with between; better than last")


def test_the_interval_of_overall_is_students_over_repetitions():
    values = [0.5, 0.6, 0.7, 0.65]
    row = rank_metrics([judged("a", accuracy=values), judged("b", accuracy=[0.4, 0.2, 0.3, 0.1])]).rows[0]
    reach = stats.t.ppf(0.975, 3) * stats.sem(values)
    assert (row.low, row.high) == pytest.approx((np.mean(values) - reach, np.mean(values) + reach))


def test_throughput_is_shown_and_not_averaged():
    board = rank_metrics(
        [judged("a", protocol=Speed(), throughput=[3.0, 1.0], growth=[1.0, 1.0]), judged("a", accuracy=[0.5, 0.5])]
    )
    assert board.rows[0].measures["throughput"] == 2.0
    assert board.rows[0].overall == 0.5


def test_what_a_metric_is_like_is_shown_and_not_averaged():
    like = {"a": [-0.9, -0.9], "b": [0.9, 0.9]}
    rows = [judged(name, protocol=Distributionality(), distributionality=found) for name, found in like.items()]
    board = rank_metrics([*rows, judged("a", accuracy=[0.8, 0.8]), judged("b", accuracy=[0.5, 0.5])])
    assert [(row.metric, row.overall) for row in board] == [("a", pytest.approx(0.8)), ("b", pytest.approx(0.5))]
    assert by_name(board)["b"].measures["distributionality"] == pytest.approx(0.9)
    assert any("distributionality" in note for note in board.notes)
    # Asked for by name, or alone, it decides.
    weighted = rank_metrics([*rows, judged("a", accuracy=[0.8, 0.8])], {"distributionality": 1, "accuracy": 0})
    for decided in (weighted, rank_metrics(rows)):
        assert [row.metric for row in decided] == ["b", "a"]
        assert not any("leaves it out" in note for note in decided.notes)


def test_the_order_of_what_is_judged_changes_nothing():
    rng = np.random.default_rng(3)
    rows = [judged(str(i), data, every=list(rng.random(5))) for i in range(4) for data in ("x", "y")]
    first = rank_metrics(rows).to_dicts()
    for a, b in zip(first, rank_metrics(rows[::-1]).to_dicts(), strict=True):
        assert a == pytest.approx(b)


def three_data_sets(share=None):
    """Two metrics on three data sets, whose texts each repetition uses in this share."""
    return [
        replace(judged(name, data, accuracy=spread(mean + shift, seed=i)), pool_share=share)
        for i, (data, shift) in enumerate({"x": 0.0, "y": 0.1, "z": 0.2}.items())
        for name, mean in (("good", 0.7), ("bad", 0.2))
    ]


def test_three_data_sets_have_an_interval_for_new_ones():
    board = rank_metrics(three_data_sets())
    for row, overall in zip(board, (0.8, 0.3), strict=True):
        reach = stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3)
        assert (row.new_data_low, row.new_data_high) == pytest.approx(
            (overall - reach, min(overall + reach, 1)), abs=0.01
        )
        assert row.high - row.low < 0.01
    flat, shown = board.to_dicts()[0], board.readable()[0]
    assert flat["new_data_low"] == pytest.approx(board.rows[0].new_data_low)
    assert list(shown) == ["rank", "metric", "overall", "interval", "new data sets", "tied with", "accuracy"]
    assert shown["rank"] == "1 (1–1)"
    assert "new data sets" not in rank_metrics(three_data_sets()[:4]).readable()[0]


def test_draws_that_use_the_same_texts_are_for_these_texts():
    """y* is drawn again, A and B are not: nothing is said about other points."""
    draws = tuple(np.random.default_rng(3).normal(0.5, 0.1, 200))
    verdict = Verdict("early_rise", 0.5, values=(0.5,), draws=draws, units=20)
    items = [Group("blobs", Perturbation(), 0, judged={"a": [verdict], "b": [verdict]})]
    assert rank_metrics(items).scope == "these texts"
    assert {row["scope"] for row in list_verdicts(items)} == {"these texts"}
    with pytest.raises(InputError, match="new texts"):
        rank_metrics(items, scope="sources")


def test_a_scope_widens_the_interval_and_is_said():
    texts, sources, data = (rank_metrics(three_data_sets(0.5), scope=scope) for scope in ("texts", "sources", "data"))
    widths = [board.rows[0].high - board.rows[0].low for board in (texts, sources, data)]
    assert widths == sorted(widths)
    assert len(set(widths)) == 3
    assert [board.scope for board in (texts, sources, data)] == [
        "these texts",
        "new texts from these sources",
        "new data sets",
    ]
    assert rank_metrics(three_data_sets(0.5)).scope == sources.scope
    assert sources.answer == "Best: good, better than bad (95 % confidence, new texts from these sources)."


CORPORA = [
    judged(name, "data", protocol, every=[value, value + 0.01, value])
    for name, value in (("fid", 0.9), ("pr", 0.2))
    for protocol in (Ksc(), Size(), Speed())
]
PAIRS = [
    judged(name, "data", Clustering(), every=[value, value + 0.01, value])
    for name, value in (("chrf", 0.8), ("bleu", 0.3))
]


def test_metrics_of_two_kinds_are_ranked_apart_and_weights_count_where_the_measure_is():
    for weights in (None, {"accuracy": 3.0}):
        found = rank_by_kind([*CORPORA, *PAIRS], weights)
        assert list(found) == ["Comparing corpora (known mixtures, sample size and speed)", "Clustering"]
        ranks = [[(row.metric, row.rank) for row in board] for board in found.values()]
        assert ranks == [[("fid", 1), ("pr", 2)], [("chrf", 1), ("bleu", 2)]]
    speed = judged("jsd", "data", Speed(), every=[0.5, 0.51, 0.5])
    assert list(rank_by_kind([speed, *PAIRS])) == ["Clustering", "Speed"]  # it ranks nothing, and shares no metric
    with pytest.raises(InputError, match="no measure 'beauty'"):
        rank_by_kind([*CORPORA, *PAIRS], {"beauty": 1.0})
