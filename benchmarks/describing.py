"""Simulation of `describe`: how often is a corpus called worse than real texts of its own source, and a bad one?

    python -m benchmarks.describing DESIGN SOURCE [--embedder wordllama] [--runs 200] [--labels COLUMN] [--sizes N/N/N]

Generated, train and test texts are drawn from SOURCE without overlap. The designs:

equal   all three are of one source
large   the same with ten times as many texts
groups  the same with five sentences of each document of SOURCE, with and without their group
half    generated texts are about half of the topics (LABELS names their column)
copies  a fifth of the generated texts are train texts

A line of JSON for each cell goes to benchmarks/simulated/describing.jsonl as soon as it is finished; cells that are
there are left out, so that a run goes on where it stopped. `worse` is the share of runs with any property called worse.
Grammar and plausibility, means that do not depend on the number of texts, are left out, and so is `repetition`, which
has no interval.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
os.environ.setdefault("TEXTGAUGE_THREADS", "1")

import numpy as np

from benchmarks import simulated
from benchmarks.dependence import SENTENCES, split_documents
from textgauge.data import Corpus, load_texts
from textgauge.measure.describing import Measuring
from textgauge.metrics.properties import list_properties
from textgauge.metrics.properties.base import PROPERTIES
from textgauge.metrics.properties.texts import number_forms

FILE = simulated.file_of("describing")
SMALL = [(100, 100, 100), (100, 1000, 100), (500, 100, 100), (100, 100, 500), (100, 1000, 0)]
LARGE = (1000, 10_000, 1000)
SIZES = {"equal": SMALL, "large": [LARGE], "groups": SMALL[:3], "half": [SMALL[1]], "copies": [SMALL[1]]}
MOST = 15_000  # texts of a source
PER_DOCUMENT = 5
NAMES = ("design", "texts", "embedder", "generated", "train", "test", "named")

Cell = dict[str, Any]


def draw(rng: np.random.Generator, cell: Cell, topics: np.ndarray | None, size: int) -> list[np.ndarray]:
    """Return the rows of generated, train and test texts."""
    counts = [cell[name] for name in ("generated", "train", "test")]
    if cell["design"] == "groups":
        documents = rng.permutation(size // SENTENCES)[: sum(counts) // PER_DOCUMENT]
        starts = rng.integers(0, SENTENCES - PER_DOCUMENT + 1, len(documents))
        order = ((documents * SENTENCES + starts)[:, None] + np.arange(PER_DOCUMENT)).reshape(-1)
    else:
        order = rng.permutation(size)
    if cell["design"] == "half" and topics is not None:
        kept = np.isin(topics, rng.permutation(topics.max() + 1)[: (topics.max() + 1) // 2])
        order = np.concatenate([order[kept[order]][: counts[0]], np.setdiff1d(order, order[kept[order]][: counts[0]])])
        order[counts[0] :] = rng.permutation(order[counts[0] :])
    rows = np.split(order[: sum(counts)], np.cumsum(counts)[:-1])
    if cell["design"] == "copies":
        rows[0][: counts[0] // 5] = rows[1][: counts[0] // 5]
    return rows


def simulate(run: int, cell: Cell, pool: Corpus, forms: np.ndarray, topics: np.ndarray | None) -> set[str]:
    """Return the properties that one draw calls worse."""
    rng = np.random.default_rng([run, cell["generated"], cell["train"], cell["test"]])
    generated, train, test = (pool.take(rows) for rows in draw(rng, cell, topics, len(pool)))
    groups = np.arange(len(pool)) // SENTENCES if cell["named"] else None
    corpora = {"generated": generated, "train": train} | ({"test": test} if len(test) else {})
    measuring = Measuring(corpora, cell["embedder"], groups=groups, seed=run)
    measuring.__dict__["_forms"] = forms  # of all texts, once
    rows = measuring.measure_properties(level=0.95, ci=True)
    return {row.property for row in rows if row.worse_than}


def table(cells: list[Cell]) -> str:
    """The cells as Markdown."""
    lines = [
        "| design | texts, embedder | generated/train/test | group named | called worse | most often | runs |",
        "|---|---|---|---|---|---|---|",
    ]
    for cell in cells:
        often = ", ".join(f"`{name}` {100 * share:.3g} %" for name, share in list(cell["properties"].items())[:2])
        sizes = "/".join(f"{cell[name]:,}" for name in ("generated", "train", "test"))
        named = {"groups": "yes" if cell["named"] else "no"}.get(cell["design"], "")
        head = f"{cell['design']} | {cell['texts']}, {cell['embedder']} | {sizes} | {named}"
        lines.append(f"| {head} | {100 * cell['worse']:.1f} % | {often} | {cell['runs']} |")
    return "\n".join(lines)


def main() -> None:
    """Simulate the cells of a design that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", choices=SIZES)
    parser.add_argument("source")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--labels", help="the column of topics")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sizes", nargs="*", help="generated/train/test texts, in place of those of the design")
    chosen = parser.parse_args()
    sizes_of = [tuple(map(int, sizes.split("/"))) for sizes in chosen.sizes or ()] or SIZES[chosen.design]
    topics = None
    if chosen.design == "groups":
        texts = [sentence for document in split_documents(chosen.source) for sentence in document]
    else:
        found = load_texts(chosen.source, labels=chosen.labels)
        labels = dict(zip(found.texts, found.labels or found.texts, strict=True))
        order = np.random.default_rng(0).permutation(len(labels))[:MOST]
        different = list(labels)
        texts = [different[row] for row in order]
        topics = np.unique([labels[text] for text in texts], return_inverse=True)[1]
    pool = Corpus.of(texts)
    pool.embeddings(chosen.embedder)
    forms = number_forms(texts)[0]
    list_properties()
    del PROPERTIES["repetition"]
    name = Path(chosen.source.partition(":")[0]).name.partition(".")[0]
    there = [{key: cell[key] for key in NAMES} for cell in simulated.read(FILE)]
    for sizes in sizes_of:
        for named in (True, False) if chosen.design == "groups" else (False,):
            values = (chosen.design, name, chosen.embedder, *sizes, named)
            cell: Cell = dict(zip(NAMES, values, strict=True))
            if cell in there:
                continue
            worse = [simulate(run, cell, pool, forms, topics) for run in range(chosen.runs)]
            counts = Counter(name for one in worse for name in one)
            shares = {name: count / chosen.runs for name, count in counts.most_common()}
            any_worse = float(np.mean([bool(one) for one in worse]))
            simulated.add(FILE, [cell | {"worse": any_worse, "properties": shares, "runs": chosen.runs}])


if __name__ == "__main__":
    main()
