"""Resampling of summed statistics: bootstrap intervals, paired tests, p-values and their correction.

A score is a function of statistics summed over items (a mean is a sum over a count), so a resample is a weighted sum
and no item is scored twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from textgauge.core.arrays import Floats, Masks
from textgauge.core.settings import split_into_blocks

_CELLS = 4_000_000  # weights in memory at once: 32 MB
_LONGEST_SUM = 2_000
_REMEMBERED = 1_000_000  # weights that are kept for the next metric


def resample_sums(statistics: Floats, resamples: int, seed: int) -> Floats:
    """Return sums over items drawn with replacement, one row per resample; the draws depend on sizes and seed alone.

    >>> resample_sums(np.ones((5, 1)), resamples=2, seed=0).tolist()
    [[5.0], [5.0]]
    """
    n = len(statistics)
    blocks = _remember_counts if n * resamples <= _REMEMBERED else _draw_counts
    return np.concatenate([weights @ statistics for weights in blocks(n, resamples, seed)])


def _draw_counts(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng([seed, 4])
    for some in split_into_blocks(resamples, _CELLS, n):
        yield rng.multinomial(n, np.full(n, 1.0 / n), size=some.stop - some.start).astype(np.float64)


@lru_cache(maxsize=1)  # all metrics of a report take the same draws
def _remember_counts(n: int, resamples: int, seed: int) -> list[Floats]:
    return list(_draw_counts(n, resamples, seed))


def swap_sums(a: Floats, b: Floats, trials: int, seed: int) -> tuple[Floats, Floats]:
    """Return sums of both sides after each item's two rows were exchanged, or not, by the toss of a coin."""
    rng = np.random.default_rng([seed, 5])
    gap = b - a
    sizes = (some.stop - some.start for some in split_into_blocks(trials, _CELLS, len(a)))
    tosses = (rng.random((size, len(a))) < 0.5 for size in sizes)
    moved = np.concatenate([toss.astype(np.float64) @ gap for toss in tosses])
    return a.sum(axis=0) + moved, b.sum(axis=0) - moved


def compute_percentile_interval(values: Floats, n: int, level: float) -> tuple[float, float]:
    """Return the middle `level` of bootstrap values, widened for small samples.

    The plain percentile interval is too narrow by √((n − 1)/n) and takes normal quantiles where Student's belong;
    both are put right by a wider level (Hesterberg 2015, "expanded percentile"). Of fewer than five items even the most
    extreme resample, which is one of nⁿ, lies inside: then it is Student's interval with the resamples' own deviation.
    NaN for a single item.
    """
    usable = values[np.isfinite(values)]
    if n < 2 or not len(usable):
        return float("nan"), float("nan")
    reach = -math.sqrt(n / (n - 1)) * find_student_quantile(n - 1, level)
    tail = math.erfc(-reach / math.sqrt(2.0)) / 2.0
    if tail < float(n) ** -n:
        middle, deviation = float(usable.mean()), float(usable.std())
        return middle + reach * deviation, middle - reach * deviation
    low, high = np.quantile(usable, [tail, 1.0 - tail])
    return float(low), float(high)


def find_student_quantile(freedom: int, level: float) -> float:
    """Return the distance from 0 within which Student's t lies with this probability.

    By halving the angle θ = atan(t/√ν), whose probability is a finite sum for whole ν (Abramowitz and Stegun 26.7.3
    and 26.7.4). SciPy has it too, and is taken for large ν, but for few pairs loading it is a quarter of `score`.

    >>> round(find_student_quantile(9, 0.95), 6)
    2.262157
    """
    if freedom > _LONGEST_SUM:
        from scipy.special import stdtrit

        return float(-stdtrit(freedom, (1.0 - level) / 2.0))
    odd = freedom % 2
    exponents = np.arange(odd, freedom - 1, 2)
    factors = np.cumprod(np.where(exponents > 1, (exponents - 1) / np.maximum(exponents, 1), 1.0))
    low, high = 0.0, math.pi / 2.0
    for _ in range(60):
        angle = (low + high) / 2.0
        within = math.sin(angle) * float((factors * math.cos(angle) ** exponents).sum())
        within = 2.0 / math.pi * (angle + within) if odd else within
        low, high = (angle, high) if within < level else (low, angle)
    return math.sqrt(freedom) * math.tan(high)


def draw_permutations(n: int, m: int, trials: int, seed: int) -> tuple[Masks, Masks]:
    """Draw random splits of n + m rows into n and m.

    >>> left, right = draw_permutations(3, 2, trials=4, seed=0)
    >>> left.sum(axis=1).tolist(), bool((left ^ right).all())
    ([3, 3, 3, 3], True)
    """
    rng = np.random.default_rng([seed, 1])
    left = np.zeros((trials, n + m), dtype=bool)
    for row in left:
        row[rng.permutation(n + m)[:n]] = True
    return left, ~left


def draw_halves(n: int, trials: int, seed: int) -> tuple[Masks, Masks]:
    """Draw random splits of n rows into two halves; one row is left out where n is odd."""
    rng = np.random.default_rng([seed, 2])
    left, right = np.zeros((trials, n), dtype=bool), np.zeros((trials, n), dtype=bool)
    for first, second in zip(left, right, strict=True):
        order = rng.permutation(n)
        first[order[: n // 2]] = True
        second[order[n // 2 : n // 2 * 2]] = True
    return left, right


def draw_left_out_groups(n: int, groups: int, seed: int) -> Masks:
    """Return one mask per group that leaves this group out; groups are random and as equal as can be."""
    order = np.random.default_rng([seed, 3]).permutation(n)
    kept = np.ones((min(groups, n), n), dtype=bool)
    for mask, members in zip(kept, np.array_split(order, len(kept)), strict=True):
        mask[members] = False
    return kept


def compute_jackknife_variance(values: Floats) -> float:
    """(G − 1)/G · Σ (value without group g − their mean)²."""
    g = len(values)
    return float((g - 1) / g * ((values - values.mean()) ** 2).sum())


def compute_permutation_p(observed: float, permuted_values: Floats) -> float:
    """(1 + number at least as far)/(1 + number of permutations), for values where farther is larger.

    Values that differ by rounding alone count as equal.

    >>> float(compute_permutation_p(3.0, np.array([1.0, 2.0, 3.0])))
    0.5
    """
    slack = 1e-12 * max(abs(observed), 1e-300)
    return float((1 + (permuted_values >= observed - slack).sum()) / (1 + len(permuted_values)))


def adjust_by_holm(p: Floats, groups: Sequence[int] | None = None) -> Floats:
    """Holm's correction: the k-th smallest of m times m − k + 1, never falling, at most 1; missing ones do not count.

    With `groups`, p-values of one group are already adjusted for each other (`adjust_by_max_t`). A group then counts
    with as many tests as it has, until all of them are passed, and its p-values are divided by that number first: one
    group keeps its p-values, groups of one are Holm's correction.

    >>> adjust_by_holm(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.06, 0.06, nan]
    >>> adjust_by_holm(np.array([0.01, 0.03, 0.02]), groups=[0, 0, 1]).tolist()
    [0.015, 0.045, 0.045]
    """
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(np.isfinite(p))
    _, place = np.unique(np.arange(len(p)) if groups is None else np.asarray(groups), return_inverse=True)
    sizes = np.bincount(place[known], minlength=1)
    order = known[np.argsort(p[known] / sizes[place[known]], kind="stable")]
    last = np.zeros(len(sizes), dtype=np.intp)
    np.maximum.at(last, place[order], np.arange(len(order)))  # the place at which the last test of a group is passed
    ending = np.bincount(last[sizes > 0], weights=sizes[sizes > 0], minlength=len(order))
    left = np.cumsum(ending[::-1])[::-1]  # tests of the groups that are not passed yet
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * (left / sizes[place[order]])), 1.0)
    return corrected


def adjust_by_max_t(values: Floats) -> Floats:
    """Westfall and Young's step-down max-T: p-values of several tests that share their permutations.

    A column per test, on comparable scales (ranks, or standard deviations): the observed value in the first row, below
    it those of the permutations. The test with the largest value is compared with the largest of all tests in each
    permutation, the next one with the largest of all but the first, and so on; p-values never fall along this order.

    >>> adjust_by_max_t(np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 0.0], [-1.0, 0.0]])).tolist()
    [0.25, 0.5]
    """
    order = np.argsort(-values[0], kind="stable")
    largest = np.maximum.accumulate(values[:, order[::-1]], axis=1)[:, ::-1]
    p = (largest >= values[0, order]).mean(axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(p)
    return adjusted
