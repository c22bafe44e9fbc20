"""Run pair metrics one after the other, the quick ones first, for as long as there is time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from textgauge.evaluate import Plan, Store
from textgauge.evaluate.protocols.batch import Batch
from textgauge.evaluate.recommend.answer import LeftOut
from textgauge.evaluate.recommend.budget import GRACE, Clock
from textgauge.evaluate.recommend.runs import Step, computed


@dataclass(frozen=True, eq=False)
class HeldPlan(Plan):
    """A plan whose batches are drawn already, with the rows that their texts were given."""

    held: tuple[Batch, ...] = field(kw_only=True)

    def batches(self) -> Iterator[Batch]:
        """The batches, as they are held."""
        return iter(self.held)


def run_in_time(
    plan: HeldPlan, store: Store, seconds: Mapping[str, float], judging: float, clock: Clock, on_step: Step
) -> tuple[HeldPlan, tuple[str, ...], list[LeftOut]]:
    """Run metric by metric; gives the plan of those that ran, what failed, and those left out. One runs in any case.

    `seconds` are what each metric is expected to take, `judging` what it takes to judge one.
    """
    done, failures, late, pace = list[str](), list[str](), list[LeftOut](), 1.0
    for metric in sorted(plan.metrics, key=lambda metric: seconds[metric.key]):
        wanted = pace * seconds[metric.key] + judging * (len(done) + 1)
        if done and wanted > clock.patient.left + GRACE:
            late.append(LeftOut(metric.key, clock.spent + wanted))
            continue
        before = clock.spent
        failures += computed(replace(plan, metrics=[metric]), store, on_step)
        # A machine that became slower stays slower; one that became quicker may not.
        pace = max(pace, min((clock.spent - before) / max(seconds[metric.key], 0.01), 4.0))
        done.append(metric.key)
    ran = [metric for metric in plan.metrics if metric.key in done]
    return replace(plan, metrics=ran), tuple(failures), late
