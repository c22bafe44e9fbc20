"""One metric on one batch; and where it runs: here, in local processes, or on a Dask cluster, with the same bits."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from textgauge.bench.protocols.batch import Batch, Values
from textgauge.core.errors import InputError
from textgauge.core.parallel import count_workers_of, open_dask_executor, use_one_blas_thread
from textgauge.metrics.base import VALUE

if TYPE_CHECKING:
    import polars as pl

_MOST_JOBS = 1_000

Reasons = list[str | None]  # of the trials of a batch


def observe(batch: Batch, metric: Any, *, timed: bool = False) -> pl.DataFrame:
    """The values of one metric on one batch, on one BLAS thread, with the reason of every value that does not exist.

    `failed` marks the trials in which the metric raised an error. `timed` values are CPU seconds.
    """
    import polars as pl

    with use_one_blas_thread():
        values, reasons, errors, seconds = _measure_times(batch, metric) if timed else _compute_values(batch, metric)
    columns: dict[str, Any] = {**batch.columns, "value": metric.select(values)}
    columns |= {f"part.{part.name}": values[part.name] for part in metric.parts if part.name in values}
    columns["reason"] = pl.Series(reasons, dtype=pl.String)
    columns["failed"] = [error is not None for error in errors]
    columns["seconds"] = [seconds / len(batch)] * len(batch)
    return pl.DataFrame(columns)


def _compute_values(batch: Batch, metric: Any) -> tuple[Values, Reasons, Reasons, float]:
    """Return values and parts, why a value does not exist, which errors were raised, and CPU seconds."""
    start = time.process_time()
    errors: Reasons = [None] * len(batch)
    try:
        values = batch.compute(metric)
    except Exception:  # one trial may have failed: the others still count
        values, errors = _compute_one_by_one(batch, metric)
    seconds = time.process_time() - start
    reasons = list(errors)
    for trial in np.flatnonzero(np.isnan(metric.select(values))):
        reasons[trial] = reasons[trial] or batch.one(metric, int(trial))[1] or "the value is not a number"
    return values, reasons, errors, seconds


def _measure_times(batch: Batch, metric: Any) -> tuple[Values, Reasons, Reasons, float]:
    """CPU seconds of every trial, the better of two."""
    seconds, errors = np.full(len(batch), np.nan), list[str | None]([None] * len(batch))
    for trial in range(len(batch)):
        try:
            seconds[trial] = min(batch.seconds(metric, trial) for _ in range(2))
        except Exception as error:
            errors[trial] = _format_error(error)
    return dict.fromkeys(_list_values(metric), seconds), errors, errors, float(np.nansum(seconds))


def _compute_one_by_one(batch: Batch, metric: Any) -> tuple[Values, Reasons]:
    values = {name: np.full(len(batch), np.nan) for name in _list_values(metric)}
    errors: Reasons = [None] * len(batch)
    for trial in range(len(batch)):
        try:
            found, _ = batch.one(metric, trial)
        except Exception as error:
            errors[trial] = _format_error(error)
            continue
        for name, value in found.items():
            values[name][trial] = value
    return values, errors


def _list_values(metric: Any) -> list[str]:
    return [VALUE, *(part.name for part in metric.parts)]


def _format_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


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
    try:
        spawn = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_start_worker)
        _start_all(pool, jobs)
    except OSError as error:  # no room for locks, too many open files
        raise InputError(f"{jobs} local processes cannot be started here ({error}); one may do") from None
    return pool


def _start_all(pool: ProcessPoolExecutor, jobs: int) -> None:
    """Start all workers while this process ignores Ctrl-C, which they inherit: the parent alone answers it."""
    if threading.current_thread() is not threading.main_thread():
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for _ in range(jobs):
            pool.submit(os.getpid)
    finally:
        signal.signal(signal.SIGINT, before)


def count_workers(where: Executor | None, jobs: int) -> int:
    """Return how many jobs an executor can work on at once."""
    return jobs if where is None or isinstance(where, ProcessPoolExecutor) else count_workers_of(where)


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end when the parent is gone: killed, it could not say so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
