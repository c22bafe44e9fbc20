"""Means, ratios and F1 with their intervals: SciPy's where it has them, simulation where not."""

import math

import numpy as np
import pytest
from scipy import stats

from textgauge.metrics.properties.coverage import Estimate, f1, mean, perplexity


def test_the_mean_has_students_interval():
    values = np.array([0.2, 0.5, 0.9, 0.4])
    found = mean(np.append(values, np.nan), level=0.9)
    ends = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((0.5, *ends))


def test_one_value_has_no_interval_and_no_value_no_mean():
    assert mean(np.array([0.3])).value == 0.3
    assert math.isnan(mean(np.array([0.3])).low)
    assert math.isnan(mean(np.array([np.nan])).value)
    assert math.isnan(f1(np.array([0.5]), np.empty(0)).value)
    assert math.isnan(f1(np.array([0.0]), np.array([0.0])).value)
    assert math.isnan(f1(np.array([0.5]), np.array([0.5, 0.6])).low)


def test_perplexity_is_that_of_the_whole_corpus():
    found = perplexity(np.array([2.0, 6.0, np.nan]), np.array([1.0, 3.0, 5.0]))
    assert found.value == pytest.approx(math.exp(2.0))
    assert (found.low, found.high) == pytest.approx((found.value, found.value))
    assert math.isnan(perplexity(np.array([0.0]), np.array([0.0])).value)
    assert perplexity(np.array([1e6]), np.array([1.0])).value < math.inf


def test_f1_is_the_harmonic_mean():
    found = f1(np.array([0.4, 0.6]), np.array([0.7, 0.9]))
    assert found.value == pytest.approx(2 * 0.5 * 0.8 / 1.3)
    assert found.low < found.value < found.high <= 1


def covered(found: Estimate, truth: float) -> bool:
    return found.low <= truth <= found.high


def test_intervals_of_f1_and_perplexity_cover_the_truth():
    rng, hits = np.random.default_rng(0), []
    truth = 2 * 0.5 * 0.75 / 1.25
    for _ in range(600):
        tokens = rng.integers(3, 15, 40).astype(float)
        surprise = tokens * 2.0 + rng.normal(size=40) * np.sqrt(tokens)
        one = f1(rng.beta(2, 2, 12), rng.beta(6, 2, 60))
        hits.append([covered(one, truth), covered(perplexity(surprise, tokens), math.exp(2.0))])
    assert (np.mean(hits, axis=0) > 0.92).all()
    assert (np.mean(hits, axis=0) < 0.98).all()
