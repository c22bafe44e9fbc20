"""Compute plans: what to beware of before, the cells, then the ensembles that tasks have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np

from textgauge.evaluate import Plan, RunReport, Store
from textgauge.evaluate import run as run_plans
from textgauge.evaluate.ensembles import train_ensembles
from textgauge.evaluate.execute import executor, workers
from textgauge.evaluate.protocols import Sources
from textgauge.evaluate.results import Results
from textgauge.evaluate.run import Progress


def warnings_of(plans: Sequence[Plan]) -> list[str]:
    """What is left out of the data, and whether both sources hold the same texts; each once."""
    return list(dict.fromkeys(text for plan in plans for text in _warnings(plan)))


def _warnings(plan: Plan) -> list[str]:
    left_out = list(plan.protocol.notes(plan.sources))
    if not isinstance(plan.sources, Sources) or not plan.sources.corpora.keys() >= {"a", "b"}:
        return left_out
    corpora = plan.sources.corpora
    shared = len(np.intersect1d(corpora["a"].keys, corpora["b"].keys))
    return [*left_out, *([f"{plan.sources.name}: {shared} different texts are in both sources"] if shared else [])]


def computed(
    plans: Sequence[Plan],
    store: Store,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[], AbstractContextManager[Progress]],
    on_cells: Callable[[RunReport], None] = lambda _: None,
) -> RunReport:
    """Compute the cells that the store lacks, then the ensembles of tasks, in the same processes.

    Each of the two has a `progress` of its own; `on_cells` is told when the cells are there.
    """
    with executor(jobs=jobs, scheduler=scheduler) as where:
        with progress() as step:
            report = run_plans(plans, store, executor=where, ahead=max(8, 2 * workers(where, jobs)), on_progress=step)
        on_cells(report)
        if any(plan.protocol.ensembles for plan in plans):
            with progress() as step:
                groups = Results(store).groups()
                train_ensembles(store, groups, on_step=lambda said: step(0, 0, said), executor=where)
    return report
