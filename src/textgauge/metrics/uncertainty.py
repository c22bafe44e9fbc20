"""How sure a corpus metric's value is: interval, p-value, null distance.

The interval is for the expected value of the metric between fresh samples of these sizes from the two populations.
Resampling with replacement makes duplicates, which shift covariance and neighbour metrics; so nothing here draws with
replacement. docs/reliability.md has the measured coverage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Comparison, Corpus, Draws
from textgauge.stats import resample

if TYPE_CHECKING:
    from textgauge.metrics.base import CorpusMetric

_GROUPS = 50  # left out in turn, of each corpus: 98 degrees of freedom for the price of 100 evaluations
_HALVES = 200
_SPLITS = 20  # halvings of the reference whose mean distance is the null


def jackknife_error(metric: CorpusMetric, comparison: Comparison, *, seed: int) -> float:
    """Standard error by leaving out texts: a group at a time, and half of all.

    For a statistic with first- and second-order variance a + c, leaving out groups estimates a + 2c (Efron and Stein
    1981) and leaving out halves a + 3c, so twice the one less the other is a + c; the bounds follow from a, c ≥ 0.
    Groups and halves are drawn in canonical order, so that the order of the texts does not matter.
    """
    sides = comparison.reference.canonical(), comparison.candidate.canonical()
    by_group = sum(_group_variance(metric, sides, number, seed) for number in (0, 1))
    kept = [resample.halves(len(side), _HALVES, seed + number)[0] for number, side in enumerate(sides)]
    by_half = float(np.nanvar(_values(metric, sides, kept), ddof=1))
    return float(np.sqrt(np.clip(2.0 * by_group - by_half, by_group / 2.0, by_group)))


def _group_variance(metric: CorpusMetric, sides: tuple[Corpus, Corpus], number: int, seed: int) -> float:
    without = resample.grouped(len(sides[number]), _GROUPS, seed)
    whole = np.ones((len(without), len(sides[1 - number])), dtype=bool)
    return resample.jackknife_variance(_values(metric, sides, [without, whole][:: 1 - 2 * number]))


def _values(metric: CorpusMetric, sides: tuple[Corpus, Corpus], kept: list[NDArray[np.bool_]]) -> NDArray[np.float64]:
    """The metric on many sub-corpora, given by masks over each side."""
    none = [np.zeros_like(mask) for mask in kept]
    draws = Draws(np.hstack([kept[0], none[1]]), np.hstack([none[0], kept[1]]))
    values: NDArray[np.float64] = metric.shown_of(metric.compute_many(sides[0] | sides[1], draws))
    return values


def around(value: float, error: float, bounds: tuple[float, float], level: float) -> tuple[float, float]:
    """Value ± t · error, kept within the metric's bounds."""
    from scipy.special import stdtrit

    reach = float(stdtrit(2 * (_GROUPS - 1), 0.5 + level / 2)) * error
    return max(value - reach, bounds[0]), min(value + reach, bounds[1])


def normal_reach(level: float) -> float:
    """How many standard errors a two-sided normal interval of this level reaches."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))


def permutation_test(metric: CorpusMetric, comparison: Comparison, *, permutations: int, seed: int) -> float:
    """p-value for "both corpora come from one distribution", by exchanging texts between them.

    The observed split is computed by the same path as the permuted ones, so that rounding cannot tell them apart.
    """
    n, m = len(comparison.reference), len(comparison.candidate)
    left, right = resample.permuted(n, m, permutations, seed)
    observed = np.arange(n + m) < n
    joint = comparison.reference.canonical() | comparison.candidate.canonical()
    draws = Draws(np.vstack([observed, left]), np.vstack([~observed, right]))
    values = metric.orient(metric.shown_of(metric.compute_many(joint, draws)))
    return resample.permutation_p(values[0], values[1:]) if np.isfinite(values[0]) else float("nan")


def null_distance(metric: CorpusMetric, reference: Corpus, *, seed: int) -> float:
    """Mean value of the reference split at random against itself."""
    draws = Draws(*resample.halves(len(reference), _SPLITS, seed))
    values = metric.shown_of(metric.compute_many(reference.canonical(), draws))
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else float("nan")
