"""Agreement of annotators and what a judge adds: against plain twins, and by simulation."""

from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, t
from tests.unit.stats.columns import NAN

from textgauge.stats.annotators import (
    correlate_with_others,
    estimate_prediction_powered_mean,
    kappa,
    krippendorff_alpha,
    resample_kappa,
    run_alternative_annotator_test,
)
from textgauge.stats.correlation import pearson, spearman

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section D: four observers, twelve units.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


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


@pytest.mark.parametrize("ratings", [np.ones((3, 4)), np.array([[1.0, NAN], [NAN, 2.0]]), np.empty((3, 0))])
def test_alpha_without_two_unlike_ratings_does_not_exist(ratings):
    for scale in ("nominal", "ordinal", "interval"):
        assert np.isnan(krippendorff_alpha(ratings, scale=scale))


def test_each_rater_is_held_against_the_mean_of_the_others():
    found = correlate_with_others(pearson, OBSERVERS)
    for rater, own in enumerate(OBSERVERS):
        others = [[v for i, v in enumerate(unit) if i != rater and not np.isnan(v)] for unit in OBSERVERS.T]
        both = [(v, np.mean(rest)) for v, rest in zip(own, others, strict=True) if rest and not np.isnan(v)]
        assert found[rater] == pytest.approx(pearson(*np.array(both).T), abs=1e-12)


def test_a_rater_alone_has_no_ceiling():
    assert np.isnan(correlate_with_others(spearman, OBSERVERS[:1])).all()
    assert np.isnan(correlate_with_others(spearman, np.array([[1.0, NAN, 2.0], [NAN, 1.0, NAN]]))).all()


@pytest.mark.parametrize("squared", [False, True])
def test_kappa_is_that_of_scikit_learn(squared):
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    first = rng.integers(1, 6, 80).astype(float)
    second = np.clip(first + rng.integers(-1, 2, 80), 1, 5)
    expected = cohen_kappa_score(first, second, weights="quadratic" if squared else None)
    assert kappa(first, second, squared=squared) == pytest.approx(expected)
    gaps = np.where(np.arange(80) < 20, NAN, second)
    assert kappa(first, gaps, squared=squared) == pytest.approx(kappa(first[20:], second[20:], squared=squared))
    weights = rng.multinomial(80, np.full(80, 1 / 80), size=5)
    again = [kappa(np.repeat(first, row), np.repeat(second, row), squared=squared) for row in weights]
    assert resample_kappa(first, second, weights, squared=squared) == pytest.approx(again)
    assert np.isnan(kappa(np.ones(4), np.ones(4), squared=squared))
    assert np.isnan(kappa(np.array([1.0, NAN]), np.array([NAN, 1.0]), squared=squared))


AUTHORS = {  # closeness and margin: winning rate, advantage
    ("accuracy", 0.0): (0.0, 0.8796296296296295),
    ("accuracy", 0.1): (0.75, 0.8796296296296295),
    ("accuracy", 0.2): (1.0, 0.8796296296296295),
    ("rmse", 0.0): (0.0, 0.8518518518518519),
    ("rmse", 0.1): (0.0, 0.8518518518518519),
    ("rmse", 0.2): (0.75, 0.8518518518518519),
}


def example():
    """Four people with gaps and a judge, made by arithmetic."""
    person, item = np.mgrid[:4, :60]
    truth = (item * item + 3 * item) % 5 + 1
    people = np.clip(
        truth + ((7 * person + 3 * item + person * item) % 5 == 0) - ((5 * person + 2 * item) % 7 == 0), 1, 5
    )
    people = np.where((person + item) % 11 == 4, np.nan, people)
    places = np.arange(60)
    return people, np.clip(truth[0] + (places % 6 == 1) - (places % 9 == 2) * 2.0, 1, 5)


@pytest.mark.parametrize(("closeness", "margin"), AUTHORS)
def test_it_is_the_authors_test(closeness, margin):
    found = run_alternative_annotator_test(*example(), margin=margin, closeness=closeness)
    assert (found.winning_rate, found.advantage) == pytest.approx(AUTHORS[closeness, margin], abs=1e-12)
    assert found.passed == (found.winning_rate >= 0.5)


def test_a_judge_that_copies_people_passes_and_one_that_contradicts_them_does_not():
    people = np.random.default_rng(0).integers(1, 6, (3, 50)).astype(float)
    people[1:] = people[0]
    assert run_alternative_annotator_test(people, people[0]).passed
    against = run_alternative_annotator_test(people, 6 - people[0] + (people[0] == 3))
    assert (against.winning_rate, against.passed) == (0.0, False)


def test_people_with_few_items_are_left_out():
    people, judge = example()
    people[3, 20:] = np.nan
    found = run_alternative_annotator_test(people, judge)
    assert np.isnan(found.p_values).tolist() == [False, False, False, True]
    assert found.p_adjusted[:3] == pytest.approx(false_discovery_control(found.p_values[:3], method="by"))
    assert np.isnan(found.p_adjusted[3])
    none = run_alternative_annotator_test(people[:, :10], judge[:10])
    assert np.isnan(none.winning_rate)
    assert not none.passed


def test_items_that_one_person_alone_rated_change_nothing():
    rng = np.random.default_rng(0)
    people, judge = rng.integers(1, 5, (3, 40)).astype(float), rng.integers(1, 5, 40).astype(float)
    alone = np.full((3, 10), np.nan)
    alone[0] = 4.0
    few = run_alternative_annotator_test(people, judge)
    many = run_alternative_annotator_test(np.hstack([people, alone]), np.append(judge, np.ones(10)))
    assert (few.p_values.tolist(), few.advantage) == (many.p_values.tolist(), many.advantage)


def test_people_without_a_common_item_have_no_p_value():
    people = np.tile([[1.0, 2.0]], (3, 20))
    people[2] = np.nan
    found = run_alternative_annotator_test(people, people[0])
    assert np.isfinite(found.p_values).tolist() == [True, True, False]
    assert np.isnan(found.advantages[2])
    assert (found.winning_rate, found.advantage) == (1.0, 1.0)


def made(rng, *, rated, unrated, link, bias=0.7):
    """Scores of people, NaN beyond the rated items, and a judge's that are biased and go with them."""
    people = rng.normal(size=rated + unrated)
    judge = link * people + np.sqrt(1 - link**2) * rng.normal(size=rated + unrated) + bias
    return np.where(np.arange(rated + unrated) < rated, people, np.nan), judge


def test_the_formula_is_that_of_a_plain_twin():
    people, judge = made(np.random.default_rng(3), rated=40, unrated=200, link=0.8)
    y, f, more = people[:40], judge[:40], judge[40:]
    weight = np.cov(y, f)[0, 1] / ((1 + 40 / 200) * np.var(judge, ddof=1))
    value = y.mean() + weight * (more.mean() - f.mean())
    rest = y - weight * f
    error = np.sqrt(((rest - rest.mean()) ** 2).sum() / 38 / 40 + weight**2 * np.var(judge, ddof=1) / 200)
    found = estimate_prediction_powered_mean(people, judge)
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx(
        (value - t.ppf(0.975, 38) * error, value + t.ppf(0.975, 38) * error)
    )
    assert (found.rated, found.unrated) == (40, 200)


def test_a_judge_that_tells_nothing_changes_nothing():
    people = np.array([1.0, 2.0, 4.0, np.nan])
    assert estimate_prediction_powered_mean(people, np.ones(4)).value == pytest.approx(7 / 3)
    assert estimate_prediction_powered_mean(people[:3], np.array([1.0, 2, 3])).weight == 0.0
    assert np.isnan(estimate_prediction_powered_mean(people[:2], np.ones(2)).value)


@pytest.mark.slow
@pytest.mark.parametrize(("rated", "link"), [(30, 0.5), (30, 0.9), (100, 0.0), (100, 0.8), (200, 0.95)])
def test_coverage_and_width(rated, link):
    rng = np.random.default_rng([rated, int(100 * link)])
    covered, widths = 0, np.zeros(2)
    for _ in range(3_000):
        people, judge = made(rng, rated=rated, unrated=1_000, link=link)
        found, alone = (
            estimate_prediction_powered_mean(people, judge),
            estimate_prediction_powered_mean(people[:rated], judge[:rated]),
        )
        covered += found.low <= 0.0 <= found.high
        widths += found.high - found.low, alone.high - alone.low
    assert 0.93 <= covered / 3_000 <= 0.97
    assert widths[0] < (0.95 if link >= 0.5 else 1.02) * widths[1]
