"""The prediction-powered mean: its formula against a plain twin, its coverage and its gain by simulation."""

import numpy as np
import pytest
from scipy.stats import t

from textgauge.stats.prediction_powered import prediction_powered_mean


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
    found = prediction_powered_mean(people, judge)
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx(
        (value - t.ppf(0.975, 38) * error, value + t.ppf(0.975, 38) * error)
    )
    assert (found.rated, found.unrated) == (40, 200)


def test_a_judge_that_tells_nothing_changes_nothing():
    people = np.array([1.0, 2.0, 4.0, np.nan])
    assert prediction_powered_mean(people, np.ones(4)).value == pytest.approx(7 / 3)
    assert prediction_powered_mean(people[:3], np.array([1.0, 2, 3])).weight == 0.0
    assert np.isnan(prediction_powered_mean(people[:2], np.ones(2)).value)


@pytest.mark.slow
@pytest.mark.parametrize(("rated", "link"), [(30, 0.5), (30, 0.9), (100, 0.0), (100, 0.8), (200, 0.95)])
def test_coverage_and_width(rated, link):
    rng = np.random.default_rng([rated, int(100 * link)])
    covered, widths = 0, np.zeros(2)
    for _ in range(3_000):
        people, judge = made(rng, rated=rated, unrated=1_000, link=link)
        found, alone = prediction_powered_mean(people, judge), prediction_powered_mean(people[:rated], judge[:rated])
        covered += found.low <= 0.0 <= found.high
        widths += found.high - found.low, alone.high - alone.low
    assert 0.93 <= covered / 3_000 <= 0.97
    assert widths[0] < (0.95 if link >= 0.5 else 1.02) * widths[1]
