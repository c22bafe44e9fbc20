"""The number of texts that each metric needs to detect a difference of a given size, by simulated tests.

A sample has a reference of one source and a candidate that holds a share of the other; a test of it rejects or not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from textgauge.arrays import Ints
from textgauge.data import Comparison
from textgauge.evaluate.protocols import Sources
from textgauge.evaluate.recommend.budget import Clock
from textgauge.evaluate.recommend.power import PERMUTATIONS, SizeSearch, rung
from textgauge.metrics import CorpusMetric
from textgauge.metrics.base import Undefined
from textgauge.parallel import map_threads, one_blas_thread
from textgauge.tabular import plain_row

_TINY, _FIRST = 8, 32  # texts a side of a sample to time, and of the first that count
_BLOCK, _FEWEST = 10, 5  # samples between two estimates
_SURE_ENOUGH, _TOO_UNSURE = 0.08, 0.22  # deviation of log n*: intervals of a sixth to either side, of a factor 1.5
_MOST_TESTS = 300
_LITTLE = 0.02  # share of the time left that timing a test may take
_FARTHEST = 3.0  # times the largest sample: further out, or too unsure, only a lower bound is given


@dataclass(frozen=True)
class TextsNeeded:
    """How many texts a side a metric needs (`count`); NaN where only the lower end is known.

    `largest` is the largest sample that was simulated, `tests` the number of simulated tests, `curve` their texts a
    side, numbers and rejections. An answer beyond the largest sample is `extrapolated`.
    """

    metric: str
    count: float
    low: float
    high: float
    largest: int
    tests: int
    curve: tuple[tuple[int, int, int], ...] = ()

    @property
    def extrapolated(self) -> bool:
        """Whether the number lies beyond the samples that were simulated."""
        return bool(self.count > 1.2 * self.largest)

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        names = ("metric", "count", "low", "high", "extrapolated", "largest", "tests")
        return plain_row({name: getattr(self, name) for name in names})


@dataclass(frozen=True, eq=False)
class Contaminated:
    """Samples of n texts a side: the reference all of source a, of the candidate a share `effect` of source b.

    No text is on both sides; texts that both sources have are left out. Where the share is no whole number of texts,
    it is right on average. A sample depends on seed, data, n and its number alone.
    """

    sources: Sources
    effect: float
    seed: int = 0

    @cached_property
    def sides(self) -> tuple[Ints, Ints]:
        """Rows of the different texts of each source, in an order of their content."""
        keys = [self.sources.corpora[role].keys for role in ("a", "b")]
        first = [np.unique(own, return_index=True) for own in keys]
        own = [rows[~np.isin(found, keys[1 - side])] for side, (found, rows) in enumerate(first)]
        return own[0], own[1] + len(keys[0])

    @property
    def most(self) -> int:
        """The largest n that the sources allow."""
        a, b = (len(rows) for rows in self.sides)
        return min(int(a / (2.0 - self.effect)), int(b / self.effect)) - 1

    def sample(self, n: int, number: int) -> Comparison:
        """One sample of n texts a side."""
        words = np.frombuffer(hashlib.blake2b(self.sources.fingerprint.encode(), digest_size=8).digest(), np.uint32)
        rng = np.random.default_rng([self.seed, n, number, *words.tolist()])
        foreign = int(n * self.effect + rng.random())
        a, b = (rng.permutation(rows) for rows in self.sides)
        joint = self.sources.joint
        return Comparison(joint.take(a[:n]), joint.take(np.concatenate([a[n : 2 * n - foreign], b[:foreign]])))


def rejects(
    metric: CorpusMetric, comparison: Comparison, *, permutations: int, seed: int = 0, level: float = 0.05
) -> bool:
    """Whether the metric's own test finds the corpora different; no where the metric is undefined."""
    with one_blas_thread():
        try:
            p_value, _ = metric.p_value(comparison, permutations=permutations, seed=seed)
        except Undefined:
            return False
    return bool(p_value <= level + 1e-9)


def needed_texts(
    metrics: Sequence[CorpusMetric],
    samples: Contaminated,
    *,
    power: float,
    clock: Clock,
    on_step: Callable[[str], None] = lambda _: None,
) -> list[TextsNeeded]:
    """What each metric needs; the time left is shared, and what one does not use goes to those after it."""
    found = []
    for place, metric in enumerate(metrics):
        if clock.left <= 0:
            found.append(_answer(metric.key, SizeSearch(power)))
            continue
        on_step(f"simulating tests with {metric.key}")
        first = _first_cost(metric, samples, clock)
        share = clock.left / (len(metrics) - place)
        found.append(_needed(metric, samples, power, first, clock.part(share)))
    return found


def _first_cost(metric: CorpusMetric, samples: Contaminated, clock: Clock) -> float:
    """The seconds that a test of the first size takes, timed where small ones show that there is time for it."""
    n = min(_TINY, max(samples.most, 2))
    _outcomes(metric, samples, n, 0, 1)  # the first use of all loads things
    at_most = _quickest(metric, samples, n, clock) * (_FIRST / n) ** 2
    if samples.most < _FIRST or at_most > _LITTLE * clock.left:
        return at_most
    return min(at_most, _quickest(metric, samples, _FIRST, clock))


def _quickest(metric: CorpusMetric, samples: Contaminated, n: int, clock: Clock) -> float:
    """The seconds of a test, the least of two, or three where that is soon done: others may hold up any single one."""
    seconds: list[float] = []
    while len(seconds) < 2 or (len(seconds) < 3 and sum(seconds) <= _LITTLE * clock.left):
        before = clock.spent
        _outcomes(metric, samples, n, 0, 1)
        seconds.append(clock.spent - before)
    return min(seconds)


def _needed(metric: CorpusMetric, samples: Contaminated, power: float, first: float, clock: Clock) -> TextsNeeded:
    search, cost = SizeSearch(power), dict[int, float]()
    while (block := _next(search, samples.most, cost, first, clock)) is not None:
        n, tests = block
        before, done = clock.spent, len(search.draws.get(n, ()))
        search.add(n, _outcomes(metric, samples, n, done, tests))
        cost[n] = (clock.spent - before) / tests
    return _answer(metric.key, search)


def _outcomes(metric: CorpusMetric, samples: Contaminated, n: int, first: int, tests: int) -> list[bool]:
    """Whether the test rejects, for this many samples from the first on."""

    def outcome(place: int) -> float:
        number = first + place
        return rejects(metric, samples.sample(n, number), permutations=PERMUTATIONS, seed=number)

    return [bool(found) for found in map_threads(outcome, tests)]


def _next(search: SizeSearch, most: int, cost: dict[int, float], first: float, clock: Clock) -> tuple[int, int] | None:
    """Where to simulate next and how often: near n*, at most twice as far as before, in the time left; None to stop."""
    if not cost:
        tests = min(clock.left / max(first, 1e-6), _BLOCK)
        return (rung(_FIRST, most=most), int(tests)) if most >= 4 and tests >= _FEWEST else None
    estimate, known = search.estimate(), max(cost)
    out_of_reach = known == rung(most, most=most) and estimate.low > _FARTHEST * known
    if estimate.spread < _SURE_ENOUGH or search.tests >= _MOST_TESTS or out_of_reach:
        return None
    affordable = clock.left / max(cost[known], 1e-6)
    if affordable < _FEWEST:
        return None
    # Twice the texts are taken to cost four times the time.
    n = rung(estimate.texts, most=min(most, 2.0 * known, known * np.sqrt(affordable / _FEWEST)))
    return n, int(np.clip(affordable * (known / n) ** 2, _FEWEST, _BLOCK))


def _answer(metric: str, search: SizeSearch) -> TextsNeeded:
    estimate = search.estimate()
    far = estimate.spread > _TOO_UNSURE or estimate.texts > _FARTHEST * search.largest
    count, high = (np.nan, np.nan) if far else (round(estimate.texts), round(estimate.high))
    low = round(estimate.low) if search.tests else np.nan
    return TextsNeeded(metric, count, low, high, search.largest, search.tests, search.counts)
