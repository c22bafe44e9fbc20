"""Neighbour metrics against prdc and plain scikit-learn matrices: CPU time on one thread, interleaved, least of some.

Run in an environment that has textgauge and prdc: python -m benchmarks.neighbours [n ...] [--data P.npy Q.npy]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textgauge.corpus import Comparison, Corpus, Draws
from textgauge.metrics import get_metrics

Rows = NDArray[np.float32]
Numbers = dict[str, float]
REPEATS = {100: 20, 500: 5, 1_000: 10, 3_000: 4, 10_000: 2}
PERMUTATIONS = 1_000


@threadpool_limits.wrap(limits=1)
def rows(sizes: Sequence[int], *, data: tuple[Rows, Rows] | None = None) -> list[dict[str, Any]]:
    """Rows for every corpus size; synthetic embeddings unless some are given."""
    found = []
    for n in sizes:
        P, Q = (side[:n] for side in data or (synthetic(n, 0), synthetic(n, 1)))
        found.append(_row("pr+dc", (P, Q), _ours("pr(ties=open),dc(ties=open)"), _prdc_twice))
        found.append(_row("irpr+ahd", (P, Q), _ours("irpr@angular,ahd@angular"), lambda P, Q: _irpr(P, Q) | _ahd(P, Q)))
        fused = _ours("irpr@angular,ahd@angular,energy@angular")
        found.append(_row("irpr+ahd+energy", (P, Q), fused, lambda P, Q: _irpr(P, Q) | _ahd(P, Q) | _energy(P, Q)))
    return found


@threadpool_limits.wrap(limits=1)
def permutation_rows(n: int, *, data: tuple[Rows, Rows] | None = None) -> list[dict[str, Any]]:
    """A thousand permutations at once, against as many times the peer's one value."""
    P, Q = (side[:n] for side in data or (synthetic(n, 0), synthetic(n, 1)))
    rng = np.random.default_rng(0)
    left = rng.permuted(np.tile(np.arange(2 * n) < n, (PERMUTATIONS, 1)), axis=1)
    joint, draws, found = np.concatenate([P, Q]), Draws(left, ~left), []
    for name, key, peer in (("pr", "pr(ties=open)@given", _prdc), ("irpr", "irpr@given:angular", _irpr)):
        (metric,) = get_metrics(key)
        ours = _least(lambda metric=metric: metric.compute_many(Corpus.of(joint), draws), 3)
        theirs = PERMUTATIONS * _least(lambda peer=peer: peer(P, Q), 5)
        found.append({"name": f"{name}, {PERMUTATIONS} permutations", "n": n, "ours_ms": ours, "peer_ms": theirs})
        found[-1]["ratio"] = theirs / ours
    return found


def _row(
    name: str, data: tuple[Rows, Rows], ours: Callable[..., Numbers], peer: Callable[..., Numbers]
) -> dict[str, Any]:
    n, spent = len(data[0]), {"ours": float("inf"), "peer": float("inf")}
    values: dict[str, Numbers] = {}
    for _ in range(REPEATS.get(n, 3)):
        for side, call in (("ours", ours), ("peer", peer)):
            start = time.process_time()
            values[side] = call(*data)
            spent[side] = min(spent[side], 1e3 * (time.process_time() - start))
    return {
        "name": name,
        "n": n,
        "ours_ms": spent["ours"],
        "peer_ms": spent["peer"],
        "ratio": spent["peer"] / spent["ours"],
        "max_abs_diff": max(abs(values["ours"][key] - values["peer"][key]) for key in values["peer"]),
        "extra_mb": _extra_megabytes(lambda: ours(*data)),
    }


def _ours(names: str) -> Callable[[Rows, Rows], Numbers]:
    def measure(P: Rows, Q: Rows) -> Numbers:
        comparison, found = Comparison(P, Q), {}
        for metric in get_metrics(names):
            values = metric.on_given(comparison).compute(comparison)
            found |= {
                name if metric.parts and name != "value" else metric.name: value for name, value in values.items()
            }
        return found

    return measure


def _prdc(P: Rows, Q: Rows) -> Numbers:
    from prdc import compute_prdc

    with contextlib.redirect_stdout(io.StringIO()):
        return {name: float(value) for name, value in compute_prdc(P, Q, nearest_k=5).items()}


def _prdc_twice(P: Rows, Q: Rows) -> Numbers:
    return _prdc(P, Q) | _prdc(P, Q)


def _angular(P: Rows, Q: Rows) -> NDArray[np.float32]:
    from sklearn.metrics.pairwise import cosine_similarity

    return np.arccos(np.clip(cosine_similarity(P, Q), -1.0, 1.0)) / np.float32(np.pi)


def _irpr(P: Rows, Q: Rows) -> Numbers:
    distances = _angular(P, Q)
    precision, recall = distances.min(axis=0).mean(dtype=float), distances.min(axis=1).mean(dtype=float)
    return {"irpr": 2 * precision * recall / (precision + recall)}


def _ahd(P: Rows, Q: Rows) -> Numbers:
    distances = _angular(P, Q)
    return {"ahd": (distances.min(axis=0).mean(dtype=float) + distances.min(axis=1).mean(dtype=float)) / 2}


def _energy(P: Rows, Q: Rows) -> Numbers:
    across, within = _angular(P, Q).mean(dtype=float), (_angular(side, side).mean(dtype=float) for side in (P, Q))
    return {"energy": 2 * across - sum(within)}


def synthetic(n: int, seed: int) -> Rows:
    """Unit rows of 384 dimensions in forty clusters, half of them shared by all seeds."""
    common, own = np.random.default_rng(99), np.random.default_rng(seed)
    centres = np.concatenate([common.standard_normal((20, 384)), own.standard_normal((20, 384))])
    cloud = centres[own.integers(0, 40, n)] + own.standard_normal((n, 384)) @ np.diag(np.linspace(2.0, 0.0, 384))
    return (cloud / np.linalg.norm(cloud, axis=1, keepdims=True)).astype(np.float32)


def _least(call: Callable[[], object], repeats: int) -> float:
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        spent.append(1e3 * (time.process_time() - start))
    return min(spent)


def _extra_megabytes(call: Callable[[], object]) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    """Print one line per measurement."""
    parser = argparse.ArgumentParser(description="Neighbour metrics against prdc and plain scikit-learn matrices.")
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--data", nargs=2, metavar=("P.npy", "Q.npy"))
    given = parser.parse_args()
    data = None if given.data is None else (np.load(given.data[0]), np.load(given.data[1]))
    for row in rows(given.sizes or [100, 1_000, 3_000, 10_000], data=data) + permutation_rows(500, data=data):
        print("  ".join(f"{key}={value:.4g}" if isinstance(value, float) else str(value) for key, value in row.items()))


if __name__ == "__main__":
    main()
