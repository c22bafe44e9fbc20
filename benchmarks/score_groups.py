"""Simulation of `score`: items that belong to documents, and several metrics that are nearly copies of each other.

    python -m benchmarks.score_groups DESIGN [--runs 300] [--jobs 1]

The designs:

documents  systems are equally good on the whole, but a coin says for every document which one is better there; how
           often is one called better or worse, or ranked above another, and do intervals hold the expected score?
metrics    four metrics that are nearly copies, systems equally good or not; how often is one called better or worse by
           adjusting the p-values by max-T and by Holm's correction?

A line of JSON for each cell goes to benchmarks/simulated/score_groups.jsonl as soon as it is finished; cells that are
there are left out, so that a run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np

import textgauge
from benchmarks import simulated
from textgauge.measure import score_systems
from textgauge.stats.decisions import is_different
from textgauge.stats.resampling import adjust_by_holm

FILE = simulated.file_of("score_groups")
DOCUMENTS = ((25, 4), (8, 12), (50, 2), (100, 1))  # and items of each
METRICS = {"documents": "jaccard,chrf", "metrics": "rouge1,rougeL,jaccard,overlap"}
SIZES, GAPS = (30, 100), (0.0, 0.05, 0.1)
WORDS = np.array([f"{first}{middle}{last}" for first in "bdfgklmnprst" for middle in "aeiou" for last in "dlnrst"])
KEPT, SWING, LENGTH = 0.7, 0.15, 8
RESAMPLES = 200  # for ranks, of which a thousand would take most of the time
NAMES = ("design", "documents", "items", "named", "gap")

Cell = dict[str, Any]


def list_cells(design: str) -> Iterator[Cell]:
    """Yield the settings of a design."""
    if design == "documents":
        for documents, items in DOCUMENTS:
            for named in (True, False) if items > 1 else (False,):
                yield {"design": design, "documents": documents, "items": items, "named": named, "gap": 0.0}
    else:
        for n in SIZES:
            for gap in GAPS:
                yield {"design": design, "documents": n, "items": 1, "named": False, "gap": gap}


def simulate(run: int, cell: Cell) -> dict[str, Any]:
    """Return what was said of systems that keep words of the references by chance."""
    rng = np.random.default_rng([run, cell["documents"], cell["items"], round(100 * cell["gap"])])
    labels = np.repeat(np.arange(cell["documents"]), cell["items"])
    references = rng.choice(WORDS, (len(labels), LENGTH))
    swings = rng.choice([-SWING, SWING], (2, cell["documents"]))[:, labels]
    chances = [KEPT + swings[0] + cell["gap"], KEPT - swings[0], KEPT + swings[1]]
    texts = [_join(_write(references, chance, rng)) for chance in chances]
    right, metrics = _join(references), METRICS[cell["design"]]
    how = {"group": labels.tolist()} if cell["named"] else {}
    found = textgauge.score(left=texts[0], baseline=texts[1], right=right, metrics=metrics, seed=run, **how)
    different = any(is_different(row.p_adjusted) for row in found)
    if cell["design"] == "metrics":
        holm = adjust_by_holm(np.array([row.p_randomisation for row in found]))
        return {"different": different, "holm": any(map(is_different, holm.tolist()))}
    systems = dict(zip("abc", texts, strict=True))
    board = score_systems(systems, right, metrics=metrics, seed=run, resamples=RESAMPLES, **how)
    ranked = any(ranking.better.any() for ranking in board.rankings.values())
    summary = textgauge.score(texts[0], right, metrics=metrics, seed=run, **how).summary()
    ends = {"mean": (summary[0].mean, summary[0].low, summary[0].high)}
    ends |= {"whole set": (summary[1].whole, summary[1].whole_low, summary[1].whole_high)}
    return {"different": different, "ranked": ranked, "intervals": ends}


def _write(references: Any, chance: Any, rng: np.random.Generator) -> Any:
    return np.where(rng.random(references.shape) < chance[:, None], references, rng.choice(WORDS, references.shape))


def _join(rows: Any) -> list[str]:
    return [" ".join(row) for row in rows]


def _summarise(runs: list[dict[str, Any]]) -> Cell:
    """Return shares of runs; of intervals those that hold the mean value of all runs."""
    shares: Cell = {name: float(np.mean([run[name] for run in runs])) for name in runs[0] if name != "intervals"}
    for name in runs[0].get("intervals", ()):
        value, low, high = np.array([run["intervals"][name] for run in runs]).T
        shares[name] = float(((low <= value.mean()) & (value.mean() <= high)).mean())
    return shares


def table(cells: list[Cell]) -> str:
    """The documents as Markdown."""
    lines = [
        "| documents | items of each | group named | better or worse | ranked above another | "
        "interval of a mean covers | of a whole set | runs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell in (cell for cell in cells if cell["design"] == "documents"):
        said = [f"{100 * cell[name]:.1f} %" for name in ("different", "ranked")]
        covered = [f"{cell[name]:.3f}" for name in ("mean", "whole set")]
        head = cell["documents"], cell["items"], "yes" if cell["named"] else "no"
        lines.append(f"| {' | '.join(map(str, (*head, *said, *covered, cell['runs'])))} |")
    return "\n".join(lines)


def metrics_table(cells: list[Cell]) -> str:
    """The adjustment for several metrics as Markdown."""
    lines = ["| items | words kept more by one system | by max-T | by Holm | runs |", "|---|---|---|---|---|"]
    for cell in (cell for cell in cells if cell["design"] == "metrics"):
        said = [f"{100 * cell[name]:.1f} %" for name in ("different", "holm")]
        lines.append(f"| {cell['documents']} | {100 * cell['gap']:.0f} % | {' | '.join(said)} | {cell['runs']} |")
    return "\n".join(lines)


def main() -> None:
    """Simulate the cells of a design that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", choices=METRICS)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    there = [{key: cell[key] for key in NAMES} for cell in simulated.read(FILE)]
    with ProcessPoolExecutor(chosen.jobs) as executor:
        for cell in list_cells(chosen.design):
            if cell not in there:
                found = list(executor.map(partial(simulate, cell=cell), range(chosen.runs), chunksize=5))
                simulated.add(FILE, [cell | _summarise(found) | {"runs": chosen.runs}])


if __name__ == "__main__":
    main()
