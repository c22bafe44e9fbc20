"""Precision, recall and F1 of two corpora that look for each other's nearest texts.

    precision = mean over generated texts of the best similarity among the others, recall = the same exchanged,
    F1 = 2PR/(P + R)

The interval of a precision is for fresh generated texts beside the same others, that of a recall for fresh others
beside the same generated texts, that of F1 for both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NONE = math.nan


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; NaN where there is none."""

    value: float = _NONE
    low: float = _NONE
    high: float = _NONE


def mean(values: Floats, *, level: float = 0.95) -> Estimate:
    """The mean of the values that exist, with Student's interval.

    >>> mean(np.array([1.0, 2.0, 3.0, np.nan]))
    Estimate(value=2.0, low=-0.4841, high=4.4841)
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return Estimate()
    return _student(float(known.mean()), _error(known), len(known) - 1, level)


def perplexity(surprise: Floats, tokens: Floats, *, level: float = 0.95) -> Estimate:
    """exp(Σ surprise/Σ tokens), in nats: the perplexity of the whole corpus; the interval is that of a ratio of sums.

    >>> round(perplexity(np.log([4.0, 16.0]), np.array([1.0, 2.0])).value, 4)
    4.0
    """
    known = np.isfinite(surprise) & (tokens > 0)
    n, total = int(known.sum()), float(tokens[known].sum())
    if not n:
        return Estimate()
    rate = float(surprise[known].sum()) / total
    rest = surprise[known] - rate * tokens[known]
    error = math.sqrt(n / (n - 1) * float(rest @ rest)) / total if n > 1 else _NONE
    found = _student(rate, error, n - 1, level)
    return Estimate(*(_exp(end) for end in (found.value, found.low, found.high)))


def f1(precision: Floats, recall: Floats, *, level: float = 0.95) -> Estimate:
    """The harmonic mean of both means, from the best similarities of either side; its variance to first order.

    NaN where a side is empty or P + R is not positive.

    >>> f1(np.array([0.5, 0.5]), np.array([1.0, 1.0])).value
    0.6666
    """
    sides = [values[np.isfinite(values)] for values in (precision, recall)]
    if not all(map(len, sides)):
        return Estimate()
    p, r = (float(side.mean()) for side in sides)
    if p + r <= 0:
        return Estimate()
    errors = [2 * other**2 / (p + r) ** 2 * _error(side) for side, other in zip(sides, (r, p), strict=True)]
    found = _student(2 * p * r / (p + r), math.hypot(*errors), _freedom(errors, sides), level)
    return Estimate(found.value, found.low, min(found.high, 1.0))


def _error(values: Floats) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else _NONE


def _freedom(errors: list[float], sides: list[Floats]) -> float:
    """Degrees of freedom of a sum of two variances (Welch and Satterthwaite)."""
    parts = [error**4 / (len(side) - 1) for error, side in zip(errors, sides, strict=True) if len(side) > 1]
    return math.hypot(*errors) ** 4 / sum(parts) if sum(parts) > 0 else 1.0


def _student(value: float, error: float, freedom: float, level: float) -> Estimate:
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error if freedom > 0 else _NONE
    return Estimate(value, value - reach, value + reach)


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))  # beyond, there is no such float
