"""The number of texts that each metric needs to detect a share of foreign texts, by simulated tests.

A sample has a reference of one source and a candidate that holds a share of the other. Its test is the one that
`compare` makes of a single metric: texts are exchanged between the corpora.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from textgauge.bench.boards.leaderboard import Leaderboard, leaderboard
from textgauge.bench.protocols import Measure, Protocol, Sources, Verdict
from textgauge.bench.protocols.base import RESAMPLES
from textgauge.bench.recommend.budget import Clock
from textgauge.bench.recommend.power import LEVEL, MOST, PERMUTATIONS, SizeSearch, rung
from textgauge.bench.results import Judged
from textgauge.core.arrays import Ints
from textgauge.core.parallel import map_threads, one_blas_thread
from textgauge.core.tabular import plain_row
from textgauge.data import Comparison
from textgauge.metrics import CorpusMetric
from textgauge.metrics.base import Undefined
from textgauge.stats.decisions import different

_WARM, _FIRST = 8, 32  # texts a side of a sample that loads things, and of the first that count
_BLOCK, _FEWEST = 10, 5  # samples between two estimates
_SURE_ENOUGH, _TOO_UNSURE = 0.08, 0.22  # deviation of log n*: intervals of a sixth to either side, of a factor 1.5
_MOST_TESTS = 300
_EXCHANGES, _TOGETHER = 199, 200  # and texts a side, that say how metrics tested together share their level
_FARTHEST = 3.0  # times the largest sample: further out, or too unsure, only a lower bound is given


@dataclass(frozen=True)
class TextsNeeded:
    """How many texts a side a metric needs (`count`), tested alone; NaN where only the lower end is known.

    `together` is the number where all recommended metrics are tested at once and p-values are adjusted by max-T, if it
    is the first to be rejected; later ones need less. `largest` is the largest sample that was simulated, `tests` the
    number of simulated tests.
    An answer beyond the largest sample is `extrapolated`.
    """

    metric: str
    count: float
    low: float
    high: float
    largest: int
    tests: int
    together: float = float("nan")

    @classmethod
    def found(cls, metric: str, search: SizeSearch, level: float = LEVEL) -> TextsNeeded:
        """What a search found; `together` is for a test at this level."""
        estimate = search.estimate()
        far = estimate.spread > _TOO_UNSURE or estimate.texts > _FARTHEST * search.largest
        count, high = (np.nan, np.nan) if far else (round(estimate.texts), round(estimate.high))
        low = round(estimate.low) if search.tests else np.nan
        together = np.nan if far else max(round(search.at_level(level)), count)
        return cls(metric, count, low, high, search.largest, search.tests, together)

    @classmethod
    def tested_together(
        cls, searches: Mapping[str, SizeSearch], tested: Sequence[CorpusMetric], samples: Contaminated
    ) -> list[TextsNeeded]:
        """What searches found, if the metrics `tested` are tested at once."""
        sample = samples.sample(min(_TOGETHER, samples.most), 0)
        level = level_together(tested, sample, seed=samples.seed) if len(tested) > 1 else LEVEL
        return [cls.found(metric, search, level) for metric, search in searches.items()]

    @property
    def known(self) -> bool:
        """Whether there is a number, not a lower end alone."""
        return not np.isnan(self.count)

    @property
    def extrapolated(self) -> bool:
        """Whether the number lies beyond the samples that were simulated."""
        return bool(self.count > 1.2 * self.largest)

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        names = ("metric", "count", "low", "high", "together", "extrapolated", "largest", "tests")
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
    metric: CorpusMetric, comparison: Comparison, *, permutations: int, seed: int = 0, level: float = LEVEL
) -> bool:
    """Whether the metric's own test finds the corpora different; no where the metric is undefined."""
    with one_blas_thread():
        try:
            p_value, _ = metric.p_value(comparison, permutations=permutations, seed=seed)
        except Undefined:
            return False
    return different(p_value, level)


def level_together(metrics: Sequence[CorpusMetric], comparison: Comparison, *, seed: int = 0) -> float:
    """The level of one of these tests if `compare` adjusts all for each other, before any is rejected.

    Metrics that share exchanges: how often one of them lies beyond the 95 % point of the largest of all (max-T). Others
    take their share by Holm's correction.
    """
    with one_blas_thread():
        nulls = [metric.null_values(comparison, permutations=_EXCHANGES, seed=seed) for metric in metrics]
    shared = [null.ranked() for null in nulls if null.shares_draws]
    least = LEVEL / max(len(nulls), 1)
    if not shared:
        return least
    ranks = np.column_stack(shared)
    critical = np.quantile(ranks.max(axis=1), 1.0 - least * len(shared), method="higher")
    return float(np.clip((ranks >= critical).mean(), least, LEVEL))


def simulate_tests(
    metrics: Sequence[CorpusMetric],
    samples: Contaminated,
    *,
    power: float,
    clock: Clock,
    known: Mapping[str, SizeSearch] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> dict[str, SizeSearch]:
    """What simulated tests show of each metric; the time is shared, and what one does not use goes to the next.

    Beside metrics that are `known` already, each may take half of the time left, until it is clear that it needs
    more texts than the best one.
    """
    found = dict(known or {})
    for place, metric in enumerate(metrics):
        if clock.left > 0 and samples.most >= 4:
            on_step(f"simulating tests with {metric.key}")
            part = clock.part(clock.left / (2 if known else len(metrics) - place))
            needed = [TextsNeeded.found(key, search) for key, search in found.items() if known]
            best = min((row.high for row in needed if row.known), default=np.inf)
            search = _searched(metric, samples, power, part, best)
            if search.tests:
                found[metric.key] = search
    return found


def _searched(metric: CorpusMetric, samples: Contaminated, power: float, clock: Clock, best: float) -> SizeSearch:
    """Tests where they say most about n*, at most twice as large as before, for as long as there is time."""
    search, cost, most = SizeSearch(power), dict[int, float](), samples.most
    _outcomes(metric, samples, min(_WARM, most), 0, 1)
    n = rung(_FIRST, most=most)
    cost[n] = min(_seconds(metric, samples, n, clock) for _ in range(2))
    while (tests := _affordable(n, cost, clock)) >= _FEWEST:
        before = clock.spent
        search.add(n, _outcomes(metric, samples, n, len(search.draws.get(n, ())), tests))
        cost[n] = (clock.spent - before) / tests
        estimate, known = search.estimate(), max(cost)
        out_of_reach = known == rung(most, most=most) and estimate.low > _FARTHEST * known
        if estimate.spread < _SURE_ENOUGH or search.tests >= _MOST_TESTS or out_of_reach or estimate.low > best:
            break
        # Twice the texts are taken to cost four times the time.
        reach = known * np.sqrt(clock.left / max(cost[known], 1e-6) / _FEWEST)
        n = rung(max(min(estimate.texts, most, 2.0 * known, reach), 2.0), most=most)
    return search


def _affordable(n: int, cost: Mapping[int, float], clock: Clock) -> int:
    """How many tests of this size there is time for, up to a block."""
    known = max(cost)
    return int(min(clock.left / max(cost[known], 1e-6) * (known / n) ** 2, _BLOCK))


def _seconds(metric: CorpusMetric, samples: Contaminated, n: int, clock: Clock) -> float:
    before = clock.spent
    _outcomes(metric, samples, n, 0, 1)
    return clock.spent - before


def _outcomes(metric: CorpusMetric, samples: Contaminated, n: int, first: int, tests: int) -> list[bool]:
    """Whether the test rejects, for this many samples from the first on."""

    def outcome(place: int) -> float:
        number = first + place
        return rejects(metric, samples.sample(n, number), permutations=PERMUTATIONS, seed=number)

    return [bool(found) for found in map_threads(outcome, tests)]


@dataclass(frozen=True, kw_only=True)
class Detection(Protocol):
    """How few texts a metric's test needs, on a scale of logarithms: 1 for one text, 0 for two million."""

    name = "detection"
    resampled = "texts"  # samples are drawn again, from the same texts
    measures: ClassVar[tuple[Measure, ...]] = (Measure("detection", about="1 − log(texts needed)/log(2,000,000)"),)


def detection_board(searches: Mapping[str, SizeSearch], samples: Contaminated) -> Leaderboard | None:
    """Metrics by the number of texts they need, fewest first; None where no number is known.

    What is resampled is the number of texts itself, as likely as simulated tests make it.
    """
    judged = []
    for place, (metric, search) in enumerate(searches.items()):
        if not TextsNeeded.found(metric, search).known:
            continue
        draws = _scale(search.draw(RESAMPLES, np.random.default_rng([samples.seed, place])))
        value = float(_scale(search.estimate().texts))
        verdict = Verdict("detection", value, values=(value,), draws=tuple(draws), units=search.tests)
        judged.append(Judged(samples.sources.name, Detection(), samples.seed, metric, (verdict,)))
    return leaderboard(judged) if judged else None


def _scale(texts: Any) -> Any:
    return 1.0 - np.log(texts) / np.log(MOST)
