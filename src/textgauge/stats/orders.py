"""Orders of sets that a metric's means induce, and how far two orders are from each other.

An order is a column of ranks, 1 the best. A set without a mean has no rank: every number about that order is NaN.
Source of the measures: Yamshchikov et al. 2021, "Style-transfer and paraphrase: looking for a sensible semantic
similarity metric".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Masks
from textgauge.stats.correlation import spearman
from textgauge.stats.kendall import pair_counts


def ranks(means: Floats, *, best: Literal["larger", "smaller"] = "larger") -> Floats:
    """Rank of each set by its mean, best first; sets with equal means share the mean of their ranks.

    >>> ranks(np.array([0.1, 0.9, 0.5, 0.5])).tolist()
    [4.0, 1.0, 2.5, 2.5]
    >>> ranks(np.array([0.1, 0.9, 0.5, 0.5]), best="smaller").tolist()
    [1.0, 4.0, 2.5, 2.5]
    """
    from scipy.stats import rankdata

    placed = rankdata(-means if best == "larger" else means, nan_policy="omit")
    return np.asarray(placed, dtype=np.float64)


def coinciding(a: Floats, b: Floats) -> float:
    """How many sets have the same rank in both orders.

    >>> coinciding(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    1.0
    """
    return _count(a, b, float((a == b).sum()))


def swaps(a: Floats, b: Floats) -> float:
    """Half of Spearman's footrule, Σ|a − b|/2: what the paper publishes as the number of swaps.

    >>> swaps(np.array([1.0, 2, 3, 4]), np.array([4.0, 2, 3, 1]))
    3.0
    """
    return _count(a, b, float(np.abs(a - b).sum()) / 2.0)


def inversions(a: Floats, b: Floats) -> float:
    """Pairs of sets in opposite order (Kendall): the exchanges of neighbours that turn one order into the other.

    >>> inversions(np.array([1.0, 2, 3, 4]), np.array([4.0, 2, 3, 1]))
    5.0
    """
    return _count(a, b, 0.0 if len(a) < 2 else float(pair_counts(a, b).discordant))


def order_correlations(orders: Floats) -> Floats:
    """Spearman's ρ of every order with every other; one order per row. NaN in the row of a constant order.

    >>> order_correlations(np.array([[1.0, 2, 3], [1, 3, 2]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    return np.array([[spearman(a, b) for b in orders] for a in orders]).reshape(len(orders), len(orders))


def variability(means: Floats, random: Masks) -> float:
    """Range of the means on random sets over their range on all sets, in percent; NaN where all means are equal.

    >>> variability(np.array([0.0, 0.1, 0.5, 1.0]), np.array([True, True, False, False]))
    10.0
    """
    whole = float(np.ptp(means)) if len(means) else 0.0
    if not random.any() or not np.isfinite(whole) or whole == 0.0:
        return float("nan")
    return 100.0 * float(np.ptp(means[random])) / whole


def _count(a: Floats, b: Floats, value: float) -> float:
    return float("nan") if bool(np.isnan(a).any() or np.isnan(b).any()) else value


def set_means(values: Floats, sets: NDArray[Any], labels: Sequence[str]) -> Floats:
    """The mean of each set over its values that are finite; NaN where none is.

    >>> set_means(np.array([1.0, 3.0, np.nan]), np.array(["a", "a", "b"]), ["a", "b"]).tolist()
    [2.0, nan]
    """
    return _of_sets(np.mean, values, sets, labels)


def set_deviations(values: Floats, sets: NDArray[Any], labels: Sequence[str]) -> Floats:
    """The standard deviation of each set over its values that are finite; NaN where none is."""
    return _of_sets(np.std, values, sets, labels)


def _of_sets(of: Callable[[Floats], Any], values: Floats, sets: NDArray[Any], labels: Sequence[str]) -> Floats:
    parts = [values[(sets == label) & np.isfinite(values)] for label in labels]
    return np.array([float(of(part)) if len(part) else np.nan for part in parts])
