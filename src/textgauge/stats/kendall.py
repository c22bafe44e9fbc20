"""Correlations that count pairs of rows: Kendall's τ-b and τ-c, pairwise accuracy with ties.

All follow from five counts, which are found without looking at every pair: rows are sorted by the metric, and each asks
how many of those before it have a lower or an equal rating. NaN in, NaN out; infinite values are ordinary ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class PairCounts(NamedTuple):
    """How many pairs of rows are ordered alike, ordered otherwise, tied in one column only, and tied in both."""

    concordant: int
    discordant: int
    tied_gold: int
    tied_metric: int
    tied_both: int


def kendall_b(gold: Floats, metric: Floats) -> float:
    """Kendall's τ-b: (C − D)/√((C + D + T_gold)(C + D + T_metric)); NaN where either column is constant.

    >>> round(kendall_b(np.array([1.0, 2, 2, 3]), np.array([1.0, 3, 2, 4])), 4)
    0.9129
    """
    if _uncountable(gold, metric):
        return float("nan")
    c, d, tied_gold, tied_metric, _ = pair_counts(gold, metric)
    scale = float(np.sqrt(float(c + d + tied_gold)) * np.sqrt(float(c + d + tied_metric)))
    return float(np.clip((c - d) / scale, -1.0, 1.0)) if scale else float("nan")


def kendall_c(gold: Floats, metric: Floats) -> float:
    """Kendall's τ-c (Stuart): 2(C − D)/(n²(m − 1)/m), m the smaller number of distinct values; NaN where m is 1.

    >>> kendall_c(np.array([1.0, 2, 2, 3]), np.array([1.0, 3, 2, 4]))
    0.9375
    """
    if _uncountable(gold, metric):
        return float("nan")
    counts = pair_counts(gold, metric)
    m = min(len(np.unique(gold)), len(np.unique(metric)))
    if m == 1:
        return float("nan")
    return 2 * (counts.concordant - counts.discordant) / (len(gold) ** 2 * (m - 1) / m)


def accuracy_eq(gold: Floats, metric: Floats, *, epsilon: float = 0.0) -> float:
    """Share of pairs of rows that the metric orders, or ties, as the gold ratings do ("acc_eq", WMT's "acc23").

    (C + T_both)/pairs. Metric values that differ by `epsilon` or less are tied; gold ratings are tied when equal.
    NaN for fewer than two rows. Source: Deutsch, Foster and Freitag 2023, "Ties Matter".

    >>> gold, metric = np.array([1.0, 1, 2]), np.array([0.1, 0.2, 0.9])
    >>> round(accuracy_eq(gold, metric), 4), accuracy_eq(gold, metric, epsilon=0.1)
    (0.6667, 1.0)
    """
    if _uncountable(gold, metric):
        return float("nan")
    counts = pair_counts(gold, metric, epsilon=epsilon)
    return (counts.concordant + counts.tied_both) / sum(counts)


def tau_eq(gold: Floats, metric: Floats, *, epsilon: float = 0.0) -> float:
    """The same as a correlation from −1 to 1 (WMT's Kendall "23"): 2·acc_eq − 1."""
    return 2.0 * accuracy_eq(gold, metric, epsilon=epsilon) - 1.0


def pair_counts(gold: Floats, metric: Floats, *, epsilon: float = 0.0) -> PairCounts:
    """Counts over all pairs of rows, in O(n log n); metric values that differ by `epsilon` or less are tied."""
    order = np.argsort(metric, kind="stable")
    _, classes, sizes = np.unique(gold, return_inverse=True, return_counts=True)
    before = clear_before(metric[order], epsilon)
    lower, equal = lower_and_equal(classes[order].astype(np.int64), before)
    pairs, ordered = len(gold) * (len(gold) - 1) // 2, int(before.sum())
    concordant, tied_gold = int(lower.sum()), int(equal.sum())
    tied_both = int((sizes * (sizes - 1) // 2).sum()) - tied_gold
    return PairCounts(concordant, ordered - concordant - tied_gold, tied_gold, pairs - ordered - tied_both, tied_both)


def clear_before(ascending: Floats, epsilon: float) -> Ints:
    """For each value, how many lie below it by more than epsilon.

    Found by bisection on the differences themselves: value − epsilon would round otherwise than value − other.
    """
    if epsilon == 0.0:
        return np.searchsorted(ascending, ascending, side="left").astype(np.int64)
    low, high = np.zeros(len(ascending), dtype=np.int64), np.arange(len(ascending), dtype=np.int64)
    with np.errstate(invalid="ignore"):
        while (low < high).any():
            middle = (low + high) // 2
            clear = (ascending - ascending[middle] > epsilon) & (low < high)
            low, high = np.where(clear, middle + 1, low), np.where(clear | (low == high), high, middle)
    return low


def lower_and_equal(classes: Ints, before: Ints) -> tuple[Ints, Ints]:
    """For each row, how many of the first `before` rows have a lower class, and how many the same.

    A wavelet matrix, walked for all rows at once: bit by bit from the highest, rows are parted stably into zeros and
    ones, and each row's range is carried to the part where its own class goes on.
    """
    lower, rest = np.zeros_like(before), classes
    start, end = np.zeros_like(before), before
    for bit in reversed(range(int(classes.max()).bit_length())):
        one, own = (rest >> bit & 1).astype(bool), (classes >> bit & 1).astype(bool)
        zeros = np.concatenate([[0], np.cumsum(~one)])
        from_zero, to_zero = zeros[start], zeros[end]
        lower += np.where(own, to_zero - from_zero, 0)
        start = np.where(own, zeros[-1] + start - from_zero, from_zero)
        end = np.where(own, zeros[-1] + end - to_zero, to_zero)
        rest = np.concatenate([rest[~one], rest[one]])
    return lower, end - start


def _uncountable(gold: Floats, metric: Floats) -> bool:
    return len(gold) < 2 or bool(np.isnan(gold).any() or np.isnan(metric).any())
