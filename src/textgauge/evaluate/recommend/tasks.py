"""Recommend a metric of pairs for a task: any protocol of pair metrics, on as much of its data as the time allows."""

from __future__ import annotations

import os
from collections.abc import Sequence

from textgauge.evaluate.leaderboard import leaderboard
from textgauge.evaluate.protocols import PairSources, Protocol, TaskSources
from textgauge.evaluate.recommend.answer import LeftOut, Recommendation
from textgauge.evaluate.recommend.budget import Clock
from textgauge.evaluate.recommend.pair_costs import (
    PARTS,
    chosen,
    judging_seconds,
    part_of,
    quickest_first,
    stored_costs,
    timed,
)
from textgauge.evaluate.recommend.pair_runs import HeldPlan, run_in_time
from textgauge.evaluate.recommend.runs import Step, store_in, verdicts
from textgauge.evaluate.recommend.task_sizes import (
    Costs,
    Sized,
    embedded,
    largest,
    pools,
    smaller_ones,
    without_slowest,
)
from textgauge.evaluate.recommend.texts import PROBED, embedder_of, paces
from textgauge.metrics import PairMetric

_USED = 0.85  # share of the budget by which metrics and judging are to be done


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
    sizes = [Sized(smaller, sources, seed) for smaller in smaller_ones(protocol)]
    costs, gone = _tried(sizes[-1], asked, clock, on_step)
    on_step("embedding")
    sized, costs, slow = _settled(sizes, asked, costs, clock)
    kept = [metric for metric in asked if metric.key in costs.trial]
    plan = HeldPlan(sized.protocol, sources, kept, seed, held=sized.batches)
    with store_in(out) as store:
        expected = {name: each * sized.trials for name, each in costs.trial.items()}
        plan, failures, late = run_in_time(plan, store, expected, costs.judging * sized.trials, clock, on_step)
        on_step("judging")
        board, stored = leaderboard(verdicts(plan, store)), stored_costs(store, plan)
    experiment = f"the task {protocol.name}"
    smaller = f"the task was made smaller to fit the time: {sized.protocol.key.partition('|')[0]}"
    return Recommendation(
        kind="task",
        data=(sources.name,),
        choice=quickest_first(board, stored),
        board=board,
        costs=stored,
        left_out=(*gone, *slow, *late),
        warnings=failures,
        notes=(
            *([smaller] if sized.protocol != protocol else []),
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


def _tried(smallest: Sized, asked: list[PairMetric], clock: Clock, on_step: Step) -> tuple[Costs, list[LeftOut]]:
    """What trials, texts and judging take, from a few of the smallest size; and the metrics that were not tried.

    Where others are there, a metric is not tried if its encoder alone would take longer than the smallest run may.
    """
    on_step("timing encoders")
    text = paces(smallest.corpus, asked, clock)
    alone = {name: clock.spent + each * len(smallest.corpus) for name, each in text.items()}
    hopeless = {name for name, seconds in alone.items() if seconds > _USED * clock.patient.budget}
    tried = [metric for metric in asked if embedder_of(metric) not in hopeless] or asked
    some = part_of(smallest.batches[0], PARTS[-1], ())
    # Without a cache, the texts that metrics are tried on are embedded once more.
    again = sum(pool.size for pool in pools([some])) + PROBED
    wanted = {name: (alone[name] + each * again) / _USED for name, each in text.items()}
    gone = [LeftOut(metric.key, wanted[embedder_of(metric) or ""]) for metric in asked if metric not in tried]
    embedded([some], tried, clock, seconds=float("inf"))
    trial, late = timed(some, tried, clock, on_step)
    judging = judging_seconds(smallest.protocol, smallest.batches, clock) / max(smallest.trials, 1)
    return Costs(trial, {metric.key: embedder_of(metric) for metric in tried}, text, judging), [*gone, *late]


def _settled(
    sizes: Sequence[Sized], asked: Sequence[PairMetric], costs: Costs, clock: Clock
) -> tuple[Sized, Costs, list[LeftOut]]:
    """The largest size that fits, with all its texts embedded; the smallest without the slowest metrics if need be.

    An encoder that turns out slower than when it was tried is taken for that slow from then on.
    """
    place, gone = 0, list[LeftOut]()
    while True:
        place = max(place, largest(sizes, costs, clock.until(_USED)))
        sized, last = sizes[place], place == len(sizes) - 1
        seconds = clock.room(_USED) if last else clock.until(_USED)
        if last:
            costs, slow = without_slowest(costs, sized.trials, len(sized.corpus), seconds)
            gone += [LeftOut(name, (clock.spent + together) / _USED) for name, together in slow]
            if slow:
                place = 0  # without them, a larger size may fit
                continue
        elif costs.with_margin(sized.trials, len(sized.corpus)) > seconds:
            place += 1
            continue
        kept = [metric for metric in asked if metric.key in costs.trial]
        room = float("inf") if last and len(kept) == 1 else seconds - costs.scoring(sized.trials)
        pace = embedded(sized.batches, kept, clock, seconds=room)
        if pace is None:
            return sized, costs, gone
        costs, place = costs.slower(pace), min(place + 1, len(sizes) - 1)
