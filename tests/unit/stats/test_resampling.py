import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm
from scipy.stats import t as student

from textgauge.stats.resampling import (
    compute_jackknife_variance,
    compute_percentile_interval,
    compute_permutation_p,
    draw_halves,
    draw_left_out_groups,
    draw_permutations,
    find_student_quantile,
    resample_sums,
    swap_sums,
)


def test_resampled_sums_are_sums_of_n_rows_drawn_with_replacement():
    rows = np.eye(4)
    sums = resample_sums(rows, 500, seed=0)
    assert (sums.sum(axis=1) == 4).all()
    assert ((sums == sums.round()) & (sums >= 0)).all()
    assert abs(sums.mean(axis=0) - 1).max() < 0.15
    assert abs(sums.var(axis=0) - 0.75).max() < 0.2  # n · 1/n · (1 − 1/n)


def test_all_statistics_see_the_same_draws():
    rows = np.random.default_rng(0).normal(size=(30, 1))
    alone = resample_sums(rows, 50, seed=3)
    beside = resample_sums(np.hstack([rows, rows + 1]), 50, seed=3)
    np.testing.assert_allclose(alone[:, 0], beside[:, 0])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 100))
def test_swapping_keeps_the_total_and_moves_whole_items(n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n, 2))
    left, right = swap_sums(a, b, 20, seed)
    np.testing.assert_allclose(left + right, np.broadcast_to((a + b).sum(axis=0), left.shape))


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 30, 200])
def test_the_interval_of_a_mean_covers_as_it_says(n):
    rng = np.random.default_rng(1)
    hits, trials = 0, 600
    for trial in range(trials):
        sample = rng.uniform(size=(n, 1))
        values = resample_sums(sample, 400, seed=trial)[:, 0] / n
        low, high = compute_percentile_interval(values, n, 0.95)
        hits += low <= 0.5 <= high
    assert 0.925 <= hits / trials <= 0.975


def test_an_interval_of_one_item_does_not_exist():
    assert np.isnan(compute_percentile_interval(np.ones(100), 1, 0.95)).all()


def test_randomisation_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(2)
    p_values = []
    for trial in range(500):
        a, b = rng.normal(size=(2, 40, 1))
        left, right = swap_sums(a, b, 199, seed=trial)
        p_values.append(compute_permutation_p(abs(a.sum() - b.sum()), np.abs(left - right)[:, 0]))
    assert kstest(p_values, "uniform").pvalue > 0.01


@pytest.mark.parametrize("n", [2, 4])
def test_few_items_have_students_interval_of_their_resamples(n):
    values = np.array([0.0, 1.0, 2.0, 5.0, np.nan])
    low, high = compute_percentile_interval(values, n, 0.95)
    reach = student.ppf(0.975, n - 1) * np.sqrt(n / (n - 1)) * values[:4].std()
    assert (low, high) == pytest.approx((2.0 - reach, 2.0 + reach))


def test_the_percentiles_of_many_items_are_widened_for_their_number():
    values = np.arange(10_001.0)
    low, high = compute_percentile_interval(values, 20, 0.9)
    tail = norm.cdf(np.sqrt(20 / 19) * student.ppf(0.05, 19))
    assert (low, high) == pytest.approx((10_000 * tail, 10_000 * (1 - tail)))
    assert compute_percentile_interval(np.append(values, np.nan), 20, 0.9) == (low, high)
    assert np.isnan(compute_percentile_interval(np.array([np.nan]), 20, 0.9)).all()


@pytest.mark.parametrize("n", [7, 8])
def test_halves_are_disjoint_and_as_large_as_they_can_be(n):
    left, right = draw_halves(n, 200, seed=0)
    assert (left.sum(axis=1) == n // 2).all()
    assert (right.sum(axis=1) == n // 2).all()
    assert not (left & right).any()
    assert (left.mean(axis=0) > 0.3).all()
    assert (right.mean(axis=0) > 0.3).all()


def test_groups_leave_every_row_out_once():
    kept = draw_left_out_groups(11, 4, seed=0)
    assert sorted((~kept).sum(axis=1).tolist()) == [2, 3, 3, 3]
    assert ((~kept).sum(axis=0) == 1).all()
    assert (draw_left_out_groups(11, 4, seed=1) != kept).any()
    assert draw_left_out_groups(3, 50, seed=0).sum(axis=1).tolist() == [2, 2, 2]


def test_the_jackknife_of_means_is_the_variance_of_the_mean():
    sample = np.random.default_rng(4).normal(size=12)
    left_out = np.array([np.delete(sample, place).mean() for place in range(12)])
    assert compute_jackknife_variance(left_out) == pytest.approx(sample.var(ddof=1) / 12)


def test_p_values_count_ties_up_to_rounding_and_never_reach_0():
    assert compute_permutation_p(1.0, np.zeros(99)) == 0.01
    assert compute_permutation_p(0.1 + 0.2, np.array([0.3, 0.1, 0.2])) == 0.5
    assert compute_permutation_p(-1.0, np.array([-1.0, -2.0, 0.0])) == 0.75


DRAWS = {
    "resampled_sums": lambda seed: resample_sums(np.eye(9), 20, seed),
    "swapped_sums": lambda seed: swap_sums(np.eye(9), np.zeros((9, 9)), 20, seed),
    "permuted": lambda seed: draw_permutations(5, 4, 20, seed),
    "halves": lambda seed: draw_halves(9, 20, seed),
    "grouped": lambda seed: draw_left_out_groups(9, 4, seed),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_draws_depend_on_the_seed_alone(draw):
    first = np.asarray(draw(0))
    assert np.array_equal(first, draw(0))
    assert not np.array_equal(first, draw(1))


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 99, 400, 2_000, 2_001])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_quantiles_of_student_are_those_of_scipy(freedom, level):
    assert find_student_quantile(freedom, level) == pytest.approx(student.ppf((1 + level) / 2, freedom), rel=1e-10)
