"""Tests between two metrics and agreement among annotators: plain twins, published examples, simulation."""

from functools import partial
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest
from scipy.stats import t as student

from textgauge.stats.correlation import average_over_groups, draw_correlations, pearson, spearman
from textgauge.stats.orders import accuracy_eq, kendall_b
from textgauge.stats.paired_tests import exchange_values, run_bootstrap_test, run_permutation_test, run_williams_test
from textgauge.stats.resampling import compute_percentile_interval

NAN = float("nan")


def two_metrics(n, seed, better=0.0):
    rng = np.random.default_rng(seed)
    gold, a, b = rng.normal(size=(3, n))
    return gold, (1 + better) * gold + a, gold + b


@given(st.integers(0, 10_000), st.integers(5, 200))
def test_williams_test_is_that_of_the_textbook(seed, n):
    gold, a, b = np.random.default_rng(seed).normal(size=(3, n))
    r1, r2, r12 = pearson(gold, a), pearson(gold, b + a), pearson(a, b + a)
    determinant = np.linalg.det(np.array([[1, r1, r2], [r1, 1, r12], [r2, r12, 1]]))
    below = 2 * determinant * (n - 1) / (n - 3) + (r1 + r2) ** 2 / 4 * (1 - r12) ** 3
    t = (r1 - r2) * sqrt((n - 1) * (1 + r12) / below)
    found = run_williams_test(r1, r2, r12, n)
    assert found.p == pytest.approx(2 * student.sf(abs(t), n - 3), abs=1e-9)
    assert found.p_larger == pytest.approx(student.sf(t, n - 3), abs=1e-9)
    assert found.p_larger + found.p_smaller == pytest.approx(1)
    assert found.difference == r1 - r2


def test_williams_test_of_copies_and_of_three_rows_does_not_exist():
    for arguments in ((0.5, 0.5, 1.0, 30), (0.5, 0.4, 0.3, 3), (NAN, 0.4, 0.3, 30)):
        assert np.isnan(run_williams_test(*arguments)[1:]).all()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(3, 30), st.booleans())
def test_exchanges_by_ranks_are_exchanges_one_by_one(seed, n, tied):
    gold, a, b = two_metrics(n, seed)
    gold, a, b = (np.round(column) for column in (gold, a, b)) if tied else (gold, a, b)
    found = exchange_values(spearman, gold, a, b, trials=20, seed=seed)
    expected = exchange_values(partial(spearman), gold, a, b, trials=20, seed=seed)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_permutation_test_counts_exchanges_at_least_as_far():
    gold, a, b = two_metrics(12, 1, better=2.0)
    found = run_permutation_test(pearson, gold, a, b, trials=99)
    assert found.difference == pytest.approx(pearson(gold, a) - pearson(gold, b))
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    gaps = exchange_values(pearson, gold, a, b, trials=99, seed=0)
    assert found.p_larger == (1 + (gaps >= found.difference - 1e-12).sum()) / 100
    assert found.p_smaller == (1 + (gaps <= found.difference + 1e-12).sum()) / 100
    assert found.p == (1 + (abs(gaps) >= abs(found.difference) - 1e-12).sum()) / 100


@pytest.mark.parametrize(
    ("test", "few"), [(run_permutation_test, {"trials": 199}), (run_bootstrap_test, {"resamples": 399})]
)
@pytest.mark.parametrize("correlation", [pearson, spearman, kendall_b, accuracy_eq])
def test_tests_find_the_better_metric_and_turn_with_it(test, few, correlation):
    gold, a, b = two_metrics(150, 2, better=1.0)
    found, turned = test(correlation, gold, a, b, **few), test(correlation, gold, b, a, **few)
    assert found.difference > 0
    assert max(found.p, found.p_larger) < 0.01
    assert found.p_smaller > 0.99
    assert (turned.difference, turned.p) == pytest.approx((-found.difference, found.p), abs=1e-12)
    assert turned.p_smaller == pytest.approx(found.p_larger, abs=1e-12)


@pytest.mark.parametrize("test", [run_permutation_test, run_bootstrap_test])
def test_copies_do_not_differ(test):
    gold, a, _ = two_metrics(40, 3)
    found = test(spearman, gold, a, a)
    assert (found.difference, found.p, found.p_larger, found.p_smaller) == (0.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("test", [run_permutation_test, run_bootstrap_test])
def test_a_constant_metric_cannot_be_tested(test):
    gold, a, _ = two_metrics(40, 3)
    assert np.isnan(test(pearson, gold, a, np.ones(40))).all()
    assert np.isnan(test(spearman, gold, np.append(a[:-1], NAN), a)).all()


def test_permutation_tests_take_correlations_averaged_over_groups():
    gold, a, b = two_metrics(120, 4, better=2.0)
    found = run_permutation_test(average_over_groups(kendall_b, np.arange(120) % 12), gold, a, b, trials=199)
    assert found.p_larger < 0.05


def test_the_bootstrap_draws_whole_clusters():
    gold, a, b = (np.repeat(column, 4) for column in two_metrics(60, 5))
    blind = run_bootstrap_test(pearson, gold, a, b)
    aware = run_bootstrap_test(pearson, gold, a, b, cluster=np.repeat(np.arange(60), 4))
    assert aware.low < blind.low < blind.difference < blind.high < aware.high
    four = np.repeat(np.arange(4), 60)
    draws = [draw_correlations(pearson, gold, metric, resamples=1_000, seed=0, cluster=four) for metric in (a, b)]
    few = run_bootstrap_test(pearson, gold, a, b, cluster=four)
    assert (few.low, few.high) == compute_percentile_interval(draws[0] - draws[1], 4, 0.95)


def test_a_permutation_test_exchanges_whole_clusters():
    """Rows that repeat each other four times are one exchange, as if each were there once."""
    once = two_metrics(60, 5)
    gold, a, b = (np.repeat(column, 4) for column in once)
    cluster = np.repeat(np.arange(60), 4)
    aware = run_permutation_test(pearson, gold, a, b, trials=199, cluster=cluster)
    assert aware.p == run_permutation_test(pearson, *once, trials=199).p
    assert run_permutation_test(pearson, gold, a, b, trials=199).p < aware.p


def test_the_bootstraps_p_and_interval_say_the_same():
    for seed in range(30):
        found = run_bootstrap_test(pearson, *two_metrics(25, seed, better=0.4), resamples=1_999)
        if abs(found.p - 0.05) > 0.005:
            assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


TESTS = {
    "williams": lambda g, a, b, seed: run_williams_test(pearson(g, a), pearson(g, b), pearson(a, b), len(g)),
    "permutation": lambda g, a, b, seed: run_permutation_test(pearson, g, a, b, trials=199, seed=seed),
    "permutation-spearman": lambda g, a, b, seed: run_permutation_test(spearman, g, a, b, trials=199, seed=seed),
    "bootstrap": lambda g, a, b, seed: run_bootstrap_test(pearson, g, a, b, resamples=199, seed=seed),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
def test_p_values_are_uniform_when_both_metrics_are_as_good(name):
    results = [TESTS[name](*two_metrics(150, [7, trial]), trial) for trial in range(2_000)]
    for p in ("p", "p_larger", "p_smaller"):
        found = np.array([getattr(result, p) for result in results])
        assert kstest(found, "uniform").statistic < 0.04  # 1.63/√2000 for chance, 1/200 for steps of p
        assert (found <= 0.05).mean() == pytest.approx(0.05, abs=0.018)
