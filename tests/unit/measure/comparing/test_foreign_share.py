"""Shares of foreign texts: found where they are known, and trivial for the candidate's own texts."""

import numpy as np
import pytest

from textgauge import compare, get_metric
from textgauge.core.errors import InputError
from textgauge.data import Comparison, Corpus
from textgauge.measure.foreign_share import estimate_share, find_smallest_share
from textgauge.metrics.uncertainty import NullValues

METRICS = ["energy", "fid", "medoid"]


def rows(seed, n, shift=0.0):
    centre = np.array([3.0, 3.0, 0, 0]) + shift * np.array([0.0, -3.0, 3.0, 0.0])
    return np.random.default_rng(seed).normal(size=(n, 4)) + centre


def mixture(seed, n, share):
    count = round(share * n)
    return np.vstack([rows(seed, n - count), rows(seed + 1, count, shift=1.0)])


def found(name, share, *, n=100, seed=0):
    comparison = Comparison(rows(seed, n), mixture(seed + 1, n, share))
    return estimate_share(get_metric(f"{name}@given"), comparison, Corpus.of(rows(seed + 3, n, shift=1.0)), seed=seed)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("name", METRICS)
def test_a_known_share_is_found(name, share):
    result = found(name, share)
    assert result.low <= share <= result.high
    assert abs(result.share - share) < 0.15
    assert result.high - result.low < 0.4


def test_farther_than_foreign_is_100_percent():
    metric = get_metric("energy@given")
    result = estimate_share(metric, Comparison(rows(0, 100), -9 * rows(1, 100)), Corpus.of(rows(2, 100, shift=0.5)))
    assert (result.share, result.low, result.high) == (1.0, 1.0, 1.0)


def test_a_metric_that_is_undefined_on_halves_has_no_share():
    metric = get_metric("pr(k=10)@given")
    assert np.isnan(estimate_share(metric, Comparison(rows(0, 14), rows(1, 14)), Corpus.of(rows(2, 14))).share)


def test_the_order_of_texts_does_not_matter_and_the_seed_does():
    metric, reference, candidate, foreign = (
        get_metric("energy@given"),
        rows(0, 60),
        mixture(1, 60, 0.4),
        rows(3, 60, 1.0),
    )
    shares = [
        estimate_share(metric, Comparison(reference[::step], candidate[::step]), Corpus.of(foreign[::step]), seed=seed)
        for step, seed in ((1, 0), (-1, 0), (1, 1))
    ]
    assert shares[0].share == pytest.approx(shares[1].share)
    assert shares[0].share != shares[2].share


def test_equal_null_values_whose_mean_is_rounded_give_a_share():
    null = NullValues(0.9, np.full(199, 0.9), "permutation")
    comparison, foreign = Comparison(rows(0, 9), rows(1, 9)), Corpus.of(rows(3, 9, shift=1.0))
    assert 0 <= find_smallest_share(get_metric("energy@given"), comparison, null, foreign) < 1e-6


def test_compare_gives_the_share_beside_the_distance():
    report = compare(
        reference=rows(0, 120), candidate=mixture(1, 120, 0.3), foreign=rows(3, 120, 1.0), metrics="energy"
    )
    alone = compare(reference=rows(0, 120), candidate=mixture(1, 120, 0.3), metrics="energy")
    for score, bare in zip(report, alone, strict=True):
        assert score.value == bare.value
        assert score.foreign_low <= 0.3 <= score.foreign_high
        assert np.isnan(bare.foreign_share)
    assert "foreign texts" in str(report).splitlines()[1]
    assert report.to_dicts()[0]["foreign_share"] == report["energy@given"].foreign_share


def test_metrics_whose_interval_is_not_shown_to_hold_have_no_share():
    report = compare(rows(0, 40), mixture(1, 40, 0.3), foreign=rows(3, 40, 1.0), metrics="energy,fid")
    assert np.isnan(report["fid@given"].foreign_share)
    assert any("fid@given" in text for text in report.warnings)


def test_the_same_within_a_margin_is_said_where_the_interval_lies_below_it():
    third = rows(3, 400, 1.0)
    same = compare(rows(0, 400), rows(1, 400), foreign=third, metrics="energy", within="30%")
    assert same.answer.startswith("Same within 30 %")
    assert same.details["foreign"]["is_within"] is True
    assert same.details["foreign"]["power"] > 0.8
    unsure = compare(rows(0, 60), rows(1, 60), foreign=third, metrics="energy", within=0.03)
    assert unsure.answer.startswith("Cannot be decided within 3 %")
    assert unsure.foreign.texts > 60
    mixed = np.random.default_rng(0).permutation(mixture(1, 400, 0.6))
    far = compare(rows(0, 400), mixed, foreign=third, metrics="energy", within=0.1)
    assert far.answer.startswith("Different, as far as 6")
    assert "not the same within 10 %" in far.answer


@pytest.mark.parametrize("within", ["5", 0, 1.5, "much"])
def test_a_margin_is_a_share(within):
    with pytest.raises(InputError, match="share"):
        compare(rows(0, 40), rows(1, 40), metrics="energy", within=within)


def test_groups_widen_the_interval_of_a_share():
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(30), 5)
    sides = [rows(seed, 150) + rng.normal(size=(30, 4))[labels] for seed in (0, 1)]
    metric, foreign = get_metric("energy@given"), Corpus.of(rows(3, 150, 1.0))
    alone = estimate_share(metric, Comparison(*sides), foreign)
    grouped = estimate_share(metric, Comparison(*sides, groups=(labels, labels + 30)), foreign)
    assert grouped.high - grouped.low > 1.2 * (alone.high - alone.low)
