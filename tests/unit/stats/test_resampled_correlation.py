"""Resampled correlations against resampling one by one, and their intervals against simulation."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.stats.columns import NAN, columns, related, rows

from textgauge.core.sizes import cap_sizes
from textgauge.stats.correlation import pearson, spearman
from textgauge.stats.kendall import accuracy_eq, kendall_b
from textgauge.stats.orders import inversions
from textgauge.stats.resampled_correlation import (
    accuracy_rows,
    correlation_interval,
    draws,
    inversion_rows,
    kendall_rows,
    pearson_rows,
    rank_rows,
    resampled,
    spearman_rows,
)


@settings(deadline=None, max_examples=60)
@given(rows, st.integers(0, 1000))
def test_resamples_at_once_are_resamples_one_by_one(pairs, seed):
    gold, metric = columns(pairs)
    (weights,) = draws(len(gold), 20, seed)
    for correlation in (pearson, spearman):
        expected = [correlation(np.repeat(gold, w), np.repeat(metric, w)) for w in weights]
        np.testing.assert_allclose(resampled(correlation, gold, metric, weights), expected, rtol=0, atol=1e-9)


def test_draws_take_n_rows_or_whole_clusters():
    weights = np.concatenate(list(draws(50, 400, seed=0)))
    assert weights.shape == (400, 50)
    assert (weights.sum(axis=1) == 50).all()
    assert 0.9 < weights.var() < 1.06  # n · 1/n · (1 − 1/n)
    cluster = np.array(["a", "a", "b", "c", "c", "c"])
    weights = np.concatenate(list(draws(6, 100, seed=0, cluster=cluster)))
    assert (weights[:, [0, 3, 3]] == weights[:, [1, 4, 5]]).all()
    assert (weights[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_draws_do_not_depend_on_how_many_are_held_at_once():
    (whole,) = draws(40, 50, seed=3)
    with cap_sizes(7):
        cut = list(draws(40, 50, seed=3))
    assert len(cut) > 1
    np.testing.assert_array_equal(np.concatenate(cut), whole)


def test_intervals_hold_the_correlation_and_widen_with_clusters():
    gold, metric = related(300, 4)
    for correlation in (pearson, spearman, kendall_b, accuracy_eq):
        low, high = correlation_interval(correlation, gold, metric, resamples=200)
        assert low < correlation(gold, metric) < high
        again, other = (correlation_interval(correlation, gold, metric, resamples=200, seed=seed) for seed in (0, 1))
        assert (low, high) == again != other
    twice, label = np.tile(np.stack([gold, metric]), 2), np.tile(np.arange(300), 2)
    blind, aware = (np.ptp(correlation_interval(pearson, *twice, cluster=c)) for c in (None, label))
    assert 1.25 < aware / blind < 1.6  # √2


def test_no_interval_without_a_correlation():
    flat, rising = np.ones(9), np.arange(9.0)
    assert np.isnan(correlation_interval(pearson, flat, rising)).all()
    assert np.isnan(correlation_interval(spearman, rising, np.full(9, NAN), resamples=5)).all()
    assert np.isnan(correlation_interval(pearson, rising, rising, cluster=np.zeros(9))).all()
    assert np.isnan(correlation_interval(pearson, flat[:0], rising[:0])).all()


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
    found = coverage(correlation, TRUTH[correlation], n, trials, partial(correlation_interval, resamples=500))
    assert 0.92 <= found <= 0.985


OF_ROWS = {
    pearson_rows: pearson,
    spearman_rows: spearman,
    kendall_rows: kendall_b,
    accuracy_rows: accuracy_eq,
    inversion_rows: inversions,
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
    assert np.isnan([pearson_rows(one, one), kendall_rows(one, one), accuracy_rows(one, one)]).all()
    assert inversion_rows(one, one).tolist() == [0.0, 0.0]


def test_rows_that_are_taken_some_at_a_time_are_all_there():
    x, y = np.random.default_rng(8).normal(size=(2, 5, 1_500))  # two rows fill a block
    np.testing.assert_allclose(inversion_rows(x, y), [inversions(*row) for row in zip(x, y, strict=True)])
