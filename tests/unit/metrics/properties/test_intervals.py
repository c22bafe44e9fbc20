"""Means, shares and counts with their intervals: SciPy's where it has them, known values where not."""

import math

import numpy as np
import pytest
from scipy import stats

from textgauge.metrics.properties.base import average_values, count_interval, share, share_interval


def test_the_mean_has_students_interval():
    values = np.array([0.2, 0.5, 0.9, 0.4])
    found = average_values(np.append(values, np.nan), level=0.9)
    ends = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((0.5, *ends))


def test_one_value_has_no_interval_and_no_value_no_mean():
    assert average_values(np.array([0.3])).value == 0.3
    assert math.isnan(average_values(np.array([0.3])).low)
    assert math.isnan(average_values(np.array([np.nan])).value)


def test_shares_and_counts_with_binomial_and_poisson_variance_have_the_known_intervals():
    assert share_interval(0.3, 0.3 * 0.7 / 50, n=50) == pytest.approx((0.1910, 0.4375), abs=1e-4)  # Wilson 1927
    found = share(np.repeat([True, False], [15, 35]))
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.1910, 0.4375), abs=1e-4)
    low, high = count_interval(25, 25, n=1_000_000)
    assert (low, high) == pytest.approx((16.93, 36.91), abs=0.01)
    assert np.isnan(count_interval(3, 3, n=1)).all()
