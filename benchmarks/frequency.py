"""1,000 permutations of every token metric against recomputation: CPU time, and the same values.

The peer is our own single comparison, timed over some of the permutations and scaled; it has the tokens already.
Run: python -m benchmarks.frequency [n ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.corpus_metric import CorpusMetric
from textgauge.metrics.registry import get_metrics

NAMES = "chi,cbdf,zipf,jsd,kl,vocab_overlap,ttr_gap,self_bleu_gap,lm_cross_entropy"
PERMUTATIONS = 1_000
RECOMPUTED = 20


def rows(sizes: Sequence[int] = (500,)) -> list[dict[str, Any]]:
    """One row per metric and corpus size."""
    return [_row(metric.with_input("words"), n) for n in sizes for metric in get_metrics(NAMES)]


def _row(metric: CorpusMetric, n: int) -> dict[str, Any]:
    joint = Comparison(_texts(n, 1.0, seed=0), _texts(n, 1.1, seed=1)).joint
    joint.counts("words")
    left = np.argsort(np.random.default_rng(2).random((PERMUTATIONS, 2 * n)), axis=1) < n
    ours, values = _timed(metric, joint, Draws(left, ~left), one_by_one=False)
    peer, again = _timed(metric, joint, Draws(left[:RECOMPUTED], ~left[:RECOMPUTED]), one_by_one=True)
    peer *= PERMUTATIONS / RECOMPUTED
    return {
        "name": f"{metric.name}, {PERMUTATIONS} permutations", "n": n, "ours_ms": ours, "peer_ms": peer,
        "ratio": peer / ours, "largest_difference": float(np.abs(values[:RECOMPUTED] - again).max()),
    }  # fmt: skip


def _timed(metric: CorpusMetric, joint: Corpus, draws: Draws, *, one_by_one: bool) -> tuple[float, Any]:
    start = time.process_time()
    values = CorpusMetric.compute_many(metric, joint, draws) if one_by_one else metric.compute_many(joint, draws)
    return 1e3 * (time.process_time() - start), values["value"]


def _texts(n: int, exponent: float, *, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 3_001) ** exponent
    lengths = rng.integers(4, 20, n)
    return [" ".join(f"w{word}" for word in rng.choice(3_000, size, p=shares / shares.sum())) for size in lengths]


if __name__ == "__main__":
    for row in rows([int(size) for size in sys.argv[1:]] or (500,)):
        print("  ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{value}" for key, value in row.items()))
