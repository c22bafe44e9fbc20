"""Tie calibration: the difference up to which two metric values are best read as a tie."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.correlation import averaged, complete, rows_of_groups
from textgauge.stats.kendall import accuracy_eq

Floats = NDArray[np.float64]

_ROUNDING = 12  # digits: sums of shares that differ beyond these are equal


class TieCalibration(NamedTuple):
    """The epsilon that gives the highest pairwise accuracy, and that accuracy."""

    epsilon: float
    accuracy: float


def calibrate_ties(
    gold: Floats,
    metric: Floats,
    group: NDArray[Any] | None = None,
    *,
    limit: int | None = 2_000_000,
    seed: int = 0,
) -> TieCalibration:
    """The epsilon among the metric's own differences (and 0) for which the mean `accuracy_eq` over groups is highest.

    The smallest such epsilon. Where there are more than `limit` pairs of rows, epsilon is sought on a random part of
    them; the accuracy is always over all. NaN where a value is not finite or no group has two rows. A metric that knows
    only of gold ties gains by this too: compare calibrated values with calibrated values.
    Source: Deutsch, Foster and Freitag 2023; with limit=None WMT's KendallWithTiesOpt at sample rate 1.

    >>> calibrate_ties(np.array([1.0, 1, 1, 4]), np.array([0.0, 2, 6, 8]))
    TieCalibration(epsilon=4.0, accuracy=0.6667)
    """
    label = np.zeros(len(gold), dtype=np.int64) if group is None else group
    rows = [members for members in rows_of_groups(label) if len(members) > 1]
    if not rows or not complete(gold, metric).all():
        return TieCalibration(float("nan"), float("nan"))
    total = sum(len(members) * (len(members) - 1) // 2 for members in rows)
    share = 1.0 if limit is None else limit / total
    rng = np.random.default_rng([seed, 6])
    parts = [_gains(gold[members], metric[members], share, rng) for members in rows]
    epsilon = _best(np.concatenate([gap for gap, _ in parts]), np.concatenate([gain for _, gain in parts]))
    return TieCalibration(epsilon, averaged(partial(accuracy_eq, epsilon=epsilon), label)(gold, metric))


def _gains(gold: Floats, metric: Floats, share: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """For pairs whose verdict a tie changes: the metric's difference, and what accuracy gains once it counts as one."""
    first, second = _pairs(len(gold), share, rng)
    gap, order = metric[first] - metric[second], gold[first] - gold[second]
    gain = np.where(order == 0, 1.0, np.where(np.sign(gap) == np.sign(order), -1.0, 0.0))
    changed = (gap != 0) & (gain != 0)
    return np.abs(gap[changed]), gain[changed] / len(first)


def _pairs(n: int, share: float, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if share >= 1.0:
        return np.triu_indices(n, 1)
    count = max(1, round(share * n * (n - 1) / 2))
    first = rng.integers(n, size=count)
    return first, (first + rng.integers(1, n, size=count)) % n


def _best(gaps: Floats, gains: Floats) -> float:
    """The smallest gap at which the sum of the gains up to it is highest, or 0 where none is above zero."""
    order = np.argsort(gaps)
    gaps, total = gaps[order], np.cumsum(gains[order])
    last = np.append(gaps[1:] != gaps[:-1], True)[: len(gaps)]
    gaps, total = np.append(0.0, gaps[last]), np.append(0.0, np.round(total[last], _ROUNDING))
    return float(gaps[np.argmax(total)])
