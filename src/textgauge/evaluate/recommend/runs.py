"""Run plans through the ordinary bench, in a folder of the user's or one that is gone afterwards."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence

from textgauge.evaluate import Plan, Store, run
from textgauge.evaluate.results import Judged, Results

Step = Callable[[str], None]


@contextlib.contextmanager
def store_in(folder: str | os.PathLike[str] | None) -> Iterator[Store]:
    """The store of a folder, or one that lasts as long as the block."""
    if folder is not None:
        yield Store(folder)
        return
    with tempfile.TemporaryDirectory(prefix="textgauge-") as temporary:
        yield Store(temporary)


def judged(plan: Plan, store: Store, on_step: Step) -> tuple[list[Judged], tuple[str, ...]]:
    """Run a plan and judge its metrics. Gives verdicts, and what failed."""
    failures = computed(plan, store, on_step)
    return verdicts(plan, store), failures


def computed(plan: Plan, store: Store, on_step: Step) -> tuple[str, ...]:
    """Run a plan; gives what failed."""

    def step(done: int, total: int, what: str) -> None:
        on_step(f"{plan.protocol.name}: {what}" if what else plan.protocol.name)

    return run([plan], store, on_progress=step).failures


def verdicts(plan: Plan, store: Store) -> list[Judged]:
    """Judge the metrics of a plan that are finished; the store's other runs do not count."""
    asked = {metric.key for metric in plan.metrics}
    found = []
    for group in Results(store).groups():
        if (group.protocol, group.fingerprint, group.seed) != (plan.protocol, plan.sources.fingerprint, plan.seed):
            continue
        there = {metric: seen for metric, seen in group.complete.items() if metric in asked}
        for metric, said in group.protocol.judge_all(there).items():
            found.append(Judged(group.data, group.protocol, group.seed, metric, tuple(said), 0, group.fingerprint))
    return found


def measured(found: Sequence[Judged], measure: str) -> dict[str, float]:
    """One measure of every metric."""
    return {item.metric: item.verdict(measure).value for item in found}
