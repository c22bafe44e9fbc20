"""Run plans: prepare rows, compute the cells the store lacks, keep each as soon as it is finished, train ensembles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textgauge.bench.execute import count_workers, observe, open_executor
from textgauge.bench.plan import Cell, Plan
from textgauge.bench.protocols.batch import Batch
from textgauge.bench.store import Store
from textgauge.core.errors import ResourceError, TextgaugeError
from textgauge.metrics import Metric

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class RunReport:
    """How many cells a run has, how many were there already or were computed, and what failed in them."""

    cells: int
    found: int
    computed: int
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Work:
    """A batch cut down to the rows it needs, the metrics to compute on it, and their cells."""

    batch: Batch
    metrics: tuple[Metric, ...]
    cells: tuple[Cell, ...]
    timed: bool


def run(
    plans: Sequence[Plan],
    store: Store,
    *,
    executor: Executor | None = None,
    ahead: int = 8,
    on_progress: Progress = lambda *_: None,
) -> RunReport:
    """Compute every cell that the store does not have yet, and write the plans into its manifest.

    `ahead` is how many batches an executor holds at a time: enough to keep its workers busy, few enough for memory.
    """
    cells = {cell.name: cell for plan in plans for cell in plan.cells()}
    there = {name: frame for name, cell in cells.items() if (frame := store.read(cell)) is not None}
    for plan in plans:
        store.write_manifest(plan.cells(), plan.to_dict())
    failures = [text for name, frame in there.items() for text in _list_failures(cells[name], frame)]
    done = len(there)
    on_progress(done, len(cells), "")
    for cell, failed in _compute_cells(_list_work(plans, set(there), on_progress), store, executor, ahead):
        failures += failed
        done += 1
        on_progress(done, len(cells), cell.metric)
    return RunReport(len(cells), len(there), done - len(there), tuple(failures))


def compute(
    plans: Sequence[Plan],
    store: Store,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[], AbstractContextManager[Progress]],
    on_cells: Callable[[RunReport], None] = lambda _: None,
) -> RunReport:
    """Compute the cells that the store lacks, then train the ensembles of tasks, in the same processes.

    Each of the two has a `progress` of its own; `on_cells` is called when the cells are there.
    """
    from textgauge.bench.ensembles import train_ensembles
    from textgauge.bench.results import Results

    with open_executor(jobs=jobs, scheduler=scheduler) as where:
        with progress() as step:
            report = run(plans, store, executor=where, ahead=max(8, 2 * count_workers(where, jobs)), on_progress=step)
        on_cells(report)
        if any(plan.protocol.ensembles for plan in plans):
            with progress() as step:
                groups = Results(store).groups()
                train_ensembles(store, groups, on_step=lambda text: step(0, 0, text), executor=where)
    return report


def list_warnings(plans: Iterable[Plan]) -> list[str]:
    """Return what is left out of the data, and what to watch out for in them; each once."""
    return list(dict.fromkeys(text for plan in plans for text in plan.protocol.notes(plan.sources)))


def _list_work(plans: Iterable[Plan], known: set[str], on_progress: Progress) -> Iterator[_Work]:
    """Batches that lack cells, with the metrics they lack; rows are prepared when the first one is met.

    Plans may have cells in common: those are computed for the first of them.
    """
    for plan in plans:
        prepared = False
        for batch in plan.batches():
            every = ((metric, plan.cell(batch.number, metric)) for metric in plan.metrics)
            missing = [(metric, cell) for metric, cell in every if cell.name not in known]
            if not missing:
                continue
            metrics, cells = zip(*missing, strict=True)
            known.update(cell.name for cell in cells)
            if not prepared:
                _prepare(plan, batch, on_progress)
                prepared = True
            yield _Work(batch.compact(metrics), metrics, cells, plan.protocol.timed)


def _prepare(plan: Plan, batch: Batch, on_progress: Progress) -> None:
    """Run models on all texts once, here, so that they run in one process only."""
    for metric in plan.metrics:
        on_progress(0, 0, f"preparing {metric.key} on {plan.sources.name}")
        batch.prepare(metric)


def _compute_cells(
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
        if item.timed:  # here, and alone
            while running:
                yield from _collect_finished(running, store, local)
            yield from _keep(item, store)
            continue
        running.add(executor.submit(_keep_all, item, store) if local else executor.submit(_observe_all, item))
        if len(running) >= ahead:
            yield from _collect_finished(running, store, local)
    while running:
        yield from _collect_finished(running, store, local)


def _collect_finished(running: set[Future[Any]], store: Store, local: bool) -> Iterator[tuple[Cell, list[str]]]:
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        running.remove(future)
        try:
            found = future.result()
        except TextgaugeError:
            raise
        except Exception as error:  # metrics' own errors are caught where they run: this one is the worker's
            reason = f"a worker process ended early ({type(error).__name__}: {error})"
            raise ResourceError(f"{reason}; run the same command again to resume") from error
        yield from found if local else (_write_cell(cell, frame, store) for cell, frame in found)


def _keep_all(work: _Work, store: Store) -> list[tuple[Cell, list[str]]]:
    return list(_keep(work, store))


def _keep(work: _Work, store: Store) -> Iterator[tuple[Cell, list[str]]]:
    return (_write_cell(cell, frame, store) for cell, frame in _observe_cells(work))


def _observe_all(work: _Work) -> list[tuple[Cell, pl.DataFrame]]:
    return list(_observe_cells(work))


def _observe_cells(work: _Work) -> Iterator[tuple[Cell, pl.DataFrame]]:
    for cell, metric in zip(work.cells, work.metrics, strict=True):
        yield cell, observe(work.batch, metric, timed=work.timed)


def _write_cell(cell: Cell, frame: pl.DataFrame, store: Store) -> tuple[Cell, list[str]]:
    store.write(cell, frame)
    return cell, _list_failures(cell, frame)


def _list_failures(cell: Cell, frame: pl.DataFrame) -> list[str]:
    failed = frame.filter("failed")
    if not len(failed):
        return []
    count = f"{len(failed)} of {len(frame)} trials"
    where = f"{cell.protocol} on {cell.data}, batch {cell.batch}"
    return [f"{cell.metric} failed in {count} ({where}): {failed['reason'][0]}"]
