"""How sure a correlation is: its bootstrap interval, Fisher's, and what chance alone would give."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.bootstrap import percentile_interval
from textgauge.stats.correlation import Correlation
from textgauge.stats.weighted import draws, resampled

Floats = NDArray[np.float64]


class Chance(NamedTuple):
    """The mean and the upper 95 % bound of |r| between shuffled columns."""

    mean: float
    bound: float


def correlation_draws(
    correlation: Correlation,
    gold: Floats,
    metric: Floats,
    *,
    resamples: int = 1_000,
    seed: int = 0,
    cluster: NDArray[Any] | None = None,
) -> Floats:
    """The correlation on resampled rows (or clusters); the draws depend on n, clusters and seed alone."""
    parts = draws(len(gold), resamples, seed, cluster)
    return np.concatenate([np.empty(0), *(resampled(correlation, gold, metric, weights) for weights in parts)])


def correlation_interval(
    correlation: Correlation,
    gold: Floats,
    metric: Floats,
    *,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    cluster: NDArray[Any] | None = None,
) -> tuple[float, float]:
    """Bootstrap interval of a correlation over rows; over clusters of rows that belong together, where given.

    Resamples without a correlation are left out; NaN where there are none left or a single cluster.

    >>> from textgauge.stats.correlation import pearson
    >>> x = np.arange(20.0)
    >>> low, high = correlation_interval(pearson, x, x + 5 * np.sin(x))
    >>> round(low, 1), round(high, 1)
    (0.7, 0.9)
    """
    values = correlation_draws(correlation, gold, metric, resamples=resamples, seed=seed, cluster=cluster)
    return percentile_interval(values, len(gold) if cluster is None else len(np.unique(cluster)), level)


def fisher_interval(r: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Fisher's interval of Pearson's r: tanh(artanh r ± z/√(n − 3)); NaN for n ≤ 3. Exact for normal columns only.

    >>> low, high = fisher_interval(0.5, 28)
    >>> round(low, 4), round(high, 4)
    (0.1560, 0.7358)
    """
    from scipy.special import ndtri

    if n <= 3 or np.isnan(r):
        return float("nan"), float("nan")
    if abs(r) >= 1.0:
        return r, r
    reach = float(ndtri((1.0 + level) / 2.0)) / np.sqrt(n - 3)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))


def chance_level(correlation: Correlation, gold: Floats, metric: Floats, *, trials: int = 200, seed: int = 0) -> Chance:
    """What |r| comes out when the metric's values are dealt to the rows at random.

    >>> from textgauge.stats.correlation import pearson
    >>> mean, bound = chance_level(pearson, np.arange(100.0), np.arange(100.0))
    >>> 0.06 < mean < 0.10, 0.15 < bound < 0.25
    (True, True)
    """
    rng = np.random.default_rng([seed, 8])
    values = np.abs([correlation(gold, rng.permutation(metric)) for _ in range(trials)])
    known = values[np.isfinite(values)]
    if not len(known):
        return Chance(float("nan"), float("nan"))
    return Chance(float(known.mean()), float(np.quantile(known, 0.95)))
