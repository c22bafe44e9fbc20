"""Simulation of texts that belong together: how often are two samples of one source called different, and noticed?

    python -m benchmarks.dependence DESIGN TEXTS [--runs 300] [--first 0] [--jobs 2] [--cell per_document=2 ...]

TEXTS is a table of documents (`PATH:COLUMN`), which are split into sentences; for `models` one of answers, with the
columns of the prompt and of the system (`--columns`). The designs:

groups      sentences of documents, all documents on one side or the other; tested with and without their group
repeated    three in ten texts repeat another one of their own corpus, both corpora made alike
rewrites    the candidate is the reference with every fourth word deleted; noticed, and found with `paired`
prompts     two systems answer the same prompts (first sentences), one of them with a word more in every third answer
answers     two equal systems answer the same prompts: two sentences of each document, either side getting one
shuffled    the same, one side in another order
models      two systems of the table answer the same prompts, in the same order
candidates  five candidates of one source; is any different, or nearer than another?
intervals   does the interval of a value hold the mean value of all runs, by groups?
blocks      the same of two systems that answer the same prompts, by pairs

A line of JSON for 50 runs of a cell goes to benchmarks/simulated/dependence.jsonl as soon as they are finished; those
that are there are left out, so that a run goes on where it stopped. Runs are numbered from `--first` on: other numbers
are other draws, and lines of the same cell and metrics are pooled.
"""

from __future__ import annotations

import argparse
import itertools
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
DESIGNS = {  # sizes, sentences of a document, and whether groups or pairs are named
    "groups": ([(100, 100), (200, 80)], (1, 2, 5, 10), (True, False)),
    "repeated": ([(200, 200), (200, 50)], (1,), (False,)),
    "rewrites": ([(150, 150)], (1,), (True, False)),
    "prompts": ([(100, 100)], (1,), (True, False)),
    "answers": ([(100, 100)], (1,), (True, False)),
    "shuffled": ([(100, 100)], (1,), (False,)),
    "models": ([(30, 30), (100, 100)], (1,), (False,)),
    "candidates": ([(200, 200)], (5,), (True, False)),
    "intervals": ([(200, 200)], (1, 2, 5), (True,)),
    "blocks": ([(200, 200)], (1,), (True,)),
}
WITH_INTERVALS = ("intervals", "blocks")
CANDIDATES = 5
PART = 50  # runs of a line
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


def read_answers(path: str, prompt: str, system: str) -> tuple[list[str], dict[str, dict[str, int]]]:
    """Return different answers, and by system which of them answers which prompt."""
    texts = load_texts(path, labels=prompt)
    systems = load_texts(path, labels=system).labels
    places: dict[str, int] = {}
    rows: dict[str, dict[str, int]] = {}
    for text, of, by in zip(texts.texts, texts.labels or (), systems or (), strict=True):
        rows.setdefault(by, {})[of] = places.setdefault(text, len(places))
    return list(places), rows


def list_cells(design: str, texts: str) -> Iterator[Cell]:
    """Yield the settings of a design."""
    sizes, sentences, names = DESIGNS[design]
    for (n, m), per_document, named in itertools.product(sizes, sentences, names):
        if not (named and min(n, m) < 8 * per_document):
            values = (design, texts, per_document, n, m, named)
            yield dict(zip(NAMES, values, strict=False))


def draw(rng: np.random.Generator, cell: Cell, pool: Corpus, documents: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the texts of both sides, and what is named of them."""
    design, n, m, size = cell["design"], cell["n"], cell["m"], cell["per_document"]
    paired = {"paired": True} if cell["named"] else {}
    if design == "models":
        pairs = [(a, b, sorted(a.keys() & b.keys())) for a, b in itertools.combinations(documents.values(), 2)]
        pairs = [pair for pair in pairs if len(pair[2]) >= n]
        a, b, prompts = pairs[rng.integers(len(pairs))]
        chosen = rng.permutation(prompts)[:n].tolist()
        return [pool.take([side[prompt] for prompt in chosen]) for side in (a, b)], paired
    order = rng.permutation(documents)
    if design in ("rewrites", "prompts"):
        texts = list(pool.take(order[:n] * SENTENCES))
        edit = _drop_fourth if design == "rewrites" else _add_word
        return [texts, [edit(number, text) for number, text in enumerate(texts)]], paired
    if design in ("answers", "shuffled", "blocks"):
        places = rng.permuted(np.tile(np.arange(SENTENCES), (n, 1)), axis=1)[:, :2]
        sides = [pool.take(order[:n] * SENTENCES + place) for place in places.T]
        return [sides[0], sides[1].take(rng.permutation(n)) if design == "shuffled" else sides[1]], paired
    if design == "repeated":
        halves = [pool.take(part * SENTENCES) for part in np.array_split(order, 2)]
        return [_repeat(side, count, rng) for side, count in zip(halves, (n, m), strict=True)], {}
    counts = n // size, m // size
    starts = rng.integers(0, SENTENCES - size + 1, sum(counts))
    rows = (order[: sum(counts)] * SENTENCES + starts)[:, None] + np.arange(size)
    labels, cut = np.repeat(np.arange(sum(counts)), size), counts[0] * size
    sides = [pool.take(part.reshape(-1)) for part in (rows[: counts[0]], rows[counts[0] :])]
    return sides, {"group": (labels[:cut].tolist(), labels[cut:].tolist())} if cell["named"] else {}


_held: list[Any] = []  # of a worker: texts, so that it embeds them once, and the number of documents or the answers


def simulate(run: int, cell: Cell, metrics: str) -> dict[str, Any]:
    """Return whether one draw was called different, whether a sign of dependence was noticed, and more by design."""
    pool, documents = _held
    if cell["design"] == "candidates":
        return _simulate_candidates(run, cell, pool, documents, metrics)
    sides, how = draw(np.random.default_rng([run, cell["per_document"], cell["n"]]), cell, pool, documents)
    with_intervals = cell["design"] in WITH_INTERVALS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = textgauge.compare(*sides, metrics=metrics, seed=run, ci=with_intervals, **how)
    p = [score.p_adjusted for score in report if not np.isnan(score.p_adjusted)]
    found = {"different": min(p) <= 0.05, "noticed": report.sign is not None}
    if with_intervals:
        found["intervals"] = {
            score.metric.partition("(")[0]: [float(f"{end:.6g}") for end in (score.value, score.low, score.high)]
            for score in report
        }
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


def _repeat(side: Corpus, count: int, rng: np.random.Generator) -> Corpus:
    own = round(0.7 * count)
    return side.take(np.concatenate([np.arange(own), rng.integers(own, size=count - own)]))


def _drop_fourth(_: int, text: str) -> str:
    return " ".join(word for place, word in enumerate(text.split()) if place % 4 != 3)


def _add_word(number: int, text: str) -> str:
    return f"{text} Certainly." if number % 3 == 0 else text


def pool_parts(cells: list[Cell]) -> list[Cell]:
    """Return the cells with what their parts found together, in the order of designs."""
    parts: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        parts.setdefault((*(cell[name] for name in NAMES[:-1]), cell["metrics"]), []).append(cell)
    pooled = []
    for own in parts.values():
        cell, runs = dict(own[0]), [part["runs"] for part in own]
        for name in ("different", "noticed", "nearer"):
            if name in cell:
                cell[name] = float(np.average([part[name] for part in own], weights=runs))
        if "intervals" in cell:
            cell["covered"] = {
                metric: _cover([one for part in own for one in part["intervals"][metric]])
                for metric in cell["intervals"]
            }
        pooled.append(cell | {"runs": sum(runs)})
    return sorted(pooled, key=lambda cell: (list(DESIGNS).index(cell["design"]), cell["texts"], cell["n"] != cell["m"]))


def _cover(intervals: list[list[float]]) -> float:
    """Return the share of values with their intervals, where there are some, that hold the mean of all values."""
    value, low, high = np.array(intervals, dtype=float).T
    return float(((low <= value.mean()) & (value.mean() <= high))[np.isfinite(low)].mean())


def table(cells: list[Cell]) -> str:
    """The cells as Markdown."""
    lines = [
        "| design | texts | per document | sizes | metrics | named | different | noticed | runs |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for cell in pool_parts(cells):
        if cell["design"] not in WITH_INTERVALS:
            is_looked_for = not cell["named"] and "noticed" in cell
            shares = [f"{100 * cell['different']:.1f} %", f"{100 * cell['noticed']:.1f} %" if is_looked_for else "–"]
            if "nearer" in cell:
                shares[0] += f", nearer {100 * cell['nearer']:.1f} %"
            count, embedder = cell["metrics"].count(",") + 1, "wordllama" if "@" in cell["metrics"] else "minilm"
            sizes, named = f"{cell['n']}/{cell['m']}", "yes" if cell["named"] else "no"
            head = cell["design"], cell["texts"], cell["per_document"], sizes, f"{count} on {embedder}", named
            lines.append(f"| {' | '.join(map(str, (*head, *shares, cell['runs'])))} |")
    return "\n".join(lines)


def coverage_table(cells: list[Cell]) -> str:
    """The coverage of intervals by groups and pairs as Markdown."""
    lines = ["| metric | texts | named | sizes | covered | runs |", "|---|---|---|---|---|---|"]
    for cell in pool_parts(cells):
        named = "pairs" if cell["design"] == "blocks" else f"groups of {cell['per_document']}"
        head = f"{cell['texts']} | {named} | {cell['n']}/{cell['m']}"
        for name, share in cell.get("covered", {}).items():
            lines.append(f"| `{name}` | {head} | {share:.3f} | {cell['runs']} |")
    return "\n".join(lines)


def main() -> None:
    """Simulate the cells of a design that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", choices=DESIGNS)
    parser.add_argument("texts")
    parser.add_argument("--columns", nargs=2, default=("prompt", "system"), help="of the answers of `models`")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cell", nargs="*", default=[], help="only cells with these values, such as named=false")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--metrics", default=DEFAULT_METRICS)
    chosen = parser.parse_args()
    if chosen.design == "models":
        texts, documents = read_answers(chosen.texts, *chosen.columns)
    else:
        split = split_documents(chosen.texts)
        texts, documents = [sentence for document in split for sentence in document], len(split)
    pool = Corpus.of(texts)
    for embedder in {metric.embedder for metric in get_corpus_metrics(chosen.metrics) if not metric.reads_texts}:
        pool.embeddings(embedder)
    name = Path(chosen.texts.partition(":")[0]).name.partition(".")[0]
    there = [{key: cell.get(key, 0) for key in NAMES} for cell in simulated.read(FILE)]
    wanted = {name: json.loads(value) for name, _, value in (text.partition("=") for text in chosen.cell)}
    starts = range(chosen.first, chosen.first + chosen.runs, PART)
    cells = [cell | {"first": start} for cell in list_cells(chosen.design, name) for start in starts]
    with ProcessPoolExecutor(chosen.jobs, initializer=_held.extend, initargs=([pool, documents],)) as executor:
        for cell in cells:
            if cell not in there and cell | wanted == cell:
                runs = range(cell["first"], min(cell["first"] + PART, chosen.first + chosen.runs))
                one = partial(simulate, cell=cell, metrics=chosen.metrics)
                found = list(executor.map(one, runs, chunksize=5))
                names = [name for name in found[0] if name != "intervals"]
                shares: Cell = {name: float(np.mean([run[name] for run in found])) for name in names}
                if "intervals" in found[0]:
                    shares["intervals"] = {
                        name: [run["intervals"][name] for run in found] for name in found[0]["intervals"]
                    }
                simulated.add(FILE, [cell | shares | {"runs": len(runs), "metrics": chosen.metrics}])


if __name__ == "__main__":
    main()
