"""Correlations against scipy and against counting every pair; their intervals against simulation."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from textgauge.stats.correlation import averaged, by_group, complete, pearson, rows_of_groups, spearman
from textgauge.stats.kendall import PairCounts, accuracy_eq, calibrate_ties, kendall_b, kendall_c, pair_counts, tau_eq
from textgauge.stats.resampled_correlation import (
    chance_level,
    correlation_draws,
    correlation_interval,
    draws,
    fisher_interval,
    resampled,
)

NAN = float("nan")
values = st.one_of(st.integers(-4, 4).map(float), st.integers(-9, 9).map(lambda tenths: tenths / 10))
rows = st.lists(st.tuples(values, values), min_size=2, max_size=40)
epsilons = st.one_of(st.just(0.0), st.integers(1, 30).map(lambda tenths: tenths / 10))


def columns(pairs):
    return np.array(pairs, dtype=float).T


def plain_counts(gold, metric, epsilon):
    kinds = dict.fromkeys(PairCounts._fields, 0)
    for i, j in combinations(range(len(gold)), 2):
        h, m = gold[i] - gold[j], metric[i] - metric[j]
        m = 0.0 if abs(m) <= epsilon else m
        if h == 0 or m == 0:
            kinds["tied_both" if h == m == 0 else "tied_gold" if h == 0 else "tied_metric"] += 1
        else:
            kinds["concordant" if (h > 0) == (m > 0) else "discordant"] += 1
    return PairCounts(**kinds)


def related(n, seed, *, levels=None):
    rng = np.random.default_rng(seed)
    core = rng.normal(size=n)
    gold, metric = core + rng.normal(size=n), core + rng.normal(size=n)
    return (np.round(gold * levels) / levels if levels else gold), metric


@settings(deadline=None)
@given(rows, epsilons)
def test_counts_are_those_of_looking_at_every_pair(pairs, epsilon):
    gold, metric = columns(pairs)
    assert pair_counts(gold, metric, epsilon=epsilon) == plain_counts(gold, metric, epsilon)


@settings(deadline=None)
@given(rows)
def test_kendall_is_that_of_scipy(pairs):
    gold, metric = columns(pairs)
    for ours, variant in ((kendall_b, "b"), (kendall_c, "c")):
        expected = stats.kendalltau(gold, metric, variant=variant).statistic
        assert ours(gold, metric) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("levels", [None, 3])
def test_kendall_is_that_of_scipy_on_many_rows(levels):
    gold, metric = related(13_225, 0, levels=levels)
    for ours, variant in ((kendall_b, "b"), (kendall_c, "c")):
        expected = stats.kendalltau(gold, metric, variant=variant).statistic
        assert ours(gold, metric) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(rows, epsilons)
def test_accuracy_is_the_share_of_pairs_with_the_same_verdict(pairs, epsilon):
    gold, metric = columns(pairs)
    counts = plain_counts(gold, metric, epsilon)
    share = (counts.concordant + counts.tied_both) / sum(counts)
    assert accuracy_eq(gold, metric, epsilon=epsilon) == share
    assert tau_eq(gold, metric, epsilon=epsilon) == pytest.approx(2 * share - 1)


@settings(deadline=None, max_examples=60)
@given(rows, st.integers(1, 3))
def test_no_epsilon_is_better_than_the_calibrated_one(pairs, groups):
    gold, metric = columns(pairs)
    group = np.arange(len(gold)) % groups
    found = calibrate_ties(gold, metric, group)
    candidates = [0.0, *np.unique(np.abs(metric[:, None] - metric))]
    accuracies = [averaged(partial(accuracy_eq, epsilon=each), group)(gold, metric) for each in candidates]
    assert found.accuracy == pytest.approx(max(accuracies, default=NAN), abs=1e-12, nan_ok=True)
    better = [e for e, a in zip(candidates, accuracies, strict=True) if a >= found.accuracy - 1e-10]
    assert np.isnan(found.epsilon) or found.epsilon == min(better)


def test_calibration_on_a_part_of_the_pairs_comes_near_that_on_all():
    gold, metric = related(800, 1, levels=1)
    whole, part = (calibrate_ties(gold, metric, limit=limit) for limit in (None, 20_000))
    assert whole.accuracy > accuracy_eq(gold, metric)
    assert part.epsilon != whole.epsilon
    assert whole.accuracy - 0.005 < part.accuracy <= whole.accuracy
    assert part.accuracy == accuracy_eq(gold, metric, epsilon=part.epsilon)


def test_rank_correlations_take_infinite_values_and_refuse_missing_ones():
    gold, metric = np.array([1.0, 2, 3, 4]), np.array([-np.inf, 1, 2, np.inf])
    assert [f(gold, metric) for f in (spearman, kendall_b, kendall_c, accuracy_eq)] == [1.0] * 4
    assert accuracy_eq(gold, np.array([1, 2, np.inf, np.inf]), epsilon=0.5) == 5 / 6
    metric[1] = NAN
    for f in (pearson, spearman, kendall_b, kendall_c, accuracy_eq, tau_eq):
        assert np.isnan([f(gold, metric), f(metric, gold)]).all()
    assert np.isnan(calibrate_ties(gold, metric)).all()
    assert complete(gold, metric).tolist() == [False, False, True, False]


def test_one_row_has_no_correlation():
    one = np.ones(1)
    assert np.isnan([f(one, one) for f in (pearson, spearman, kendall_b, kendall_c, accuracy_eq)]).all()
    assert np.isnan(calibrate_ties(one, one)).all()


def test_groups_without_a_correlation_are_left_out_of_the_mean():
    gold, metric = np.array([1.0, 2, 1, 2, 5, 5, 9]), np.array([1.0, 2, 2, 1, 1, 2, 9])
    group = np.array(["b", "b", "a", "a", "c", "c", "d"])
    assert [members.tolist() for members in rows_of_groups(group)] == [[2, 3], [0, 1], [4, 5], [6]]
    np.testing.assert_array_equal(by_group(pearson, gold, metric, group), [-1, 1, NAN, NAN])
    assert averaged(pearson, group)(gold, metric) == 0.0
    assert np.isnan(averaged(pearson, group[4:])(gold[4:], metric[4:]))


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


def test_draws_do_not_depend_on_how_many_are_held_at_once(monkeypatch):
    gold, metric = related(40, 3)
    whole = correlation_draws(spearman, gold, metric, resamples=50)
    monkeypatch.setattr("textgauge.stats.resampled_correlation._CELLS", 300)
    np.testing.assert_array_equal(correlation_draws(spearman, gold, metric, resamples=50), whole)


def test_intervals_hold_the_correlation_and_widen_with_clusters():
    gold, metric = related(300, 4)
    for correlation in (pearson, spearman, kendall_b, accuracy_eq):
        low, high = correlation_interval(correlation, gold, metric, resamples=200)
        assert low < correlation(gold, metric) < high
    twice, label = np.tile(np.stack([gold, metric]), 2), np.tile(np.arange(300), 2)
    blind, aware = (np.ptp(correlation_interval(pearson, *twice, cluster=c)) for c in (None, label))
    assert 1.25 < aware / blind < 1.6  # √2


def test_no_interval_without_a_correlation():
    flat, rising = np.ones(9), np.arange(9.0)
    assert np.isnan(correlation_interval(pearson, flat, rising)).all()
    assert np.isnan(correlation_interval(spearman, rising, np.full(9, NAN), resamples=5)).all()
    assert np.isnan(correlation_interval(pearson, rising, rising, cluster=np.zeros(9))).all()
    assert np.isnan(correlation_interval(pearson, flat[:0], rising[:0])).all()


@pytest.mark.parametrize(("r", "n"), [(0.3, 10), (-0.9, 400)])
def test_fisher_interval_is_that_of_scipy(r, n):
    x = np.linspace(-1, 1, n)
    y = np.cos(7 * x)
    x, y = (x - x.mean()) / x.std(), y - y.mean()
    y -= (y @ x) / n * x
    y = r * x + np.sqrt(1 - r * r) * y / y.std()
    expected = stats.pearsonr(x, y).confidence_interval(0.9)
    assert fisher_interval(pearson(x, y), n, level=0.9) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_fisher_interval_at_its_ends():
    assert np.isnan(fisher_interval(0.5, 3)).all()
    assert np.isnan(fisher_interval(NAN, 30)).all()
    assert fisher_interval(-1.0, 30) == (-1.0, -1.0)


def test_chance_level_is_that_of_independent_columns():
    gold, metric = related(200, 5)
    for correlation, deviation in ((pearson, 199**-0.5), (spearman, 199**-0.5), (kendall_b, 2 / 3 * 200**-0.5)):
        mean, bound = chance_level(correlation, gold, metric, trials=600)
        assert mean == pytest.approx(deviation * (2 / np.pi) ** 0.5, rel=0.12)
        assert bound == pytest.approx(deviation * 1.96, rel=0.15)
    assert np.isnan(chance_level(pearson, gold, np.ones(200), trials=3)).all()


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


@pytest.mark.slow
def test_fisher_intervals_cover_as_they_say():
    found = coverage(pearson, 0.5, 30, 4_000, lambda f, gold, metric: fisher_interval(f(gold, metric), 30))
    assert 0.94 <= found <= 0.96
