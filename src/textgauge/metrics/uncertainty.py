"""The interval of a corpus metric's value.

The interval is for the expected value of the metric between fresh samples of these sizes from the two populations.
Resampling with replacement makes duplicates, which shift covariance and neighbour metrics; so nothing here draws with
replacement. docs/reliability.md has the measured coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats
from textgauge.data import Comparison, Corpus, Draws
from textgauge.numerics.held_out import SCORES, HeldOut, scores
from textgauge.stats import resampling as resample

if TYPE_CHECKING:
    from textgauge.metrics.corpus_metric import CorpusMetric

ValuesOf = Callable[[Corpus, Draws], Floats]

_GROUPS = 50  # left out in turn, of each corpus: 98 degrees of freedom for the price of 100 evaluations
_HALVES = 200
_TRIALS = 100
_PAIRINGS = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))  # quarters that make halves; two by two disjoint
_RATIOS = (1 / 8, 4.0)  # variance per doubling: n⁻³ at the fastest, n² for a statistic that grows with the corpora
# Measured on pairs of samples of 200 and 500 texts (docs/reliability.md). Other training texts add to the variance of
# the score about a fifth of what other held-out texts do, where both are as many (none under equal distributions,
# which widens the interval there). Scores of two splits of the same texts correlate by 0.1 to 0.25 with a fifth held
# out, by 0.1 to 0.36 with a half.
_TRAINING = 0.2
_ALIKE = 0.35

FEWEST_FOR_U_STATISTIC = 4  # texts of a corpus from which the variance of a U-statistic can be estimated
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


def _shown_values(metric: CorpusMetric, joint: Corpus, draws: Draws) -> Floats:
    values: Floats = metric.select(metric.compute_many(joint, draws))
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


def _values(values_of: ValuesOf, sides: tuple[Corpus, Corpus], kept: list[NDArray[np.bool_]]) -> Floats:
    """The values of many sub-corpora, given by masks over each side."""
    none = [np.zeros_like(mask) for mask in kept]
    return values_of(sides[0] | sides[1], Draws(np.hstack([kept[0], none[1]]), np.hstack([none[0], kept[1]])))


def around(value: float, error: float, bounds: tuple[float, float], level: float) -> tuple[float, float]:
    """Value ± t · error, kept within the metric's bounds."""
    from scipy.special import stdtrit

    reach = float(stdtrit(2 * (_GROUPS - 1), 0.5 + level / 2)) * error
    return max(value - reach, bounds[0]), min(value + reach, bounds[1])


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


def normal_reach(level: float) -> float:
    """How many standard errors a two-sided normal interval of this level reaches."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))


def likely_range(outcomes: Sequence[HeldOut], name: str, *, share: float, reach: float) -> tuple[float, float]:
    """Wilson's interval for the expected score at these sizes, `reach` standard errors to either side.

    Its number of trials is the one that gives the score's variance: from the two corpora's shares classified right,
    more by what another training set would change, less by averaging over splits, which share texts (Nadeau and
    Bengio 2003). Next to 0 and 1, where a normal interval shrinks to a point, it keeps its level.
    """
    score, sizes = SCORES[name], outcomes[0].sizes
    rates = (np.mean([outcome.rates for outcome in outcomes], axis=0) * sizes + 0.5) / (sizes + 1.0)
    slopes = [(score(rates + step, sizes) - score(rates - step, sizes)) / 2e-6 for step in 1e-6 * np.eye(2)]
    variance = float((np.square(slopes) * rates * (1.0 - rates) / sizes).sum())
    variance *= 1.0 + _TRAINING * share / (1.0 - share)
    alike = min(share, _ALIKE)
    variance *= alike + (1.0 - alike) / len(outcomes)
    level = score(rates, sizes)
    return wilson(scores(outcomes)[name], level * (1.0 - level) / variance, reach)


def wilson(value: float, trials: float, reach: float) -> tuple[float, float]:
    """The levels from which a share of this many trials is at most `reach` standard errors away (Wilson 1927)."""
    spread = reach * reach / trials
    centre, half = value + spread / 2.0, np.sqrt(spread * (value * (1.0 - value) + spread / 4.0))
    return max(0.0, float(centre - half) / (1.0 + spread)), min(1.0, float(centre + half) / (1.0 + spread))
