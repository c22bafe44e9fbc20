"""Tests between two metrics and agreement among annotators: plain twins, published examples, simulation."""

from functools import partial
from itertools import permutations
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest
from scipy.stats import t as student

from textgauge.stats.annotators import krippendorff_alpha, leave_one_out
from textgauge.stats.correlation import averaged, pearson, spearman
from textgauge.stats.kendall import accuracy_eq, kendall_b
from textgauge.stats.paired_tests import bootstrap_test, exchanged, permutation_test, williams_t, williams_test

NAN = float("nan")
# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section D: four observers, twelve units.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def two_metrics(n, seed, better=0.0):
    rng = np.random.default_rng(seed)
    gold, a, b = rng.normal(size=(3, n))
    return gold, (1 + better) * gold + a, gold + b


def test_williams_t_is_that_of_howells_book():
    assert round(williams_t(0.80, 0.72, 0.89, 26), 3) == 1.361
    assert round(williams_test(0.80, 0.72, 0.89, 26).p, 3) == 0.187


@given(st.integers(0, 10_000), st.integers(5, 200))
def test_williams_test_is_that_of_the_textbook(seed, n):
    gold, a, b = np.random.default_rng(seed).normal(size=(3, n))
    r1, r2, r12 = pearson(gold, a), pearson(gold, b + a), pearson(a, b + a)
    determinant = np.linalg.det(np.array([[1, r1, r2], [r1, 1, r12], [r2, r12, 1]]))
    below = 2 * determinant * (n - 1) / (n - 3) + (r1 + r2) ** 2 / 4 * (1 - r12) ** 3
    t = (r1 - r2) * sqrt((n - 1) * (1 + r12) / below)
    found = williams_test(r1, r2, r12, n)
    assert found.p == pytest.approx(2 * student.sf(abs(t), n - 3), abs=1e-9)
    assert found.p_larger == pytest.approx(student.sf(t, n - 3), abs=1e-9)
    assert found.p_larger + found.p_smaller == pytest.approx(1)
    assert found.difference == r1 - r2


def test_williams_test_of_copies_and_of_three_rows_does_not_exist():
    for arguments in ((0.5, 0.5, 1.0, 30), (0.5, 0.4, 0.3, 3), (NAN, 0.4, 0.3, 30)):
        assert np.isnan(williams_test(*arguments)[1:]).all()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(3, 30), st.booleans())
def test_exchanges_by_ranks_are_exchanges_one_by_one(seed, n, tied):
    gold, a, b = two_metrics(n, seed)
    gold, a, b = (np.round(column) for column in (gold, a, b)) if tied else (gold, a, b)
    found = exchanged(spearman, gold, a, b, trials=20, seed=seed)
    expected = exchanged(partial(spearman), gold, a, b, trials=20, seed=seed)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_permutation_test_counts_exchanges_at_least_as_far():
    gold, a, b = two_metrics(12, 1, better=2.0)
    found = permutation_test(pearson, gold, a, b, trials=99)
    assert found.difference == pytest.approx(pearson(gold, a) - pearson(gold, b))
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    gaps = exchanged(pearson, gold, a, b, trials=99, seed=0)
    assert found.p_larger == (1 + (gaps >= found.difference - 1e-12).sum()) / 100
    assert found.p_smaller == (1 + (gaps <= found.difference + 1e-12).sum()) / 100
    assert found.p == (1 + (abs(gaps) >= abs(found.difference) - 1e-12).sum()) / 100


@pytest.mark.parametrize("test", [permutation_test, bootstrap_test])
@pytest.mark.parametrize("correlation", [pearson, spearman, kendall_b, accuracy_eq])
def test_tests_find_the_better_metric_and_turn_with_it(test, correlation):
    gold, a, b = two_metrics(150, 2, better=1.0)
    found, turned = test(correlation, gold, a, b), test(correlation, gold, b, a)
    assert found.difference > 0
    assert max(found.p, found.p_larger) < 0.01
    assert found.p_smaller > 0.99
    assert (turned.difference, turned.p) == pytest.approx((-found.difference, found.p), abs=1e-12)
    assert turned.p_smaller == pytest.approx(found.p_larger, abs=1e-12)


@pytest.mark.parametrize("test", [permutation_test, bootstrap_test])
def test_copies_do_not_differ(test):
    gold, a, _ = two_metrics(40, 3)
    found = test(spearman, gold, a, a)
    assert (found.difference, found.p, found.p_larger, found.p_smaller) == (0.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("test", [permutation_test, bootstrap_test])
def test_a_constant_metric_cannot_be_tested(test):
    gold, a, _ = two_metrics(40, 3)
    assert np.isnan(test(pearson, gold, a, np.ones(40))).all()
    assert np.isnan(test(spearman, gold, np.append(a[:-1], NAN), a)).all()


def test_permutation_tests_take_correlations_averaged_over_groups():
    gold, a, b = two_metrics(120, 4, better=2.0)
    found = permutation_test(averaged(kendall_b, np.arange(120) % 12), gold, a, b, trials=199)
    assert found.p_larger < 0.05


def test_the_bootstrap_draws_whole_clusters():
    gold, a, b = (np.repeat(column, 4) for column in two_metrics(60, 5))
    blind = bootstrap_test(pearson, gold, a, b)
    aware = bootstrap_test(pearson, gold, a, b, cluster=np.repeat(np.arange(60), 4))
    assert aware.low < blind.low < blind.difference < blind.high < aware.high


def test_the_bootstraps_p_and_interval_say_the_same():
    for seed in range(30):
        found = bootstrap_test(pearson, *two_metrics(25, seed, better=0.4), resamples=1_999)
        if abs(found.p - 0.05) > 0.005:
            assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


def null_p_values(test, trials, n):
    return [test(*two_metrics(n, [7, trial]), trial) for trial in range(trials)]


TESTS = {
    "williams": lambda g, a, b, seed: williams_test(pearson(g, a), pearson(g, b), pearson(a, b), len(g)),
    "permutation": lambda g, a, b, seed: permutation_test(pearson, g, a, b, trials=199, seed=seed),
    "permutation-spearman": lambda g, a, b, seed: permutation_test(spearman, g, a, b, trials=199, seed=seed),
    "bootstrap": lambda g, a, b, seed: bootstrap_test(pearson, g, a, b, resamples=199, seed=seed),
}


@pytest.mark.parametrize("name", TESTS)
def test_p_values_are_uniform_when_both_metrics_are_as_good(name):
    results = null_p_values(TESTS[name], 150, 80)
    for p in ("p", "p_larger", "p_smaller"):
        assert kstest([getattr(result, p) for result in results], "uniform").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
def test_many_p_values_are_uniform_when_both_metrics_are_as_good(name):
    results = null_p_values(TESTS[name], 2_000, 150)
    for p in ("p", "p_larger", "p_smaller"):
        found = np.array([getattr(result, p) for result in results])
        assert kstest(found, "uniform").statistic < 0.04  # 1.63/√2000 for chance, 1/200 for steps of p
        assert (found <= 0.05).mean() == pytest.approx(0.05, abs=0.018)


@pytest.mark.parametrize(("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_that_of_krippendorffs_example(scale, published):
    assert round(krippendorff_alpha(OBSERVERS, scale=scale), 3) == published


def plain_alpha(ratings, scale):
    units = [[v for v in column if not np.isnan(v)] for column in ratings.T]
    units = [unit for unit in units if len(unit) > 1]
    every = [v for unit in units for v in unit]

    def gap(a, b):
        low, high = sorted((a, b))
        between = sum(low <= v <= high for v in every) - (every.count(low) + every.count(high)) / 2
        return {"nominal": float(a != b), "interval": (a - b) ** 2, "ordinal": between**2 if a != b else 0.0}[scale]

    observed = sum(sum(gap(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / len(every)
    expected = sum(gap(a, b) for a, b in permutations(every, 2)) / (2 * comb(len(every), 2))
    return 1 - observed / expected


@settings(deadline=None)
@given(
    st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 12), st.sampled_from(["nominal", "ordinal", "interval"])
)
def test_alpha_is_that_of_the_twin(seed, raters, items, scale):
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 4, size=(raters, items)) / 2
    ratings[rng.random(ratings.shape) < 0.2] = NAN
    paired = ratings[:, np.isfinite(ratings).sum(axis=0) > 1]
    if len(np.unique(paired[np.isfinite(paired)])) < 2:
        assert np.isnan(krippendorff_alpha(ratings, scale=scale))
    else:
        assert krippendorff_alpha(ratings, scale=scale) == pytest.approx(plain_alpha(ratings, scale), abs=1e-9)


def test_alpha_is_0_by_chance_and_1_in_full_agreement():
    rng = np.random.default_rng(0)
    for scale in ("nominal", "ordinal", "interval"):
        assert abs(krippendorff_alpha(rng.integers(1, 6, size=(3, 4_000)).astype(float), scale=scale)) < 0.03
        assert krippendorff_alpha(np.tile(rng.integers(1, 6, size=30).astype(float), (3, 1)), scale=scale) > 1 - 1e-12


@pytest.mark.parametrize("ratings", [np.ones((3, 4)), np.array([[1.0, NAN], [NAN, 2.0]]), np.empty((3, 0))])
def test_alpha_without_two_unlike_ratings_does_not_exist(ratings):
    for scale in ("nominal", "ordinal", "interval"):
        assert np.isnan(krippendorff_alpha(ratings, scale=scale))


def test_each_rater_is_held_against_the_mean_of_the_others():
    found = leave_one_out(pearson, OBSERVERS)
    for rater, own in enumerate(OBSERVERS):
        others = [[v for i, v in enumerate(unit) if i != rater and not np.isnan(v)] for unit in OBSERVERS.T]
        both = [(v, np.mean(rest)) for v, rest in zip(own, others, strict=True) if rest and not np.isnan(v)]
        assert found[rater] == pytest.approx(pearson(*np.array(both).T), abs=1e-12)


def test_a_rater_alone_has_no_ceiling():
    assert np.isnan(leave_one_out(spearman, OBSERVERS[:1])).all()
    assert np.isnan(leave_one_out(spearman, np.array([[1.0, NAN, 2.0], [NAN, 1.0, NAN]]))).all()
