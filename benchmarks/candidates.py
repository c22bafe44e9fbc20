"""Simulations of boards of several candidates: false statements among equal ones, and what the intervals cover.

`python -m benchmarks.candidates TEXTS` draws a reference and six candidates from one corpus, over and over, and counts
the boards in which every pair is tied, by metric and for all metrics together. With `--foreign TEXTS` the candidates
hold rising shares of foreign texts, and the boards count in which all intervals of differences hold the true ones: the
mean differences over the boards. Lines of JSON go to benchmarks/simulated; `python -m benchmarks.reliability` makes the
table.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np

from benchmarks import simulated
from textgauge.data import Comparison, Corpus, load_corpus
from textgauge.measure.candidates import rank_candidates
from textgauge.metrics import get_corpus_metrics

METRICS = "energy,fid,pr,mauve"
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)


def drawn_board(own: Corpus, foreign: Corpus | None, n: int, candidates: int, rng) -> list[Comparison]:
    """A reference and candidates of n different texts each, the candidates with rising shares of foreign texts."""
    rows = rng.permutation(len(own))[: n * (candidates + 1)].reshape(candidates + 1, n)
    corpora = [own.take(block) for block in rows]
    if foreign is not None:
        others = rng.permutation(len(foreign))[: n * candidates].reshape(candidates, n)
        counts = [round(SHARES[number % len(SHARES)] * n) for number in range(candidates)]
        corpora[1:] = [
            foreign.take(block[:count]) | corpus.take(range(n - count))
            for block, count, corpus in zip(others, counts, corpora[1:], strict=True)
        ]
    return [Comparison(corpora[0], corpus) for corpus in corpora[1:]]


def simulate(texts, *, foreign=None, metrics=METRICS, boards=200, n=300, candidates=6, seed=0):
    """By metric the rankings of all boards; all metrics of a board hold together at 95 %."""
    own = load_corpus(texts)
    other = None if foreign is None else load_corpus(foreign)
    if other is not None:
        joint = own | other
        own, other = joint.take(range(len(own))), joint.take(range(len(own), len(joint)))
    chosen = get_corpus_metrics(metrics)
    found = {metric.key: [] for metric in chosen}
    for board in range(boards):
        comparisons = drawn_board(own, other, n, candidates, np.random.default_rng([seed, board]))
        for metric in chosen:
            values = np.array([metric.measure(comparison).value for comparison in comparisons])
            level = 1 - 0.05 / len(chosen)
            found[metric.key].append(rank_candidates(metric, comparisons, values, level=level, seed=seed + board))
    return found


def tied_boards(found):
    """For every metric and board, whether all pairs are tied."""
    return {metric: np.array([not board.better.any() for board in boards]) for metric, boards in found.items()}


def covering_boards(found):
    """For every metric and board, whether all intervals hold the mean differences."""
    return {metric: _covering(boards) for metric, boards in found.items()}


def _covering(boards):
    gaps = np.array([board.values[None, :] - board.values[:, None] for board in boards]).mean(axis=0)
    off = ~np.eye(len(gaps), dtype=bool)
    return np.array([((board.low <= gaps) & (gaps <= board.high))[off].all() for board in boards])


def shares(of_boards):
    """The share of boards by metric, and for all metrics together."""
    rows = [{"metric": metric, "boards": len(held), "share": float(held.mean())} for metric, held in of_boards.items()]
    together = np.all(list(of_boards.values()), axis=0)
    return [*rows, {"metric": "all together", "boards": len(together), "share": float(together.mean())}]


def table(cells):
    """Markdown: a row per metric and kind of board; boards of several seeds together."""
    found = {}
    for cell in cells:
        found.setdefault(tuple(cell[name] for name in ("foreign", "texts", "n", "metric", "level")), []).append(cell)
    head = ["texts", "foreign texts", "texts of each", "metric", "level", "boards", "right"]
    rows = []
    for (foreign, texts, n, metric, level), some in found.items():
        boards = [cell["boards"] for cell in some]
        right = np.average([cell["share"] for cell in some], weights=boards)
        shown = [texts, foreign or "none", n, metric, f"{100 * level:.4g} %", sum(boards), f"{right:.3f}"]
        rows.append([f"{part}" for part in shown])
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("--foreign")
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--boards", type=int, default=200)
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = vars(parser.parse_args())
    found = simulate(**options)
    rows = shares(tied_boards(found) if options["foreign"] is None else covering_boards(found))
    texts, foreign = (spec and Path(spec).name for spec in (options["texts"], options["foreign"]))
    how = {"texts": texts, "foreign": foreign, "n": options["n"], "seed": options["seed"]}
    level = 1 - 0.05 / len(found)
    levels = [*[level] * len(found), 0.95]
    simulated.add(
        simulated.file_of("candidates"), ({**how, "level": at, **row} for at, row in zip(levels, rows, strict=True))
    )


if __name__ == "__main__":
    main()
