"""Simulation of "the same within a share of foreign texts": false answers at the margin, and power as predicted.

    python -m benchmarks.equivalence OWN FOREIGN [--runs 400] [--embedder wordllama]

OWN and FOREIGN are sources of texts. Reference and candidate are drawn from OWN without overlap; of the candidate the
true share is replaced by foreign texts, and other foreign texts are named. At a true share equal to the margin every
"same" is false. At 0 the share of "same" is the power, beside the mean of those that were predicted. The smallest share
that a test is said to find in 4 of 5 cases is tried as well: cells `found`. A line of JSON for each cell goes to
benchmarks/simulated/equivalence.jsonl; cells that are there are left out.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np

from benchmarks import simulated
from textgauge.data import Comparison, Corpus, load_corpus
from textgauge.data.view import join_pools
from textgauge.measure.foreign_share import estimate_share, find_smallest_share
from textgauge.metrics import CorpusMetric, get_corpus_metrics

FILE = simulated.file_of("equivalence")
CELLS = [(300, 0.2, 0.2), (300, 0.2, 0.0), (1000, 0.1, 0.1), (1000, 0.1, 0.0)]
FOUND = (100, 300)
NAMES = ("design", "own", "foreign", "n", "margin", "share")

Cell = dict[str, Any]


def draw(rng: np.random.Generator, own: Corpus, foreign: Corpus, n: int, share: float) -> tuple[Comparison, Corpus]:
    """Return a reference and a candidate of n texts each, with a share of foreign ones, and n other foreign texts."""
    rows, others = rng.permutation(len(own)), rng.permutation(len(foreign))
    count = int(n * share + rng.random())
    candidate = np.concatenate([own.index[rows[n : 2 * n - count]], foreign.index[others[:count]]])
    comparison = Comparison(own.take(rows[:n]), Corpus(own.pool, candidate))
    return comparison, foreign.take(others[count : count + n])


def simulate(metric: CorpusMetric, own: Corpus, foreign: Corpus, cell: Cell, runs: int) -> Cell:
    """Return how often corpora were called the same, covered by the interval, and how often that was predicted."""
    found = []
    for run in range(runs):
        rng = np.random.default_rng([run, cell["n"], round(100 * cell["share"])])
        comparison, third = draw(rng, own, foreign, cell["n"], cell["share"])
        one = estimate_share(metric, comparison, third, seed=run, within=cell["margin"])
        found.append((one.is_within, one.low <= cell["share"] <= one.high, one.power, one.texts))
    same, covered, power, texts = np.array(found, dtype=float).T
    return {
        "same": same.mean(),
        "covered": covered.mean(),
        "predicted": power.mean(),
        "texts": float(np.median(texts)),
    }


def simulate_smallest(metric: CorpusMetric, own: Corpus, foreign: Corpus, cell: Cell, runs: int) -> Cell:
    """Return how often a test finds the share that it is said to find in 4 of 5 cases, and the mean of these shares."""
    shares, found = [], []
    for run in range(runs):
        rng = np.random.default_rng([run, cell["n"]])
        comparison, third = draw(rng, own, foreign, cell["n"], 0.0)
        null = metric.null_values(comparison, permutations=199, seed=run)
        shares.append(find_smallest_share(metric, comparison, null, third))
        mixed, _ = draw(rng, own, foreign, cell["n"], shares[-1])
        found.append(metric.null_values(mixed, permutations=199, seed=run).p_value <= 0.05)
    return {"same": 1.0 - float(np.mean(found)), "predicted": 0.2, "smallest": float(np.mean(shares))}


def table(cells: list[Cell]) -> str:
    """The cells as Markdown."""
    lines = [
        "| texts, foreign texts | texts a side | margin | true share | called the same | predicted | runs |",
        "|---|---|---|---|---|---|---|",
    ]
    for cell in cells:
        if cell["design"] == "within":
            predicted = "at most 5 %" if cell["share"] else f"{100 * cell['predicted']:.0f} %"
            shares = f"{100 * cell['margin']:g} % | {100 * cell['share']:g} %"
            head = f"{cell['own']}, {cell['foreign']} | {cell['n']} | {shares}"
            lines.append(f"| {head} | {100 * cell['same']:.1f} % | {predicted} | {cell['runs']} |")
    return "\n".join(lines)


def smallest_table(cells: list[Cell]) -> str:
    """How often the share that is said to be found in 4 of 5 cases was found, as Markdown."""
    lines = ["| texts, foreign texts | texts a side | share, on average | found | runs |", "|---|---|---|---|---|"]
    for cell in cells:
        if cell["design"] == "found":
            head = f"{cell['own']}, {cell['foreign']} | {cell['n']} | {100 * cell['smallest']:.0f} %"
            lines.append(f"| {head} | {100 * (1 - cell['same']):.0f} % | {cell['runs']} |")
    return "\n".join(lines)


def main() -> None:
    """Simulate the cells that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("own")
    parser.add_argument("foreign")
    parser.add_argument("--names", nargs=2, default=("own", "foreign"), help="what the table calls them")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--embedder", default="wordllama")
    chosen = parser.parse_args()
    (metric,) = get_corpus_metrics(f"energy@{chosen.embedder}")
    own, foreign = join_pools(load_corpus(chosen.own), load_corpus(chosen.foreign))
    own.pool.embeddings(chosen.embedder)
    there = [{key: cell[key] for key in NAMES} for cell in simulated.read(FILE)]
    named = dict(zip(("own", "foreign"), chosen.names, strict=True))
    cells = [{"design": "found", **named, "n": n, "margin": 0.0, "share": 0.0} for n in FOUND]
    cells += [{"design": "within", **named, "n": n, "margin": margin, "share": share} for n, margin, share in CELLS]
    for cell in cells:
        if cell not in there:
            run = simulate if cell["design"] == "within" else simulate_smallest
            simulated.add(FILE, [cell | run(metric, own, foreign, cell, chosen.runs) | {"runs": chosen.runs}])


if __name__ == "__main__":
    main()
