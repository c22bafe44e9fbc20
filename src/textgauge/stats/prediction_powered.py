"""The mean of people's scores from few of theirs and many of a judge: prediction-powered inference.

    mean = mean(people) + λ·(mean(judge, all) − mean(judge, rated items))

unbiased whatever the judge does, since its own error is estimated on the items that people rated; λ is chosen so that
the variance is smallest, and 0 where the judge tells nothing. Source: Angelopoulos, Duchi and Zrnic 2023, "PPI++".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textgauge.core.arrays import Floats


class MeanEstimate(NamedTuple):
    """A mean with its interval, the weight λ of the judge, and how many items people and the judge alone rated."""

    value: float
    low: float
    high: float
    weight: float
    rated: int
    unrated: int


def prediction_powered_mean(people: Floats, judge: Floats, *, level: float = 0.95) -> MeanEstimate:
    """The mean of people's scores over all items; `people` is NaN where only the judge has a score.

    Items without a judge's score are left out. The interval is Student's with two degrees of freedom less than rated
    items, one of them for λ. NaN with fewer than three of these.

    >>> people = np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan])
    >>> prediction_powered_mean(people, np.array([1.0, 2.0, 3.0, 4.0, 5.0, 5.0])).value
    3.0208
    """
    from scipy.special import stdtrit

    usable = np.isfinite(judge)
    rated = usable & np.isfinite(people)
    y, f, more = people[rated], judge[rated], judge[usable & ~rated]
    n, unrated = len(y), len(more)
    if n < 3:
        return MeanEstimate(float("nan"), float("nan"), float("nan"), float("nan"), n, unrated)
    weight = _weight(y, f, more)
    value, variance = float(y.mean()), float((y - weight * f).var(ddof=2)) / n
    if unrated:
        value += weight * (float(more.mean()) - float(f.mean()))
        variance += weight**2 * float(np.concatenate([f, more]).var(ddof=1)) / unrated
    reach = float(stdtrit(n - 2, (1.0 + level) / 2.0)) * np.sqrt(variance)
    return MeanEstimate(value, value - reach, value + reach, weight, n, unrated)


def _weight(y: Floats, f: Floats, more: Floats) -> float:
    """cov(y, f)/((1 + n/N)·var(f)), 0 where there is nothing to gain."""
    spread = float(np.concatenate([f, more]).var(ddof=1))
    if not len(more) or spread == 0:
        return 0.0
    shared = float(np.cov(y, f)[0, 1])
    return max(shared / ((1.0 + len(y) / len(more)) * spread), 0.0)
