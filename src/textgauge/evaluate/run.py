"""Run plans: prepare rows, compute the cells the store lacks, keep each as soon as it is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from textgauge.errors import ResourceError, TextgaugeError
from textgauge.evaluate.execute import Outcome, Task, computed
from textgauge.evaluate.plan import Cell, Plan
from textgauge.evaluate.protocols.batch import Batch
from textgauge.evaluate.store import Store
from textgauge.metrics.base import versions

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
    """A batch with the metrics it lacks, and the cells of these."""

    task: Task
    cells: tuple[Cell, ...]


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
    for cell, failed in _kept(_work(plans, set(there), on_progress), store, executor, ahead):
        failures += failed
        done += 1
        on_progress(done, len(cells), cell.metric)
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
            cells = tuple(plan.cell(batch.number, metric) for metric in missing)
            yield _Work(Task(batch.compact(missing), missing, plan.protocol.timed), cells)


def _prepare(plan: Plan, batch: Batch, on_progress: Progress) -> None:
    """Run models on all texts once, here, so that they run in one process only."""
    for metric in plan.metrics:
        on_progress(0, 0, f"preparing {metric.key} on {plan.sources.name}")
        batch.prepare(metric)


def _kept(
    work: Iterator[_Work], store: Store, executor: Executor | None, ahead: int
) -> Iterator[tuple[Cell, list[str]]]:
    """Cells as they are written, with what failed in them."""
    if executor is None:
        for item in work:
            yield from _keep(item, store)
        return
    # Processes of this machine write a cell as soon as it is there; other machines may not see the folder.
    local = isinstance(executor, ProcessPoolExecutor)
    running: set[Future[Any]] = set()
    for item in work:
        if item.task.timed:  # here, and with nothing beside it
            while running:
                yield from _finished(running, store, local)
            yield from _keep(item, store)
            continue
        running.add(executor.submit(_keep_all, item, store) if local else executor.submit(_observe_all, item))
        if len(running) >= ahead:
            yield from _finished(running, store, local)
    while running:
        yield from _finished(running, store, local)


def _finished(running: set[Future[Any]], store: Store, local: bool) -> Iterator[tuple[Cell, list[str]]]:
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        running.remove(future)
        try:
            found = future.result()
        except TextgaugeError:
            raise
        except Exception as error:  # metrics' own errors are caught where they run: this one is the worker's
            said = f"a worker process ended early ({type(error).__name__}: {error})"
            raise ResourceError(f"{said}; the same command goes on from what is finished") from error
        yield from found if local else _written(found, store)


def _keep_all(work: _Work, store: Store) -> list[tuple[Cell, list[str]]]:
    return list(_keep(work, store))


def _keep(work: _Work, store: Store) -> Iterator[tuple[Cell, list[str]]]:
    return _written(_observe(work), store)


def _observe_all(work: _Work) -> list[tuple[Cell, pl.DataFrame]]:
    return list(_observe(work))


def _observe(work: _Work) -> Iterator[tuple[Cell, pl.DataFrame]]:
    for cell, outcome in zip(work.cells, computed(work.task), strict=True):
        yield cell, _frame(work.task.batch, outcome)


def _written(observed: Iterable[tuple[Cell, pl.DataFrame]], store: Store) -> Iterator[tuple[Cell, list[str]]]:
    for cell, frame in observed:
        store.write(cell, frame)
        yield cell, _failures(cell, frame)


def _frame(batch: Batch, outcome: Outcome) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, Any] = dict(batch.columns)
    columns["value"] = outcome.metric.select(outcome.values)
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
    where = f"{cell.protocol} on {cell.data}, batch {cell.batch}"
    return [f"{cell.metric} failed in {count} ({where}): {failed['reason'][0]}"]
