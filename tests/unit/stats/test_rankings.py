import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range

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
