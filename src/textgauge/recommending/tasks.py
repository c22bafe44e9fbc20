"""Recommend a metric of pairs for a task: any protocol of pair metrics, on as much of its data as the time allows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from textgauge.corpus import Corpus, Pool
from textgauge.metrics import PairMetric
from textgauge.protocols import PairSources, Protocol, TaskSources
from textgauge.protocols.batch import Batch
from textgauge.recommending.answer import Recommendation
from textgauge.recommending.budget import Clock
from textgauge.recommending.pair_costs import chosen, judging_seconds, quickest_first, stored_costs, timed
from textgauge.recommending.pair_runs import HeldPlan, run_in_time
from textgauge.recommending.runs import Step, store_in, verdicts
from textgauge.recommending.texts import Embedded, embedder_of
from textgauge.recommending.words import left_out
from textgauge.report import leaderboard

# Parameters by which a task becomes smaller, and the least that still tells metrics apart.
_SMALLER = {"n": 40, "documents_drawn": 20}
# Shares of the budget by which texts are to be embedded, and metrics and judging to be done.
_EMBEDDED, _USED = 0.5, 0.85


@dataclass(frozen=True, eq=False)
class _Sized:
    """A task of some size, with its trials."""

    protocol: Protocol
    sources: TaskSources | PairSources
    seed: int

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """All trials; drawing them takes time."""
        return tuple(self.protocol.trials(self.sources, self.seed))

    @property
    def trials(self) -> int:
        """How many there are."""
        return sum(map(len, self.batches))


def recommend_task(
    protocol: Protocol,
    sources: TaskSources | PairSources,
    *,
    metrics: str | Sequence[str | PairMetric],
    clock: Clock,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Rank metrics by a task; it becomes smaller, and the slowest go, where all would overdraw the budget."""
    asked = chosen(metrics)
    protocol.check(sources)
    sizes = [_Sized(smaller, sources, seed) for smaller in smaller_ones(protocol)]
    sized, asked, notes = _embedded(sizes, asked, clock, on_step)
    seconds, late = timed(sized.batches[0], asked, clock, on_step)
    judging = judging_seconds(sized.protocol, sized.batches, clock)
    smaller = sizes[sizes.index(sized) :]
    fit = fitting(seconds, judging, (size.trials for size in smaller), clock)
    if fit.place:
        sized, asked, more = _embedded(smaller[fit.place :], asked, clock, on_step)
        notes += more
    if sized.protocol != protocol:
        notes.append(f"the task was made smaller to fit the time: {sized.protocol.key.partition('|')[0]}")
    kept = [metric for metric in asked if metric.key in seconds and metric.key not in fit.gone]
    notes += [f"{name} was left out: it would take about {seconds[name] * sized.trials:.0f} s" for name in fit.gone]
    plan = HeldPlan(sized.protocol, sources, kept, seed, held=sized.batches)
    with store_in(out) as store:
        expected = {name: each * sized.trials for name, each in seconds.items()}
        plan, failures, more = run_in_time(plan, store, expected, judging, clock, on_step)
        on_step("judging")
        board, costs = leaderboard(verdicts(plan, store)), stored_costs(store, plan)
    experiment = f"the task {protocol.name}"
    return Recommendation(
        kind="task",
        data=(sources.name,),
        choice=quickest_first(board, costs),
        board=board,
        costs=costs,
        warnings=failures,
        notes=(
            *(*notes, *late, *more),
            f"metrics are ranked by {experiment} (`textgauge run {protocol.name}`)",
            *clock.account,
        ),
        about={
            "budget": clock.budget,
            "seconds": clock.spent,
            "seed": seed,
            "protocol": sized.protocol.key,
            "experiment": experiment,
            "named_by": ("cost",),
        },
    )


def smaller_ones(protocol: Protocol) -> Iterator[Protocol]:
    """The protocol, then with half as many texts each time, as long as that tells metrics apart.

    >>> from textgauge.protocols import Clustering
    >>> [smaller.n for smaller in smaller_ones(Clustering())]
    [150, 75]
    """
    yield protocol
    name = next((item.name for item in fields(protocol) if item.name in _SMALLER), None)
    while name is not None and (half := getattr(protocol, name) // 2) >= _SMALLER[name]:
        protocol = replace(protocol, **{name: half})
        yield protocol


@dataclass(frozen=True)
class Fit:
    """The place of the size that fits the time, and the metrics that must go."""

    place: int
    gone: tuple[str, ...] = ()


def fitting(seconds: Mapping[str, float], judging: float, trials: Iterable[int], clock: Clock) -> Fit:
    """The largest of sizes (by their numbers of trials) that fits; where none does, the smallest and quickest metrics.

    >>> fitting({"quick": 0.001, "slow": 0.1}, 0.0, [1000, 100], Clock(20.0))
    Fit(place=1, gone=())
    """
    each, place, count = sum(seconds.values()), 0, 0
    for place, count in enumerate(trials):
        if each * count + judging * len(seconds) <= clock.until(_USED):
            return Fit(place)
    own = {name: taken * count for name, taken in seconds.items()}
    return Fit(place, tuple(names_left_out(own, judging, clock.patient.until(_USED))))


def names_left_out(seconds: Mapping[str, float], judging: float, left: float) -> list[str]:
    """The slowest metrics, as many as must go for the others to fit the time; two stay in any case.

    >>> names_left_out({"a": 1.0, "b": 2.0, "c": 9.0}, judging=0.5, left=3.0)
    ['c']
    """
    kept, gone = dict(seconds), list[str]()
    while len(kept) > 2 and sum(kept.values()) + judging * len(kept) > left:
        slowest = max(kept, key=lambda metric: kept[metric])
        gone.append(slowest)
        del kept[slowest]
    return gone


def _embedded(
    sizes: Sequence[_Sized], metrics: list[PairMetric], clock: Clock, on_step: Step
) -> tuple[_Sized, list[PairMetric], list[str]]:
    """The largest size whose texts can be embedded in the time; else the smallest without the metrics that embed."""
    on_step("embedding")
    for place, sized in enumerate(sizes):
        last = place == len(sizes) - 1
        if all(_reach(pool, metrics, clock.patient if last else clock) for pool in _pools(sized.batches)):
            return sized, metrics, []
    others = [metric for metric in metrics if embedder_of(metric) is None]
    if not others:
        return sizes[-1], metrics, []
    notes = left_out([metric.key for metric in metrics if metric not in others], "embedding takes too long")
    return sizes[-1], others, notes


def _reach(pool: Pool, metrics: Sequence[PairMetric], clock: Clock) -> bool:
    embedded = Embedded(Corpus(pool, np.arange(pool.size)), metrics)
    done = embedded.reach(range(pool.size), clock, share=_EMBEDDED, whole=True)
    if done:
        embedded.hand_over()
    return done


def _pools(batches: Sequence[Batch]) -> list[Pool]:
    """The pools of these batches, each once."""
    found = [batch.pairs.left.pool if hasattr(batch, "pairs") else batch.rows.pool for batch in batches]  # type: ignore[attr-defined]
    return list({id(pool): pool for pool in found}.values())
