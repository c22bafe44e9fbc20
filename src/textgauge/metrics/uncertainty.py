"""How sure a corpus metric's value is: interval, p-value, null distance.

The interval is for the expected value of the metric between fresh samples of these sizes from the two populations.
Resampling with replacement makes duplicates, which shift covariance and neighbour metrics; so nothing here draws with
replacement. docs/reliability.md has the measured coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Comparison, Corpus, Draws
from textgauge.stats import resampling as resample

if TYPE_CHECKING:
    from textgauge.metrics.corpus_metric import CorpusMetric

Column = NDArray[np.float64]
ValuesOf = Callable[[Corpus, Draws], Column]

_GROUPS = 50  # left out in turn, of each corpus: 98 degrees of freedom for the price of 100 evaluations
_HALVES = 200
_SPLITS = 20  # halvings of the reference whose mean distance is the null
_TRIALS = 100
_PAIRINGS = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))  # quarters that make halves; two by two disjoint
_RATIOS = (1 / 8, 4.0)  # variance per doubling: n⁻³ at the fastest, n² for a statistic that grows with the corpora

JACKKNIFE = "jackknife"
SECOND_ORDER = "second-order jackknife"
DISJOINT = "disjoint parts"


def standard_error(metric: CorpusMetric, comparison: Comparison, *, by: str, seed: int) -> tuple[float, str]:
    """Standard deviation of the shown value over samples of these sizes, and the name of the method that gave it."""
    values_of = partial(_shown_values, metric)
    if by == DISJOINT:
        error = disjoint_error(values_of, comparison, seed=seed)
        if np.isfinite(error):
            return error, by
    if by == SECOND_ORDER:
        return second_order_error(values_of, comparison, seed=seed), by
    return jackknife_error(values_of, comparison, seed=seed), JACKKNIFE


def _shown_values(metric: CorpusMetric, joint: Corpus, draws: Draws) -> Column:
    values: Column = metric.select(metric.compute_many(joint, draws))
    return values


def jackknife_error(values_of: ValuesOf, comparison: Comparison, *, seed: int) -> float:
    """Standard error by leaving out a group of texts at a time, of one corpus and then of the other."""
    sides = comparison.reference.canonical(), comparison.candidate.canonical()
    return float(np.sqrt(sum(_group_variance(values_of, sides, number, seed) for number in (0, 1))))


def second_order_error(values_of: ValuesOf, comparison: Comparison, *, seed: int) -> float:
    """Standard error by leaving out texts: a group at a time, and half of all.

    For a statistic with first- and second-order variance a + c, leaving out groups estimates a + 2c (Efron and Stein
    1981) and leaving out halves a + 3c, so twice the one less the other is a + c; the bounds follow from a, c ≥ 0.
    Groups and halves are drawn in canonical order, so that the order of the texts does not matter.
    """
    sides = comparison.reference.canonical(), comparison.candidate.canonical()
    by_group = jackknife_error(values_of, comparison, seed=seed) ** 2
    kept = [resample.halves(len(side), _HALVES, seed + number)[0] for number, side in enumerate(sides)]
    halves = _values(values_of, sides, kept)
    halves = halves[np.isfinite(halves)]
    by_half = float(halves.var(ddof=1)) if len(halves) > 1 else by_group
    return float(np.sqrt(np.clip(2.0 * by_group - by_half, by_group / 2.0, by_group)))


def disjoint_error(values_of: ValuesOf, comparison: Comparison, *, seed: int) -> float:
    """Standard error from the value on disjoint quarters and halves; NaN where the parts are too small to have one.

    Values on disjoint parts are independent, so their variance at half and at a quarter of the size is seen without
    bias, also where leaving texts out overstates it: V(n) ≈ V(n/2) · V(n/2)/V(n/4).
    """
    sides = comparison.reference.canonical(), comparison.candidate.canonical()
    values = values_of(sides[0] | sides[1], _quarters_and_halves(len(sides[0]), len(sides[1]), seed))
    values = values.reshape(4 + len(_PAIRINGS), _TRIALS)
    values = values[:, np.isfinite(values).all(axis=0)]
    if values.shape[1] < _TRIALS / 2:
        return float("nan")
    by_quarter = float(values[:4].var(axis=0, ddof=1).mean())
    by_half = float(((values[4::2] - values[5::2]) ** 2).mean() / 2)
    return float(np.sqrt(by_half * np.clip(by_half / by_quarter, *_RATIOS))) if by_quarter > 0 else 0.0


def _quarters_and_halves(n: int, m: int, seed: int) -> Draws:
    """Quarters 1 to 4 of every trial, then the halves they make."""
    rng = np.random.default_rng([seed, 4])
    part = np.hstack([rng.permuted(np.tile(np.arange(size) % 4, (_TRIALS, 1)), axis=1) for size in (n, m)])
    quarters = [part == number for number in range(4)]
    members = np.vstack([*quarters, *(quarters[a] | quarters[b] for a, b in _PAIRINGS)])
    reference = np.arange(n + m) < n
    return Draws(members & reference, members & ~reference)


def _group_variance(values_of: ValuesOf, sides: tuple[Corpus, Corpus], number: int, seed: int) -> float:
    without = resample.grouped(len(sides[number]), _GROUPS, seed)
    whole = np.ones((len(without), len(sides[1 - number])), dtype=bool)
    return resample.jackknife_variance(_values(values_of, sides, [without, whole][:: 1 - 2 * number]))


def _values(values_of: ValuesOf, sides: tuple[Corpus, Corpus], kept: list[NDArray[np.bool_]]) -> Column:
    """The values of many sub-corpora, given by masks over each side."""
    none = [np.zeros_like(mask) for mask in kept]
    return values_of(sides[0] | sides[1], Draws(np.hstack([kept[0], none[1]]), np.hstack([none[0], kept[1]])))


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
    values = metric.orient(metric.select(metric.compute_many(joint, draws)))
    return resample.permutation_p(values[0], values[1:]) if np.isfinite(values[0]) else float("nan")


def null_distance(metric: CorpusMetric, reference: Corpus, *, seed: int) -> float:
    """Mean value of the reference split at random against itself."""
    draws = Draws(*resample.halves(len(reference), _SPLITS, seed))
    values = metric.select(metric.compute_many(reference.canonical(), draws))
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else float("nan")
