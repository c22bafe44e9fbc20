"""Two intervals of a difference of agreements: each covers what it names."""

import numpy as np
import pytest
from scipy.stats import spearmanr, t

from textgauge.bench.learned import contrast_ensemble

PAIRS = 60


def effects(rng, sources):
    """Slopes of two metrics and three offsets, one row for each source."""
    return rng.normal([1.0, 0.9, 0.0, 0.0, 0.0], 0.3, size=(sources, 5))


def drawn(rng, rows, pairs=PAIRS):
    """Ratings and two metrics that follow them more or less, source by source."""
    first, second, offset, one, two = np.repeat(rows, pairs, axis=0).T
    gold = rng.normal(size=len(first)) + np.arange(len(first)) % 2 + offset
    return gold, first * gold + one + rng.normal(size=len(gold)), second * gold + two + rng.normal(size=len(gold))


def gap(gold, first, second):
    return spearmanr(gold, first)[0] - spearmanr(gold, second)[0]


def contrast(gold, first, second, resamples=200, pairs=PAIRS):
    sources = np.arange(len(gold)) // pairs
    where = (sources, np.arange(len(gold)))
    return contrast_ensemble(gold, first, "other", second, *where, resamples=resamples, seed=0)


def test_the_interval_over_sources_is_a_jackknife_with_students_quantile():
    rng = np.random.default_rng(1)
    columns = drawn(rng, effects(rng, 6))
    row = contrast(*columns)
    place = np.arange(len(columns[0])) // PAIRS
    left_out = np.array([gap(*(column[place != source] for column in columns)) for source in range(6)])
    error = np.sqrt(5 / 6 * ((left_out - left_out.mean()) ** 2).sum()) * t.ppf(0.975, 5)
    assert row.difference == pytest.approx(gap(*columns), abs=1e-12)
    assert (row.sources_low, row.sources_high) == pytest.approx((row.difference - error, row.difference + error))
    assert row.pairs_high - row.pairs_low < row.sources_high - row.sources_low
    assert (row.n, row.sources) == (6 * PAIRS, 6)


@pytest.mark.parametrize("sources", [1, 2])
def test_one_or_two_sources_say_nothing_of_new_ones(sources):
    rng = np.random.default_rng(3)
    row = contrast(*drawn(rng, effects(rng, sources)))
    assert np.isnan([row.sources_low, row.sources_high]).all()
    assert np.isfinite([row.pairs_low, row.pairs_high]).all()
    assert not row.better


def held(count, trials):
    """Whether a share is 95 % but for chance: three standard errors."""
    return abs(count / trials - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / trials) + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("sources", [5, 10, 14])
def test_the_interval_over_sources_covers_the_difference_on_new_sources(sources):
    rng = np.random.default_rng(sources)
    truth = gap(*drawn(rng, effects(rng, 20_000), 20))
    rows = [contrast(*drawn(rng, effects(rng, sources)), resamples=100) for _ in range(300)]
    assert held(sum(row.sources_low <= truth <= row.sources_high for row in rows), 300)
    # Pairs alone do not speak for new sources: their interval would miss most of the time.
    assert sum(row.pairs_low <= truth <= row.pairs_high for row in rows) < 0.8 * 300


@pytest.mark.slow
@pytest.mark.parametrize("sources", [5, 14])
def test_the_interval_over_pairs_covers_the_difference_on_the_same_sets(sources):
    rng = np.random.default_rng(sources)
    found = []
    for _ in range(10):
        rows = effects(rng, sources)
        truth = gap(*drawn(rng, rows, 20_000))
        again = [contrast(*drawn(rng, rows), resamples=400) for _ in range(30)]
        found += [row.pairs_low <= truth <= row.pairs_high for row in again]
    assert held(sum(found), 300)
