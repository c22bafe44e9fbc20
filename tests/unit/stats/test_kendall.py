"""Kendall and pairwise accuracy against scipy and against counting every pair."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.unit.stats.columns import NAN, columns, related, rows

from textgauge.stats.correlation import averaged, complete, pearson, spearman
from textgauge.stats.kendall import (
    PairCounts,
    accuracy_eq,
    calibrate_ties,
    kendall_b,
    kendall_b_draws,
    kendall_c,
    pair_counts,
    row_counts,
    share_draws,
)

epsilons = st.one_of(st.just(0.0), st.integers(1, 30).map(lambda tenths: tenths / 10))


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
    for f in (pearson, spearman, kendall_b, kendall_c, accuracy_eq):
        assert np.isnan([f(gold, metric), f(metric, gold)]).all()
    assert np.isnan(calibrate_ties(gold, metric)).all()
    assert complete(gold, metric).tolist() == [False, False, True, False]


def test_one_row_has_no_correlation():
    one = np.ones(1)
    assert np.isnan([f(one, one) for f in (pearson, spearman, kendall_b, kendall_c, accuracy_eq)]).all()
    assert np.isnan(calibrate_ties(one, one)).all()


def signs(column, epsilon=0.0):
    gaps = column[:, None] - column
    return np.where(np.abs(gaps) <= epsilon, 0.0, np.sign(gaps))


@settings(deadline=None, max_examples=60)
@given(rows, epsilons)
def test_counts_of_a_row_are_its_pairs_with_the_others(pairs, epsilon):
    gold, metric = columns(pairs)
    h, m, others = signs(gold), signs(metric, epsilon), ~np.eye(len(gold), dtype=bool)
    found = row_counts(gold, metric, epsilon=epsilon)
    for name, plain in {
        "concordant": h * m > 0,
        "discordant": h * m < 0,
        "untied_gold": h != 0,
        "untied_metric": m != 0,
        "agreed": h == m,
    }.items():
        np.testing.assert_array_equal(getattr(found, name), (plain & others).sum(axis=1))


def test_resampled_counts_are_those_of_all_rows_and_move_with_the_weights():
    """To first order: a row that is drawn once more counts twice with every other, itself not among them."""
    gold, metric = related(30, 5, levels=2)
    counted = row_counts(gold, metric)
    once = np.ones((1, 30))
    assert kendall_b_draws(counted, once)[0] == pytest.approx(kendall_b(gold, metric))
    assert share_draws(counted.agreed, 30 * 29, once)[0] == pytest.approx(accuracy_eq(gold, metric))
    weights = once + np.eye(30)
    score, untied_gold, untied_metric = (
        (s.sum() + 2 * s.sum(axis=1)) for s in (signs(gold) * signs(metric), signs(gold) != 0, signs(metric) != 0)
    )
    np.testing.assert_allclose(kendall_b_draws(counted, weights), score / np.sqrt(untied_gold * untied_metric))
    agreed = ((signs(gold) == signs(metric)) & ~np.eye(30, dtype=bool)).sum(axis=1)
    np.testing.assert_allclose(share_draws(counted.agreed, 870.0, weights), (agreed.sum() + 2 * agreed) / 870)


def test_a_resample_without_untied_rows_has_no_correlation():
    counted = row_counts(np.array([1.0, 1, 2]), np.array([1.0, 2, 3]))
    found = kendall_b_draws(counted, np.array([[1, 1, 1], [0, 0, 0]]))
    assert found[0] == pytest.approx(kendall_b(np.array([1.0, 1, 2]), np.array([1.0, 2, 3])))
    assert np.isnan(found[1])
