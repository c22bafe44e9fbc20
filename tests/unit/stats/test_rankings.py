"""Corrections and ranks: against scipy and plain twins, and how often all statements hold together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import norm, studentized_range
from scipy.stats import t as student

from textgauge.stats.rankings import (
    compute_gap_p,
    compute_pair_reach,
    compute_smallest_gap,
    compute_student_interval,
    find_better,
    moderate_variances,
    rank_ranges,
    rank_values,
    split_into_tiers,
)
from textgauge.stats.resampling import adjust_by_holm, adjust_by_max_t


def paired(values):
    """Gaps, errors and degrees of freedom of rows with repetitions."""
    difference = values[:, None] - values[None]
    n = values.shape[1]
    return difference.mean(axis=2), difference.std(axis=2, ddof=1) / np.sqrt(n), np.full((len(values),) * 2, n - 1.0)


def test_p_values_are_those_of_paired_t_tests():
    values = np.random.default_rng(0).normal(size=(3, 6))
    p = compute_gap_p(*paired(values))
    assert p[0, 1] == pytest.approx(stats.ttest_rel(values[0], values[1]).pvalue)
    assert p[1, 2] == pytest.approx(stats.ttest_rel(values[1], values[2]).pvalue)


def test_a_constant_gap_is_decided_by_its_signs():
    gaps = np.array([0.1, 0.1, 0.0, 0.1])
    p = compute_gap_p(gaps, np.array([0.0, 0.0, 0.0, np.nan]), np.array([4.0, 9.0, 9.0, 4.0]))
    assert p[:3].tolist() == [2.0**-4, 2.0**-9, 1.0]
    assert np.isnan(p[3])


def test_better_is_what_holm_rejects_over_all_pairs():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(6, 8)) + np.array([3, 2, 1, 0, 0, 0])[:, None]
    gaps = paired(values)
    better = find_better(*gaps)
    first, second = np.triu_indices(6, 1)
    adjusted = adjust_by_holm(compute_gap_p(*(part[first, second] for part in gaps)))
    assert (better | better.T)[first, second].tolist() == (adjusted <= 0.05).tolist()
    assert not (better & better.T).any()
    assert (gaps[0][better] > 0).all()


def test_variances_of_one_size_are_pooled_and_others_are_left_alone():
    rng = np.random.default_rng(2)
    alike = rng.chisquare(4, size=66) / 4
    pooled, freedom = moderate_variances(alike, 4.0, 12)
    assert freedom == 24.0  # its own four, and half of those of ten other metrics
    assert pooled.std() < 0.2 * alike.std()
    assert np.argsort(pooled).tolist() == np.argsort(alike).tolist()
    apart = alike * np.exp(6.0 * rng.normal(size=66))
    own, freedom = moderate_variances(apart, 4.0, 12)
    assert freedom < 4.5
    assert own[apart > 1] == pytest.approx(apart[apart > 1], rel=0.2)
    for few in ([0.3], [0.0, 0.3], [np.nan, 0.3]):
        np.testing.assert_array_equal(moderate_variances(np.array(few), 4.0, 3)[0], few)


def test_a_gap_beyond_the_smallest_is_found_and_one_below_is_not():
    errors, freedom = np.full((3, 3), 0.1), np.full((3, 3), 19.0)
    smallest = compute_smallest_gap(np.zeros((3, 3), dtype=bool), errors, freedom)
    for times, expected in ((1.01, True), (0.99, False)):
        gaps = times * smallest * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])
        assert find_better(gaps, errors, freedom).any() == expected
    assert np.isnan(compute_smallest_gap(np.ones((3, 3), dtype=bool), errors, freedom))


def test_unknown_errors_make_nothing_better():
    assert not find_better(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.full((2, 2), np.nan), np.full((2, 2), 3.0)).any()


def test_an_interval_without_an_error_is_unknown():
    assert all(np.isnan(compute_student_interval(0.5, float("nan"), 3.0, 0.95)))
    assert all(np.isnan(compute_student_interval(0.5, 0.1, 0.0, 0.95)))


def test_ranks_and_tiers_of_a_chain():
    better = np.triu(np.ones((4, 4), dtype=bool), 1)
    assert [found.tolist() for found in rank_ranges(better)] == [[1, 2, 3, 4]] * 2
    assert split_into_tiers([0, 1, 2, 3], better) == {0: 1, 1: 2, 2: 3, 3: 4}
    better[0, 1] = better[1, 2] = False
    assert split_into_tiers([0, 1, 2, 3], better) == {0: 1, 1: 1, 2: 1, 3: 2}


@pytest.mark.parametrize(("metrics", "repetitions"), [(12, 2), (12, 5), (20, 3)])
def test_equal_ones_are_seldom_separated(metrics, repetitions):
    rng = np.random.default_rng([metrics, repetitions])
    false = [find_better(*paired(rng.normal(size=(metrics, repetitions)))).any() for _ in range(200)]
    assert np.mean(false) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_step_down_rule(values):
    p = np.array(values)
    order = np.argsort(p, kind="stable")
    expected, running = np.empty(len(p)), 0.0
    for place, row in enumerate(order):
        running = max(running, (len(p) - place) * p[row])
        expected[row] = min(running, 1.0)
    assert adjust_by_holm(p) == pytest.approx(expected)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2)), min_size=1, max_size=6))
def test_groups_are_closed_testing_by_weighted_bonferroni(tests):
    """p of a set of hypotheses: the least of (smallest p of a group in the set)·(weights in the set)/(its weight)."""
    p, groups = np.array([test[0] for test in tests]), np.array([test[1] for test in tests])
    weight = np.bincount(groups)
    largest = np.zeros(len(p))
    for number in range(1, 2 ** len(p)):
        chosen = np.flatnonzero([number >> row & 1 for row in range(len(p))])
        total = weight[np.unique(groups[chosen])].sum()
        joint = (p[chosen] / weight[groups[chosen]]).min() * total
        largest[chosen] = np.maximum(largest[chosen], joint)
    assert adjust_by_holm(p, groups) == pytest.approx(np.minimum(largest, 1.0))


@given(st.integers(1, 5), st.integers(0, 1_000))
def test_max_t_is_the_step_down_rule(tests, seed):
    values = np.random.default_rng(seed).normal(size=(20, tests)).round(1)
    order = sorted(range(tests), key=lambda column: -values[0, column])
    running, expected = 0.0, np.empty(tests)
    for place, column in enumerate(order):
        reached = [max(row[other] for other in order[place:]) >= values[0, column] for row in values[1:]]
        running = max(running, (1 + sum(reached)) / 20)
        expected[column] = running
    assert adjust_by_max_t(values) == pytest.approx(expected)


def test_two_repetitions_can_be_tested_and_one_cannot():
    first, second = np.array([0.1, 0.4]), np.array([0.2, 0.9])
    gap, error = (first - second).mean(), (first - second).std(ddof=1) / np.sqrt(2)
    found = compute_gap_p(np.array([gap, gap, 0.0]), np.array([error, error, np.nan]), np.array([1.0, 0.0, 4.0]))
    assert found[0] == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert np.isnan(found[1:]).all()  # no gap, but nothing is known about its error


def test_reach_of_all_pairs_of_independent_things_is_that_of_tukey():
    draws = np.random.default_rng(1).normal(size=(1_000, 6))
    found = compute_pair_reach(draws, freedom=np.inf, level=0.95)
    assert abs(found - studentized_range.ppf(0.95, 6, np.inf) / np.sqrt(2)) < 0.08


def test_reach_never_exceeds_bonferroni_and_never_falls_below_one_interval():
    draws = np.random.default_rng(1).normal(size=(50, 20))
    found = compute_pair_reach(draws, freedom=1e9, level=0.95)
    assert norm.ppf(0.975) < found <= norm.ppf(1 - 0.025 / 190) + 1e-9


def test_columns_that_are_one_another_count_once():
    columns = np.random.default_rng(1).normal(size=(500, 2))
    found = compute_pair_reach(np.repeat(columns, 10, axis=1), freedom=1e9, level=0.95)
    assert abs(found - norm.ppf(0.975)) < 0.1


def board(values, error=0.01):
    values = np.array(values, dtype=float)
    draws = np.random.default_rng(0).normal(size=(20, len(values)))
    return rank_values(values, np.full((len(values),) * 2, error), draws, freedom=100.0, level=0.95)


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
        assert abs(compute_pair_reach(draws, freedom=1e9, level=0.95) - norm.ppf(0.975)) < 1e-6
    assert abs(compute_pair_reach(np.zeros((30, 3)), freedom=4.0, level=0.9) - student.ppf(0.95, 4)) < 1e-9


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
    found = rank_values(np.array([0.1, 0.1, 0.9]), errors, draws, freedom=100.0, level=0.95)
    assert found.order == [1, 0, 2]
