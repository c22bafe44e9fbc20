"""Rank metrics in a given time: time each on two small batches, take the largest experiment that fits, run it.

An experiment that takes too long is drawn smaller. Only where the smallest takes too long, the slowest metrics go.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from textgauge.bench import Plan, Store, run
from textgauge.bench.boards.leaderboard import Leaderboard, leaderboard
from textgauge.bench.protocols import Observations
from textgauge.bench.recommend.answer import LeftOut
from textgauge.bench.recommend.budget import Clock, Embeddings, Line, embedder_of, embedders_of
from textgauge.bench.recommend.experiments import Experiment, Ladder, items_of, texts_of
from textgauge.bench.results import Judged, Results
from textgauge.core.errors import MissingExtra, ResourceError
from textgauge.core.parallel import one_blas_thread
from textgauge.metrics import Metric

Step = Callable[[str], None]

_FEWEST = 2  # metrics: one alone is not a ranking
# Metrics that need no model come first, those that run one for each pair last.
_COSTLY = {"embeddings": 1, "ground": 1, "word vectors": 2, "token vectors": 3, "model": 4, "service": 4}


@dataclass(frozen=True, eq=False)
class Forecast:
    """What an experiment takes: embedding its texts, scoring with each metric, judging each."""

    embeddings: Embeddings
    lines: Mapping[str, Line]
    judging: Line

    def scoring(self, experiment: Experiment, metric: Metric) -> float:
        """Seconds of scoring with one metric, and of judging it."""
        line = self.lines[metric.key]
        return sum(line(items_of(batch, metric)) for batch in experiment.batches) + self.judging(experiment.trials)

    def total(self, experiment: Experiment, metrics: Sequence[Metric]) -> float:
        """Seconds of everything."""
        embedding = self.embeddings.seconds(embedders_of(metrics), experiment.texts)
        return embedding + sum(self.scoring(experiment, metric) for metric in metrics)

    def affordable(self, experiment: Experiment, metrics: Sequence[Metric], seconds: float) -> list[Metric]:
        """As many metrics as fit, the quick ones first; two in any case."""
        kept = list[Metric]()
        for metric in sorted(metrics, key=lambda metric: self.total(experiment, [metric])):
            if len(kept) < _FEWEST or self.total(experiment, [*kept, metric]) <= seconds:
                kept.append(metric)
        return [metric for metric in metrics if metric in kept]


@dataclass(frozen=True, eq=False)
class Ranked:
    """The leaderboard of an experiment that fits the time, and what it rests on.

    `plan` has the quick metrics first; `unavailable` are metrics that this installation cannot run, with the reason.
    """

    plan: Plan
    board: Leaderboard
    observed: Mapping[str, Observations]
    left_out: tuple[LeftOut, ...]
    failures: tuple[str, ...]
    unavailable: Mapping[str, str]
    embeddings: Embeddings
    results: Results

    @property
    def defined(self) -> list[Metric]:
        """The metrics that have a value, the quick ones first."""
        known = {row.metric for row in self.board if not np.isnan(row.overall)}
        return [metric for metric in self.plan.metrics if metric.key in known]

    @property
    def top(self) -> tuple[str, ...]:
        """The metrics of the top tier."""
        return top_tier(self.board)


def top_tier(board: Leaderboard) -> tuple[str, ...]:
    """The first metric of a leaderboard and those tied with it, in its order."""
    return tuple(row.metric for row in board if row.rank == 1 or row.metric in board.tied)


def rank(
    ladder: Ladder,
    metrics: Sequence[Metric],
    store: Store,
    *,
    clock: Clock,
    share: float,
    skip_missing: bool,
    on_step: Step,
) -> Ranked:
    """Rank metrics by the largest experiment that fits into a share of the time left.

    With `skip_missing`, metrics whose model or package is not installed are skipped; otherwise that is an error.
    """
    embeddings, unavailable, ready = Embeddings(clock), dict[str, str](), list[Metric]()
    texts = ladder.steps[-1].texts
    for metric in sorted(metrics, key=lambda metric: _COSTLY.get(metric.needs, 0)):
        name = embedder_of(metric)
        if name is None or name in embeddings.pace:
            ready.append(metric)
            continue
        on_step(f"timing {name}")
        with _noting(unavailable, metric, skip=skip_missing):
            embeddings.time(name, texts)
            ready.append(metric)
    forecast, untried = _pilot(ladder, ready, embeddings, unavailable, clock, skip_missing, on_step)
    tried = [metric for metric in metrics if metric.key in forecast.lines]
    if not tried:
        raise ResourceError(next(iter(unavailable.values()), "no metric could be tried"))
    on_step("embedding")
    experiment, kept, slow = _fit(ladder, tried, forecast, clock, share)
    embeddings.fill((batch.pool for batch in experiment.batches), embedders_of(kept))
    plan, failures, late = _run_in_time(experiment, kept, forecast, store, clock, share, on_step)
    on_step("judging")
    results = Results(store)
    observed = observed_by(plan, results)
    board = leaderboard(judge(plan, observed))
    return Ranked(plan, board, observed, (*slow, *late, *untried), failures, unavailable, embeddings, results)


@contextlib.contextmanager
def _noting(unavailable: dict[str, str], metric: Metric, *, skip: bool) -> Iterator[None]:
    try:
        yield
    except (MissingExtra, ResourceError) as error:
        if not skip:
            raise
        unavailable[metric.key] = str(error)


def _pilot(
    ladder: Ladder,
    metrics: Sequence[Metric],
    embeddings: Embeddings,
    unavailable: dict[str, str],
    clock: Clock,
    skip_missing: bool,
    on_step: Step,
) -> tuple[Forecast, list[LeftOut]]:
    """Time metrics for up to half of the time left, two in any case; those there is no time for are left out."""
    lines, untried, own = dict[str, Line](), list[LeftOut](), clock.part(clock.left / 2.0)
    for metric in metrics:
        embedding = embeddings.seconds(embedders_of([metric]), texts_of(ladder.pilots[0]))
        if len(lines) >= _FEWEST and own.left <= embedding:
            untried.append(LeftOut(metric.key))
            continue
        on_step(f"timing {metric.key}")
        with _noting(unavailable, metric, skip=skip_missing):
            lines[metric.key] = _timed(ladder, metric, embeddings, own)
    first, last = ladder.steps[0], ladder.steps[-1]
    step = next((step for step in reversed(ladder.steps) if step.trials >= 4 * last.trials), first)
    sizes, seconds = [last.trials, step.trials], list[float]()
    for one in (last, step):
        judge = partial(ladder.judge, one.random_values())
        seconds.append(min(clock.time(judge) for _ in range(2)))
    return Forecast(embeddings, lines, Line.through(sizes, seconds)), untried


def _timed(ladder: Ladder, metric: Metric, embeddings: Embeddings, clock: Clock) -> Line:
    """The line through the times of two batches; of the small one alone where the large one would take too long."""
    names, sizes, seconds = embedders_of([metric]), list[float](), list[float]()
    for batch in ladder.pilots:
        items = items_of(batch, metric)
        scoring = seconds[0] * items / sizes[0] if seconds else 0.0
        if seconds and scoring + embeddings.seconds(names, texts_of(batch)) > clock.left:
            break
        embeddings.fill([batch.pool], names)
        compute = partial(batch.compute, metric)
        first = clock.time(compute)
        again = not sizes and first <= clock.left  # the first use loads things
        seconds.append(min(first, clock.time(compute)) if again else first)
        sizes.append(items)
    return Line.through(sizes, seconds)


def _fit(
    ladder: Ladder, metrics: list[Metric], forecast: Forecast, clock: Clock, share: float
) -> tuple[Experiment, list[Metric], list[LeftOut]]:
    """The largest experiment that fits and could be embedded; an embedder that turns out slower makes it smaller."""
    gone, embeddings = list[LeftOut](), forecast.embeddings
    while True:
        room, smallest = share * clock.left, ladder.steps[-1]
        kept = metrics
        experiment = next((step for step in ladder.steps if forecast.total(step, metrics) <= room), None)
        if experiment is None:
            kept = forecast.affordable(smallest, metrics, room)
            experiment = next((step for step in ladder.steps if forecast.total(step, kept) <= room), smallest)
            # A longer budget times metrics for longer.
            budget = 2.0 * clock.spent + forecast.total(smallest, metrics) / share
            gone += [LeftOut(metric.key, budget) for metric in metrics if metric not in kept]
            metrics = kept
        within = room if experiment is not smallest else float("inf")
        if embeddings.embed(embedders_of(kept), experiment.texts, within):
            return experiment, kept, gone


def _run_in_time(
    experiment: Experiment,
    metrics: Sequence[Metric],
    forecast: Forecast,
    store: Store,
    clock: Clock,
    share: float,
    on_step: Step,
) -> tuple[Plan, tuple[str, ...], list[LeftOut]]:
    """Run metric by metric, the quick ones first; gives the plan of those that ran, what failed, and those left out."""
    seconds = {metric.key: forecast.scoring(experiment, metric) for metric in metrics}
    plan = Plan(experiment.protocol, experiment.sources, metrics, experiment.seed, experiment.batches)
    done, failures, late = list[Metric](), list[str](), list[LeftOut]()

    def step(_: int, __: int, what: str) -> None:
        on_step(f"{plan.protocol.name}: {what}" if what else plan.protocol.name)

    for metric in sorted(metrics, key=lambda metric: seconds[metric.key]):
        if len(done) >= _FEWEST and seconds[metric.key] > clock.left:
            late.append(LeftOut(metric.key, clock.spent + seconds[metric.key] / share))
            continue
        with one_blas_thread():
            failures += run([replace(plan, metrics=[metric])], store, on_progress=step).failures
        done.append(metric)
    return replace(plan, metrics=done), tuple(failures), late


def observed_by(plan: Plan, results: Results) -> dict[str, Observations]:
    """What the metrics of a plan gave on its trials; other runs of the store do not count."""
    own, metrics = (plan.protocol, plan.sources.fingerprint, plan.seed), {metric.key for metric in plan.metrics}
    groups = [found for found in results.groups() if (found.protocol, found.fingerprint, found.seed) == own]
    return {metric: seen for group in groups for metric, seen in group.complete.items() if metric in metrics}


def judge(plan: Plan, observed: Mapping[str, Observations]) -> list[Judged]:
    """The verdicts of the metrics of a plan."""
    data = (plan.sources.name, plan.protocol, plan.seed)
    verdicts = plan.protocol.judge_all(observed)
    about = 0, plan.sources.fingerprint, plan.protocol.pool_share(plan.sources)
    return [Judged(*data, metric, tuple(own), *about) for metric, own in verdicts.items()]


@contextlib.contextmanager
def store_in(folder: str | os.PathLike[str] | None) -> Iterator[Store]:
    """The store of a folder, or one that lasts as long as the block."""
    if folder is not None:
        yield Store(folder)
        return
    with tempfile.TemporaryDirectory(prefix="textgauge-") as temporary:
        yield Store(temporary)
