"""`fid` against the usual matrix square root, and a thousand permutations against as many recomputations.

Run: python -m benchmarks.moments [n ...]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.timing import Row, Rows, race, synthetic, timed
from textgauge.data import Comparison, Draws
from textgauge.metrics import get_metric
from textgauge.metrics.corpus_metric import CorpusMetric
from textgauge.metrics.numerics.moments import compute_moments, frechet
from textgauge.stats.resampling import draw_permutations

REPEATS = {100: 20, 1_000: 8, 3_000: 5, 10_000: 3}
PERMUTATIONS = 1_000
RECOMPUTED = 10


def rows(sizes: Sequence[int], *, data: tuple[Rows, Rows] | None = None) -> list[Row]:
    """One row per corpus size."""
    found = []
    for n in sizes:
        P, Q = (side[:n] for side in data or (synthetic(n, 0), synthetic(n, 1)))
        row, ours, peer = race("fid", n, lambda P=P, Q=Q: _ours(P, Q), lambda P=P, Q=Q: _peer(P, Q), REPEATS.get(n, 3))
        found.append(row | {"max_abs_diff": abs(ours - peer)})
    return found


def _ours(P: Rows, Q: Rows) -> float:
    return frechet(compute_moments(P), compute_moments(Q))


def _peer(P: Rows, Q: Rows) -> float:
    """Mean, covariance and square root of the product, as the authors of the first paper write it."""
    from scipy.linalg import sqrtm

    first, second = np.cov(P, rowvar=False), np.cov(Q, rowvar=False)
    root = np.real(sqrtm(first @ second))
    return float(((P.mean(axis=0) - Q.mean(axis=0)) ** 2).sum() + np.trace(first + second - 2.0 * root))


def permutation_rows(n: int, names: Sequence[str], *, data: tuple[Rows, Rows] | None = None) -> list[Row]:
    """A thousand permutations by the shared path, against recomputing each; some are recomputed, and scaled."""
    P, Q = (side[:n] for side in data or (synthetic(n, 0), synthetic(n, 1)))
    return [_permutation_row(name, Comparison(P, Q)) for name in names]


def _permutation_row(name: str, comparison: Comparison) -> Row:
    metric, n = get_metric(name).on_given(comparison), len(comparison.reference)
    draws = Draws(*draw_permutations(n, n, PERMUTATIONS, 0))
    some = Draws(draws.left[:RECOMPUTED], draws.right[:RECOMPUTED])
    ours, values = timed(lambda: metric.compute_many(comparison.joint, draws)["value"])
    peer, again = timed(lambda: CorpusMetric.compute_many(metric, comparison.joint, some)["value"])
    peer *= PERMUTATIONS / RECOMPUTED
    label = f"{name}, {PERMUTATIONS} permutations"
    difference = float(np.abs(values[:RECOMPUTED] - again).max())
    return {"name": label, "n": n, "ours_ms": ours, "peer_ms": peer, "ratio": peer / ours, "max_abs_diff": difference}


if __name__ == "__main__":
    for line in rows([int(size) for size in sys.argv[1:]] or [100, 1_000, 10_000]):
        print(line)
