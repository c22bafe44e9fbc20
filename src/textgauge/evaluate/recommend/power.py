"""How many texts a test needs: power as a function of sample size, learnt from simulated tests.

The standardised distance between the samples is taken to grow as δ(n) = δ*·(n/n*)^γ, where n* is the wanted number of
texts: at δ* the test rejects with the wanted power. A permutation test that sees a shift δ rejects with a known chance,
so that each simulated test tells something about n*, whatever its n. What is known about n* and γ is a table of
weights over a grid; the next simulation is made where n* seems to lie, where it tells most (Watson and Pelli 1983).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.05
PERMUTATIONS = 39  # of a simulated test
_REAL_PERMUTATIONS = 999  # of the test that the answer is about
_SIZES = np.exp(np.arange(np.log(2.0), np.log(2e6), 0.02))
_GROWTHS = np.arange(0.3, 2.01, 0.1)
# Squared distances grow with n, plain means with its root; metrics on real corpora were seen between 0.7 and 1.4.
_GROWTH_MEAN, _GROWTH_STD = 1.0, 0.3
_SHIFTS = np.linspace(0.0, 12.0, 601)
_SURE = 1e-4  # a test may miss or hit by an accident that the curve knows nothing of
_SPACING = 2**0.25
_HALF_CHI_SQUARE = 1.92  # of one degree of freedom, for 95 %


@dataclass(frozen=True)
class Estimate:
    """The number of texts with the wanted power: median, 95 % interval, and the deviation of its logarithm."""

    texts: float
    low: float
    high: float
    spread: float


def rejection_rate(shift: Floats, *, permutations: int = _REAL_PERMUTATIONS, level: float = LEVEL) -> Floats:
    """The chance that a permutation test rejects if the value lies `shift` standard deviations beyond the null's mean.

    Values are normal; p = (1 + #{permuted ≥ observed})/(1 + permutations) ≤ level.

    >>> rejection_rate(np.array([0.0, 2.4865])).round(2).tolist()
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
    """The shift at which the test rejects with this power."""
    return float(np.interp(power, _rates(_REAL_PERMUTATIONS, level), _SHIFTS))


@cache
def _rates(permutations: int, level: float) -> Floats:
    return rejection_rate(_SHIFTS, permutations=permutations, level=level)


class Search:
    """What simulated tests told so far about the number of texts that is needed."""

    def __init__(self, power: float, *, level: float = LEVEL, permutations: int = PERMUTATIONS) -> None:
        self._shift = needed_shift(power, level)
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

    def estimate(self) -> Estimate:
        """Where n* lies, by all tests so far: the middle of the weights, and what a likelihood-ratio test leaves."""
        likely = self._log_weights - self._log_weights.max()
        weights = np.exp(likely).sum(axis=1)
        weights /= weights.sum()
        inside = _SIZES[likely.max(axis=1) >= -_HALF_CHI_SQUARE]
        logs = np.log(_SIZES)
        spread = np.sqrt(weights @ (logs - weights @ logs) ** 2)
        middle = np.interp(0.5, np.cumsum(weights), _SIZES)
        return Estimate(float(middle), float(inside[0]), float(inside[-1]), float(spread))

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


def counts(search: Search) -> Iterable[tuple[int, int, int]]:
    """Texts, tests and rejections, by rising number of texts."""
    return ((n, len(outcomes), sum(outcomes)) for n, outcomes in sorted(search.draws.items()))
