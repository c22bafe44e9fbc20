"""How alike two orders of sets are, as Yamshchikov et al. 2021 count it; the means and ranks are those of textgauge.

An order is a column of ranks, 1 the best. A set without a mean has no rank: every number about that order is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core import Floats
from textgauge.stats import orders

Masks = NDArray[np.bool_]


def count_coinciding(a: Floats, b: Floats) -> float:
    """Return how many sets have the same rank in both orders.

    >>> count_coinciding(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    1.0
    """
    return _count(a, b, float((a == b).sum()))


def count_swaps(a: Floats, b: Floats) -> float:
    """Half of Spearman's footrule, Σ|a − b|/2: what the paper publishes as the number of swaps.

    >>> count_swaps(np.array([1.0, 2, 3, 4]), np.array([4.0, 2, 3, 1]))
    3.0
    """
    return _count(a, b, float(np.abs(a - b).sum()) / 2.0)


def count_inversions(a: Floats, b: Floats) -> float:
    """Return pairs of sets in opposite order (Kendall): the exchanges of neighbours that turn one order into the other.

    >>> count_inversions(np.array([1.0, 2, 3, 4]), np.array([4.0, 2, 3, 1]))
    5.0
    """
    return _count(a, b, 0.0 if len(a) < 2 else float(orders.pair_counts(a, b).discordant))


def compute_variability(means: Floats, random: Masks) -> float:
    """Range of the means on random sets over their range on all sets, in percent; NaN where all means are equal.

    >>> compute_variability(np.array([0.0, 0.1, 0.5, 1.0]), np.array([True, True, False, False]))
    10.0
    """
    whole = float(np.ptp(means)) if len(means) else 0.0
    if not random.any() or not np.isfinite(whole) or whole == 0.0:
        return float("nan")
    return 100.0 * float(np.ptp(means[random])) / whole


def _count(a: Floats, b: Floats, value: float) -> float:
    return float("nan") if bool(np.isnan(a).any() or np.isnan(b).any()) else value


def set_deviations(values: Floats, sets: NDArray[Any], labels: Sequence[str]) -> Floats:
    """Return the standard deviation of each set over its values that are finite; NaN where none is."""
    parts = [values[(sets == label) & np.isfinite(values)] for label in labels]
    return np.array([float(part.std()) if len(part) else np.nan for part in parts])
