"""Which of two metrics agrees better with the same gold ratings of the same rows: three tests.

Both metrics must point the same way: negate a distance first. All `p` of a `PairedTest` are of the difference
first − second: `p_larger` small says that the first agrees better, `p_smaller` that the second does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Masks
from textgauge.core.settings import split_into_blocks
from textgauge.stats.correlation import Correlation, draw_correlations, spearman
from textgauge.stats.resampling import compute_percentile_interval, compute_permutation_p

_NAN = float("nan")
_CELLS = 500_000  # coin tosses in memory at once


class PairedTest(NamedTuple):
    """The difference of two correlations, and its p-values; an interval where the test gives one."""

    difference: float
    p: float
    p_larger: float
    p_smaller: float
    low: float = _NAN
    high: float = _NAN


def run_williams_test(first: float, second: float, between: float, n: int) -> PairedTest:
    """Williams' t test of two Pearson correlations that share the gold column.

    t = (r₁ − r₂)·√((n − 1)(1 + r₁₂)/(2K(n − 1)/(n − 3) + r̄²(1 − r₁₂)³)) with n − 3 degrees of freedom,
    K = 1 − r₁² − r₂² − r₁₂² + 2r₁r₂r₁₂ and r̄ the mean of r₁ and r₂. NaN for n ≤ 3 and for metrics that are one
    another's copy. Source: Williams 1959; Graham and Baldwin 2014 for metrics.

    >>> test = run_williams_test(0.80, 0.72, 0.89, 26)  # Howell, Statistical Methods for Psychology
    >>> round(test.p, 3)
    0.187
    """
    from scipy.special import stdtr

    unknown = PairedTest(first - second, _NAN, _NAN, _NAN)
    if n <= 3 or np.isnan([first, second, between]).any():
        return unknown
    k = max(1 - first**2 - second**2 - between**2 + 2 * first * second * between, 0.0)
    below = 2 * k * (n - 1) / (n - 3) + ((first + second) / 2) ** 2 * (1 - between) ** 3
    if below <= 1e-15:
        return unknown
    t = float((first - second) * np.sqrt((n - 1) * (1 + between) / below))
    larger, smaller = float(stdtr(n - 3, -t)), float(stdtr(n - 3, t))
    return PairedTest(first - second, 2.0 * min(larger, smaller), larger, smaller)


def run_permutation_test(
    correlation: Correlation,
    gold: Floats,
    first: Floats,
    second: Floats,
    *,
    trials: int = 1_000,
    seed: int = 0,
    cluster: NDArray[Any] | None = None,
) -> PairedTest:
    """Exchange the metrics' standardised values of a row (or cluster), or not, by the toss of a coin ("PERM-BOTH").

    p = (1 + permutations at least as far)/(1 + permutations), so that it is never 0. NaN where a correlation does not
    exist. Source: Deutsch, Dror and Roth 2021, "A Statistical Analysis of Summarization Evaluation Metrics".
    """
    a, b = (np.asarray(x - x.mean()) / (float(x.std()) or 1.0) for x in (first, second))
    observed = correlation(gold, a) - correlation(gold, b)
    if np.isnan(observed):
        return PairedTest(observed, _NAN, _NAN, _NAN)
    values = exchange_values(correlation, gold, a, b, trials=trials, seed=seed, cluster=cluster)
    values = values[~np.isnan(values)]
    larger, smaller = compute_permutation_p(observed, values), compute_permutation_p(-observed, -values)
    return PairedTest(observed, compute_permutation_p(abs(observed), np.abs(values)), larger, smaller)


def run_bootstrap_test(
    correlation: Correlation,
    gold: Floats,
    first: Floats,
    second: Floats,
    *,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    cluster: NDArray[Any] | None = None,
) -> PairedTest:
    """Paired bootstrap: both metrics on the same resampled rows (or clusters), with the interval of the difference.

    One-sided p starts from (1 + resamples on the other side of 0, or at it)/(1 + resamples), and is widened for small
    samples as the interval is; two-sided p is twice the smaller.
    """
    values = [
        draw_correlations(correlation, gold, metric, resamples=resamples, seed=seed, cluster=cluster)
        for metric in (first, second)
    ]
    gaps, observed = values[0] - values[1], correlation(gold, first) - correlation(gold, second)
    gaps = gaps[np.isfinite(gaps)]
    if np.isnan(observed) or not len(gaps):
        return PairedTest(observed, _NAN, _NAN, _NAN)
    n = len(gold) if cluster is None else len(np.unique(cluster))
    larger, smaller = (_widen_tail((1 + side.sum()) / (1 + len(gaps)), n) for side in (gaps <= 0, gaps >= 0))
    interval = compute_percentile_interval(gaps, n, level)
    return PairedTest(observed, min(2.0 * min(larger, smaller), 1.0), larger, smaller, *interval)


def _widen_tail(share: float, n: int) -> float:
    """Return the tail probability for which `compute_percentile_interval` ends at this share of the resamples."""
    from scipy.special import ndtri, stdtr

    return float(stdtr(n - 1, ndtri(share) * np.sqrt((n - 1) / n))) if n > 1 else _NAN


def exchange_values(
    correlation: Correlation,
    gold: Floats,
    first: Floats,
    second: Floats,
    *,
    trials: int,
    seed: int,
    cluster: NDArray[Any] | None = None,
) -> Floats:
    """Return the difference of the two correlations in each trial; a coin per row says whether its values change sides.

    With clusters there is one coin for all rows of a cluster.

    >>> x = np.arange(4.0)
    >>> exchange_values(spearman, x, x, x, trials=3, seed=0).tolist()
    [0.0, 0.0, 0.0]
    """

    def exchange(kept: Masks) -> Floats:
        if correlation is spearman:
            return _exchange_ranks(gold, first, second, kept)
        both = ((np.where(row, first, second), np.where(row, second, first)) for row in kept)
        return np.array([correlation(gold, a) - correlation(gold, b) for a, b in both])

    rng, parts = np.random.default_rng([seed, 9]), split_into_blocks(trials, _CELLS, len(gold))
    place = np.arange(len(gold)) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    units = int(place.max(initial=-1)) + 1
    coins = ((rng.random((some.stop - some.start, units)) < 0.5)[:, place] for some in parts)
    return np.concatenate([np.empty(0), *map(exchange, coins)])


def _exchange_ranks(gold: Floats, a: Floats, b: Floats, kept: Masks) -> Floats:
    """Spearman's: both metrics' values are sorted together once, and a trial is a choice among them."""
    from scipy.stats import rankdata

    both, ranks = np.concatenate([a, b]), rankdata(gold)
    order = np.argsort(both, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(both[order]) != 0))
    centred = ranks - ranks.mean()
    weight = np.tile(centred, 2)[order] / (np.sqrt(centred @ centred) or np.nan)
    chosen = np.concatenate([kept, ~kept], axis=1)[:, order]
    return _rank_correlations(chosen, weight, starts) - _rank_correlations(~chosen, weight, starts)


def _rank_correlations(chosen: Masks, weight: Floats, starts: NDArray[np.intp]) -> Floats:
    """Pearson's r of mean ranks among the chosen with gold ranks of mean 0 and length 1; equal values share a start."""
    drawn = np.add.reduceat(chosen, starts, axis=1, dtype=np.float64)
    middle = np.cumsum(drawn, axis=1) - drawn / 2.0 - chosen.shape[1] / 4.0
    top = np.einsum("ij,ij->i", middle, np.add.reduceat(chosen * weight, starts, axis=1))
    spread = np.einsum("ij,ij,ij->i", drawn, middle, middle)
    return np.where(spread > 0, top / np.sqrt(np.where(spread > 0, spread, 1.0)), np.nan)
