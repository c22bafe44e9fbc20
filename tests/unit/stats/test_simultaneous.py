"""Which is better than which: known differences, and few false ones among equals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from textgauge.stats.simultaneous import better_than, holm, max_t, pair_p_values, rank_ranges, student_interval, tiers


def paired(values):
    """Gaps, errors and degrees of freedom of rows with repetitions."""
    difference = values[:, None] - values[None]
    n = values.shape[1]
    return difference.mean(axis=2), difference.std(axis=2, ddof=1) / np.sqrt(n), np.full((len(values),) * 2, n - 1.0)


def test_p_values_are_those_of_paired_t_tests():
    values = np.random.default_rng(0).normal(size=(3, 6))
    p = pair_p_values(*paired(values))
    assert p[0, 1] == pytest.approx(stats.ttest_rel(values[0], values[1]).pvalue)
    assert p[1, 2] == pytest.approx(stats.ttest_rel(values[1], values[2]).pvalue)


def test_a_constant_gap_is_decided_by_its_signs():
    gaps = np.array([0.1, 0.1, 0.0, 0.1])
    p = pair_p_values(gaps, np.array([0.0, 0.0, 0.0, np.nan]), np.array([4.0, 9.0, 9.0, 4.0]))
    assert p[:3].tolist() == [2.0**-4, 2.0**-9, 1.0]
    assert np.isnan(p[3])


def test_better_is_what_holm_rejects_over_all_pairs():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(6, 8)) + np.array([3, 2, 1, 0, 0, 0])[:, None]
    gaps = paired(values)
    better = better_than(*gaps)
    first, second = np.triu_indices(6, 1)
    adjusted = holm(pair_p_values(*(part[first, second] for part in gaps)))
    assert (better | better.T)[first, second].tolist() == (adjusted <= 0.05).tolist()
    assert not (better & better.T).any()
    assert (gaps[0][better] > 0).all()


def test_unknown_errors_make_nothing_better():
    assert not better_than(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.full((2, 2), np.nan), np.full((2, 2), 3.0)).any()


def test_an_interval_without_an_error_is_unknown():
    assert all(np.isnan(student_interval(0.5, float("nan"), 3.0, 0.95)))
    assert all(np.isnan(student_interval(0.5, 0.1, 0.0, 0.95)))


def test_ranks_and_tiers_of_a_chain():
    better = np.triu(np.ones((4, 4), dtype=bool), 1)
    assert [found.tolist() for found in rank_ranges(better)] == [[1, 2, 3, 4]] * 2
    assert tiers([0, 1, 2, 3], better) == {0: 1, 1: 2, 2: 3, 3: 4}
    better[0, 1] = better[1, 2] = False
    assert tiers([0, 1, 2, 3], better) == {0: 1, 1: 1, 2: 1, 3: 2}


@pytest.mark.parametrize(("metrics", "repetitions"), [(12, 2), (12, 5), (20, 3)])
def test_equal_ones_are_seldom_separated(metrics, repetitions):
    rng = np.random.default_rng([metrics, repetitions])
    false = [better_than(*paired(rng.normal(size=(metrics, repetitions)))).any() for _ in range(200)]
    assert np.mean(false) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_step_down_rule(values):
    p = np.array(values)
    order = np.argsort(p, kind="stable")
    expected, running = np.empty(len(p)), 0.0
    for place, row in enumerate(order):
        running = max(running, (len(p) - place) * p[row])
        expected[row] = min(running, 1.0)
    assert holm(p) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_one_group_keeps_its_p_values_and_groups_of_one_are_holms(values):
    p = np.array(values)
    assert holm(p, groups=[3] * len(p)) == pytest.approx(p)
    assert holm(p, groups=range(len(p))) == pytest.approx(holm(p))


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
    assert holm(p, groups) == pytest.approx(np.minimum(largest, 1.0))


@given(st.integers(1, 5), st.integers(0, 1_000))
def test_max_t_is_the_step_down_rule(tests, seed):
    values = np.random.default_rng(seed).normal(size=(20, tests)).round(1)
    order = sorted(range(tests), key=lambda column: -values[0, column])
    running, expected = 0.0, np.empty(tests)
    for place, column in enumerate(order):
        reached = [max(row[other] for other in order[place:]) >= values[0, column] for row in values[1:]]
        running = max(running, (1 + sum(reached)) / 20)
        expected[column] = running
    assert max_t(values) == pytest.approx(expected)


def test_two_repetitions_can_be_tested_and_one_cannot():
    first, second = np.array([0.1, 0.4]), np.array([0.2, 0.9])
    gap, error = (first - second).mean(), (first - second).std(ddof=1) / np.sqrt(2)
    found = pair_p_values(np.array([gap, gap, 0.0]), np.array([error, error, np.nan]), np.array([1.0, 0.0, 4.0]))
    assert found[0] == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert np.isnan(found[1:]).all()  # no gap, but nothing is known about its error
