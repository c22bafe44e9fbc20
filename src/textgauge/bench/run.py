"""Run plans: prepare rows, compute the cells the store lacks, keep each as soon as it is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from textgauge.bench.execute import Outcome, Task, compute, computed
from textgauge.bench.plan import Cell, Plan
from textgauge.bench.store import Store
from textgauge.errors import ResourceError, TextgaugeError
from textgauge.metrics.base import versions
from textgauge.protocols.batch import Batch

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class RunReport:
    """How many cells were asked for, were there already, and were computed; and what went wrong in them."""

    cells: int
    found: int
    computed: int
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Work:
    plan: Plan
    batch: Batch
    task: Task


def run(
    plans: Sequence[Plan],
    store: Store,
    *,
    executor: Executor | None = None,
    ahead: int = 8,
    on_progress: Progress = lambda *_: None,
) -> RunReport:
    """Compute every cell that the store does not have yet, and write what was asked for into its manifest.

    `ahead` is how many batches an executor holds at a time: enough to keep its workers busy, few enough for memory.
    """
    cells = {cell.name: cell for plan in plans for cell in plan_cells(plan)}
    there = {name: frame for name, cell in cells.items() if (frame := store.read(cell)) is not None}
    for plan in plans:
        store.write_manifest(plan_cells(plan), about(plan))
    failures = [text for name, frame in there.items() for text in _failures(cells[name], frame)]
    done = len(there)
    on_progress(done, len(cells), "")
    for work, outcome in _outcomes(_work(plans, set(there), on_progress), executor, ahead):
        cell, frame = work.plan.cell(outcome.number, outcome.metric), _frame(work.batch, outcome)
        store.write(cell, frame)
        failures += _failures(cell, frame)
        done += 1
        on_progress(done, len(cells), outcome.metric.key)
    return RunReport(len(cells), len(there), done - len(there), tuple(failures))


def plan_cells(plan: Plan) -> list[Cell]:
    """All cells of a plan."""
    return [plan.cell(number, metric) for number in plan.numbers for metric in plan.metrics]


def about(plan: Plan) -> dict[str, Any]:
    """What a manifest says of a plan."""
    return {
        "protocol": {"name": plan.protocol.name, "parameters": asdict(plan.protocol)},
        "data": {"name": plan.sources.name, "fingerprint": plan.sources.fingerprint},
        "seed": plan.seed,
        "versions": list(versions("textgauge", "numpy", "scipy", "scikit-learn", "polars")),
    }


def _work(plans: Iterable[Plan], known: set[str], on_progress: Progress) -> Iterator[_Work]:
    """Batches that lack cells, with the metrics they lack; rows are prepared when the first one is met.

    Plans may have cells in common: those are computed for the first of them.
    """
    for plan in plans:
        prepared = False
        for batch in plan.batches():
            missing = tuple(m for m in plan.metrics if plan.cell(batch.number, m).name not in known)
            if not missing:
                continue
            known.update(plan.cell(batch.number, metric).name for metric in missing)
            if not prepared:
                _prepare(plan, batch, on_progress)
                prepared = True
            yield _Work(plan, batch, Task(batch.compact(missing), missing, plan.protocol.timed))


def _prepare(plan: Plan, batch: Batch, on_progress: Progress) -> None:
    """Run models on all texts once, here, so that they run in one process only."""
    for metric in plan.metrics:
        on_progress(0, 0, f"preparing {metric.key} on {plan.sources.name}")
        batch.prepare(metric)


def _outcomes(work: Iterator[_Work], executor: Executor | None, ahead: int) -> Iterator[tuple[_Work, Outcome]]:
    if executor is None:
        for item in work:
            for outcome in computed(item.task):
                yield item, outcome
        return
    running: dict[Future[list[Outcome]], _Work] = {}
    for item in work:
        running[executor.submit(compute, item.task)] = item
        if len(running) >= ahead:
            yield from _finished(running)
    while running:
        yield from _finished(running)


def _finished(running: dict[Future[list[Outcome]], _Work]) -> Iterator[tuple[_Work, Outcome]]:
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        item = running.pop(future)
        try:
            outcomes = future.result()
        except TextgaugeError:
            raise
        except Exception as error:  # metrics' own errors are caught where they run: this one is the worker's
            said = f"a worker process ended early ({type(error).__name__}: {error})"
            raise ResourceError(f"{said}; the same command goes on from what is finished") from error
        for outcome in outcomes:
            yield item, outcome


def _frame(batch: Batch, outcome: Outcome) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, Any] = dict(batch.columns)
    columns["value"] = outcome.metric.shown_of(outcome.values)
    parts = (part.name for part in outcome.metric.parts if part.name in outcome.values)
    columns |= {f"part.{name}": outcome.values[name] for name in parts}
    columns["reason"] = pl.Series(outcome.reasons, dtype=pl.String)
    columns["failed"] = list(outcome.failed)
    columns["seconds"] = [outcome.seconds / len(batch)] * len(batch)
    return pl.DataFrame(columns)


def _failures(cell: Cell, frame: pl.DataFrame) -> list[str]:
    failed = frame.filter("failed")
    if not len(failed):
        return []
    count = f"{len(failed)} of {len(frame)} trials"
    return [f"{cell.metric} failed in {count} ({cell.data}, batch {cell.batch}): {failed['reason'][0]}"]
