"""MAUVE against mauve-text: CPU time on one thread, interleaved, the least of some repeats, and both values.

Run in an environment that has textgauge and mauve-text: python -m benchmarks.mauve [n ...]
(as a module: run as a script, this file would hide the package of the same name).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.timing import Row, Rows, quiet, race, synthetic
from textgauge.data import Comparison
from textgauge.metrics.corpus.mauve import Mauve

REPEATS = {100: 20, 1_000: 7, 3_000: 3, 10_000: 2}


def rows(sizes: Sequence[int], *, data: tuple[Rows, Rows] | None = None) -> list[Row]:
    """One row per corpus size; synthetic embeddings unless some are given."""
    return [_row(n, data or (synthetic(n, 0), synthetic(n, 1))) for n in sizes]


def _row(n: int, data: tuple[Rows, Rows]) -> Row:
    P, Q = data[0][:n], data[1][:n]
    values: list[tuple[float, float]] = []
    spent: list[Row] = []
    for seed in range(REPEATS.get(n, 3)):
        row, *both = race("mauve", n, lambda seed=seed: _ours(P, Q, seed), lambda seed=seed: _peer(P, Q, seed), 1)
        spent.append(row)
        values.append((both[0], both[1]))
    best = {side: min(row[side] for row in spent) for side in ("ours_ms", "peer_ms")}
    means = np.mean(values, axis=0)
    ratio = best["peer_ms"] / best["ours_ms"]
    return {"name": "mauve", "n": n, **best, "ratio": ratio, "ours_value": means[0], "peer_value": means[1]}


def _ours(P: Rows, Q: Rows, seed: int) -> float:
    comparison = Comparison(P, Q)
    return float(Mauve(seed=seed).on_given(comparison).compute(comparison)["value"])


def _peer(P: Rows, Q: Rows, seed: int) -> float:
    import mauve

    with quiet():
        return 1.0 - float(mauve.compute_mauve(p_features=P, q_features=Q, seed=seed).mauve)


def main() -> None:
    """Print the rows."""
    for row in rows([int(size) for size in sys.argv[1:]] or [100, 1_000, 3_000, 10_000]):
        print(row, flush=True)


if __name__ == "__main__":
    main()
