"""Rank metrics within a budget: time a pilot, extrapolate, fit the experiment to the time, run it, judge it.

An experiment that takes too long becomes smaller; only where the smallest takes too long, the slowest metrics go.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from textgauge.evaluate import Plan, Store, run
from textgauge.evaluate.leaderboard import Leaderboard, leaderboard
from textgauge.evaluate.protocols import Observations
from textgauge.evaluate.recommend.answer import LeftOut
from textgauge.evaluate.recommend.budget import GRACE, Clock, extrapolate
from textgauge.evaluate.recommend.encodings import Encodings, embedder_of, embedders_of
from textgauge.evaluate.recommend.experiments import Experiment, Ladder, pool_of, size_of
from textgauge.evaluate.results import Judged, Results
from textgauge.metrics import Metric

Step = Callable[[str], None]
Times = tuple[list[float], list[float]]  # sizes and seconds

_LONG, _LONG_EMBEDDING = 0.05, 0.25  # share of the time left that a larger pilot may take, and embedding its texts
_MOST_SLOWER = 4.0  # times: a single late metric shows no more than that about the machine


@dataclass(frozen=True, eq=False)
class Forecast:
    """What an experiment takes, from pilots of each metric and of judging one, and from the pace of embedding."""

    encodings: Encodings
    growth: tuple[float, float] = (1.0, 1.0)
    times: dict[str, Times] = field(default_factory=dict)
    judging_times: Times | None = None

    def scoring(self, experiment: Experiment, metrics: Sequence[Metric]) -> float:
        """Seconds of scoring and judging; metrics without a pilot count for nothing."""
        times = [self.times[metric.key] for metric in metrics if metric.key in self.times]
        amount, rounds = experiment.amount, len(experiment.batches)
        scoring = rounds * sum(extrapolate(*found, amount, self.growth) for found in times)
        return scoring + self.judging(experiment) * len(times)

    def judging(self, experiment: Experiment) -> float:
        """Seconds of judging one metric."""
        return extrapolate(*self.judging_times, experiment.trials, (0.0, 1.2)) if self.judging_times else 0.0

    def total(self, experiment: Experiment, metrics: Sequence[Metric]) -> float:
        """Seconds of everything, embedding included."""
        embedding = self.encodings.seconds(embedders_of(metrics), experiment.texts)
        return embedding + self.scoring(experiment, metrics)

    def first_fitting(
        self, experiments: Sequence[Experiment], metrics: Sequence[Metric], room: float
    ) -> Experiment | None:
        """The first experiment that takes no longer than this many seconds."""
        return next((found for found in experiments if self.total(found, metrics) <= room), None)

    def affordable(self, experiment: Experiment, metrics: Sequence[Metric], room: float) -> list[Metric]:
        """The metrics that fit; of the others, as few as possible are dropped, alone or with all of their encoder.

        Where not even the cheapest fits, those stay that take little longer than it.
        """
        room = max(room, min(self.total(experiment, [metric]) for metric in metrics) + GRACE)
        kept = list(metrics)
        while self.total(experiment, kept) > room:
            groups = [[metric] for metric in kept]
            groups += [[m for m in kept if embedder_of(m) == name] for name in embedders_of(kept)]
            groups = [group for group in groups if len(group) < len(kept)]
            kept = self._without(min(groups, key=lambda group: self._loss(experiment, kept, group, room)), kept)
        return kept

    def _loss(
        self, experiment: Experiment, metrics: Sequence[Metric], group: Sequence[Metric], room: float
    ) -> tuple[bool, float, float]:
        """How bad it is to drop a group: best are few metrics where that suffices, else those that save most each."""
        rest = self.total(experiment, self._without(group, metrics))
        saved = self.total(experiment, metrics) - rest
        return (False, len(group), rest) if rest <= room else (True, -saved / len(group), rest)

    @staticmethod
    def _without(group: Sequence[Metric], metrics: Sequence[Metric]) -> list[Metric]:
        return [metric for metric in metrics if metric not in group]


@dataclass(frozen=True, eq=False)
class Settled:
    """The experiment that fits the time, its metrics, those left out, and what it should take."""

    experiment: Experiment
    metrics: list[Metric]
    left_out: list[LeftOut]
    forecast: Forecast


def settle(ladder: Ladder, metrics: Sequence[Metric], clock: Clock, share: float, on_step: Step) -> Settled:
    """The largest experiment that fits into a share of the budget, with its texts embedded."""
    smallest, encodings = ladder.steps[-1], Encodings(clock)
    on_step("timing encoders")
    encodings.probe(embedders_of(metrics), smallest.texts)
    forecast = Forecast(encodings, ladder.growth)
    tried = forecast.affordable(smallest, metrics, clock.room(share))
    gone = _left_out(forecast, smallest, metrics, tried, clock, share)
    on_step("embedding")
    encodings.embed(embedders_of(tried), smallest.texts, clock.room(share))
    forecast, late = _pilot(ladder, tried, encodings, clock, share, on_step)
    kept = [metric for metric in tried if metric.key in forecast.times]
    on_step("embedding")
    experiment, kept, slow = _fit(ladder, kept, forecast, clock, share)
    encodings.fill(map(pool_of, experiment.batches), embedders_of(kept))
    return Settled(experiment, kept, [*gone, *late, *slow], forecast)


def _left_out(
    forecast: Forecast,
    experiment: Experiment,
    metrics: Sequence[Metric],
    kept: Sequence[Metric],
    clock: Clock,
    share: float,
) -> list[LeftOut]:
    """The dropped metrics, with the budget that has room for all."""
    unknown = 0.0 if forecast.times else GRACE
    budget = (clock.spent + forecast.total(experiment, metrics) + unknown) / share
    return [LeftOut(metric.key, budget) for metric in metrics if metric not in kept]


def _pilot(
    ladder: Ladder, metrics: Sequence[Metric], encodings: Encodings, clock: Clock, share: float, on_step: Step
) -> tuple[Forecast, list[LeftOut]]:
    """Time metrics on small batches, larger ones only where that takes little; at least two metrics are timed."""
    times, late = dict[str, Times](), list[LeftOut]()
    for metric in metrics:
        if len(times) > 1 and clock.patient.until(share) + GRACE <= 0:
            late.append(LeftOut(metric.key))
            continue
        on_step(f"timing {metric.key}")
        sizes, seconds = times.setdefault(metric.key, ([], []))
        for batch in ladder.pilots:
            names, size, left = embedders_of([metric]), size_of(batch), clock.patient.left
            compute = partial(batch.compute, metric)
            if sizes:
                embedding = encodings.seconds(names, pool_of(batch).texts) if names else 0.0
                most = ladder.growth[1] if len(sizes) > 1 else 1.0
                scoring = extrapolate(sizes, seconds, size, (ladder.growth[0], most))
                if embedding > _LONG_EMBEDDING * left or scoring > _LONG * left:
                    break
            encodings.fill([pool_of(batch)], names)
            if not sizes:
                clock.time(compute)  # the first use loads what it needs
            sizes.append(size)
            seconds.append(clock.time(compute))
    return Forecast(encodings, ladder.growth, times, _time_judging(ladder, clock)), late


def _time_judging(ladder: Ladder, clock: Clock) -> Times:
    """Time judging at the smallest size, and at larger ones where that takes little."""
    sizes, seconds = list[float](), list[float]()
    for step in reversed(ladder.steps):
        judge = step.judge_random(ladder.judge)
        if not sizes:
            clock.time(judge)  # the first time loads what it needs
        elif step.trials < 3 * sizes[-1]:
            continue
        elif extrapolate(sizes, seconds, step.trials, (1.0, 1.2)) > _LONG * clock.patient.left:
            break
        sizes.append(step.trials)
        seconds.append(clock.time(judge))
    return sizes, seconds


def _fit(
    ladder: Ladder, metrics: list[Metric], forecast: Forecast, clock: Clock, share: float
) -> tuple[Experiment, list[Metric], list[LeftOut]]:
    """The largest step that fits and could be embedded; an encoder that turns out slower makes it smaller."""
    gone = list[LeftOut]()
    while True:
        room = clock.until(share)
        experiment = forecast.first_fitting(ladder.steps[: ladder.enough + 1], metrics, room)
        if experiment is None:
            room = clock.room(share)
            experiment = forecast.first_fitting(ladder.steps[ladder.enough :], metrics, room)
        if experiment is None:
            experiment = ladder.steps[-1]
            kept = forecast.affordable(experiment, metrics, room)
            gone += _left_out(forecast, experiment, metrics, kept, clock, share)
            if len(kept) < len(metrics):  # without the others a larger experiment may fit
                metrics = kept
                continue
            if forecast.total(experiment, metrics) > room:
                smaller = forecast.first_fitting(ladder.last_resort, metrics, room)
                experiment = smaller or [experiment, *ladder.last_resort][-1]
                room = float("inf")
        within = room - forecast.scoring(experiment, metrics)
        if forecast.encodings.embed(embedders_of(metrics), experiment.texts, within):
            return experiment, metrics, gone


@dataclass(frozen=True, eq=False)
class Ranked:
    """The leaderboard of an experiment that fits the time, and what it rests on."""

    plan: Plan
    board: Leaderboard
    observed: Mapping[str, Observations]
    left_out: tuple[LeftOut, ...]
    failures: tuple[str, ...]
    forecast: Forecast

    @property
    def top(self) -> list[str]:
        """The metrics of the top tier."""
        return [row.metric for row in self.board if row.cluster == 1 and not np.isnan(row.overall)]


def rank(
    ladder: Ladder, metrics: Sequence[Metric], store: Store, *, clock: Clock, share: float, on_step: Step
) -> Ranked:
    """Rank metrics by the largest experiment that fits into a share of the budget."""
    settled = settle(ladder, metrics, clock, share, on_step)
    plan, failures, late = _run_in_time(settled, store, clock, on_step)
    on_step("judging")
    observed = observed_by(plan, store)
    left_out = (*settled.left_out, *late)
    return Ranked(plan, leaderboard(judge(plan, observed)), observed, left_out, failures, settled.forecast)


def _run_in_time(
    settled: Settled, store: Store, clock: Clock, on_step: Step
) -> tuple[Plan, tuple[str, ...], list[LeftOut]]:
    """Run metric by metric, the quick ones first; gives the plan of those that ran, what failed, and those left out.

    One runs in any case.
    """
    forecast, experiment, metrics = settled.forecast, settled.experiment, settled.metrics
    judging = forecast.judging(experiment)
    seconds = {metric.key: forecast.scoring(experiment, [metric]) - judging for metric in metrics}
    plan = Plan(experiment.protocol, experiment.sources, metrics, experiment.seed, experiment.batches)
    done, failures, late, slower = list[Metric](), list[str](), list[LeftOut](), 1.0
    for metric in sorted(metrics, key=lambda metric: seconds[metric.key]):
        wanted = slower * seconds[metric.key] + judging * (len(done) + 1)
        if done and wanted > clock.patient.left + GRACE:
            late.append(LeftOut(metric.key, clock.spent + wanted))
            continue
        before = clock.spent
        failures += run_plan(replace(plan, metrics=[metric]), store, on_step)
        # A machine that became slower stays slower; one that became quicker may not.
        slower = float(np.clip((clock.spent - before) / max(seconds[metric.key], 0.01), slower, _MOST_SLOWER))
        done.append(metric)
    return replace(plan, metrics=[metric for metric in metrics if metric in done]), tuple(failures), late


def run_plan(plan: Plan, store: Store, on_step: Step) -> tuple[str, ...]:
    """Run a plan; gives what failed."""

    def step(done: int, total: int, what: str) -> None:
        on_step(f"{plan.protocol.name}: {what}" if what else plan.protocol.name)

    return run([plan], store, on_progress=step).failures


def observed_by(plan: Plan, store: Store) -> dict[str, Observations]:
    """What the metrics of a plan gave on its trials; other runs of the store do not count."""
    own, metrics = (plan.protocol, plan.sources.fingerprint, plan.seed), {metric.key for metric in plan.metrics}
    groups = [found for found in Results(store).groups() if (found.protocol, found.fingerprint, found.seed) == own]
    return {metric: seen for group in groups for metric, seen in group.complete.items() if metric in metrics}


def judge(plan: Plan, observed: Mapping[str, Observations]) -> list[Judged]:
    """The verdicts of the metrics of a plan."""
    data = (plan.sources.name, plan.protocol, plan.seed)
    verdicts = plan.protocol.judge_all(observed)
    return [Judged(*data, metric, tuple(own), 0, plan.sources.fingerprint) for metric, own in verdicts.items()]


@contextlib.contextmanager
def store_in(folder: str | os.PathLike[str] | None) -> Iterator[Store]:
    """The store of a folder, or one that lasts as long as the block."""
    if folder is not None:
        yield Store(folder)
        return
    with tempfile.TemporaryDirectory(prefix="textgauge-") as temporary:
        yield Store(temporary)
