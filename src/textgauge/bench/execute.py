"""Where batches are computed: here, in local processes, or on a Dask cluster. The numbers are the same bit by bit."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Comparison, Corpus, Draws, Pool
from textgauge.errors import InputError, MissingExtra
from textgauge.metrics import CorpusMetric
from textgauge.metrics.base import VALUE


@dataclass(frozen=True, eq=False)
class Task:
    """A batch cut down to the rows it needs, and the metrics to compute on it."""

    number: int
    joint: Corpus
    draws: Draws
    metrics: tuple[CorpusMetric, ...]
    timed: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one metric gave on one batch, with the reason of every value that does not exist.

    `failed` marks the trials in which the metric raised an error.
    """

    number: int
    metric: CorpusMetric
    values: dict[str, NDArray[np.float64]]
    reasons: tuple[str | None, ...]
    failed: tuple[bool, ...]
    seconds: float


def compute(task: Task) -> list[Outcome]:
    """All metrics of a task on one BLAS thread; what they share is computed once."""
    return list(computed(task))


def computed(task: Task) -> Iterator[Outcome]:
    """The same, one metric at a time."""
    from threadpoolctl import threadpool_limits

    for metric in task.metrics:
        with threadpool_limits(1, user_api="blas"):
            outcome = _timed(task, metric) if task.timed else _outcome(task, metric)
        yield outcome


def _outcome(task: Task, metric: CorpusMetric) -> Outcome:
    start = time.process_time()
    errors: list[str | None] = [None] * len(task.draws)
    try:
        values = metric.compute_many(task.joint, task.draws)
    except Exception:  # one trial may have failed: the others still count
        values, errors = _one_by_one(task, metric)
    seconds = time.process_time() - start
    reasons = list(errors)
    for trial in np.flatnonzero(np.isnan(metric.shown_of(values))):
        reasons[trial] = reasons[trial] or _reason(task, metric, int(trial))
    return Outcome(task.number, metric, values, tuple(reasons), _failed(errors), seconds)


def _timed(task: Task, metric: CorpusMetric) -> Outcome:
    """CPU seconds of every trial: a fresh corpus with its rows, and nothing else, each time; the better of two."""
    seconds, errors = np.full(len(task.draws), np.nan), list[str | None]([None] * len(task.draws))
    for trial, comparison in enumerate(task.draws.comparisons(task.joint)):
        try:
            seconds[trial] = min(_seconds(comparison, metric) for _ in range(2))
        except Exception as error:
            errors[trial] = _said(error)
    values = dict.fromkeys([VALUE, *(part.name for part in metric.parts)], seconds)
    return Outcome(task.number, metric, values, tuple(errors), _failed(errors), float(np.nansum(seconds)))


def _seconds(comparison: Comparison, metric: CorpusMetric) -> float:
    fresh = Comparison(*(compact(side, [metric]) for side in (comparison.reference, comparison.candidate)))
    if not metric.reads_texts:
        fresh.joint.pool.embeddings(metric.embedder)
    elif metric.needs == "tokens":
        fresh.joint.pool.counts(metric.on)
    start = time.process_time()
    metric.measure(fresh)
    return time.process_time() - start


def _one_by_one(task: Task, metric: CorpusMetric) -> tuple[dict[str, NDArray[np.float64]], list[str | None]]:
    names = [VALUE, *(part.name for part in metric.parts)]
    values = {name: np.full(len(task.draws), np.nan) for name in names}
    errors: list[str | None] = [None] * len(task.draws)
    for trial, comparison in enumerate(task.draws.comparisons(task.joint)):
        try:
            score = metric.measure(comparison)
        except Exception as error:
            errors[trial] = _said(error)
            continue
        values[metric.part or VALUE][trial] = score.value
        for name, value in score.parts.items():
            values[name][trial] = value
    return values, errors


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _failed(errors: Sequence[str | None]) -> tuple[bool, ...]:
    return tuple(error is not None for error in errors)


def _reason(task: Task, metric: CorpusMetric, trial: int) -> str:
    one = Draws(task.draws.left[trial : trial + 1], task.draws.right[trial : trial + 1])
    return metric.measure(next(one.comparisons(task.joint))).reason or "the value is not a number"


def compact(corpus: Corpus, metrics: Sequence[CorpusMetric]) -> Corpus:
    """The corpus as a pool of its own, with the rows the metrics need: small enough to send."""
    pool = corpus.pool
    texts = list(corpus.texts) if pool.has_texts else None
    small = Pool(texts, embeddings=corpus.embeddings("given") if pool.has_given else None)
    for metric in metrics:
        if metric.needs == "tokens":
            small.adopt("tokens", metric.on, corpus.tokens(metric.on))
        elif not metric.reads_texts:
            small.adopt("embeddings", metric.embedder, corpus.embeddings(metric.embedder))
    return Corpus(small, np.arange(small.size))


@contextlib.contextmanager
def executor(*, jobs: int = 1, scheduler: str | None = None) -> Iterator[Executor | None]:
    """An executor for tasks: None (here, one by one), local processes, or a Dask scheduler's workers."""
    if scheduler is not None:
        try:
            from distributed import Client
        except ImportError:
            raise MissingExtra.named("a Dask scheduler", "dask") from None
        try:
            client = Client(scheduler)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {scheduler} ({error})") from None
        with client:
            yield client.get_executor()  # type: ignore[no-untyped-call]
        return
    if jobs <= 1:
        yield None
        return
    import multiprocessing

    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
