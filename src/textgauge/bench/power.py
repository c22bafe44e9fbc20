"""How many texts a test of two corpora needs, and how many rated pairs a test of two metrics needs.

**Texts.** Permutation tests are simulated at given sizes. The standardised distance between the samples is taken to
grow as δ(n) = δ*·(n/n*)^γ, where n* is the wanted number of texts: at δ* the test rejects with the wanted power. A
permutation test that sees a shift δ rejects with a known chance, so that each simulated test is evidence about n*,
whatever its n. What is known about n* and γ is a table of weights over a grid. **Pairs.** The error of a difference of
correlations comes from resampling pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.bench import Sources
from textgauge.core.arrays import Floats, Ints
from textgauge.core.parallel import map_threads, use_one_blas_thread
from textgauge.core.show import FlatRow, drop_nonfinite_values
from textgauge.data import Comparison
from textgauge.data.units import FEWEST_GROUPS
from textgauge.measure.comparing import PERMUTATIONS as COMPARED
from textgauge.metrics import CorpusMetric
from textgauge.metrics.base import Undefined
from textgauge.stats.correlation import draw_weights, resample_correlation, spearman
from textgauge.stats.decisions import is_different

LEVEL = 0.05
PERMUTATIONS = 39  # of a simulated test
MOST = 2e6  # texts that any answer reaches
_MANY = 999  # permutations, at which levels below 5 % have hardly any steps
_SIZES = np.exp(np.arange(np.log(2.0), np.log(MOST), 0.02))
_GROWTHS = np.arange(0.3, 2.01, 0.1)
# Squared distances grow with n, plain means with its root; metrics on real corpora were seen between 0.7 and 1.4.
_GROWTH_MEAN, _GROWTH_STD = 1.0, 0.3
_SHIFTS = np.linspace(0.0, 12.0, 601)
_SURE = 1e-4  # a test may miss or hit by an accident that the curve knows nothing of
_HALF_CHI_SQUARE = 1.92  # of one degree of freedom, for 95 %
_TOO_UNSURE = 0.35  # deviation of log n*: beyond, and from three times the largest sample on, only a bound is given
_FARTHEST = 3.0
_EXCHANGES, _TOGETHER = 199, 200  # and texts a side, that say how metrics tested together share their level
_RESAMPLES = 500  # of rated pairs


def compute_rejection_rate(shift: Floats, *, permutations: int = COMPARED, level: float = LEVEL) -> Floats:
    """Return the chance that a permutation test rejects a value `shift` standard deviations beyond the null's mean.

    By default it makes as many permutations as `compare` does. Values are normal;
    p = (1 + #{permuted ≥ observed})/(1 + permutations) ≤ level.

    >>> compute_rejection_rate(np.array([0.0, 2.5146])).round(2).tolist()
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


def compute_needed_shift(power: float, level: float = LEVEL) -> float:
    """Return the shift at which the test of `compare` rejects with this power.

    A smaller level is that of one of several metrics. Adjusted by the largest of their values, which is tested at 5 %,
    it does not move in steps of 1/(permutations + 1); so what few permutations cost is taken from a test at 5 %.
    """
    few, many, wanted = (
        float(np.interp(power, _compute_rates(*test), _SHIFTS))
        for test in ((COMPARED, LEVEL), (_MANY, LEVEL), (_MANY, level))
    )
    return wanted * few / many


@cache
def _compute_rates(permutations: int, level: float) -> Floats:
    return compute_rejection_rate(_SHIFTS, permutations=permutations, level=level)


@dataclass(frozen=True, eq=False)
class PowerCurve:
    """What simulated tests of one metric show: rejections and tests by the number of texts a side."""

    power: float
    outcomes: Mapping[int, tuple[int, int]]

    @cached_property
    def _log_weights(self) -> Floats:
        prior = -(((_GROWTHS - _GROWTH_MEAN) / _GROWTH_STD) ** 2) / 2.0
        found = np.repeat(prior[None], len(_SIZES), axis=0)
        for n, (rejected, tests) in self.outcomes.items():
            shift = compute_needed_shift(self.power) * (n / _SIZES[:, None]) ** _GROWTHS
            chance = np.clip(np.interp(shift, _SHIFTS, _compute_rates(PERMUTATIONS, LEVEL)), _SURE, 1.0 - _SURE)
            found = found + rejected * np.log(chance) + (tests - rejected) * np.log1p(-chance)
        return np.asarray(found - found.max())

    @cached_property
    def _weights(self) -> Floats:
        weights = np.exp(self._log_weights)
        return np.asarray(weights / weights.sum())

    @property
    def texts(self) -> float:
        """The number of texts a side with the wanted power: the middle of the weights."""
        return float(np.interp(0.5, np.cumsum(self._weights.sum(axis=1)), _SIZES))

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval, by what a likelihood-ratio test leaves."""
        inside = _SIZES[self._log_weights.max(axis=1) >= -_HALF_CHI_SQUARE]
        return float(inside[0]), float(inside[-1])

    @property
    def spread(self) -> float:
        """The standard deviation of its logarithm."""
        weights, logs = self._weights.sum(axis=1), np.log(_SIZES)
        return float(np.sqrt(weights @ (logs - weights @ logs) ** 2))

    def at_level(self, level: float) -> float:
        """Return the number of texts with the wanted power if the test is made at another level."""
        more = compute_needed_shift(self.power, level) / compute_needed_shift(self.power)
        return float(np.exp((self._weights * (np.log(_SIZES[:, None]) + np.log(more) / _GROWTHS)).sum()))

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw numbers of texts, as likely as the tests make them."""
        return rng.choice(_SIZES, count, p=self._weights.sum(axis=1))


@dataclass(frozen=True)
class TextsNeeded:
    """How many texts a side a metric needs (`count`), tested alone; NaN where only the lower end is known.

    Where texts belong together all these are numbers of groups, of about `group_size` texts.
    `together` is the number where all recommended metrics are tested at once and p-values are adjusted by max-T, if it
    is the first to be rejected; later ones need less. `largest` is the largest sample that was simulated, `tests` the
    number of simulated tests, `powers` the share of tests that rejected, by texts a side. An answer beyond the largest
    sample is `extrapolated`.
    """

    metric: str
    count: float
    low: float
    high: float
    largest: int
    tests: int
    together: float = float("nan")
    group_size: float | None = None
    powers: Mapping[int, float] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, metric: str, curve: PowerCurve, level: float = LEVEL, size: float | None = None) -> TextsNeeded:
        """Return what a metric needs by its curve; `together` is for a test at this level."""
        largest, tests = max(curve.outcomes), sum(tests for _, tests in curve.outcomes.values())
        low, high = map(round, curve.interval)
        powers = {n: rejected / tests for n, (rejected, tests) in curve.outcomes.items()}
        if curve.spread > _TOO_UNSURE or curve.texts > _FARTHEST * largest:
            return cls(metric, np.nan, low, np.nan, largest, tests, group_size=size, powers=powers)
        count = round(curve.texts)
        return cls(metric, count, low, high, largest, tests, max(round(curve.at_level(level)), count), size, powers)

    @property
    def known(self) -> bool:
        """Whether there is a number, not a lower end alone."""
        return not np.isnan(self.count)

    @property
    def extrapolated(self) -> bool:
        """Whether the number lies beyond the samples that were simulated."""
        return bool(self.count > 1.2 * self.largest)

    def to_dict(self) -> dict[str, Any]:
        """Return a flat row."""
        names = ("metric", "count", "low", "high", "together", "extrapolated", "largest", "tests")
        more = {} if self.group_size is None else {"group_size": self.group_size}
        powers = {f"power.{n}": share for n, share in self.powers.items()}
        return drop_nonfinite_values({name: getattr(self, name) for name in names} | more | powers)


@dataclass(frozen=True, eq=False)
class Contaminated:
    """Samples of n texts a side: the reference all of source a, of the candidate a share `effect` of source b.

    No text is on both sides; texts that both sources have are left out. Where the share is no whole number of texts,
    it is right on average. A sample depends on seed, data, n and its number alone. With `groups`, labels of the texts
    of both sources, n counts groups, which are drawn as a whole.
    """

    sources: Sources
    effect: float
    seed: int = 0
    groups: tuple[Ints, Ints] | None = None

    @cached_property
    def sides(self) -> tuple[list[Ints], list[Ints]]:
        """Rows of the different texts of each source, by group, in an order of their content."""
        keys = [self.sources.corpora[role].keys for role in ("a", "b")]
        first = [np.unique(own, return_index=True) for own in keys]
        own = [rows[~np.isin(distinct, keys[1 - side])] for side, (distinct, rows) in enumerate(first)]
        labels = own if self.groups is None else [of[rows] for of, rows in zip(self.groups, own, strict=True)]
        a, b = (split_by_label(rows, of) for rows, of in zip(own, labels, strict=True))
        return a, [rows + len(keys[0]) for rows in b]

    @property
    def most(self) -> int:
        """The largest n that the sources allow."""
        a, b = (len(groups) for groups in self.sides)
        return min(int(a / (2.0 - self.effect)), int(b / self.effect)) - 1

    @property
    def group_size(self) -> float | None:
        """The mean number of texts of a group; None where texts are independent."""
        groups = [len(rows) for side in self.sides for rows in side]
        return None if self.groups is None else sum(groups) / max(len(groups), 1)

    def count(self, texts: int) -> int:
        """Return the n that comes nearest to this many texts a side, and the largest where the sources have fewer."""
        return min(max(round(texts / self.group_size), FEWEST_GROUPS) if self.group_size else texts, self.most)

    def sample(self, n: int, number: int) -> Comparison:
        """Draw one sample of n texts, or groups, a side."""
        words = np.frombuffer(hashlib.blake2b(self.sources.fingerprint.encode(), digest_size=8).digest(), np.uint32)
        rng = np.random.default_rng([self.seed, n, number, *words.tolist()])
        foreign = int(n * self.effect + rng.random())
        a, b = ([side[place] for place in rng.permutation(len(side))] for side in self.sides)
        drawn = a[:n], a[n : 2 * n - foreign] + b[:foreign]
        rows = [np.concatenate(side) for side in drawn]
        labels = [np.repeat(np.arange(len(side)), [len(own) for own in side]) for side in drawn]
        sides = (self.sources.joint.take(own) for own in rows)
        return Comparison(*sides, groups=None if self.groups is None else (labels[0], n + labels[1]))


def split_by_label(rows: Ints, labels: Ints) -> list[Ints]:
    """Return rows of one label together, labels in the order of their first rows."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[inverse]
    return np.split(rows[np.argsort(place, kind="stable")], np.cumsum(np.bincount(place))[:-1])


def is_rejected(metric: CorpusMetric, comparison: Comparison, *, permutations: int, seed: int = 0) -> bool:
    """Return whether the metric's own test finds the corpora different; no where the metric is undefined."""
    with use_one_blas_thread():
        try:
            p_value = metric.null_values(comparison, permutations=permutations, seed=seed).p_value
        except Undefined:
            return False
    return is_different(p_value, LEVEL)


def simulate_tests(
    metric: CorpusMetric, samples: Contaminated, *, sizes: Sequence[int], tests: int, power: float
) -> PowerCurve:
    """Test samples of about each number of texts; the largest that the sources allow stands for those beyond it."""
    outcomes = {}
    for n in sorted({samples.count(n) for n in sizes}):

        def reject(number: int, n: int = n) -> float:
            return is_rejected(metric, samples.sample(n, number), permutations=PERMUTATIONS, seed=number)

        outcomes[n] = (int(sum(map_threads(reject, tests))), tests)
    return PowerCurve(power, outcomes)


def estimate_shared_level(metrics: Sequence[CorpusMetric], samples: Contaminated) -> float:
    """Return the level of one of these tests if `compare` adjusts all for each other, before any is rejected.

    Metrics that share exchanges: how often one of them lies beyond the 95 % point of the largest of all (max-T). Others
    take their share by Holm's correction.
    """
    if len(metrics) < 2:
        return LEVEL
    comparison = samples.sample(samples.count(_TOGETHER), 0)
    with use_one_blas_thread():
        nulls = [metric.null_values(comparison, permutations=_EXCHANGES, seed=samples.seed) for metric in metrics]
    shared = [null.compute_ranks() for null in nulls if null.shares_draws]
    least = LEVEL / len(nulls)
    if not shared:
        return least
    ranks = np.column_stack(shared)
    critical = np.quantile(ranks.max(axis=1), 1.0 - least * len(shared), method="higher")
    return float(np.clip((ranks >= critical).mean(), least, LEVEL))


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


def estimate_pairs_needed(
    similarity: Mapping[str, Floats],
    ratings: Floats,
    best: str,
    other: str,
    *,
    power: float,
    seed: int = 0,
    items: NDArray[Any] | None = None,
) -> PairsNeeded:
    """Return the rated pairs that a paired two-sided test at 5 % needs to separate `best` from another metric.

    The deviation s of the difference d comes from resampling the n pairs there are (all pairs of an item together);
    it shrinks with the root of their number: n·((z_0.975 + z_power)·s/d)². Pairs without a value are left out.
    """
    from scipy.special import ndtri

    known = np.isfinite(similarity[best]) & np.isfinite(similarity[other])
    y, a, b = ratings[known], similarity[best][known], similarity[other][known]
    parts = draw_weights(len(y), _RESAMPLES, seed, None if items is None else items[known])
    gaps = np.concatenate(
        [resample_correlation(spearman, y, a, w) - resample_correlation(spearman, y, b, w) for w in parts] or [y[:0]]
    )
    gap, error = spearman(y, a) - spearman(y, b), float(np.std(gaps[np.isfinite(gaps)])) if len(gaps) else np.nan
    reach = float(ndtri(0.975))
    scale = np.sqrt(len(y)) * (reach + float(ndtri(power))) * error

    def count(gap: float) -> float:
        return float(np.ceil((scale / gap) ** 2)) if gap > 0 and np.isfinite(scale) else float("nan")

    return PairsNeeded(other, best, gap, *(count(gap + side * reach * error) for side in (0.0, 1.0, -1.0)))
