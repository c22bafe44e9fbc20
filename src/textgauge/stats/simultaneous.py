"""Several tests at once: corrections, which thing is better than which, and what ranks follow.

Statements about things hold together with probability 95 %: Holm's correction over the studentised difference of every
pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.stats.decisions import ALPHA, different


def holm(p: Floats, groups: Sequence[int] | None = None) -> Floats:
    """Holm's correction: the k-th smallest of m times m − k + 1, never falling, at most 1; missing ones do not count.

    With `groups`, p-values of one group are already adjusted for each other (by `max_t`). A group then counts with as
    many tests as it has, until all of them are passed, and its p-values are divided by that number first: one group
    keeps its p-values, groups of one are Holm's correction.

    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.06, 0.06, nan]
    >>> holm(np.array([0.01, 0.03, 0.02]), groups=[0, 0, 1]).tolist()
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


def max_t(values: Floats) -> Floats:
    """Westfall and Young's step-down max-T: p-values of several tests that share their permutations.

    A column per test, on comparable scales (ranks, or standard deviations): the observed value in the first row, below
    it those of the permutations. The test with the largest value is compared with the largest of all tests in each
    permutation, the next one with the largest of all but the first, and so on; p-values never fall along this order.

    >>> max_t(np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 0.0], [-1.0, 0.0]])).tolist()
    [0.25, 0.5]
    """
    order = np.argsort(-values[0], kind="stable")
    largest = np.maximum.accumulate(values[:, order[::-1]], axis=1)[:, ::-1]
    p = (largest >= values[0, order]).mean(axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(p)
    return adjusted


def pair_p_values(gaps: Floats, errors: Floats, freedom: Floats) -> Floats:
    """Two-sided p-values of Student's t of each gap; NaN where a gap or its error is unknown.

    A gap that is the same every time has no spread to compare it with: then all `freedom` + 1 signs agree, and the
    p-value is that of the sign test.
    """
    from scipy.special import betainc

    with np.errstate(invalid="ignore", divide="ignore"):
        p = betainc(freedom / 2.0, 0.5, freedom / (freedom + np.square(gaps / errors)))
    constant = np.abs(gaps) > 1e12 * errors
    signs = np.where(gaps == 0, 1.0, np.exp2(-np.minimum(freedom, 1_000.0)))
    return np.where(np.isfinite(errors) & (freedom > 0), np.where(constant | (gaps == 0), signs, p), np.nan)


def student_interval(value: float, error: float, freedom: float, level: float) -> tuple[float, float]:
    """Value ± Student's quantile times the error; NaN where the error is unknown.

    >>> [round(end, 3) for end in student_interval(1.0, 0.1, 4.0, 0.95)]
    [0.722, 1.278]
    """
    from scipy.special import stdtrit

    if not (np.isfinite(error) and freedom > 0):
        return float("nan"), float("nan")
    reach = float(-stdtrit(freedom, (1.0 - level) / 2.0)) * error
    return value - reach, value + reach


def difference_interval(first: Sequence[float], second: Sequence[float], times: float = 1.0) -> tuple[float, float]:
    """The interval of first − second, each a value with both ends, of samples that have nothing in common.

    An end is as far from the difference as √(a² + b²) of the half-widths on that side (Zou and Donner 2008), `times`
    as far for another level.

    >>> [round(end, 3) for end in difference_interval((0.5, 0.4, 0.6), (0.3, 0.2, 0.4))]
    [0.059, 0.341]
    """
    (value, low, high), (other, other_low, other_high) = first, second
    below, above = np.hypot(value - low, other_high - other), np.hypot(high - value, other - other_low)
    return float(value - other - times * below), float(value - other + times * above)


def better_than(gaps: Floats, errors: Floats, freedom: Floats, *, alpha: float = ALPHA) -> Masks:
    """Which row is better than which column, at family-wise level `alpha` over all pairs.

    The arguments are square: `gaps[a, b]` is how far a is ahead of b.

    >>> gaps = np.array([[0.0, 5.0], [-5.0, 0.0]])
    >>> better_than(gaps, np.ones((2, 2)), np.full((2, 2), 30.0)).tolist()
    [[False, True], [False, False]]
    """
    first, second = np.triu_indices(len(gaps), 1)
    chosen = first, second
    adjusted = holm(pair_p_values(gaps[chosen], errors[chosen], freedom[chosen]))
    found = np.zeros(gaps.shape, dtype=bool)
    sure = np.array([different(p, alpha=alpha) for p in adjusted.tolist()], dtype=bool)
    ahead = gaps[chosen] > 0
    found[first[sure & ahead], second[sure & ahead]] = True
    found[second[sure & ~ahead], first[sure & ~ahead]] = True
    return found


def rank_ranges(better: Masks) -> tuple[Ints, Ints]:
    """The first and the last rank that each may have: behind all that are better, before all that are worse.

    >>> low, high = rank_ranges(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    >>> low.tolist(), high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def tiers(order: Sequence[int], better: Masks) -> dict[int, int]:
    """The tier of each, in this order: a new one begins only where all before are better than all after.

    >>> tiers([0, 1, 2], np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    {0: 1, 1: 1, 2: 2}
    """
    found, tier = {}, 1
    for place, item in enumerate(order):
        if place and better[np.ix_(order[:place], order[place:])].all():
            tier += 1
        found[item] = tier
    return found
