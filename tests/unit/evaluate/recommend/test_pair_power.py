"""The number of rated pairs that tells two metrics apart, against simulated studies."""

import numpy as np
import pytest

from textgauge.evaluate.recommend.pair_power import pairs_needed
from textgauge.stats.correlation import spearman
from textgauge.stats.paired_tests import bootstrap_test


def study(n, rng):
    truth = rng.normal(size=n)
    return truth, {"good": truth + rng.normal(size=n), "poor": truth + 1.6 * rng.normal(size=n)}


def test_studies_of_the_needed_size_tell_metrics_apart_as_often_as_asked():
    rng = np.random.default_rng(0)
    ratings, near = study(4_000, rng)
    (found,) = pairs_needed(near, ratings, "good", ["poor"], power=0.8)
    told = 0
    for _ in range(150):
        y, columns = study(int(found.count), rng)
        test = bootstrap_test(spearman, y, columns["good"], columns["poor"], resamples=200, seed=1)
        told += test.low > 0
    assert 0.68 <= told / 150 <= 0.9
    assert found.low < found.count < found.high


def test_metrics_that_do_not_differ_need_no_number():
    ratings, near = study(300, np.random.default_rng(1))
    same, worse = pairs_needed(near | {"twin": near["poor"]}, ratings, "poor", ["twin", "good"], power=0.8)
    assert (same.difference, np.isnan(same.count)) == (0.0, True)
    assert worse.difference < 0
    assert np.isnan(worse.count)
    assert same.to_dict()["count"] is None


def test_pairs_without_a_value_are_left_out_and_items_go_together():
    ratings, near = study(500, np.random.default_rng(2))
    holes = {name: np.where(np.arange(500) < 100, np.nan, column) for name, column in near.items()}
    (found,) = pairs_needed(holes, ratings, "good", ["poor"], power=0.8)
    (kept,) = pairs_needed(
        {name: column[100:] for name, column in near.items()}, ratings[100:], "good", ["poor"], power=0.8
    )
    assert found == kept
    (doubled,) = pairs_needed(
        {name: np.tile(column, 2) for name, column in near.items()},
        np.tile(ratings, 2),
        "good",
        ["poor"],
        power=0.8,
        items=np.tile(np.arange(500), 2),
    )
    (single,) = pairs_needed(near, ratings, "good", ["poor"], power=0.8)
    assert doubled.count == pytest.approx(2 * single.count, rel=0.2)
