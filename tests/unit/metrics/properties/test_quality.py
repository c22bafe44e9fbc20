"""Perplexity of a corpus against its definition, its interval against simulation."""

import math

import numpy as np
import pytest

from textgauge.metrics.properties.meaning import perplexity


def test_perplexity_is_that_of_the_whole_corpus():
    found = perplexity(np.array([2.0, 6.0, np.nan]), np.array([1.0, 3.0, 5.0]))
    assert found.value == pytest.approx(math.exp(2.0))
    assert (found.low, found.high) == pytest.approx((found.value, found.value))
    assert math.isnan(perplexity(np.array([0.0]), np.array([0.0])).value)
    assert perplexity(np.array([1e6]), np.array([1.0])).value < math.inf


def test_the_interval_of_perplexity_covers_the_truth():
    rng, hits = np.random.default_rng(0), []
    for _ in range(600):
        tokens = rng.integers(3, 15, 40).astype(float)
        found = perplexity(tokens * 2.0 + rng.normal(size=40) * np.sqrt(tokens), tokens)
        hits.append(found.low <= math.exp(2.0) <= found.high)
    assert 0.92 < np.mean(hits) < 0.98
