"""Simulation of texts that belong together: how often are two samples of one source called different, and noticed?

    python -m benchmarks.dependence DESIGN DOCUMENTS [--runs 300] [--first 0] [--jobs 2] [--cell per_document=2 ...]

DOCUMENTS is a table of documents (`PATH:COLUMN`), which are split into sentences. The designs:

groups      sentences of documents, all documents on one side or the other; tested with and without their group
repeated    three in ten texts repeat another one of their own corpus, both corpora made alike
rewrites    the candidate is the reference with every fourth word deleted; noticed, and found with `paired`
prompts     two systems answer the same prompts (first sentences), one of them with a word more in every third answer
answers     two equal systems answer the same prompts: two sentences of each document, either side getting one
candidates  five candidates of one source; is any different, or nearer than another?
intervals   does the interval of a value hold the mean value of all runs?

A line of JSON for each cell goes to benchmarks/simulated/dependence.jsonl as soon as it is finished; cells that are
there are left out, so that a run goes on where it stopped. Runs are numbered from `--first` on: other numbers are other
draws, and a cell of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
os.environ.setdefault("TEXTGAUGE_THREADS", "1")

import numpy as np

import textgauge
from benchmarks import simulated
from textgauge.data import Corpus, load_texts
from textgauge.measure.comparing import DEFAULT_METRICS
from textgauge.metrics import get_corpus_metrics

SENTENCES = 10
FILE = simulated.file_of("dependence")
SIZES = {"groups": [(100, 100), (200, 80)], "repeated": [(200, 200), (200, 50)], "rewrites": [(150, 150)]}
SIZES |= {"prompts": [(100, 100)], "answers": [(100, 100)], "candidates": [(200, 200)], "intervals": [(200, 200)]}
CANDIDATES = 5
PER_DOCUMENT = (1, 2, 5, 10)
NAMES = ("design", "texts", "per_document", "n", "m", "named", "first")

Cell = dict[str, Any]


def split_documents(path: str) -> list[list[str]]:
    """Return the first ten sentences, of 5 to 40 words, of each document that has as many different ones."""
    documents = []
    for text in dict.fromkeys(load_texts(path).texts):
        pieces = dict.fromkeys(piece.strip() for piece in re.split(r"(?<=[.!?])\s+", text))
        sentences = [piece for piece in pieces if 5 <= len(piece.split()) <= 40]
        if len(sentences) >= SENTENCES:
            documents.append(sentences[:SENTENCES])
    return documents


def list_cells(design: str, texts: str) -> Iterator[Cell]:
    """Yield the settings of a design."""
    for n, m in SIZES[design]:
        sentences = {"groups": PER_DOCUMENT, "candidates": (5,), "intervals": (1, 2, 5)}.get(design, (1,))
        for per_document in sentences:
            for named in {"repeated": (False,), "intervals": (True,)}.get(design, (True, False)):
                if not (named and min(n, m) < 8 * per_document):
                    yield {
                        "design": design,
                        "texts": texts,
                        "per_document": per_document,
                        "n": n,
                        "m": m,
                        "named": named,
                    }


_held: list[Corpus] = []  # of a worker process: what is computed from the texts is computed once


def simulate(run: int, cell: Cell, documents: int, metrics: str) -> dict[str, Any]:
    """Return whether one draw was called different, whether a sign of dependence was noticed, and more by design."""
    (pool,) = _held
    rng = np.random.default_rng([run, cell["per_document"], cell["n"]])
    n, m, size = cell["n"], cell["m"], cell["per_document"]
    if cell["design"] == "candidates":
        return _simulate_candidates(run, cell, pool, documents, metrics)
    order = rng.permutation(documents)
    how: dict[str, Any] = {}
    if cell["design"] in ("rewrites", "prompts"):
        texts = list(pool.take(order[:n] * SENTENCES))
        edit = _drop_fourth if cell["design"] == "rewrites" else partial(_add_word, rng)
        sides = [texts, [edit(number, text) for number, text in enumerate(texts)]]
        how = {"paired": True} if cell["named"] else {}
    elif cell["design"] == "answers":
        places = rng.permuted(np.tile(np.arange(SENTENCES), (n, 1)), axis=1)[:, :2]
        sides = [pool.take(order[:n] * SENTENCES + place) for place in places.T]
        how = {"paired": True} if cell["named"] else {}
    elif cell["design"] == "repeated":
        halves = [pool.take(part * SENTENCES) for part in np.array_split(order, 2)]
        sides = [_repeat(side, count, rng) for side, count in zip(halves, (n, m), strict=True)]
    else:
        counts = n // size, m // size
        starts = rng.integers(0, SENTENCES - size + 1, sum(counts))
        rows = (order[: sum(counts)] * SENTENCES + starts)[:, None] + np.arange(size)
        labels = np.repeat(np.arange(sum(counts)), size)
        sides = [pool.take(part.reshape(-1)) for part in (rows[: counts[0]], rows[counts[0] :])]
        cut = counts[0] * size
        how = {"group": (labels[:cut].tolist(), labels[cut:].tolist())} if cell["named"] else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = textgauge.compare(*sides, metrics=metrics, seed=run, ci=cell["design"] == "intervals", **how)
    p = [score.p_adjusted for score in report if not np.isnan(score.p_adjusted)]
    found = {"different": min(p) <= 0.05, "noticed": report.sign is not None}
    if cell["design"] == "intervals":
        found["intervals"] = {score.metric.partition("(")[0]: (score.value, score.low, score.high) for score in report}
    return found


def _simulate_candidates(run: int, cell: Cell, pool: Corpus, documents: int, metrics: str) -> dict[str, Any]:
    rng = np.random.default_rng([run, cell["n"]])
    count, size = cell["n"] // cell["per_document"], cell["per_document"]
    order = rng.permutation(documents)[: count * (CANDIDATES + 1)].reshape(-1, count)
    names = ["reference", *(f"c{number}" for number in range(CANDIDATES))]
    corpora = {
        name: pool.take((part * SENTENCES)[:, None] + np.arange(size).reshape(1, -1))
        for name, part in zip(names, order, strict=True)
    }
    labels = {name: np.repeat(part, size).tolist() for name, part in zip(names, order, strict=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how = {"group": labels} if cell["named"] else {}
        report = textgauge.compare(corpora.pop("reference"), corpora, metrics=metrics, seed=run, **how)
    nearer = any(len(ranking.unbeaten()) < CANDIDATES for ranking in report.rankings.values())
    return {"different": any(row.differs for row in report), "noticed": report.sign is not None, "nearer": nearer}


def _cover(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Return the share of intervals that hold the mean value of all runs, by metric; none where few are offered."""
    covered = {}
    for metric in runs[0]["intervals"]:
        value, low, high = np.array([run["intervals"][metric] for run in runs], dtype=float).T
        if np.isfinite(low).mean() > 0.8:
            covered[metric] = float(((low <= value.mean()) & (value.mean() <= high))[np.isfinite(low)].mean())
    return covered


def _repeat(side: Corpus, count: int, rng: np.random.Generator) -> Corpus:
    own = round(0.7 * count)
    return side.take(np.concatenate([np.arange(own), rng.integers(own, size=count - own)]))


def _drop_fourth(_: int, text: str) -> str:
    return " ".join(word for place, word in enumerate(text.split()) if place % 4 != 3)


def _add_word(rng: np.random.Generator, number: int, text: str) -> str:
    return f"{text} Certainly." if number % 3 == 0 else text


def table(cells: list[Cell]) -> str:
    """The cells as Markdown."""
    lines = [
        "| design | texts | per document | sizes | named | different | noticed | runs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell in cells:
        seen = not cell["named"] and "noticed" in cell  # a sign is looked for where nothing is named
        shares = [f"{100 * cell['different']:.0f} %", f"{100 * cell['noticed']:.0f} %" if seen else "–"]
        if "nearer" in cell:
            shares[0] += f", nearer {100 * cell['nearer']:.0f} %"
        head = cell["design"], cell["texts"], cell["per_document"], f"{cell['n']}/{cell['m']}"
        lines.append(f"| {' | '.join(map(str, (*head, 'yes' if cell['named'] else 'no', *shares, cell['runs'])))} |")
    return "\n".join(lines)


def coverage_table(cells: list[Cell]) -> str:
    """The coverage of intervals by groups as Markdown."""
    cells = [cell for cell in cells if "covered" in cell]
    lines = ["| metric | texts | per document | sizes | covered | runs |", "|---|---|---|---|---|---|"]
    for cell in cells:
        head = f"{cell['texts']} | {cell['per_document']} | {cell['n']}/{cell['m']}"
        lines += [f"| `{name}` | {head} | {share:.3f} | {cell['runs']} |" for name, share in cell["covered"].items()]
    return "\n".join(lines)


def main() -> None:
    """Simulate the cells of a design that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", choices=SIZES)
    parser.add_argument("documents")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cell", nargs="*", default=[], help="only cells with these values, such as named=false")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--metrics", default=DEFAULT_METRICS)
    chosen = parser.parse_args()
    documents = split_documents(chosen.documents)
    pool = Corpus.of([sentence for document in documents for sentence in document])
    for embedder in {metric.embedder for metric in get_corpus_metrics(chosen.metrics) if not metric.reads_texts}:
        pool.embeddings(embedder)
    name = Path(chosen.documents.partition(":")[0]).name.partition(".")[0]
    there = [{key: cell.get(key, 0) for key in NAMES} for cell in simulated.read(FILE)]
    wanted = {name: json.loads(value) for name, _, value in (text.partition("=") for text in chosen.cell)}
    with ProcessPoolExecutor(chosen.jobs, initializer=_held.append, initargs=(pool,)) as executor:
        for cell in list_cells(chosen.design, name):
            cell |= {"first": chosen.first}
            if cell in there or cell | wanted != cell:
                continue
            one = partial(simulate, cell=cell, documents=len(documents), metrics=chosen.metrics)
            runs = range(chosen.first, chosen.first + chosen.runs)
            found = list(executor.map(one, runs, chunksize=5))
            names = [name for name in found[0] if name != "intervals"]
            shares: Cell = {name: float(np.mean([run[name] for run in found])) for name in names}
            if chosen.design == "intervals":
                shares["covered"] = _cover(found)
            simulated.add(FILE, [cell | shares | {"runs": len(runs), "metrics": chosen.metrics}])


if __name__ == "__main__":
    main()
