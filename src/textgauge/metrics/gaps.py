"""Intervals for absolute differences of a number of each corpus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.corpus_metric import CorpusMetric, ManyValues
from textgauge.metrics.uncertainty import DISJOINT, disjoint_error, normal_reach

Column = NDArray[np.float64]


def folded_interval(difference: float, error: float, level: float) -> tuple[float, float]:
    """Interval for the expected absolute value of a normal difference, given one difference and its error.

    E|N(δ, s²)| grows with |δ|, so the ends for |δ| are carried through it. Where δ may be 0 the low end is 0: noise
    alone makes a gap of 0.8·s, and an end just there would miss half the time because s is itself an estimate.
    """
    reach = normal_reach(level) * error
    low = abs(difference) - reach
    return folded_mean(low, error) if low > 0 else 0.0, folded_mean(abs(difference) + reach, error)


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


class GapMetric(CorpusMetric):
    """The absolute difference of a number of each corpus, its parts `reference` and `candidate`."""

    def interval(self, comparison: Comparison, *, level: float, seed: int) -> tuple[float, float, str]:
        """Low and high end for the expected value at these sizes, and the method's name."""
        error = disjoint_error(self._differences, comparison, seed=seed)
        if self.part or not np.isfinite(error):
            return super().interval(comparison, level=level, seed=seed)
        values = {name: np.array(value) for name, value in self.compute(comparison).items()}
        return (*folded_interval(float(self.difference(values)), error, level), DISJOINT)

    def difference(self, values: ManyValues) -> Column:
        """The difference whose absolute value is the headline."""
        return values["reference"] - values["candidate"]

    def _differences(self, joint: Corpus, draws: Draws) -> Column:
        return self.difference(self.compute_many(joint, draws))
