"""Correlations against scipy, resamples against resampling one by one, intervals against simulation."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.unit.stats.columns import NAN, columns, count_inversions, related, rows

from textgauge.core.settings import limit_sizes
from textgauge.stats.correlation import (
    average_over_groups,
    compute_accuracy_rows,
    compute_kendall_rows,
    compute_pearson_rows,
    compute_spearman_rows,
    correlate_groups,
    count_inversion_rows,
    draw_weights,
    estimate_correlation_interval,
    list_rows_of_groups,
    omega_squared,
    pearson,
    r_squared,
    rank_rows,
    resample_correlation,
    spearman,
)
from textgauge.stats.orders import accuracy_eq, kendall_b


def test_groups_without_a_correlation_are_left_out_of_the_mean():
    gold, metric = np.array([1.0, 2, 1, 2, 5, 5, 9]), np.array([1.0, 2, 2, 1, 1, 2, 9])
    group = np.array(["b", "b", "a", "a", "c", "c", "d"])
    assert [members.tolist() for members in list_rows_of_groups(group)] == [[2, 3], [0, 1], [4, 5], [6]]
    np.testing.assert_array_equal(correlate_groups(pearson, gold, metric, group), [-1, 1, NAN, NAN])
    assert average_over_groups(pearson, group)(gold, metric) == 0.0
    assert np.isnan(average_over_groups(pearson, group[4:])(gold[4:], metric[4:]))


varied = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=30).filter(
    lambda rows: all(len(set(column)) > 1 for column in zip(*rows, strict=True))
)


@given(varied)
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


@given(varied)
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


@settings(deadline=None, max_examples=60)
@given(rows, st.integers(0, 1000))
def test_resamples_at_once_are_resamples_one_by_one(pairs, seed):
    gold, metric = columns(pairs)
    (weights,) = draw_weights(len(gold), 20, seed)
    for correlation in (pearson, spearman):
        expected = [correlation(np.repeat(gold, w), np.repeat(metric, w)) for w in weights]
        np.testing.assert_allclose(
            resample_correlation(correlation, gold, metric, weights), expected, rtol=0, atol=1e-9
        )


def test_draws_take_n_rows_or_whole_clusters():
    weights = np.concatenate(list(draw_weights(50, 400, seed=0)))
    assert weights.shape == (400, 50)
    assert (weights.sum(axis=1) == 50).all()
    assert 0.9 < weights.var() < 1.06  # n · 1/n · (1 − 1/n)
    cluster = np.array(["a", "a", "b", "c", "c", "c"])
    weights = np.concatenate(list(draw_weights(6, 100, seed=0, cluster=cluster)))
    assert (weights[:, [0, 3, 3]] == weights[:, [1, 4, 5]]).all()
    assert (weights[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_draws_do_not_depend_on_how_many_are_held_at_once():
    (whole,) = draw_weights(40, 50, seed=3)
    with limit_sizes(7):
        cut = list(draw_weights(40, 50, seed=3))
    assert len(cut) > 1
    np.testing.assert_array_equal(np.concatenate(cut), whole)


def test_intervals_hold_the_correlation_and_widen_with_clusters():
    gold, metric = related(300, 4)
    for correlation in (pearson, spearman, kendall_b, accuracy_eq):
        low, high = estimate_correlation_interval(correlation, gold, metric, resamples=200)
        assert low < correlation(gold, metric) < high
        again, other = (
            estimate_correlation_interval(correlation, gold, metric, resamples=200, seed=seed) for seed in (0, 1)
        )
        assert (low, high) == again != other
    twice, label = np.tile(np.stack([gold, metric]), 2), np.tile(np.arange(300), 2)
    blind, aware = (np.ptp(estimate_correlation_interval(pearson, *twice, cluster=c)) for c in (None, label))
    assert 1.25 < aware / blind < 1.6  # √2


def test_no_interval_without_a_correlation():
    flat, rising = np.ones(9), np.arange(9.0)
    assert np.isnan(estimate_correlation_interval(pearson, flat, rising)).all()
    assert np.isnan(estimate_correlation_interval(spearman, rising, np.full(9, NAN), resamples=5)).all()
    assert np.isnan(estimate_correlation_interval(pearson, rising, rising, cluster=np.zeros(9))).all()
    assert np.isnan(estimate_correlation_interval(pearson, flat[:0], rising[:0])).all()


def coverage(correlation, truth, n, trials, interval):
    hits = 0
    for trial in range(trials):
        low, high = interval(correlation, *related(n, [n, trial]))
        hits += low <= truth <= high
    return hits / trials


TRUTH = {pearson: 0.5, spearman: 6 / np.pi * np.arcsin(0.25), kendall_b: 1 / 3}


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 60, 300])
@pytest.mark.parametrize("correlation", TRUTH)
def test_bootstrap_intervals_cover_as_they_say(correlation, n):
    trials = 1_000 if correlation is not kendall_b else 300
    found = coverage(correlation, TRUTH[correlation], n, trials, partial(estimate_correlation_interval, resamples=500))
    assert 0.92 <= found <= 0.985


OF_ROWS = {
    compute_pearson_rows: pearson,
    compute_spearman_rows: spearman,
    compute_kendall_rows: kendall_b,
    compute_accuracy_rows: accuracy_eq,
    count_inversion_rows: count_inversions,
}


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(2, 9), st.integers(0, 10_000))
def test_rows_at_once_are_rows_one_by_one(count, size, seed):
    x, y = np.random.default_rng(seed).integers(0, 4, size=(2, count, size)).astype(float)
    for of_rows, of_one in OF_ROWS.items():
        np.testing.assert_allclose(of_rows(x, y), [of_one(*row) for row in zip(x, y, strict=True)], atol=1e-12)


def test_rows_with_a_gap_have_no_correlation_and_do_not_touch_the_others():
    x, y = np.array([[1.0, 2, 3], [1, NAN, 3]]), np.array([[1.0, 3, 2], [1, 2, 3]])
    for of_rows, of_one in OF_ROWS.items():
        assert np.isnan(of_rows(x, y)[1])
        assert np.isnan(of_rows(y, x)[1])
        assert of_rows(x, y)[0] == pytest.approx(of_one(x[0], y[0]))
    np.testing.assert_array_equal(rank_rows(x), [[3, 2, 1], [NAN, NAN, NAN]])


def test_one_column_has_no_pairs():
    one = np.ones((2, 1))
    assert np.isnan(
        [compute_pearson_rows(one, one), compute_kendall_rows(one, one), compute_accuracy_rows(one, one)]
    ).all()
    assert count_inversion_rows(one, one).tolist() == [0.0, 0.0]


def test_rows_that_are_taken_some_at_a_time_are_all_there():
    x, y = np.random.default_rng(8).normal(size=(2, 5, 1_500))  # two rows fill a block
    np.testing.assert_allclose(count_inversion_rows(x, y), [count_inversions(*row) for row in zip(x, y, strict=True)])
