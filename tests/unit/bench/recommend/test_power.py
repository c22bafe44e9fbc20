"""The search for the number of texts, and the number of rated pairs, on tests whose truth is known."""

import numpy as np
import pytest
from scipy.stats import norm

from textgauge.bench.recommend.power import SizeSearch, needed_shift, pairs_needed, rejection_rate, rung
from textgauge.measure.comparing.compare import PERMUTATIONS
from textgauge.stats.correlation import spearman
from textgauge.stats.paired_tests import bootstrap_test


@pytest.mark.parametrize(("shift", "permutations"), [(0.0, 39), (1.5, 39), (2.5, 99)])
def test_the_chance_of_rejecting_is_that_of_simulated_tests(shift, permutations):
    rng = np.random.default_rng(0)
    observed, permuted = rng.normal(size=20_000) + shift, rng.normal(size=(20_000, permutations))
    p_values = (1 + (permuted >= observed[:, None]).sum(axis=1)) / (1 + permutations)
    found = (p_values <= 0.05).mean()
    assert rejection_rate(np.array([shift]), permutations=permutations)[0] == pytest.approx(found, abs=0.01)


def test_a_test_with_too_few_permutations_never_rejects():
    assert rejection_rate(np.array([9.0]), permutations=10)[0] == 0.0


def test_the_needed_shift_is_that_of_the_test_that_compare_makes():
    """With 199 permutations it is about one per cent more than that of a one-sided normal test."""
    shift = needed_shift(0.8)
    assert rejection_rate(np.array([shift]), permutations=PERMUTATIONS)[0] == pytest.approx(0.8, abs=1e-3)
    assert 1.005 < shift / (norm.ppf(0.8) + norm.ppf(0.95)) < 1.02
    # The level of one of many metrics may lie below 1/(permutations + 1): the largest of their values is tested at 5 %.
    assert needed_shift(0.8, 0.004) / shift == pytest.approx(
        (norm.ppf(0.8) + norm.ppf(0.996)) / (norm.ppf(0.8) + norm.ppf(0.95)), rel=0.02
    )


def simulated(search, n, tests, truth, growth, rng):
    shift = np.array([needed_shift(0.8) * (n / truth) ** growth])
    search.add(n, (rng.random(tests) < rejection_rate(shift, permutations=39)[0]).tolist())


@pytest.mark.parametrize("growth", [0.6, 1.0, 1.4])
@pytest.mark.parametrize("truth", [60, 900])
def test_the_search_finds_the_number_of_texts(truth, growth):
    search, rng = SizeSearch(0.8), np.random.default_rng(1)
    for share in (0.4, 0.8, 1.1, 1.3):
        simulated(search, round(truth * share), 50, truth, growth, rng)
    found = search.estimate()
    assert found.low < truth < found.high
    assert found.texts == pytest.approx(truth, rel=0.25)
    assert (search.tests, search.largest) == (200, round(1.3 * truth))


def test_more_tests_make_it_surer():
    rng, search = np.random.default_rng(2), SizeSearch(0.8)
    simulated(search, 100, 20, 100, 1.0, rng)
    before = search.estimate().spread
    simulated(search, 100, 200, 100, 1.0, rng)
    assert search.estimate().spread < before / 2


def test_tests_that_see_nothing_give_a_lower_bound():
    search = SizeSearch(0.8)
    search.add(100, [False] * 40)
    assert search.estimate().low > 100


@pytest.mark.parametrize("growth", [0.6, 1.0])
def test_a_stricter_level_needs_more_texts(growth):
    search, rng = SizeSearch(0.8), np.random.default_rng(4)
    for share in (0.5, 0.7, 1.0, 1.4):
        simulated(search, round(200 * share), 400, 200, growth, rng)
    truth = 200 * (needed_shift(0.8, 0.05 / 4) / needed_shift(0.8)) ** (1 / growth)
    assert search.at_level(0.05 / 4) == pytest.approx(truth, rel=0.15)
    assert search.at_level(0.05) == pytest.approx(search.estimate().texts, rel=0.02)


def test_drawn_numbers_are_as_likely_as_the_tests_make_them():
    search, rng = SizeSearch(0.8), np.random.default_rng(5)
    simulated(search, 100, 100, 100, 1.0, rng)
    drawn, found = search.draw(4_000, rng), search.estimate()
    assert np.median(drawn) == pytest.approx(found.texts, rel=0.05)
    assert np.log(drawn).std() == pytest.approx(found.spread, rel=0.1)


def test_intervals_cover():
    held = 0
    for seed in range(60):
        search, rng = SizeSearch(0.8), np.random.default_rng([3, seed])
        growth = rng.normal(1.0, 0.2)
        for n in (100, 200, 260):
            simulated(search, n, 30, 250, growth, rng)
        estimate = search.estimate()
        held += estimate.low <= 250 <= estimate.high
    assert held >= 53


def test_rungs_are_few_and_reach_as_far_as_allowed():
    rungs = {rung(n, most=1000) for n in range(20, 5000)}
    assert max(rungs) <= 1000
    assert len(rungs) < 25
    assert all(abs(np.log(rung(n, most=1e6) / n)) < 0.12 for n in range(20, 1000))


def study(n, rng):
    truth = rng.normal(size=n)
    return truth, {"good": truth + rng.normal(size=n), "poor": truth + 1.6 * rng.normal(size=n)}


def test_studies_of_the_needed_size_tell_metrics_apart_as_often_as_asked():
    rng = np.random.default_rng(0)
    ratings, near = study(4_000, rng)
    found = pairs_needed(near, ratings, "good", "poor", power=0.8)
    told = 0
    for _ in range(150):
        y, columns = study(int(found.count), rng)
        test = bootstrap_test(spearman, y, columns["good"], columns["poor"], resamples=200, seed=1)
        told += test.low > 0
    assert 0.68 <= told / 150 <= 0.9
    assert found.low < found.count < found.high


def test_metrics_that_do_not_differ_need_no_number():
    ratings, near = study(300, np.random.default_rng(1))
    near["twin"] = near["poor"]
    same, worse = (pairs_needed(near, ratings, "poor", other, power=0.8) for other in ("twin", "good"))
    assert (same.difference, np.isnan(same.count)) == (0.0, True)
    assert worse.difference < 0
    assert np.isnan(worse.count)
    assert same.to_dict()["count"] is None


def test_pairs_without_a_value_are_left_out_and_items_go_together():
    ratings, near = study(500, np.random.default_rng(2))
    holes = {name: np.where(np.arange(500) < 100, np.nan, column) for name, column in near.items()}
    found = pairs_needed(holes, ratings, "good", "poor", power=0.8)
    kept = pairs_needed({name: column[100:] for name, column in near.items()}, ratings[100:], "good", "poor", power=0.8)
    assert found == kept
    doubled = pairs_needed(
        {name: np.tile(column, 2) for name, column in near.items()},
        np.tile(ratings, 2),
        "good",
        "poor",
        power=0.8,
        items=np.tile(np.arange(500), 2),
    )
    single = pairs_needed(near, ratings, "good", "poor", power=0.8)
    assert doubled.count == pytest.approx(2 * single.count, rel=0.2)
