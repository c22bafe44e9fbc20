"""What is summed over items: for a mean its values and their number, for a set's score the metric's own statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Pairs
from textgauge.errors import InputError
from textgauge.metrics import PairMetric
from textgauge.stats.resampling import percentile_interval, resampled_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made."""

    level: float = 0.95
    resamples: int = 1_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise InputError(f"the level of an interval lies between 0.5 and 1, not {self.level}")
        if self.resamples < 100:
            raise InputError(f"a bootstrap needs at least 100 resamples, not {self.resamples}")


@dataclass(frozen=True, eq=False)
class Summed:
    """Statistics of every item, the score their sums make, and the bounds it has."""

    rows: Floats
    score: Callable[[Floats], Floats]
    bounds: tuple[float, float] = (-np.inf, np.inf)

    @property
    def value(self) -> float:
        """The score of all items."""
        return float(self.score(self.rows.sum(axis=0, keepdims=True))[0])

    def ordered(self, order: NDArray[np.int64]) -> Summed:
        """The same items in another order."""
        return Summed(self.rows[order], self.score, self.bounds)

    def interval(self, how: Bootstrap) -> tuple[float, float]:
        """Low and high end of the score over resamples of the items."""
        values = self.score(resampled_sums(self.rows, how.resamples, how.seed))
        low, high = percentile_interval(values, len(self.rows), how.level)
        return max(low, self.bounds[0]), min(high, self.bounds[1])


@dataclass(frozen=True, eq=False)
class ItemStatistics:
    """The mean over items, and the score of the whole set where the metric has one."""

    mean: Summed
    whole: Summed | None


def item_statistics(metric: PairMetric, pairs: Pairs, values: Floats) -> ItemStatistics:
    """Statistics of a metric whose values on these pairs are known."""
    defined = ~np.isnan(values)
    mean = Summed(np.column_stack([np.where(defined, values, 0.0), defined]), _ratio, metric.bounds)
    counts = metric.statistics(pairs) if metric.part is None else None
    return ItemStatistics(mean, None if counts is None else Summed(counts, metric.of_statistics, metric.bounds))


def canonical_order(*systems: Pairs) -> NDArray[np.int64]:
    """An order of the items that depends on their texts alone, so that resamples do not depend on the order given.

    Several systems on the same items are taken together, whichever comes first.
    """
    starts = np.flatnonzero(np.diff(systems[0].items, prepend=-1))
    candidates = np.bitwise_xor.reduce([pairs.left.keys[starts] for pairs in systems])
    references = np.bitwise_xor.reduceat(systems[0].right.keys, starts)
    return np.lexsort((references, candidates))


def _ratio(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1])
