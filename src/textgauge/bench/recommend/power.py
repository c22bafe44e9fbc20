"""Power as a function of sample size: texts that a test of corpora needs, rated pairs that a test of metrics needs.

**Texts.** Power is learnt from simulated tests. The standardised distance between the samples is taken to grow as
δ(n) = δ*·(n/n*)^γ, where n* is the wanted number of texts: at δ* the test rejects with the wanted power. A permutation
test that sees a shift δ rejects with a known chance, so that each simulated test is evidence about n*, whatever its n.
What is known about n* and γ is a table of weights over a grid; the next simulation is made near the likely n*, where it
is most informative (Watson and Pelli 1983). **Pairs.** The error of a difference of correlations comes from resampling
pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats
from textgauge.core.tabular import FlatRow
from textgauge.measure.comparing.compare import PERMUTATIONS as COMPARED
from textgauge.stats.correlation import spearman
from textgauge.stats.resampled_correlation import draws, resampled

LEVEL = 0.05
PERMUTATIONS = 39  # of a simulated test
_MANY = 999  # permutations, at which levels below 5 % have hardly any steps
MOST = 2e6  # texts that any answer reaches
_SIZES = np.exp(np.arange(np.log(2.0), np.log(MOST), 0.02))
_GROWTHS = np.arange(0.3, 2.01, 0.1)
# Squared distances grow with n, plain means with its root; metrics on real corpora were seen between 0.7 and 1.4.
_GROWTH_MEAN, _GROWTH_STD = 1.0, 0.3
_SHIFTS = np.linspace(0.0, 12.0, 601)
_SURE = 1e-4  # a test may miss or hit by an accident that the curve knows nothing of
_SPACING = 2**0.25
_HALF_CHI_SQUARE = 1.92  # of one degree of freedom, for 95 %
_RESAMPLES = 500  # of rated pairs


@dataclass(frozen=True)
class SizeEstimate:
    """The number of texts with the wanted power: median, 95 % interval, and the deviation of its logarithm."""

    texts: float
    low: float
    high: float
    spread: float


def rejection_rate(shift: Floats, *, permutations: int = COMPARED, level: float = LEVEL) -> Floats:
    """The chance that a permutation test rejects if the value lies `shift` standard deviations beyond the null's mean.

    By default it makes as many permutations as `compare` does. Values are normal;
    p = (1 + #{permuted ≥ observed})/(1 + permutations) ≤ level.

    >>> rejection_rate(np.array([0.0, 2.5146])).round(2).tolist()
    [0.05, 0.8]
    """
    from scipy.special import bdtr, ndtr

    z = np.linspace(-8.0, 8.0, 1601)
    weights = np.exp(-z * z / 2.0)
    most = np.floor(level * (permutations + 1) + 1e-9) - 1.0
    if most < 0:
        return np.zeros_like(shift)
    rates = bdtr(most, permutations, ndtr(-(np.asarray(shift)[..., None] + z)))
    return np.asarray(rates @ weights / weights.sum())


def needed_shift(power: float, level: float = LEVEL) -> float:
    """The shift at which the test of `compare` rejects with this power.

    A smaller level is that of one of several metrics. Adjusted by the largest of their values, which is tested at 5 %,
    it does not move in steps of 1/(permutations + 1); so what few permutations cost is taken from a test at 5 %.
    """
    few, many, wanted = (
        float(np.interp(power, _rates(*test), _SHIFTS)) for test in ((COMPARED, LEVEL), (_MANY, LEVEL), (_MANY, level))
    )
    return wanted * few / many


@cache
def _rates(permutations: int, level: float) -> Floats:
    return rejection_rate(_SHIFTS, permutations=permutations, level=level)


class SizeSearch:
    """The evidence of simulated tests so far about the number of texts that is needed."""

    def __init__(self, power: float, *, level: float = LEVEL, permutations: int = PERMUTATIONS) -> None:
        self._power, self._shift = power, needed_shift(power, level)
        self._chances = _rates(permutations, level)
        prior = -(((_GROWTHS - _GROWTH_MEAN) / _GROWTH_STD) ** 2) / 2.0
        self._log_weights = np.repeat(prior[None], len(_SIZES), axis=0)
        self.draws: dict[int, list[bool]] = {}

    def add(self, n: int, rejected: Sequence[bool]) -> None:
        """Take in the outcomes of tests on samples of n texts a side."""
        self.draws.setdefault(n, []).extend(rejected)
        shift = self._shift * (n / _SIZES[:, None]) ** _GROWTHS
        chance = np.clip(np.interp(shift, _SHIFTS, self._chances), _SURE, 1.0 - _SURE)
        hits = sum(rejected)
        self._log_weights = self._log_weights + hits * np.log(chance) + (len(rejected) - hits) * np.log1p(-chance)

    def estimate(self) -> SizeEstimate:
        """Where n* lies, by all tests so far: the middle of the weights, and what a likelihood-ratio test leaves."""
        likely = self._log_weights - self._log_weights.max()
        weights = self._weights.sum(axis=1)
        inside = _SIZES[likely.max(axis=1) >= -_HALF_CHI_SQUARE]
        logs = np.log(_SIZES)
        spread = np.sqrt(weights @ (logs - weights @ logs) ** 2)
        middle = np.interp(0.5, np.cumsum(weights), _SIZES)
        return SizeEstimate(float(middle), float(inside[0]), float(inside[-1]), float(spread))

    def at_level(self, level: float) -> float:
        """The number of texts with the wanted power if the test is made at another level."""
        more = needed_shift(self._power, level) / self._shift
        return float(np.exp((self._weights * (np.log(_SIZES[:, None]) + np.log(more) / _GROWTHS)).sum()))

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Random numbers of texts, as likely as they are by all tests so far."""
        return rng.choice(_SIZES, count, p=self._weights.sum(axis=1))

    @property
    def _weights(self) -> Floats:
        weights = np.exp(self._log_weights - self._log_weights.max())
        return np.asarray(weights / weights.sum())

    @property
    def largest(self) -> int:
        """The largest sample a test was made on; 0 before the first."""
        return max(self.draws, default=0)

    @property
    def tests(self) -> int:
        """How many tests were made."""
        return sum(map(len, self.draws.values()))


def rung(n: float, *, most: float) -> int:
    """The nearest of the sizes that are simulated, four to a doubling, so that metrics are tried on the same samples.

    >>> [rung(n, most=300) for n in (30, 100, 110, 1000)]
    [32, 108, 108, 256]
    """
    steps = np.rint(np.log(n) / np.log(_SPACING))
    return int(np.rint(_SPACING ** min(steps, np.floor(np.log(most) / np.log(_SPACING) + 1e-9))))


@dataclass(frozen=True)
class PairsNeeded(FlatRow):
    """How many rated pairs separate `metric` from `best`; NaN where they show no difference, or an end has none.

    `difference` is that of Spearman's ρ with people, best less other. `low` and `high` are the counts at the ends of
    the 95 % interval of the difference.
    """

    metric: str
    best: str
    difference: float
    count: float
    low: float
    high: float


def pairs_needed(
    similarity: Mapping[str, Floats],
    ratings: Floats,
    best: str,
    other: str,
    *,
    power: float,
    seed: int = 0,
    items: NDArray[Any] | None = None,
) -> PairsNeeded:
    """The rated pairs that a paired two-sided test at 5 % needs to separate `best` from another metric.

    The deviation s of the difference d comes from resampling the n pairs there are (all pairs of an item together);
    it shrinks with the root of their number: n·((z_0.975 + z_power)·s/d)². Pairs without a value are left out.
    """
    from scipy.special import ndtri

    known = np.isfinite(similarity[best]) & np.isfinite(similarity[other])
    y, a, b = ratings[known], similarity[best][known], similarity[other][known]
    parts = draws(len(y), _RESAMPLES, seed, None if items is None else items[known])
    gaps = np.concatenate([resampled(spearman, y, a, w) - resampled(spearman, y, b, w) for w in parts] or [y[:0]])
    gap, error = spearman(y, a) - spearman(y, b), float(np.std(gaps[np.isfinite(gaps)])) if len(gaps) else np.nan
    reach = float(ndtri(0.975))
    scale = np.sqrt(len(y)) * (reach + float(ndtri(power))) * error
    ends = [_count(scale, gap + side * reach * error) for side in (0.0, 1.0, -1.0)]
    return PairsNeeded(other, best, gap, *ends)


def _count(scale: float, gap: float) -> float:
    return float(np.ceil((scale / gap) ** 2)) if gap > 0 and np.isfinite(scale) else float("nan")
