"""Two metrics on one measure: paired differences, and who is ahead."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from textgauge.bench import Agreement
from textgauge.bench.contrasts import SHOWN, contrast_correlations, contrast_measures
from textgauge.bench.protocols.base import Observations, Verdict
from textgauge.bench.results import Group
from textgauge.core.errors import InputError
from textgauge.stats.resampling import adjust_by_holm
from textgauge_papers.perturbation import Perturbation

WAVE = np.sin(np.arange(1_000.0))


def judged(metric, value, *, measure="early_rise", draws=None, reason=None):
    made = value + WAVE if draws is None else draws
    return metric, [Verdict(measure, value, draws=tuple(made), units=20, reason=reason)]


def contrast(items, **more):
    return contrast_measures([Group("blobs", Perturbation(), 0, judged=dict(items), **more)])


def test_what_two_metrics_share_leaves_their_difference():
    """Draws that vary by two and go together have a difference that does not vary at all."""
    (row,) = contrast([judged("a", 0.5), judged("b", 0.3)])
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((0.2, 0.2, 0.2))
    assert (row["metric"], row["other"], row["ahead"], row["n"]) == ("a", "b", "a", 20)
    assert set(SHOWN) < set(row)


@pytest.mark.parametrize(("measure", "ahead"), [("early_rise", "b"), ("tenth_rise", "a"), ("saturation", "a")])
def test_ahead_is_the_better_end_of_the_measure(measure, ahead):
    items = [judged("a", 0.1, measure=measure), judged("b", 0.4, measure=measure)]
    assert contrast(items)[0]["ahead"] == ahead
    assert contrast(items[::-1])[0]["ahead"] == ahead


def test_a_metric_without_a_value_is_named_and_has_no_difference():
    (row,) = contrast([judged("a", 0.1), judged("b", float("nan"), draws=(), reason="no rise")])
    assert (row["value"], row["other_value"], row["difference"], row["low"], row["ahead"]) == (0.1, *[None] * 4)
    assert row["reason"] == "b: no rise"


def test_only_metrics_of_one_run_without_missing_cells_are_compared():
    with pytest.raises(InputError, match="no two metrics"):
        contrast([judged("a", 0.1), judged("b", 0.2)], missing={"b": 1})
    with pytest.raises(InputError, match="no two metrics"):
        contrast_measures([Group("blobs", Perturbation(), 0, judged=dict([judged(name, 0.1)])) for name in "ab"])
    with pytest.raises(InputError, match="no two metrics"):
        contrast([judged("a", 0.1, draws=()), judged("b", 0.2, draws=())])
    assert len(contrast([judged(name, 0.1) for name in "abcd"])) == 6


def test_who_is_ahead_is_decided_after_holms_correction():
    rng = np.random.default_rng(5)
    gaps = {"a": 0.0, "b": 0.035, "c": 0.0, "d": 0.024}
    items = [judged(name, 0.5 + gap, draws=0.5 + gap + 0.007 * rng.normal(size=500)) for name, gap in gaps.items()]
    rows = contrast(items)
    raw = np.array([row["p_value"] for row in rows])
    assert np.array([row["p_holm"] for row in rows]) == pytest.approx(adjust_by_holm(raw))
    assert any(row["p_value"] <= 0.05 < row["p_holm"] and row["ahead"] is None for row in rows)
    assert {row["ahead"] for row in rows if row["p_holm"] <= 0.05} == {"b"}


def test_items_are_what_rated_pairs_are_tested_by():
    """Twenty ratings of each of five items are five units: p-values of Student's t have four degrees of freedom."""
    rng = np.random.default_rng(8)
    item = np.repeat(np.arange(5), 20)
    rating = np.tile(rng.normal(size=20), 5) + rng.normal(size=100)
    columns = {"rating": rating, "item": item}
    near = {"good": rating + 0.8 * rng.normal(size=100), "poor": rating + 1.6 * rng.normal(size=100)}
    seen = {name: Observations(-value, np.zeros(100, dtype=np.int64), columns) for name, value in near.items()}
    (row,) = contrast_correlations([Group("data", Agreement(), 0, "f", seen)])
    half = (row["high"] - row["low"]) / 2
    t = row["difference"] / (half / stats.t.ppf(0.975, 4))
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(t), 4))
    shuffled = {name: replace(one, columns={"rating": rating}) for name, one in seen.items()}
    (single,) = contrast_correlations([Group("data", Agreement(), 0, "f", shuffled)])
    assert single["p_value"] < row["p_value"]
    assert single["p_permutation"] < row["p_permutation"]
