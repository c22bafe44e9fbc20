"""The null range, p-value and effect of a metric, and their adjustment for several metrics."""

from itertools import combinations

import numpy as np
import pytest

from textgauge import compare, get_metric
from textgauge.data import Comparison
from textgauge.metrics.numerics.held_out import SCORES, HeldOut
from textgauge.metrics.uncertainty import GROUPS, HELD_OUT, PERMUTATION, NullValues, adjust_p_values, exchange_labels
from textgauge.stats.resampling import adjust_by_holm, adjust_by_max_t

RNG = np.random.default_rng(0)
POOL = RNG.normal(size=(7, 3))


def energy(x, y):
    """The plain formula, with cosine distances."""
    x, y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y))
    return 2 * (1 - x @ y.T).mean() - (1 - x @ x.T).mean() - (1 - y @ y.T).mean()


def test_the_null_is_the_mean_over_all_splits_of_the_pooled_texts_at_these_sizes():
    splits = [list(chosen) for chosen in combinations(range(7), 4)]
    values = [energy(POOL[chosen], np.delete(POOL, chosen, axis=0)) for chosen in splits]
    metric = get_metric("energy@given")
    null = metric.null_values(Comparison(POOL[:4], POOL[4:]), permutations=5_000, seed=0)
    assert null.observed == pytest.approx(energy(POOL[:4], POOL[4:]), abs=1e-6)
    assert null.mean == pytest.approx(np.mean(values), rel=0.02)
    assert null.range == pytest.approx((min(values), max(values)), abs=1e-6)  # each has a chance of 1 in 35
    assert null.p_value == pytest.approx(np.mean(np.array(values) >= null.observed - 1e-9), abs=0.03)
    assert null.effect == pytest.approx((null.observed - np.mean(values)) / np.std(values), abs=0.06)


def test_one_more_value_falls_into_the_range_with_95_percent():
    draws = np.random.default_rng(1).exponential(size=(4_000, 200))
    inside = [low <= row[0] <= high for row in draws for low, high in [NullValues(row[0], row[1:], "").range]]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.01)


def test_all_metrics_see_the_same_exchanges():
    comparison = Comparison(RNG.normal(size=(20, 4)), RNG.normal(size=(15, 4)))
    cosine, precomputed = (
        get_metric(name).null_values(comparison, permutations=50, seed=3)
        for name in ("energy@given", "energy@given:cosine")
    )
    np.testing.assert_allclose(cosine.permuted, precomputed.permuted)
    closer, farther = (
        get_metric(f"pr.{name}@given").null_values(comparison, permutations=50, seed=3)
        for name in ("recall", "precision")
    )
    assert closer.farther == farther.farther == -1


def test_smaller_is_farther_for_a_share_of_covered_texts():
    null = NullValues(0.2, np.array([0.8, 0.9, 1.0]), PERMUTATION, farther=-1)
    assert null.p_value == 0.25
    assert null.effect == pytest.approx(7.0)
    assert null.compute_ranks().argmax() == 0


def test_undefined_values_never_make_a_p_value_smaller():
    null = NullValues(2.0, np.array([1.0, np.nan, 1.0]), PERMUTATION)
    assert null.p_value == 0.5
    assert null.mean == 1.0
    assert adjust_p_values([null])[0].tolist() == [0.5]
    assert np.isnan(NullValues(float("nan"), np.ones(3), PERMUTATION).p_value)


def test_values_that_are_all_equal_have_no_effect_and_p_1():
    null = NullValues(0.5, np.full(9, 0.5), PERMUTATION)
    assert np.isnan(null.effect)
    assert null.p_value == adjust_p_values([null, null])[0][0] == 1.0


def test_the_monte_carlo_error_is_that_of_a_share():
    rng = np.random.default_rng(0)
    nulls = [NullValues(1.2816, rng.normal(size=400), PERMUTATION) for _ in range(2_000)]
    p = np.array([null.p_value for null in nulls])
    assert np.mean([null.p_error for null in nulls]) == pytest.approx(p.std(), rel=0.1)


@pytest.mark.parametrize("name", SCORES)
def test_held_out_labels_give_every_score_its_null(name):
    predicted = np.array([0, 0, 1, 0.5, 1, 1, 0, 1, 1])
    truth = np.arange(9) >= 5
    labels = [np.isin(np.arange(9), chosen) for chosen in combinations(range(9), 4)]
    values = [SCORES[name](HeldOut(label, predicted).rates, HeldOut(label, predicted).sizes) for label in labels]
    null = exchange_labels(HeldOut(truth, predicted), name, permutations=20_000, seed=0)
    assert null.mean == pytest.approx(np.mean(values), abs=0.005)
    assert null.observed == pytest.approx(SCORES[name](HeldOut(truth, predicted).rates, np.array([5.0, 4.0])))
    assert null.p_value == pytest.approx(np.mean(np.array(values) >= null.observed - 1e-9), abs=0.01)


def test_several_splits_are_trained_again():
    rows = np.random.default_rng(1).normal(size=(30, 4))
    comparison = Comparison(rows[:16], rows[16:])
    once, often = (
        get_metric(f"classifier(repeats={repeats})@given").null_values(comparison, permutations=19, seed=0)
        for repeats in (1, 3)
    )
    assert (once.method, often.method) == (HELD_OUT, PERMUTATION)
    assert often.observed == pytest.approx(get_metric("classifier(repeats=3)@given").measure(comparison).value)
    assert often.permuted.std() < once.permuted.std()


def nulls(rng, *, metrics=4, permutations=99, method=PERMUTATION):
    values = rng.normal(size=(permutations + 1, metrics)) + rng.normal(size=(permutations + 1, 1))
    return [NullValues(column[0], column[1:], method) for column in values.T]


def test_shared_draws_are_adjusted_by_max_t_others_by_holm():
    rng = np.random.default_rng(5)
    shared, own = nulls(rng), nulls(rng, metrics=2, method=HELD_OUT)
    p, method = adjust_p_values(shared)
    assert method == "max-T"
    assert p == pytest.approx(adjust_by_max_t(np.column_stack([null.compute_ranks() for null in shared])))
    p, method = adjust_p_values(own)
    assert method == "Holm"
    assert p == pytest.approx(adjust_by_holm(np.array([null.p_value for null in own])))
    p, method = adjust_p_values([*shared, *own])
    assert method == "max-T and Holm"
    assert (p >= [null.p_value for null in [*shared, *own]]).all()
    of_groups = nulls(rng, metrics=3, method=GROUPS)  # other exchanges than those of single texts
    p, method = adjust_p_values([*shared, *of_groups])
    assert method == "max-T and Holm"
    apart = [adjust_p_values(part)[0] for part in (shared, of_groups)]
    assert p == pytest.approx(adjust_by_holm(np.concatenate(apart), [0] * 4 + [1] * 3))
    p, method = adjust_p_values(shared[:1])
    assert method is None
    assert p[0] == shared[0].p_value


@pytest.mark.parametrize("kinds", [(PERMUTATION, PERMUTATION), (PERMUTATION, HELD_OUT), (HELD_OUT, HELD_OUT)])
def test_any_false_rejection_is_as_rare_as_it_should_be(kinds):
    rng = np.random.default_rng(6)
    families = [[null for kind in kinds for null in nulls(rng, method=kind)] for _ in range(300)]
    wrong = np.mean([adjust_p_values(family)[0].min() <= 0.05 for family in families])
    assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


def test_times_is_given_where_it_means_something():
    reference, candidate = RNG.normal(size=(40, 6)), RNG.normal(size=(30, 6)) + 0.5
    report = compare(
        reference=reference,
        candidate=candidate,
        metrics="energy,mmd,classifier,pr,pr.recall",
        test=True,
        permutations=19,
    )
    rows = {row["metric"].removesuffix("@given"): row for row in report.to_dicts()}
    assert rows["energy"]["times"] == pytest.approx(rows["energy"]["value"] / rows["energy"]["null"])
    assert rows["pr"]["times"] is not None
    assert [rows[name]["times"] for name in ("mmd", "classifier", "pr.recall")] == [None, None, None]
    for row in rows.values():
        assert row["null_low"] <= row["null"] <= row["null_high"]
        assert row["p_value"] <= row["p_adjusted"] <= 1
        assert 0 < row["p_error"] < 0.12
        assert row["adjustment"] == "max-T and Holm"


def test_an_interval_comes_with_a_null_range_and_no_p_value():
    reference, candidate = RNG.normal(size=(40, 6)), RNG.normal(size=(30, 6))
    (score,) = compare(reference=reference, candidate=candidate, metrics="energy", ci=True, test=False)
    (tested,) = compare(reference=reference, candidate=candidate, metrics="energy")
    assert (score.null, score.null_low, score.effect) == (tested.null, tested.null_low, tested.effect)
    assert np.isnan(score.p_value)
    assert np.isnan(score.p_adjusted)


def test_a_skewed_metric_does_not_hide_the_others_and_few_permutations_suffice():
    rng = np.random.default_rng(8)
    clear = NullValues(60.0, rng.normal(size=99), PERMUTATION)
    skewed = [NullValues(1.0, rng.lognormal(sigma=2.0, size=99), PERMUTATION) for _ in range(20)]
    assert max(null.permuted.max() / null.permuted.std() for null in skewed) > 6
    assert adjust_p_values([clear, *skewed])[0][0] == 0.01
    borderline = NullValues(2.1, rng.normal(size=99), PERMUTATION)
    assert adjust_p_values([borderline, *skewed[:1]])[0][0] < 2.5 * borderline.p_value
