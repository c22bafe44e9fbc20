"""Map functions over trial numbers and items, on threads or a cluster: the same bits whatever their number."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from contextvars import copy_context
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError, MissingExtra, ResourceError, warn
from textgauge.core.progress import advance, begin_step

_NUMBER = re.compile("[0-9]{1,9}")
_MOST_THREADS = 1_024
_MOST_PROCESSES = 256
_ANSWERS_WITHIN = 10  # seconds
_LOOK = 5  # seconds between two looks for workers
_LOGS = ("distributed", "distributed.client", "tornado.application", "asyncio")  # those that Dask gives a level
_OTHER_VERSION = (
    "the worker {} runs another textgauge, NumPy or SciPy than this machine ({}): its numbers may be others; install "
    "the same versions there"
)
T = TypeVar("T")
R = TypeVar("R")


def count_workers() -> int:
    """Return how many threads to use: `TEXTGAUGE_THREADS`, or the cores this process may run on."""
    wanted = os.environ.get("TEXTGAUGE_THREADS", "")
    if wanted:
        if not _NUMBER.fullmatch(wanted) or not 1 <= int(wanted) <= _MOST_THREADS:
            raise InputError(f"TEXTGAUGE_THREADS={wanted[:40]}: give a whole number from 1 to {_MOST_THREADS:,}")
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which linear algebra runs on one thread: the same bits on every machine."""
    return _find_libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


def use_one_thread() -> AbstractContextManager[Any]:
    """Return a context in which linear algebra and tree builders run on one thread; their threads wait by spinning."""
    import sklearn  # noqa: F401, its OpenMP must be there to be found
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)  # type: ignore[no-any-return]


def map_threads(function: Callable[[int], float], trials: int) -> NDArray[np.float64]:
    """Return `function(0) … function(trials − 1)` as an array, and tell how far it is."""
    values, workers = np.empty(trials), count_workers()
    with use_one_blas_thread(), ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        mapped = map(function, range(trials)) if pool is None else pool.map(function, range(trials))
        for number, values[number] in enumerate(mapped):
            advance(number + 1, trials)
    return values


def count_workers_of(executor: Executor) -> int:
    """Return how many tasks an executor works on at once."""
    if not isinstance(executor, _CheckedExecutor):
        return count_workers()
    return max(sum(map(int, executor.client.nthreads().values())), 1)


def map_parts(executor: Executor | None, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Return `function` of each item in the items' order, by the workers of a cluster, or here where there is none."""
    if executor is None:
        yield from map(function, items)
        return
    waiting: deque[Future[R]] = deque()
    for item in items:
        waiting.append(executor.submit(function, item))
        if len(waiting) >= 2 * count_workers_of(executor):  # items read before their turn
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def open_dask_executor(address: str | None) -> Iterator[Executor | None]:
    """Open the workers of a Dask scheduler (`tcp://HOST:PORT`), or N processes on this machine (`local:N`).

    Tasks of a worker that is lost run again. A scheduler that is lost is one clear error. None stands for no cluster.
    """
    if address is None:
        yield None
        return
    try:
        import dask
        from distributed import Client, KilledWorker
    except ImportError:
        raise MissingExtra.named("a Dask scheduler", "dask") from None
    # Tasks carry their texts with them: data that one worker alone holds would be lost with it.
    settings = {"distributed.admin.large-graph-warning-threshold": "1GiB"}
    with dask.config.set(settings), ExitStack() as stack:
        for log in map(logging.getLogger, _LOGS):  # what is lost is said in one line below
            stack.callback(log.setLevel, log.level)
            log.setLevel(logging.CRITICAL)
        try:
            place: Any = address
            if address.startswith("local:"):
                place = stack.enter_context(_start_processes(address))
            else:
                with ThreadPoolExecutor(1) as apart:  # a notebook has an event loop of its own
                    apart.submit(asyncio.run, _greet(address)).result()
            client = stack.enter_context(Client(place, timeout=_ANSWERS_WITHIN))  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TypeError, MemoryError) as error:
            reason = str(error) or f"nothing within {_ANSWERS_WITHIN} s"
            if isinstance(error, MemoryError):  # of an answer that is no length
                reason = "another program answers there"
            raise InputError(f"no Dask scheduler answers at {address} ({reason})") from None
        stack.enter_context(_say_what_is_awaited(client, address))
        try:
            yield _open_workers(client, address)
        except (CancelledError, OSError, KilledWorker) as error:
            if isinstance(error, OSError) and error.errno is not None:  # of the disk
                raise
            reason = f"the scheduler or its workers are gone ({type(error).__name__})"
            if isinstance(error, KilledWorker):
                reason = "workers ended one after the other at the same task; they may need more memory"
            raise ResourceError(f"{address}: {reason}; what is finished is kept, the same command resumes") from None


async def _greet(address: str) -> None:
    """Greet a scheduler: a client would wait for minutes for one that takes connections and says nothing."""
    from distributed.comm.core import connect

    comm = await asyncio.wait_for(connect(address, timeout=_ANSWERS_WITHIN), _ANSWERS_WITHIN)  # type: ignore[no-untyped-call]
    await comm.close()


@contextmanager
def _say_what_is_awaited(client: Any, address: str) -> Iterator[None]:
    """Say, with a count of seconds, as long as the scheduler does not answer or has no worker that could go on."""
    over = Event()

    def look() -> None:
        well = time.monotonic()
        while not over.wait(_LOOK):
            with suppress(Exception):  # of a client that is closed, or whose scheduler is gone: that is said elsewhere
                try:
                    problem = "" if client.sync(client.scheduler.ncores, callback_timeout=_LOOK) else "has no worker"
                except TimeoutError:
                    problem = "does not answer"
                if not problem:
                    well = time.monotonic()
                elif not over.is_set():
                    begin_step(f"waiting ({time.monotonic() - well:.0f} s): {address} {problem}")
                    warn(f"{address} {problem}", RuntimeWarning)

    Thread(target=copy_context().run, args=(look,), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _open_workers(client: Any, address: str) -> Executor:
    """Return the workers of a cluster, at least one; those whose numbers may be others are refused."""
    client.wait_for_workers(1)
    here = compute_code_digest()
    found = client.run(compute_code_digest, on_error="return")
    if other := next((worker for worker, digest in found.items() if digest != here), None):
        raise InputError(f"{address}: {_OTHER_VERSION.format(other, here)}")
    return _CheckedExecutor(client, here)


class _CheckedExecutor(Executor):
    """The workers of a cluster, any of which may have joined late: each task looks again whether its code is ours."""

    def __init__(self, client: Any, digest: str) -> None:
        self.client, self._digest = client, digest
        self._plain = client.get_executor()

    def submit(self, function: Callable[..., R], /, *args: Any, **options: Any) -> Future[R]:
        """Send a task to a worker."""
        return self._plain.submit(_run_checked, self._digest, function, *args, **options)  # type: ignore[no-any-return]


def _run_checked(digest: str, function: Callable[..., R], *args: Any, **options: Any) -> R:
    """Run a task on a worker, on one thread of linear algebra; refuse it where the worker's code is other code."""
    if compute_code_digest() != digest:
        from distributed import get_worker

        raise InputError(_OTHER_VERSION.format(get_worker().address, digest))
    _find_libraries().limit(limits=1, user_api="blas")  # for good: tasks share the process
    return function(*args, **options)


@cache
def compute_code_digest() -> str:
    """Return the version of textgauge, with a hash of its code and of the versions of NumPy and SciPy."""
    root = Path(__file__).parents[1]
    code = b"".join(path.read_bytes() for path in sorted(root.rglob("*.py")))
    libraries = "".join(version(name) for name in ("numpy", "scipy"))
    return f"{version('textgauge')}-{hashlib.blake2b(code + libraries.encode(), digest_size=6).hexdigest()}"


def _start_processes(address: str) -> Any:
    """Start the processes of `local:N` as a cluster."""
    count = address.removeprefix("local:")
    if not _NUMBER.fullmatch(count) or not 1 <= int(count) <= _MOST_PROCESSES:
        raise InputError(f"{address}: give the number of processes, 1 to {_MOST_PROCESSES}, as in local:2")
    from distributed import LocalCluster

    # Any free port: without a dashboard, Dask would still ask for 8787 and warn where it is taken.
    options = {"n_workers": int(count), "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    return LocalCluster(**options)  # type: ignore[no-untyped-call]


@cache
def _find_libraries() -> Any:
    """Return the libraries with their own threads; finding them takes longer than many metrics do."""
    import scipy.linalg  # noqa: F401, its BLAS must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
