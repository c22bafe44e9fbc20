"""Are the p-values of corpus metrics uniform where both corpora come from one population?

    python -m benchmarks.calibration [--simulations 500] [--n 100] [--jobs 2] [metric ...]

Populations: embeddings of 32 dimensions around 12 topics with a falling spectrum, and texts of Zipf-distributed words
with topics.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from zlib import crc32

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
os.environ.setdefault("TEXTGAUGE_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from textgauge import get_metric, list_metrics
from textgauge.data import Comparison, Corpus
from textgauge.metrics import CorpusMetric
from textgauge.testing import drop_models

Floats = NDArray[np.float64]

TOPICS, DIMENSIONS, WORDS = 12, 32, 120


def corpus(metric: CorpusMetric, side: int, apart: float, n: int, rng: np.random.Generator) -> Corpus:
    """A fresh sample of n texts, or embeddings, from one of the two populations."""
    shared = np.random.default_rng(99)
    tilt = np.linspace(-1.0, 1.0, TOPICS) * (1 if side == 0 else -1)
    shares = 1.0 + apart * tilt
    topics = rng.choice(TOPICS, n, p=shares / shares.sum())
    if metric.needs != "tokens":
        spectrum = 1.0 / np.sqrt(1.0 + np.arange(DIMENSIONS))
        centres = shared.normal(size=(TOPICS, DIMENSIONS)) * spectrum
        return Corpus.of((centres[topics] + rng.normal(size=(n, DIMENSIONS)) * spectrum).astype(np.float32))
    weights = 1.0 / np.arange(1, WORDS + 1)
    orders = [shared.permutation(WORDS) for _ in range(TOPICS)]
    return Corpus.of([_text(orders[topic], weights / weights.sum(), rng) for topic in topics])


def _text(order: NDArray[np.int64], shares: Floats, rng: np.random.Generator) -> str:
    return " ".join(f"w{order[rank]}" for rank in rng.choice(WORDS, rng.integers(4, 12), p=shares))


def _random(metric: CorpusMetric, purpose: str) -> np.random.Generator:
    """A stream of its own for each metric and purpose, so that one unlucky stream does not show in all of them."""
    return np.random.default_rng(crc32(f"{metric.key} {purpose}".encode()))


def p_values(metric: CorpusMetric, n: int, simulations: int, permutations: int = 199) -> Floats:
    """p-values of corpora from one population."""
    rng = _random(metric, "p-values")
    draws = (Comparison(*(corpus(metric, 0, 0.0, n, rng) for _ in range(2))) for _ in range(simulations))
    found = [metric.null_values(draw, permutations=permutations, seed=seed).p_value for seed, draw in enumerate(draws)]
    return np.array(found)


def _report(name: str, simulations: int, n: int) -> list[str]:
    from scipy.stats import kstest

    metric = drop_models(get_metric(name))
    uniform = p_values(metric, n, simulations)
    small, fit = float((uniform <= 0.05).mean()), float(kstest(uniform, "uniform").pvalue)
    return [name, f"{small:.3f}", f"{fit:.3f}"]


def main() -> None:
    """Print a Markdown table, a line as soon as it is known."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("metrics", nargs="*", default=[metric.name for metric in list_metrics()])
    options.add_argument("--simulations", type=int, default=500)
    options.add_argument("--n", type=int, default=100)
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    print("| metric | share of p ≤ 0.05 | KS p |\n|---|---|---|", flush=True)
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for row in pool.map(partial(_report, simulations=chosen.simulations, n=chosen.n), chosen.metrics):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
