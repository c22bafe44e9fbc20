"""Values with intervals for means, shares and counts; intervals of shares and counts never leave the range."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.metrics.properties.base import PropertyValue

Interval = tuple[float, float]


def mean(values: Floats, *, level: float = 0.95) -> PropertyValue:
    """The mean of the values that exist, with Student's interval.

    >>> mean(np.array([1.0, 2.0, 3.0, np.nan]))
    PropertyValue(value=2.0, low=-0.4841, high=4.4841)
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return PropertyValue()
    return student(float(known.mean()), standard_error(known), len(known) - 1, level)


def standard_error(values: Floats) -> float:
    """The standard error of a mean; NaN for a single value."""
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def student(value: float, error: float, freedom: float, level: float) -> PropertyValue:
    """A value with Student's interval; no interval without degrees of freedom."""
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error if freedom > 0 else math.nan
    return PropertyValue(value, value - reach, value + reach)


def share(hits: NDArray[np.bool_], *, level: float = 0.95) -> PropertyValue:
    """The share of the texts that have something, with Wilson's interval."""
    value, n = float(hits.mean()), len(hits)
    return PropertyValue(value, *share_interval(value, value * (1 - value) / n, n=n, level=level))


def share_interval(share: float, variance: float, *, n: int, lone: float = 1.0, level: float = 0.95) -> Interval:
    """Wilson's interval of a share, for as many independent texts as its variance amounts to.

    That number is share·(1 − share)/variance; n/`lone` where the share is 0 or 1 or the variance is not positive:
    `lone` is how many texts one chance event changes.

    >>> low, high = share_interval(0.9, 0.9 * 0.1 / 100, n=100)
    >>> round(low, 4), round(high, 4)
    (0.8256, 0.9448)
    >>> share_interval(1.0, 0.0, n=96)[1]
    1.0
    """
    spread = share * (1.0 - share)
    size = spread / variance if spread > 0 and variance > 0 else n / lone
    z2 = _z(level) ** 2 / size
    middle = (share + z2 / 2) / (1 + z2)
    reach = math.sqrt(z2 * spread + z2 * z2 / 4) / (1 + z2)
    return min(max(middle - reach, 0.0), share), max(min(middle + reach, 1.0), share)  # ends of 0 and 1 are exact


def count_interval(count: float, variance: float, *, n: int, level: float = 0.95) -> Interval:
    """The means μ for which a count over n texts is within t standard deviations, the variance growing as μ.

    (count − μ)² = t²·φ·μ, t Student's with n − 1 degrees of freedom, φ = variance/count, or 1 where either is 0.
    NaN for a single text.

    >>> low, high = count_interval(100, 100, n=10_000)
    >>> round(low, 2), round(high, 2)
    (82.23, 121.62)
    >>> round(count_interval(0, 0, n=10_000)[1], 2)
    3.84
    """
    from scipy.special import stdtrit

    if n < 2:
        return math.nan, math.nan
    dispersion = variance / count if count > 0 and variance > 0 else 1.0
    half = float(stdtrit(n - 1, (1.0 + level) / 2.0)) ** 2 * dispersion / 2
    reach = math.sqrt(half * half + 2 * half * count)
    return max(count + half - reach, 0.0), count + half + reach


def _z(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1.0 + level) / 2.0))
