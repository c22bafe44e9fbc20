import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range
from scipy.stats import t as student

from textgauge.stats.rankings import joint_reach, ranking


def test_reach_of_all_pairs_of_independent_things_is_that_of_tukey():
    draws = np.random.default_rng(1).normal(size=(1_000, 6))
    first, second = np.triu_indices(6, 1)
    found = joint_reach(draws[:, first] - draws[:, second], freedom=np.inf, level=0.95)
    assert abs(found - studentized_range.ppf(0.95, 6, np.inf) / np.sqrt(2)) < 0.08


def test_reach_never_exceeds_bonferroni_and_never_falls_below_one_interval():
    draws = np.random.default_rng(1).normal(size=(50, 20))
    found = joint_reach(draws, freedom=1e9, level=0.95)
    assert norm.ppf(0.975) < found <= norm.ppf(1 - 0.025 / 20) + 1e-9


def test_columns_that_are_one_another_count_once():
    column = np.random.default_rng(1).normal(size=(500, 1))
    found = joint_reach(np.repeat(column, 20, axis=1), freedom=1e9, level=0.95)
    assert abs(found - norm.ppf(0.975)) < 0.1


def board(values, error=0.01):
    values = np.array(values, dtype=float)
    draws = np.random.default_rng(0).normal(size=(20, len(values)))
    return ranking(values, np.full((len(values),) * 2, error), draws, freedom=100.0, level=0.95)


def test_a_thing_without_a_value_is_not_ranked():
    found = board([0.5, np.nan, 0.1])
    assert found.order == [2, 0]
    assert found.tiers() == {2: 1, 0: 2}
    assert [row["rank_high"] for row in found.placings()] == [1, 2, None]


def test_a_difference_that_never_varied_is_no_statement():
    assert not board([0.5, 0.1], error=0.0).better.any()


def test_equal_values_are_tied_even_without_spread():
    found = board([0.5, 0.5], error=0.0)
    assert found.low.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert found.unbeaten() == [0, 1]


@settings(max_examples=30)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=7), st.floats(0.001, 1))
def test_ranks_follow_from_what_is_better(values, error):
    found = board(values, error)
    low, high = found.rank_ranges()
    for place, rank in enumerate(found.order):
        assert low[rank] <= place + 1 <= high[rank]
    assert not (found.better & found.better.T).any()
    assert set(found.unbeaten()) == {place for place in range(len(values)) if low[place] == 1}


def test_without_a_column_that_varies_one_interval_is_what_is_left():
    for draws in (np.zeros((30, 3)), np.full((30, 2), np.nan)):
        assert abs(joint_reach(draws, freedom=1e9, level=0.95) - norm.ppf(0.975)) < 1e-6
    assert abs(joint_reach(np.zeros((30, 3)), freedom=4.0, level=0.9) - student.ppf(0.95, 4)) < 1e-9


def test_pairs_name_the_first_and_say_better_only_where_it_is_sure():
    rows = board([0.5, 0.1, 0.101, np.nan]).pairs("fid", ["a", "b", "c", "d"])
    assert [(row["first"], row["second"], row["better"]) for row in rows] == [
        ("b", "c", None),
        ("b", "a", "b"),
        ("c", "a", "c"),
    ]
    assert {row["metric"] for row in rows} == {"fid"}
    for row, ahead in zip(rows, (0.001, 0.4, 0.399), strict=True):
        assert row["ahead"] == pytest.approx(ahead)
        assert (row["low"] + row["high"]) / 2 == pytest.approx(ahead)
        assert 0.04 < row["high"] - row["low"] < 0.06  # 2.4 standard errors of 0.01 to either side


def test_placings_are_ranks_with_ranges_and_tiers_best_first():
    rows = board([0.5, np.nan, 0.1, 0.101]).placings()
    assert [list(row.values()) for row in rows] == [
        [2, 1, 1, 2, 1],
        [3, 2, 1, 2, 1],
        [0, 3, 3, 3, 2],
        [1, None, None, None, None],
    ]
    assert list(rows[0]) == ["place", "rank", "rank_low", "rank_high", "tier"] == list(rows[-1])


def test_things_of_equal_value_come_in_the_order_of_the_ranks_they_may_have():
    """The second of two equal things has no error of its own, so it is better than nothing."""
    errors = np.full((3, 3), 0.01)
    errors[0] = errors[:, 0] = np.nan
    draws = np.random.default_rng(0).normal(size=(20, 3))
    found = ranking(np.array([0.1, 0.1, 0.9]), errors, draws, freedom=100.0, level=0.95)
    assert found.order == [1, 0, 2]
