import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from textgauge.stats.resampling import percentile_interval, permutation_p, resampled_sums, swapped_sums


def test_resampled_sums_are_sums_of_n_rows_drawn_with_replacement():
    rows = np.eye(4)
    sums = resampled_sums(rows, 500, seed=0)
    assert (sums.sum(axis=1) == 4).all()
    assert ((sums == sums.round()) & (sums >= 0)).all()
    assert abs(sums.mean(axis=0) - 1).max() < 0.15
    assert abs(sums.var(axis=0) - 0.75).max() < 0.2  # n · 1/n · (1 − 1/n)


def test_all_statistics_see_the_same_draws():
    rows = np.random.default_rng(0).normal(size=(30, 1))
    alone = resampled_sums(rows, 50, seed=3)
    beside = resampled_sums(np.hstack([rows, rows + 1]), 50, seed=3)
    np.testing.assert_allclose(alone[:, 0], beside[:, 0])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 100))
def test_swapping_keeps_the_total_and_moves_whole_items(n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n, 2))
    left, right = swapped_sums(a, b, 20, seed)
    np.testing.assert_allclose(left + right, np.broadcast_to((a + b).sum(axis=0), left.shape))


@pytest.mark.parametrize("n", [8, 30, 200])
def test_the_interval_of_a_mean_covers_as_it_says(n):
    rng = np.random.default_rng(1)
    hits, trials = 0, 600
    for trial in range(trials):
        sample = rng.uniform(size=(n, 1))
        values = resampled_sums(sample, 400, seed=trial)[:, 0] / n
        low, high = percentile_interval(values, n, 0.95)
        hits += low <= 0.5 <= high
    assert 0.925 <= hits / trials <= 0.975


def test_an_interval_of_one_item_does_not_exist():
    assert np.isnan(percentile_interval(np.ones(100), 1, 0.95)).all()


def test_randomisation_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(2)
    p_values = []
    for trial in range(500):
        a, b = rng.normal(size=(2, 40, 1))
        left, right = swapped_sums(a, b, 199, seed=trial)
        p_values.append(permutation_p(abs(a.sum() - b.sum()), np.abs(left - right)[:, 0]))
    assert kstest(p_values, "uniform").pvalue > 0.01
