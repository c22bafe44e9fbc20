"""Map functions over trial numbers and items on threads: the same bits whatever the thread count."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")


def workers() -> int:
    """How many threads to use: `TEXTGAUGE_THREADS`, or the cores this process may run on."""
    wanted = os.environ.get("TEXTGAUGE_THREADS", "")
    if wanted.isdigit():
        return max(int(wanted), 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which linear algebra runs on one thread: the same bits on every machine."""
    return _libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


def one_thread() -> AbstractContextManager[Any]:
    """A context in which linear algebra and tree builders run on one thread; their threads wait by spinning."""
    import sklearn.ensemble  # noqa: F401, its OpenMP must be there to be found
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)  # type: ignore[no-any-return]


def map_threads(function: Callable[[int], float], trials: int) -> NDArray[np.float64]:
    """`function(0) … function(trials − 1)` as an array."""
    with one_blas_thread():
        if workers() == 1:
            return np.fromiter(map(function, range(trials)), dtype=np.float64, count=trials)
        with ThreadPoolExecutor(workers()) as pool:
            return np.fromiter(pool.map(function, range(trials)), dtype=np.float64, count=trials)


def workers_of(executor: Executor) -> int:
    """How many tasks an executor works on at once."""
    client = getattr(executor, "_client", None)  # a Dask executor's
    return workers() if client is None else sum(client.nthreads().values())


def map_ordered(executor: Executor, function: Callable[[T], R], items: Iterable[T], *, ahead: int) -> Iterator[R]:
    """`function` of each item in the items' order; at most `ahead` items are read before their turn."""
    waiting: deque[Future[R]] = deque()
    for item in items:
        waiting.append(executor.submit(function, item))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@cache
def _libraries() -> Any:
    """The libraries with their own threads; finding them takes longer than many metrics do."""
    import scipy.linalg  # noqa: F401, its BLAS must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
