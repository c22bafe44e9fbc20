"""Recommend a metric of pairs for a task: any protocol of pair metrics, on its data."""

from __future__ import annotations

import os
from collections.abc import Sequence

from textgauge.bench import Plan
from textgauge.metrics import PairMetric
from textgauge.protocols import PairSources, Protocol, TaskSources
from textgauge.recommending.answer import Recommendation
from textgauge.recommending.budget import Clock
from textgauge.recommending.pair_costs import chosen, expected_seconds, quickest_first, stored_costs
from textgauge.recommending.runs import Step, judged, store_in
from textgauge.report import leaderboard

_USED = 0.8  # share of the budget that metrics may take; judging takes the rest


def recommend_task(
    protocol: Protocol,
    sources: TaskSources | PairSources,
    *,
    metrics: str | Sequence[str | PairMetric],
    budget: float,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    on_step: Step = lambda _: None,
) -> Recommendation:
    """Rank metrics by a task; the slowest are left out where all would overdraw a budget of seconds."""
    clock, asked = Clock(budget), chosen(metrics)
    kept, notes = _fitting(Plan(protocol, sources, asked, seed), asked, clock, on_step)
    plan = Plan(protocol, sources, kept, seed)
    with store_in(out) as store:
        found, failures = judged(plan, store, on_step)
        board, costs = leaderboard(found), stored_costs(store, plan)
    experiment = f"the task {protocol.name}"
    return Recommendation(
        kind="task",
        data=(sources.name,),
        choice=quickest_first(board, costs),
        board=board,
        costs=costs,
        warnings=failures,
        notes=(
            *notes,
            f"metrics are ranked by {experiment} (`textgauge run {protocol.name}`)",
            f"all this took {clock.spent:.1f} s of a budget of {budget:.0f} s",
        ),
        about={
            "budget": budget,
            "seconds": clock.spent,
            "seed": seed,
            "protocol": protocol.key,
            "experiment": experiment,
            "named_by": ("cost",),
        },
    )


def _fitting(
    plan: Plan, metrics: Sequence[PairMetric], clock: Clock, on_step: Step
) -> tuple[list[PairMetric], list[str]]:
    """The metrics that fit the time together, the quick ones first; at least one."""
    batches = list(plan.batches())
    trials = sum(len(batch) for batch in batches)
    seconds = {}
    for metric in metrics:
        on_step(f"timing {metric.key}")
        seconds[metric.key] = expected_seconds(batches[0], metric, trials, clock)
    left, kept = clock.until(_USED), set[str]()
    for key in sorted(seconds, key=lambda key: seconds[key]):
        left -= seconds[key]
        if left > 0 or not kept:
            kept.add(key)
    notes = [f"{key} was left out: it would take about {seconds[key]:.0f} s" for key in seconds if key not in kept]
    return [metric for metric in metrics if metric.key in kept], notes
