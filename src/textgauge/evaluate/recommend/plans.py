"""Which protocols fit the texts and the time, and plans that touch no more texts than their trials need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus
from textgauge.errors import InputError, TextgaugeError
from textgauge.evaluate import Plan
from textgauge.evaluate.protocols import CorpusBatch, Ksc, Observations, Size, Sources, Speed
from textgauge.evaluate.protocols.batch import Batch
from textgauge.evaluate.recommend.budget import Clock, expected
from textgauge.evaluate.recommend.texts import Embedded
from textgauge.metrics import CorpusMetric
from textgauge.parallel import one_blas_thread

Index = NDArray[np.int64]
Times = dict[str, tuple[list[int], list[float]]]  # by metric: sizes and seconds of one repetition

# From the whole protocol, as `textgauge run ksc` has it, down to the least that still orders metrics. Always five
# repetitions: fewer can hardly tell metrics apart, however many texts they have.
_STEPS = ((100, 5), (70, 5), (50, 5), (30, 5), (20, 5), (12, 5))
_PILOTS = (10, 40, 100)
_LARGE = (1_000, 500, 250, 120, 60)
_LOADED = 0.62  # share of the budget by which metrics are to be loaded


@dataclass(frozen=True, eq=False)
class CutPlan(Plan):
    """A plan whose batches live in a pool of just the texts they use; cells and numbers are those of the whole plan.

    Where a tokenizer numbers words in the order of the pool, numbers differ by rounding.
    """

    embedded: Embedded = field(kw_only=True)

    @property
    def touched(self) -> Index:
        """The rows of the joint corpus that any trial uses."""
        return np.unique(np.concatenate([batch.joint.index for batch in self._whole()]))

    def batches(self) -> Iterator[Batch]:
        """The batches of the plan, over the small pool."""
        rows, corpus = self._cut
        for batch in self._whole():
            joint = corpus.take(np.searchsorted(rows, batch.joint.index))
            yield CorpusBatch(batch.number, joint, batch.draws, batch.columns)

    @cached_property
    def _cut(self) -> tuple[Index, Corpus]:
        rows = self.touched
        return rows, self.embedded.corpus(rows)

    def _whole(self) -> Iterator[CorpusBatch]:
        return self.protocol.trials(self.sources, self.seed)  # type: ignore[return-value]


def fitting_ksc(sources: Sources) -> Ksc:
    """The protocol, smaller only where the sources hold too few different texts for it."""
    for k in (7, 5, 4, 3):
        have = min(len(np.unique(corpus.keys)) for corpus in sources.corpora.values())
        n = min(Ksc.n, 2 * have // k)
        while n >= max(k - 1, 4):
            protocol = Ksc(k=k, n=n)
            try:
                protocol.check(sources)
            except InputError:
                n -= 1
                continue
            if k == 3 or n >= 10:
                return protocol
            break
    raise InputError(f"{sources.name}: too few different texts to tell metrics apart; give at least 20 of each")


def piloted(metrics: Sequence[CorpusMetric], sources: Sources, largest: Ksc, clock: Clock, share: float) -> Times:
    """The seconds of a repetition of small known-similarity corpora, metric by metric, at growing sizes.

    A metric is not tried at a size that would take half of the time left until a share of the budget is spent, and
    not at all where others have taken the time that loading may take.
    """
    metrics = _loaded(metrics, sources, clock)
    times: Times = {metric.key: ([], []) for metric in metrics}
    for n in [size for size in _PILOTS if size <= largest.n] or [largest.n]:
        going = [m for m in metrics if not times[m.key][0] or expected(*times[m.key], n) < clock.until(share) / 2.0]
        for metric, seconds in _used(going, replace(largest, n=n, repetitions=1), sources, clock).items():
            times[metric][0].append(n)
            times[metric][1].append(seconds)
    return times


def _loaded(metrics: Sequence[CorpusMetric], sources: Sources, clock: Clock) -> list[CorpusMetric]:
    """The metrics that there was time to use once, which loads what they need; at least two of them."""
    found: list[CorpusMetric] = []
    for metric in metrics:
        if len(found) < 2 or clock.patient.until(_LOADED) > 0:
            _used([metric], Ksc(k=3, n=4, repetitions=1), sources, clock)
            found.append(metric)
    return found


def _used(metrics: Sequence[CorpusMetric], protocol: Ksc, sources: Sources, clock: Clock) -> dict[str, float]:
    """The seconds each metric takes for one repetition."""
    (batch,) = protocol.trials(sources, 0)
    seconds = {}
    for metric in metrics:
        before = clock.spent
        try:
            with one_blas_thread():
                batch.compact([metric]).compute(metric)
        except TextgaugeError:
            raise
        except Exception:  # noqa: S110, a metric that fails is named by the run itself
            pass
        seconds[metric.key] = clock.spent - before
    return seconds


def judging_seconds(protocol: Ksc, clock: Clock) -> float:
    """The seconds that judging one metric takes, after a first time that loads what it needs; texts do not matter."""
    few = replace(protocol, n=max(protocol.k - 1, 4))
    there = -(-few.k * few.n // 2) + few.n
    sides = (Corpus.of([f"{side} {place}" for place in range(there)]) for side in "ab")
    sources = Sources("", dict(zip("ab", sides, strict=True)))
    batches = list(few.trials(sources, 0))
    columns = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in batches[0].columns}
    numbers = np.concatenate([np.full(len(batch), batch.number) for batch in batches])
    values = Observations(np.random.default_rng(0).random(len(numbers)), numbers, columns)
    few.judge(values)
    before = clock.spent
    few.judge(values)
    return clock.spent - before


def chosen_ksc(
    whole: Ksc, times: Times, seconds: float, *, judging: float = 0.0, most: float | None = None
) -> tuple[Ksc, dict[str, float]]:
    """The largest protocol that fits the time, and the metrics that must go for the smallest one to fit.

    These come with the seconds that the smallest one would have taken with them.

    `judging` are the seconds that it takes to judge one metric, `most` those that the smallest protocol may take.
    """
    steps = [replace(whole, n=n, repetitions=r) for n, r in _STEPS if n <= whole.n] or [whole]
    if steps[0].n < whole.n:
        steps = [whole, *steps]
    most = seconds if most is None else max(most, seconds)
    alone = {metric: _seconds(steps[-1], {metric: found}) + judging for metric, found in times.items()}
    kept, slow = dict(times), dict[str, float]()
    for metric in sorted(alone, key=lambda metric: -alone[metric]):
        together = sum(alone[name] for name in kept)
        if alone[metric] > most or (len(kept) > 1 and together > most):
            slow[metric] = together
            del kept[metric]
    fitting = [step for step in steps if _seconds(step, kept) + judging * len(kept) <= seconds]
    return (fitting[0] if fitting else steps[-1]), slow


def _seconds(protocol: Ksc, times: Mapping[str, tuple[list[int], list[float]]]) -> float:
    return protocol.repetitions * sum(expected(*found, protocol.n) for found in times.values())


def fitting_speed(sources: Sources) -> Speed:
    """Times at up to 100 texts a side, and at twice as many where there are."""
    have = min(len(np.unique(corpus.keys)) for corpus in sources.corpora.values())
    n = min(100, have)
    return Speed(n=n, largest=2 * n if have >= 2 * n else n, repetitions=2)


def fitting_size(sources: Sources, costs: Mapping[str, tuple[float, float, int]], seconds: float) -> Size | None:
    """Robustness to size, up to as many texts as data and time allow; None where that is too few.

    `costs` are seconds of one comparison, the power of n by which they grow, and the n they were timed at.
    """
    have = min(len(np.unique(corpus.keys)) for corpus in sources.corpora.values())
    for large in _LARGE:
        step = large // 5
        protocol = Size(smallest=step, step=step, total=large, large=large, draws=3, repetitions=3)
        trials = 3 + 3 * 2 * len(protocol.sizes)
        total = sum(trials * cost * (large / n) ** max(growth, 0.0) for cost, growth, n in costs.values())
        if large <= have and total <= seconds:
            return protocol
    return None
