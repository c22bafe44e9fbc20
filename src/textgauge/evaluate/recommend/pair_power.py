"""How many rated pairs are needed to tell the best metric from another, by resampling pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.correlation import spearman
from textgauge.stats.resampled_correlation import draws, resampled
from textgauge.tabular import plain_row

Floats = NDArray[np.float64]

_RESAMPLES = 500


@dataclass(frozen=True)
class PairsNeeded:
    """How many rated pairs tell `metric` from `best`; NaN where they show no difference, or an end has none.

    `difference` is that of Spearman's ρ with people, best less other, `low` and `high` the ends of `count` where the
    difference lies at the ends of its own 95 % interval.
    """

    metric: str
    best: str
    difference: float
    count: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        return plain_row({name: getattr(self, name) for name in self.__dataclass_fields__})


def pairs_needed(
    near: Mapping[str, Floats],
    ratings: Floats,
    best: str,
    others: Sequence[str],
    *,
    power: float,
    seed: int = 0,
    items: NDArray[Any] | None = None,
) -> list[PairsNeeded]:
    """The rated pairs that a paired two-sided test at 5 % needs to tell `best` from each other metric.

    The deviation s of the difference d comes from resampling the n pairs there are (all pairs of an item together);
    it shrinks with the root of their number: n·((z_0.975 + z_power)·s/d)². Pairs without a value are left out.
    """
    return [_needed(near, ratings, best, other, power, seed, items) for other in others]


def _needed(
    near: Mapping[str, Floats],
    ratings: Floats,
    best: str,
    other: str,
    power: float,
    seed: int,
    items: NDArray[Any] | None,
) -> PairsNeeded:
    from scipy.special import ndtri

    known = np.isfinite(near[best]) & np.isfinite(near[other])
    y, a, b = ratings[known], near[best][known], near[other][known]
    parts = draws(len(y), _RESAMPLES, seed, None if items is None else items[known])
    gaps = np.concatenate([resampled(spearman, y, a, w) - resampled(spearman, y, b, w) for w in parts] or [y[:0]])
    gap, error = spearman(y, a) - spearman(y, b), float(np.std(gaps[np.isfinite(gaps)])) if len(gaps) else np.nan
    reach = float(ndtri(0.975))
    scale = np.sqrt(len(y)) * (reach + float(ndtri(power))) * error
    ends = [_count(scale, gap + side * reach * error) for side in (0.0, 1.0, -1.0)]
    return PairsNeeded(other, best, gap, *ends)


def _count(scale: float, gap: float) -> float:
    return float(np.ceil((scale / gap) ** 2)) if gap > 0 and np.isfinite(scale) else float("nan")
