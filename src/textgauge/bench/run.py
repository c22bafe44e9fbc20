"""Run plans: prepare rows, compute the cells the store lacks, keep each as soon as it is finished, train ensembles.

Cells are computed here, in local processes or on a Dask cluster, with the same bits.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.bench.ensembles import train_ensembles
from textgauge.bench.plan import Cell, Plan
from textgauge.bench.results import Results
from textgauge.bench.sources import Batch
from textgauge.bench.store import Store
from textgauge.core.errors import InputError, ResourceError, TextgaugeError
from textgauge.core.parallel import count_workers_of, open_dask_executor, use_one_blas_thread
from textgauge.core.progress import begin_step
from textgauge.metrics import Metric
from textgauge.metrics.base import VALUE

if TYPE_CHECKING:
    import polars as pl

_MOST_JOBS = 1_000
_KIND = "results"  # what is counted


@dataclass(frozen=True)
class RunReport:
    """How many cells of a run were there already, how many were computed, and what failed in them."""

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


def run(plans: Sequence[Plan], store: Store, *, executor: Executor | None = None, ahead: int = 8) -> RunReport:
    """Compute every cell that the store does not have yet, and write the plans into its manifest.

    `ahead` is how many batches an executor holds at a time: enough to keep its workers busy, few enough for memory.
    """
    by_plan = [(plan, plan.cells()) for plan in plans]
    cells = {cell.name: cell for _, own in by_plan for cell in own}
    failures, known = list[str](), set[str]()
    for name, cell in cells.items():
        if (frame := store.read(cell)) is not None:
            known.add(name)
            failures += _list_failures(cell, frame)
    for plan, own in by_plan:
        store.write_manifest(own, plan.to_dict())
    found = done = len(known)
    begin_step(_KIND, done, len(cells), _KIND)
    for cell, failed in _compute_cells(_list_work(plans, known), store, executor, ahead):
        failures += failed
        done += 1
        begin_step(cell.metric, done, len(cells), _KIND)
    return RunReport(found, done - found, tuple(failures))


def compute(plans: Sequence[Plan], store: Store, *, jobs: int = 1, scheduler: str | None = None) -> RunReport:
    """Compute the cells that the store lacks, then train the ensembles of tasks, in the same processes."""
    with open_executor(jobs=jobs, scheduler=scheduler) as where:
        workers = jobs if scheduler is None or where is None else count_workers_of(where)
        report = run(plans, store, executor=where, ahead=max(8, 2 * workers))
        if any(plan.protocol.ensembles for plan in plans):
            train_ensembles(store, Results(store).groups(), executor=where)
    return report


def observe(batch: Batch, metric: Any, *, timed: bool = False) -> pl.DataFrame:
    """Return the values of one metric on one batch, on one BLAS thread, and why some do not exist.

    `failed` marks the trials in which the metric raised an error. `timed` values are CPU seconds, the better of two.
    """
    import polars as pl

    names = [VALUE, *(part.name for part in metric.parts)]
    values, errors = {name: np.full(len(batch), np.nan) for name in names}, list[str | None]([None] * len(batch))
    with use_one_blas_thread():
        start = time.process_time()
        whole = None
        if not timed:
            with contextlib.suppress(Exception):  # one trial may have failed: the others still count
                whole = batch.compute(metric)
        for trial in range(len(batch)) if whole is None else ():
            try:
                if timed:
                    own = dict.fromkeys(names, min(batch.seconds(metric, trial) for _ in range(2)))
                else:
                    own = batch.one(metric, trial)[0]
                for name, value in own.items():
                    values[name][trial] = value
            except Exception as error:
                errors[trial] = f"{type(error).__name__}: {error}"
        values = values if whole is None else dict(whole)
        seconds = float(np.nansum(values[VALUE])) if timed else time.process_time() - start
        value, reasons = metric.select(values), list(errors)
        for trial in np.flatnonzero(np.isnan(value)).tolist():
            reasons[trial] = reasons[trial] or batch.one(metric, trial)[1] or "the value is not a number"
    columns: dict[str, Any] = {**batch.columns, "value": value}
    columns |= {f"part.{part.name}": values[part.name] for part in metric.parts if part.name in values}
    columns["reason"] = pl.Series(reasons, dtype=pl.String)
    columns["failed"] = [error is not None for error in errors]
    columns["seconds"] = [seconds / len(batch)] * len(batch)
    return pl.DataFrame(columns)


def _list_work(plans: Iterable[Plan], known: set[str]) -> Iterator[_Work]:
    """Batches that lack cells, with the metrics they lack.

    Models run on all texts once, here, when the first batch is met, so that they run in one process only. Plans may
    have cells in common: those are computed for the first of them.
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
            for metric in () if prepared else plan.metrics:
                begin_step(f"preparing {metric.key} on {plan.sources.name}", kind=_KIND)
                batch.prepare(metric)
            prepared = True
            yield _Work(batch.compact(metrics), metrics, cells, plan.protocol.timed)


def _compute_cells(
    work: Iterator[_Work], store: Store, executor: Executor | None, ahead: int
) -> Iterator[tuple[Cell, list[str]]]:
    """Cells as they are written, with what failed in them."""
    # Processes of this machine write a cell as soon as it is there; other machines may not see the folder.
    local = isinstance(executor, ProcessPoolExecutor)
    running: set[Future[Any]] = set()

    def collect(most: int) -> Iterator[tuple[Cell, list[str]]]:
        while len(running) > most:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                running.remove(future)
                try:
                    found = future.result()
                except (TextgaugeError, CancelledError):  # cancelled where a scheduler is gone, which says so
                    raise
                except Exception as error:  # metrics' own errors are caught where they run: this one is the worker's
                    if type(error).__module__.startswith("distributed"):  # said where the cluster was opened
                        raise
                    reason = f"a worker process ended early ({type(error).__name__}: {error})"
                    raise ResourceError(f"{reason}; run the same command again to resume") from error
                yield from found if local else (_keep(cell, frame, store) for cell, frame in found)

    for item in work:
        if executor is None or item.timed:  # times are taken here, and alone
            yield from collect(0)
            yield from _observe_cells(item, store)
        else:
            running.add(executor.submit(_observe_all, item, store if local else None))
            yield from collect(ahead - 1)
    yield from collect(0)


def _observe_cells(work: _Work, store: Store | None) -> Iterator[tuple[Cell, Any]]:
    """Each cell as it is computed: kept, with what failed in it; without a store, with what was observed."""
    for cell, metric in zip(work.cells, work.metrics, strict=True):
        frame = observe(work.batch, metric, timed=work.timed)
        yield (cell, frame) if store is None else _keep(cell, frame, store)


def _observe_all(work: _Work, store: Store | None) -> list[tuple[Cell, Any]]:
    return list(_observe_cells(work, store))


def _keep(cell: Cell, frame: pl.DataFrame, store: Store) -> tuple[Cell, list[str]]:
    store.write(cell, frame)
    return cell, _list_failures(cell, frame)


def _list_failures(cell: Cell, frame: pl.DataFrame) -> list[str]:
    failed = frame.filter("failed")
    if not len(failed):
        return []
    count = f"{len(failed)} of {len(frame)} trials"
    where = f"{cell.protocol} on {cell.data}, batch {cell.batch}"
    return [f"{cell.metric} failed in {count} ({where}): {failed['reason'][0]}"]


@contextlib.contextmanager
def open_executor(*, jobs: int = 1, scheduler: str | None = None) -> Iterator[Executor | None]:
    """Yield an executor of jobs: None (here, one by one), local processes, or a Dask scheduler's workers."""
    if scheduler is not None:
        with open_dask_executor(scheduler) as cluster:
            yield cluster
        return
    if jobs > _MOST_JOBS:
        raise InputError(f"at most {_MOST_JOBS:,} local processes are started, not {jobs:,}")
    if jobs <= 1:
        yield None
        return
    with _start_pool(jobs) as pool:
        try:
            yield pool
        except KeyboardInterrupt:
            for process in list(pool._processes.values()):
                process.terminate()  # finished cells are kept; waiting for the others would ignore the interrupt
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _start_pool(jobs: int) -> ProcessPoolExecutor:
    """Start all workers while this process ignores Ctrl-C, which they inherit: the parent alone answers it."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker)
        for _ in range(jobs if main else 0):
            pool.submit(os.getpid)
    except OSError as error:  # no room for locks, too many open files
        raise InputError(f"{jobs} local processes cannot be started here ({error}); one may do") from None
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
    return pool


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end when the parent is gone: killed, it could not say so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
