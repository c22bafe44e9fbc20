"""How a stacked metric and its parts agree with people: over pairs, and in the order of the means of sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.bootstrap import percentile_interval
from textgauge.stats.correlation import spearman
from textgauge.stats.dependent import PairedTest, bootstrap_test
from textgauge.stats.numbers import plain_row
from textgauge.stats.weighted import draws

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

MEASURES = ("spearman", "order")
_NAN = float("nan")


@dataclass(frozen=True)
class Agreement:
    """Spearman's ρ over pairs, and that of the means of sets; NaN where there are fewer than three sets."""

    metric: str
    spearman: float
    order: float


@dataclass(frozen=True)
class Contrast:
    """A stacked metric and the best single one by one measure, with a paired bootstrap of the difference.

    Pairs are drawn anew, sets stay. `p` is two-sided, `p_larger` small where the stacked metric is the better one.
    """

    measure: str
    ensemble: float
    best: str
    single: float
    test: PairedTest
    n: int

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        row = {"measure": self.measure, "ensemble": self.ensemble, "best": self.best, "single": self.single}
        return plain_row({**row, **self.test._asdict(), "n": self.n})


def agreement(name: str, gold: Floats, column: Floats, groups: Labels) -> Agreement:
    """Both measures of one column of similarities."""
    whole = np.ones((1, len(gold)))
    return Agreement(name, spearman(gold, column), float(_orders(gold, column, groups, whole)[0]))


def contrast(
    gold: Floats,
    stacked: Floats,
    columns: Mapping[str, Floats],
    groups: Labels,
    found: Agreement,
    singles: Sequence[Agreement],
    *,
    resamples: int,
    level: float,
    seed: int,
) -> tuple[Contrast, ...]:
    """The stacked metric against the best single one, by each measure that exists."""
    rows = []
    for measure in MEASURES:
        known = [single for single in singles if not np.isnan(getattr(single, measure))]
        if not known:
            continue
        best = max(known, key=lambda single: float(getattr(single, measure)))
        other = columns[best.metric]
        options: dict[str, Any] = {"resamples": resamples, "level": level, "seed": seed}
        if measure == "spearman":
            test = bootstrap_test(spearman, gold, stacked, other, **options)
        else:
            test = _order_test(gold, stacked, other, groups, **options)
        n = len(gold) if measure == "spearman" else len(np.unique(groups))
        rows.append(Contrast(measure, getattr(found, measure), best.metric, getattr(best, measure), test, n))
    return tuple(rows)


def _order_test(
    gold: Floats, first: Floats, second: Floats, groups: Labels, *, resamples: int, level: float, seed: int
) -> PairedTest:
    whole = np.ones((1, len(gold)))
    observed = float((_orders(gold, first, groups, whole) - _orders(gold, second, groups, whole))[0])
    gaps = np.concatenate(
        [
            _orders(gold, first, groups, weights) - _orders(gold, second, groups, weights)
            for weights in draws(len(gold), resamples, seed)
        ]
    )
    gaps = gaps[np.isfinite(gaps)]
    if np.isnan(observed) or not len(gaps):
        return PairedTest(observed, _NAN, _NAN, _NAN)
    larger, smaller = (float((1 + side.sum()) / (1 + len(gaps))) for side in (gaps <= 0, gaps >= 0))
    return PairedTest(
        observed,
        min(2.0 * min(larger, smaller), 1.0),
        larger,
        smaller,
        *percentile_interval(gaps, len(gold), level),
    )


def _orders(gold: Floats, column: Floats, groups: Labels, weights: NDArray[Any]) -> Floats:
    """Spearman's ρ of the means of sets under each row of weights; NaN for fewer than three sets or an empty one."""
    labels, place = np.unique(groups, return_inverse=True)
    if len(labels) < 3:
        return np.full(len(weights), np.nan)
    member = (place[:, None] == np.arange(len(labels))).astype(np.float64)
    sums = weights.astype(np.float64) @ np.hstack([member, member * gold[:, None], member * column[:, None]])
    sizes, golden, columned = np.split(sums, 3, axis=1)
    full = (sizes > 0).all(axis=1)
    found = np.full(len(weights), np.nan)
    for row in np.flatnonzero(full):
        found[row] = spearman(golden[row] / sizes[row], columned[row] / sizes[row])
    return found
