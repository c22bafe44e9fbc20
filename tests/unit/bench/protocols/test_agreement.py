"""Agreement: measures against plain computations, resamples against resamples drawn one by one, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.unit.stats.columns import count_inversions

from textgauge.bench import Agreement, Observations, PairSources
from textgauge.bench.protocols.base import RESAMPLES
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.stats import orders
from textgauge.stats.correlation import pearson, spearman
from textgauge.stats.orders import accuracy_eq, kendall_b
from textgauge_papers import yamshchikov2020_tables as counts


def observed(n=240, seed=0, **columns):
    rng = np.random.default_rng(seed)
    rating = rng.integers(1, 6, n).astype(float)
    value = -(rating + rng.normal(size=n))
    return Observations(value, np.zeros(n, np.int64), {"rating": rating, **columns})


def verdicts(observations, **parameters):
    return {verdict.measure: verdict for verdict in Agreement(**parameters).judge(observations)}


def test_pair_level_is_as_scipy_has_it():
    seen = observed()
    near, rating, found = -seen.value, seen.columns["rating"], verdicts(seen)
    assert found["pearson"].value == pytest.approx(stats.pearsonr(near, rating)[0])
    assert found["spearman"].value == pytest.approx(stats.spearmanr(near, rating)[0])
    assert found["kendall"].value == pytest.approx(stats.kendalltau(near, rating, variant="b")[0])
    assert found["kendall_c"].value == pytest.approx(stats.kendalltau(near, rating, variant="c")[0])
    for verdict in found.values():
        assert verdict.low < verdict.value < verdict.high
        assert len(verdict.draws) == RESAMPLES
        assert (verdict.n, verdict.units, verdict.values) == (240, 240, (verdict.value,))
        assert 0 < verdict.chance < verdict.value


def test_pairs_of_an_item_are_drawn_together():
    rng = np.random.default_rng(1)
    item = np.repeat(np.arange(30), 8)
    rating = rng.normal(size=30)[item]
    value = -(rating + rng.normal(size=30)[item])  # pairs of an item are copies: 30 pairs' worth of knowledge
    alone, together, named = (
        verdicts(Observations(value, np.zeros(240, np.int64), {"rating": rating, **more}))
        for more in ({}, {"item": item}, {"item": np.arange(240), "group": item})
    )
    width = [verdict["pearson"].high - verdict["pearson"].low for verdict in (alone, together)]
    assert width[1] > 2 * width[0]
    assert together["pearson"].units == 30
    assert repr(named["pearson"]) == repr(together["pearson"])  # NaN is not equal to itself


@pytest.mark.parametrize(
    ("group", "complaint"),
    [(np.arange(36) % 7, "at least 8 groups, found 7"), (np.arange(36) % 12, "an item lies in several groups")],
)
def test_groups_that_cannot_be_resampled_are_refused(group, complaint):
    sides = (Corpus.of([f"{side} {row}" for row in range(36)]) for side in "ab")
    columns = {"rating": np.arange(36.0), "item": np.arange(36) // 3, "group": group}
    with pytest.raises(InputError, match=complaint):
        Agreement().check(PairSources("pairs", *sides, columns))


@pytest.mark.parametrize("sets", [True, False])
def test_means_of_groups(sets):
    group = np.array(["a", "b", "c", "d_random", "e_random"])[np.arange(240) % 5]
    seen = observed(**({"set": group} if sets else {"system": group}))
    means = [[column[group == g].mean() for g in np.unique(group)] for column in (-seen.value, seen.columns["rating"])]
    mine, people = map(np.array, means)
    found = verdicts(seen)
    if not sets:
        assert found["system_pearson"].value == pytest.approx(pearson(mine, people))
        assert found["system_kendall"].value == pytest.approx(kendall_b(mine, people))
        assert found["system_accuracy"].value == pytest.approx(accuracy_eq(mine, people))
        return
    ranks = orders.rank_sets(mine), orders.rank_sets(people)
    assert found["set_pearson"].value == pytest.approx(pearson(mine, people))
    assert found["order_correlation"].value == pytest.approx(spearman(*ranks))
    assert found["coinciding_ranks"].value == counts.count_coinciding(*ranks)
    assert found["swaps"].value == counts.count_swaps(*ranks)
    assert found["inversions"].value == count_inversions(*ranks)
    random = np.array([False, False, False, True, True])
    assert found["variability"].value == pytest.approx(counts.compute_variability(mine, random))
    assert found["disqualified"].value == (ranks[0][random].min() < ranks[0][~random].max())


def test_a_metric_without_any_value_is_a_reason_at_every_level():
    n = np.arange(12)
    seen = Observations(np.full(12, np.nan), np.zeros(12, np.int64), {"rating": n % 5 * 1.0, "item": n // 3})
    found = verdicts(seen)
    assert "pearson" in found
    assert "within_item_pearson" not in found
    for verdict in found.values():
        assert math.isnan(verdict.value)
        assert verdict.reason


def test_items_of_one_pair_have_no_chance_level():
    n = np.arange(12)
    seen = Observations(-np.arange(12.0), np.zeros(12, np.int64), {"rating": n % 5 * 1.0, "item": n})
    found = verdicts(seen)["within_item_kendall"]
    assert math.isnan(found.value)
    assert math.isnan(found.chance)
    assert found.reason
