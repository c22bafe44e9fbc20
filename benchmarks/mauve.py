"""MAUVE against mauve-text: CPU time on one thread, interleaved, the least of some repeats, and both values.

Run in an environment that has textgauge and mauve-text: python -m benchmarks.mauve [P.npy Q.npy [n ...]]
(as a module: run as a script, this file would hide the package of the same name).
"""

from __future__ import annotations

import os

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Comparison
from textgauge.metrics.corpus.mauve import Mauve

Rows = NDArray[np.float32]
REPEATS = {100: 20, 1_000: 7, 3_000: 3, 10_000: 2}


def rows(sizes: Sequence[int], *, data: tuple[Rows, Rows] | None = None) -> list[dict[str, Any]]:
    """One row per corpus size; synthetic embeddings unless some are given."""
    return [_row(n, data or (_synthetic(n, 0), _synthetic(n, 1))) for n in sizes]


def _row(n: int, data: tuple[Rows, Rows]) -> dict[str, Any]:
    P, Q = data[0][:n], data[1][:n]
    ours: list[float] = []
    peer: list[float] = []
    values: list[tuple[float, float]] = []
    for seed in range(REPEATS.get(n, 3)):
        spent, value = _timed(lambda seed=seed: _ours(P, Q, seed))
        peer_spent, peer_value = _timed(lambda seed=seed: _peer(P, Q, seed))
        ours.append(spent)
        peer.append(peer_spent)
        values.append((value, peer_value))
    means = np.mean(values, axis=0)
    return {
        "name": "mauve", "n": n, "ours_ms": min(ours), "peer_ms": min(peer), "ratio": min(peer) / min(ours),
        "ours_value": means[0], "peer_value": means[1],
    }  # fmt: skip


def _ours(P: Rows, Q: Rows, seed: int) -> float:
    comparison = Comparison(P, Q)
    return float(Mauve(seed=seed).on_given(comparison).compute(comparison)["value"])


def _peer(P: Rows, Q: Rows, seed: int) -> float:
    import mauve

    with _quiet():
        return 1.0 - float(mauve.compute_mauve(p_features=P, q_features=Q, seed=seed).mauve)


def _timed(call: Callable[[], float]) -> tuple[float, float]:
    start = time.process_time()
    value = call()
    return 1e3 * (time.process_time() - start), value


@contextlib.contextmanager
def _quiet() -> Any:
    """Hide what faiss writes to the error stream about small clusters."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _synthetic(n: int, side: int) -> Rows:
    """Unit rows around 80 topics of which the two sides have different shares, with a decaying spectrum."""
    rng = np.random.default_rng(side)
    shared = np.random.default_rng(9)
    spectrum = 1.0 / np.sqrt(1.0 + np.arange(384))
    topics = shared.normal(size=(80, 384)) * spectrum
    weights = shared.dirichlet(np.ones(80), size=2)[side]
    X = topics[rng.choice(80, n, p=weights)] + rng.normal(size=(n, 384)) * spectrum
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def main() -> None:
    """Print the table; two embedding files may be given."""
    files = sys.argv[1:3]
    data = (np.load(files[0]), np.load(files[1])) if len(files) == 2 else None
    _ours(_synthetic(20, 0), _synthetic(20, 1), 0)
    _peer(_synthetic(20, 0), _synthetic(20, 1), 0)
    print("name n ours_ms peer_ms ratio ours_value peer_value")
    for n in (int(size) for size in sys.argv[3:] or (100, 1_000, 3_000, 10_000)):
        for row in rows([n], data=data):
            print(*(f"{value:.4g}" if isinstance(value, float) else value for value in row.values()), flush=True)


if __name__ == "__main__":
    main()
