"""Intervals for token metrics, from the same metric on disjoint quarters and halves of the texts.

Rare tokens make these metrics far from linear in the texts, and leaving texts out then overstates their variance, up to
twice near equal populations. Values on disjoint parts are independent, so their variance at half and at a quarter of
the size is seen without bias; one more doubling by the same ratio leads to the size at hand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Comparison, Corpus, Draws
from textgauge.metrics.base import VALUE, TokenMetric
from textgauge.metrics.uncertainty import normal_reach

Column = NDArray[np.float64]
ValuesOf = Callable[[Corpus, Draws], Column]

METHOD = "disjoint parts"

_TRIALS = 100
_PAIRINGS = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))  # quarters that make halves; two by two disjoint
_RATIOS = (1 / 8, 4.0)  # variance per doubling: n⁻³ at the fastest, n² for a statistic that grows with the corpora


def split_error(values_of: ValuesOf, comparison: Comparison, *, seed: int) -> float:
    """Standard deviation of a value over samples of these sizes; NaN where the parts are too small to have one.

    V(n) ≈ V(n/2) · V(n/2)/V(n/4), V(n/2) and V(n/4) the mean squared differences between disjoint parts.
    """
    sides = comparison.reference.canonical(), comparison.candidate.canonical()
    values = values_of(sides[0] | sides[1], _draws(len(sides[0]), len(sides[1]), seed))
    values = values.reshape(4 + len(_PAIRINGS), _TRIALS)
    values = values[:, np.isfinite(values).all(axis=0)]
    if values.shape[1] < _TRIALS / 2:
        return float("nan")
    by_quarter = float(values[:4].var(axis=0, ddof=1).mean())
    by_half = float(((values[4::2] - values[5::2]) ** 2).mean() / 2)
    return float(np.sqrt(by_half * np.clip(by_half / by_quarter, *_RATIOS))) if by_quarter > 0 else 0.0


def _draws(n: int, m: int, seed: int) -> Draws:
    """Quarters 1 to 4 of every trial, then the halves they make."""
    rng = np.random.default_rng([seed, 4])
    part = np.hstack([rng.permuted(np.tile(np.arange(size) % 4, (_TRIALS, 1)), axis=1) for size in (n, m)])
    quarters = [part == number for number in range(4)]
    members = np.vstack([*quarters, *(quarters[a] | quarters[b] for a, b in _PAIRINGS)])
    reference = np.arange(n + m) < n
    return Draws(members & reference, members & ~reference)


def folded_interval(difference: float, error: float, level: float) -> tuple[float, float]:
    """Interval for the expected absolute value of a normal difference, given one difference and its error.

    E|N(δ, s²)| grows with |δ|, so the ends for |δ| are carried through it.
    """
    reach = normal_reach(level) * error
    return folded_mean(max(abs(difference) - reach, 0.0), error), folded_mean(abs(difference) + reach, error)


def folded_mean(centre: float, error: float) -> float:
    """E|N(centre, error²)|.

    >>> folded_mean(0.0, 1.0), folded_mean(2.0, 0.0)
    (0.7978845608028654, 2.0)
    """
    from scipy.special import ndtr

    if error == 0:
        return abs(centre)
    z = centre / error
    return float(error * np.sqrt(2 / np.pi) * np.exp(-z * z / 2) + centre * (1 - 2 * ndtr(-z)))


class SplitMetric(TokenMetric):
    """A token metric whose standard error comes from disjoint parts."""

    def standard_error(self, comparison: Comparison, *, seed: int) -> tuple[float, str]:
        """Standard deviation of the value over samples of these sizes, and the method's name."""
        error = split_error(lambda joint, draws: self.shown_of(self.compute_many(joint, draws)), comparison, seed=seed)
        return (error, METHOD) if np.isfinite(error) else super().standard_error(comparison, seed=seed)


class GapMetric(SplitMetric):
    """The absolute difference of a number of each corpus, its parts `reference` and `candidate`."""

    def interval(self, comparison: Comparison, *, level: float, seed: int) -> tuple[float, float, str]:
        """Low and high end for the expected value at these sizes, and the method's name.

        Noise alone makes a gap, so a small one may lie below what is expected; the interval is drawn down to it.
        """
        error = split_error(self._differences, comparison, seed=seed)
        if self.part or not np.isfinite(error):
            return super().interval(comparison, level=level, seed=seed)
        values = self.compute(comparison)
        low, high = folded_interval(values["reference"] - values["candidate"], error, level)
        return min(low, values[VALUE]), high, METHOD

    def _differences(self, joint: Corpus, draws: Draws) -> Column:
        values = self.compute_many(joint, draws)
        return values["reference"] - values["candidate"]
