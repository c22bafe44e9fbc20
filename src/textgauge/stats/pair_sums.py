"""Kendall's τ and pairwise accuracy on many resamples at once.

Both are sums over pairs of rows, w'Sw for weights w. The part that is linear in w − 1 needs only the sums of each row
with all others, found once, so that a resample costs one product instead of a count of all pairs. What is left out is
of order 1/n, next to a sampling error of 1/√n.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.kendall import clear_before, lower_and_equal

Floats = NDArray[np.float64]


class RowCounts(NamedTuple):
    """For each row, with how many others it is ordered alike, ordered otherwise, untied in gold or metric, agreed."""

    concordant: Floats
    discordant: Floats
    untied_gold: Floats
    untied_metric: Floats
    agreed: Floats


def row_counts(gold: Floats, metric: Floats, *, epsilon: float = 0.0) -> RowCounts:
    """What `kendall.pair_counts` counts over all pairs, for each row with the others.

    >>> row_counts(np.array([1.0, 2, 2]), np.array([1.0, 2, 3])).concordant.tolist()
    [2.0, 1.0, 1.0]
    """
    _, place, sizes = np.unique(gold, return_inverse=True, return_counts=True)
    alike = sizes[place].astype(np.float64)
    both = [_before(sign * gold, sign * metric, epsilon) for sign in (1.0, -1.0)]
    apart, concordant, tied_gold = (first + second for first, second in zip(*both, strict=True))
    agreed = concordant + alike - 1.0 - tied_gold
    return RowCounts(concordant, apart - concordant - tied_gold, len(gold) - alike, apart, agreed)


def kendall_b_draws(rows: RowCounts, weights: NDArray[Any]) -> Floats:
    """Kendall's τ-b of each resample, to first order; NaN where nothing untied is left."""
    sums = np.stack([rows.concordant - rows.discordant, rows.untied_gold, rows.untied_metric], axis=1)
    agreed, gold, metric = _of_pairs(sums, weights).T
    defined = (gold > 0) & (metric > 0)
    scale = np.sqrt(np.where(defined, gold * metric, 1.0))
    return np.where(defined, np.clip(agreed / scale, -1.0, 1.0), np.nan)


def share_draws(sums: Floats, total: float, weights: NDArray[Any]) -> Floats:
    """A sum over pairs (τ-c, accuracy) as a share of a fixed total, on each resample, to first order."""
    return np.asarray(_of_pairs(sums[:, None], weights)[:, 0] / total)


def _of_pairs(sums: Floats, weights: NDArray[Any]) -> Floats:
    """1'S1 + 2(w − 1)'S1, from S1."""
    return np.asarray(2.0 * (weights @ sums) - sums.sum(axis=0))


def _before(gold: Floats, metric: Floats, epsilon: float) -> tuple[Floats, Floats, Floats]:
    """For each row: how many lie below it in the metric, and of these below it in gold, and level with it in gold."""
    order = np.argsort(metric, kind="stable")
    classes = np.unique(gold, return_inverse=True)[1][order].astype(np.int64)
    clear = clear_before(metric[order], epsilon)
    found = np.empty((3, len(gold)))
    found[:, order] = clear, *lower_and_equal(classes, clear)
    return found[0], found[1], found[2]
