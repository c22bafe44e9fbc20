"""Statements about many things at once: which one is better than which, and what ranks follow.

All statements hold together with probability 95 %: Holm's correction over the studentised difference of every pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textgauge.arrays import Floats, Ints, Masks
from textgauge.stats.decisions import ALPHA, different
from textgauge.stats.multiple_tests import holm


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
