"""Pearson, Spearman, R² and ω² against scipy and plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.unit.stats.columns import NAN

from textgauge.stats.correlation import averaged, by_group, omega_squared, pearson, r_squared, rows_of_groups, spearman


def test_groups_without_a_correlation_are_left_out_of_the_mean():
    gold, metric = np.array([1.0, 2, 1, 2, 5, 5, 9]), np.array([1.0, 2, 2, 1, 1, 2, 9])
    group = np.array(["b", "b", "a", "a", "c", "c", "d"])
    assert [members.tolist() for members in rows_of_groups(group)] == [[2, 3], [0, 1], [4, 5], [6]]
    np.testing.assert_array_equal(by_group(pearson, gold, metric, group), [-1, 1, NAN, NAN])
    assert averaged(pearson, group)(gold, metric) == 0.0
    assert np.isnan(averaged(pearson, group[4:])(gold[4:], metric[4:]))


columns = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=30).filter(
    lambda rows: all(len(set(column)) > 1 for column in zip(*rows, strict=True))
)


@given(columns)
def test_correlations_are_scipys(rows):

    x, y = np.array(rows, dtype=float).T
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert r_squared(x, y) == pytest.approx(stats.linregress(x, y).rvalue ** 2, abs=1e-9)


def plain_omega(y, group):
    grand, labels = sum(y) / len(y), sorted(set(group))
    means = {g: np.mean([v for v, at in zip(y, group, strict=True) if at == g]) for g in labels}
    residual = sum((v - means[g]) ** 2 for v, g in zip(y, group, strict=True))
    treatment = sum((means[g] - grand) ** 2 for g in group)
    mean_residual = residual / (len(y) - len(labels))
    return (treatment - (len(labels) - 1) * mean_residual) / (treatment + residual + mean_residual)


@given(columns)
def test_omega_squared_is_that_of_the_twin(rows):
    y, group = np.array([row[0] for row in rows], dtype=float), np.array([abs(row[1]) % 3 for row in rows])
    if len(set(group.tolist())) < 2 or len(y) <= len(set(group.tolist())):
        assert np.isnan(omega_squared(y, group))
    else:
        assert omega_squared(y, group) == pytest.approx(plain_omega(y, group), abs=1e-9)


@pytest.mark.parametrize("column", [[2.0, 2.0, 2.0], [1.0, np.nan, 2.0], [1.0, np.inf, 2.0]])
def test_constant_and_infinite_columns_have_no_relation(column):
    y, rising = np.array(column), np.array([1.0, 2.0, 3.0])
    assert np.isnan([pearson(rising, y), pearson(y, rising), r_squared(rising, y)]).all()
    assert np.isnan(omega_squared(y, np.array([0, 0, 1])))


def test_fewer_than_two_values_have_no_relation():
    assert np.isnan(spearman(np.array([1.0]), np.array([2.0])))
    assert np.isnan(omega_squared(np.array([1.0]), np.array([0])))


def test_columns_whose_squares_vanish_have_no_relation():
    assert np.isnan(pearson(np.array([0.0, 1e-200]), np.array([0.0, 1e-200])))
