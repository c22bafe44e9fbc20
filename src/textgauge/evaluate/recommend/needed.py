"""The number of texts that each metric needs to see a difference of a given size, in the time there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.evaluate.recommend.budget import Clock
from textgauge.evaluate.recommend.power import PERMUTATIONS, Search, counts, rung
from textgauge.evaluate.recommend.samples import Contaminated, rejects
from textgauge.metrics import CorpusMetric
from textgauge.parallel import map_threads
from textgauge.tabular import plain_row

_TINY, _FIRST = 8, 32  # texts a side of a sample that tells what one costs, and of the first that count
_BLOCK, _FEWEST = 10, 5  # samples between two looks at what they told
_SURE_ENOUGH, _TOO_UNSURE = 0.08, 0.22  # deviation of log n*: intervals of a sixth to either side, of a factor 1.5
_MOST_TESTS = 300
_LITTLE = 0.02  # share of the time left that trying what a test takes may take
_FARTHEST = 3.0  # times the largest sample: further out, or too unsure, only a lower bound is given


@dataclass(frozen=True)
class Needed:
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


def needed_texts(
    metrics: Sequence[CorpusMetric],
    samples: Contaminated,
    *,
    power: float,
    clock: Clock,
    on_step: Callable[[str], None] = lambda _: None,
) -> list[Needed]:
    """What each metric needs; the time left is shared, and what one does not use goes to those after it."""
    found = []
    for place, metric in enumerate(metrics):
        if clock.left <= 0:
            found.append(_answer(metric.key, Search(power)))
            continue
        on_step(f"simulating tests with {metric.key}")
        first = _first_cost(metric, samples, clock)
        share = clock.left / (len(metrics) - place)
        found.append(_needed(metric, samples, power, first, Clock(share, clock.now)))
    return found


def _first_cost(metric: CorpusMetric, samples: Contaminated, clock: Clock) -> float:
    """The seconds that a test of the first size takes, tried where small ones say that there is time for it."""
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


def _needed(metric: CorpusMetric, samples: Contaminated, power: float, first: float, clock: Clock) -> Needed:
    search, cost = Search(power), dict[int, float]()
    while (block := _next(search, samples.most, cost, first, clock)) is not None:
        n, tests = block
        before, done = clock.spent, len(search.draws.get(n, ()))
        search.add(n, _outcomes(metric, samples, n, done, tests))
        cost[n] = (clock.spent - before) / tests
    return _answer(metric.key, search)


def _outcomes(metric: CorpusMetric, samples: Contaminated, n: int, first: int, tests: int) -> list[bool]:
    """Whether the test rejects, for so many samples from the first on."""

    def outcome(place: int) -> float:
        number = first + place
        return rejects(metric, samples.sample(n, number), permutations=PERMUTATIONS, seed=number)

    return [bool(found) for found in map_threads(outcome, tests)]


def _next(search: Search, most: int, cost: dict[int, float], first: float, clock: Clock) -> tuple[int, int] | None:
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


def _answer(metric: str, search: Search) -> Needed:
    estimate = search.estimate()
    far = estimate.spread > _TOO_UNSURE or estimate.texts > _FARTHEST * search.largest
    count, high = (np.nan, np.nan) if far else (round(estimate.texts), round(estimate.high))
    low = round(estimate.low) if search.tests else np.nan
    return Needed(metric, count, low, high, search.largest, search.tests, tuple(counts(search)))
