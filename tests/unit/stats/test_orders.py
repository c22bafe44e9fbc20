"""Orders against scipy, against counting every pair, and the published tables of the style-transfer study."""

from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.stats.columns import NAN, columns, count_inversions, related, rows

from textgauge.bench.protocols.agreement import measure_soft_accuracy
from textgauge.stats.correlation import average_over_groups, find_complete_rows, pearson, spearman
from textgauge.stats.orders import (
    accuracy_eq,
    average_sets,
    calibrate_ties,
    compute_soft_accuracy,
    correlate_orders,
    count_rows,
    draw_signs,
    estimate_superiority,
    kendall_b,
    kendall_c,
    rank_sets,
    resample_kendall_b,
    resample_share,
    resample_superiority,
)
from textgauge_papers.yamshchikov2020_tables import compute_variability, count_coinciding, count_swaps, set_deviations

epsilons = st.one_of(st.just(0.0), st.integers(1, 30).map(lambda tenths: tenths / 10))


def signs(column, epsilon=0.0):
    gaps = column[:, None] - column
    return np.where(np.abs(gaps) <= epsilon, 0.0, np.sign(gaps))


@settings(deadline=None)
@given(rows)
def test_kendall_is_that_of_counting_every_pair(pairs):
    gold, metric = columns(pairs)
    h, m = signs(gold), signs(metric)
    least = min(len(np.unique(gold)), len(np.unique(metric)))
    with np.errstate(invalid="ignore", divide="ignore"):
        b = (h * m).sum() / np.sqrt((h != 0).sum() * (m != 0).sum())
        c = (h * m).sum() / (len(gold) ** 2 * (least - 1) / np.float64(least))
    assert kendall_b(gold, metric) == pytest.approx(b, abs=1e-12, nan_ok=True)
    assert kendall_c(gold, metric) == pytest.approx(c, abs=1e-12, nan_ok=True)


@settings(deadline=None)
@given(rows, epsilons)
def test_accuracy_is_the_share_of_pairs_with_the_same_verdict(pairs, epsilon):
    gold, metric = columns(pairs)
    above = np.triu_indices(len(gold), 1)
    assert accuracy_eq(gold, metric, epsilon=epsilon) == (signs(gold) == signs(metric, epsilon))[above].mean()


@settings(deadline=None, max_examples=60)
@given(rows, st.integers(1, 3))
def test_no_epsilon_is_better_than_the_calibrated_one(pairs, groups):
    gold, metric = columns(pairs)
    group = np.arange(len(gold)) % groups
    found = calibrate_ties(gold, metric, group)
    candidates = [0.0, *np.unique(np.abs(metric[:, None] - metric))]
    accuracies = [average_over_groups(partial(accuracy_eq, epsilon=each), group)(gold, metric) for each in candidates]
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
    assert find_complete_rows(gold, metric).tolist() == [False, False, True, False]


def test_one_row_has_no_correlation():
    one = np.ones(1)
    assert np.isnan([f(one, one) for f in (pearson, spearman, kendall_b, kendall_c, accuracy_eq)]).all()
    assert np.isnan(calibrate_ties(one, one)).all()


@settings(deadline=None, max_examples=60)
@given(rows, epsilons)
def test_counts_of_a_row_are_its_pairs_with_the_others(pairs, epsilon):
    gold, metric = columns(pairs)
    h, m, others = signs(gold), signs(metric, epsilon), ~np.eye(len(gold), dtype=bool)
    found = count_rows(gold, metric, epsilon=epsilon)
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
    counted = count_rows(gold, metric)
    once = np.ones((1, 30))
    assert resample_kendall_b(counted, once)[0] == pytest.approx(kendall_b(gold, metric))
    assert resample_share(counted.agreed, 30 * 29, once)[0] == pytest.approx(accuracy_eq(gold, metric))
    weights = once + np.eye(30)
    score, untied_gold, untied_metric = (
        (s.sum() + 2 * s.sum(axis=1)) for s in (signs(gold) * signs(metric), signs(gold) != 0, signs(metric) != 0)
    )
    np.testing.assert_allclose(resample_kendall_b(counted, weights), score / np.sqrt(untied_gold * untied_metric))
    agreed = ((signs(gold) == signs(metric)) & ~np.eye(30, dtype=bool)).sum(axis=1)
    np.testing.assert_allclose(resample_share(counted.agreed, 870.0, weights), (agreed.sum() + 2 * agreed) / 870)


def test_a_resample_without_untied_rows_has_no_correlation():
    counted = count_rows(np.array([1.0, 1, 2]), np.array([1.0, 2, 3]))
    found = resample_kendall_b(counted, np.array([[1, 1, 1], [0, 0, 0]]))
    assert found[0] == pytest.approx(kendall_b(np.array([1.0, 1, 2]), np.array([1.0, 2, 3])))
    assert np.isnan(found[1])


orders = st.integers(2, 9).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 2))


@given(orders)
def test_measures_are_those_of_the_twins(pair):
    a, b = np.array(pair, dtype=float) + 1
    opposite = sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i, j in combinations(range(len(a)), 2))
    assert count_inversions(a, b) == opposite
    assert count_swaps(a, b) == sum(abs(x - y) for x, y in zip(a, b, strict=True)) / 2
    assert count_coinciding(a, b) == sum(x == y for x, y in zip(a, b, strict=True))
    assert count_swaps(a, b) <= count_inversions(a, b) <= 2 * count_swaps(a, b)  # Diaconis and Graham 1977
    assert count_inversions(a, a) == count_swaps(a, a) == 0


def test_the_best_set_comes_first():
    means = np.array([0.2, 0.9, NAN, 0.5])
    np.testing.assert_array_equal(rank_sets(means), [3, 1, NAN, 2])
    np.testing.assert_array_equal(rank_sets(means, best="smaller"), [1, 3, NAN, 2])


def test_an_order_with_a_gap_is_not_compared():
    whole, broken = np.array([1.0, 2, 3]), np.array([1.0, 2, NAN])
    assert np.isnan([f(whole, broken) for f in (count_coinciding, count_swaps, count_inversions)]).all()
    assert np.isnan(correlate_orders(np.stack([whole, broken]))[:, 1]).all()


@pytest.mark.parametrize(("means", "random"), [([1, 1], [1, 0]), ([1, 2], [0, 0]), ([1, NAN], [1, 0]), ([], [])])
def test_variability_without_a_range_does_not_exist(means, random):
    assert np.isnan(compute_variability(np.array(means, dtype=float), np.array(random, dtype=bool)))


def test_deviations_of_sets_are_over_their_finite_values():
    values = np.array([1.0, 3.0, NAN, 7.0, NAN])
    sets = np.array(["a", "a", "a", "b", "c"])
    np.testing.assert_array_equal(average_sets(values, sets, ["c", "a", "b"]), [NAN, 2, 7])
    np.testing.assert_array_equal(set_deviations(values, sets, ["c", "a", "b"]), [NAN, 1, 0])


def test_one_set_has_nothing_to_swap():
    one = np.ones(1)
    assert (count_coinciding(one, one), count_swaps(one, one), count_inversions(one, one)) == (1, 0, 0)
    assert correlate_orders(np.empty((0, 3))).shape == (0, 0)


def test_p_values_are_those_of_all_flips_counted_one_by_one():
    scores = np.random.default_rng(0).normal(size=(3, 8))
    signs = np.array(list(product([-1.0, 1.0], repeat=8)))
    expected = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        gap = scores[first] - scores[second]
        expected.append(np.mean([(sign * gap).sum() >= gap.sum() - 1e-12 for sign in signs]))
    assert estimate_superiority(scores, signs).tolist() == pytest.approx(expected)


def test_the_normal_form_is_near_and_follows_weights():
    scores = np.random.default_rng(1).normal(size=(4, 400)) + np.arange(4)[:, None] * 0.05
    exact = estimate_superiority(scores, draw_signs(400, flips=4_000))
    assert resample_superiority(scores, np.ones((1, 400)))[0] == pytest.approx(exact, abs=0.03)
    weights = np.random.default_rng(2).multinomial(400, np.full(400, 1 / 400), size=1)
    again = resample_superiority(np.repeat(scores, weights[0], axis=1), np.ones((1, 400)))
    assert resample_superiority(scores, weights) == pytest.approx(again)


def test_the_level_matches_systems_by_item_whatever_the_order():
    rng = np.random.default_rng(3)
    system, item = (grid.ravel() for grid in np.mgrid[:4, :50])
    y = rng.normal(size=200) + 0.3 * system
    x = y + rng.normal(size=200)
    order = rng.permutation(200)
    found = measure_soft_accuracy(x, y, system, item)
    shuffled = measure_soft_accuracy(x[order], y[order], system[order], item[order])
    signs = draw_signs(50)
    expected = compute_soft_accuracy(*(estimate_superiority(column.reshape(4, 50), signs) for column in (y, x)))
    assert found.values[0] == pytest.approx(expected)
    assert shuffled.values[0] == pytest.approx(expected, abs=0.02)  # other signs are drawn
    assert measure_soft_accuracy(y, y, system, item).values[0] == 1.0
    assert found.chance[0] < 1.0
    missing = measure_soft_accuracy(np.where(item < 49, np.nan, x), y, system, item)
    assert np.isnan(missing.values[0])
    assert "two items" in missing.reasons[0]
