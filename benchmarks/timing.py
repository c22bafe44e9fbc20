"""Fair timing: CPU time on one thread, both sides taking turns in one process, the least of some repeats."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

os.environ["TEXTGAUGE_THREADS"] = "1"

T = TypeVar("T")
Rows = NDArray[np.float32]
Row = dict[str, Any]


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """CPU milliseconds of a call, and its result."""
    with threadpool_limits(1):
        start = time.process_time()
        value = call()
        return 1e3 * (time.process_time() - start), value


def race(name: str, n: int, ours: Callable[[], T], peer: Callable[[], T], repeats: int) -> tuple[Row, T, T]:
    """A row with both times and their ratio, and what both sides gave."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        mine, value = timed(ours)
        yours, other = timed(peer)
        spent[0].append(mine)
        spent[1].append(yours)
    best = min(spent[0]), min(spent[1])
    return {"name": name, "n": n, "ours_ms": best[0], "peer_ms": best[1], "ratio": best[1] / best[0]}, value, other


def synthetic(n: int, side: int, *, topics: int = 60) -> Rows:
    """Unit rows of 384 dimensions around topics, a third of them common to both sides, with a falling spectrum."""
    rng, shared = np.random.default_rng(side), np.random.default_rng(9)
    spectrum = 1.0 / np.sqrt(1.0 + np.arange(384))
    centres = shared.normal(size=(topics, 384)) * spectrum
    own = rng.integers(topics // 3 * side, topics // 3 * side + 2 * topics // 3, n)
    X = centres[own] + rng.normal(size=(n, 384)) * spectrum
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def embeddings(n: int) -> tuple[Rows, Rows]:
    """Embeddings of n texts of banking77 and of clinc150 where the data folder has them, else made-up ones."""
    from textgauge.data import is_here, load_texts
    from textgauge.data.cache import encode_cached
    from textgauge.encode.embedders import get_embedder

    if not (is_here("banking77") and is_here("clinc150")):
        return synthetic(n, 0), synthetic(n, 1)
    texts = (load_texts(name, limit=n).texts for name in ("banking77", "clinc150"))
    first, second = (encode_cached(get_embedder("minilm"), some) for some in texts)
    return first, second


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide what faiss writes to the error stream about small clusters."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
