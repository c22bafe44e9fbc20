import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.stats.multiple_tests import holm, max_t


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
