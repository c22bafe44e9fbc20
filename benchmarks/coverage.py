"""How often do the 95 % intervals of corpus metrics hold what they are for? Simulated on real and synthetic texts.

    python -m benchmarks.coverage [--metrics energy,fid] [--simulations 400] [--sources ...] [--cases ...]
                                  [--sizes 100/100,200/50] [--seed 0] [--file benchmarks/simulated/coverage.jsonl]

adds a line of JSON to the file for each metric, source, case, pair of sizes and seed that it does not hold yet, so that
it can be stopped and called again; all metrics see the same samples. Intervals are simulated at all sizes, also where
they are not offered. The truth is the mean of the metric over fresh samples of these sizes: the simulated ones, and as
many more. `python -m benchmarks.reliability` makes the tables; simulations of one cell with several seeds are taken
together.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from zlib import crc32

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
os.environ.setdefault("TEXTGAUGE_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from benchmarks import simulated
from textgauge import get_metric, list_metrics
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, TextgaugeError
from textgauge.data import Comparison, Corpus, Pool, find_data_table, load_texts
from textgauge.metrics import CorpusMetric, Score
from textgauge.metrics.base import Undefined
from textgauge.metrics.uncertainty import compute_normal_reach, wilson
from textgauge.testing import drop_models

# Share of texts of the second source in the reference and in the candidate.
CASES = {"null": (0.5, 0.5), "near": (0.3, 0.7), "far": (0.0, 1.0)}
SIZES = ((20, 20), (30, 30), (100, 100), (300, 300), (200, 50))
SYNTHETIC = "synthetic"
# Real pairs of sources that methods and sizes were chosen on, and what takes the place of data sets not at hand.
EXPLORED = {"banking77+clinc150": "sample:banking+sample:support", "atis+nfcats": "sample:cooking+sample:travel"}
# Pairs that confirm the choice: tables in a folder of TEXTGAUGE_DATA, with the column.
CONFIRMING = {
    "stackoverflow+ag_news": ("stackoverflow_titles/stackoverflow20:text", "ag_news/ag_news_test:title"),
    "huffpost+phone_reviews": (
        "huffpost_headlines/huffpost_v3_recent:headline",
        "phone_reviews/phone_review_sentences:text",
    ),
}
TEXTS = 8_000  # of each source
LEAST, MOST = 0.93, 0.97
TOPICS, DIMENSIONS, WORDS, TILT = 12, 32, 1_000, 0.8


@dataclass(frozen=True)
class Cell:
    """What the simulation of one metric showed; `coverage` is None where most samples are offered no interval.

    Cells without a seed are those whose raw lines were not kept: they are copied from the printed table.
    """

    metric: str
    source: str
    case: str
    n: int
    m: int
    simulations: int
    coverage: float | None
    width: float | None = None  # mean, over the standard deviation of the value; 3.92 would do for a normal one
    seed: int | None = None


@dataclass(frozen=True)
class Population:
    """Two sources of texts with embeddings, in one pool."""

    pool: Pool
    sources: tuple[NDArray[np.int64], NDArray[np.int64]]

    def sample(self, share: float, n: int, rng: np.random.Generator) -> Corpus:
        """n different texts, each of the second source with this probability."""
        second = int(rng.binomial(n, share))
        counts = n - second, second
        rows = [rng.choice(rows, count, replace=False) for rows, count in zip(self.sources, counts, strict=True)]
        return Corpus(self.pool, np.concatenate(rows))


@cache
def population(name: str, *, embedded: bool = True) -> Population:
    """A synthetic population, or two real sources joined by +, with their embeddings or without."""
    if name == SYNTHETIC:
        return _synthetic()
    texts = [_texts(spec) for spec in _specs(name)]
    both = [text for source in texts for text in source]
    first = len(texts[0])
    pool = Pool(both, embeddings=Pool(both).embeddings("minilm")) if embedded else Pool(both)
    return Population(pool, (np.arange(first), np.arange(first, len(both))))


def _specs(name: str) -> list[str]:
    if name in CONFIRMING:
        return [_table(spec) for spec in CONFIRMING[name]]
    try:
        for spec in name.split("+"):
            load_texts(spec)
    except TextgaugeError:
        return EXPLORED[name].split("+")
    return name.split("+")


def _table(spec: str) -> str:
    stem, column = spec.split(":")
    path = find_data_table(stem)
    if path is None:
        raise InputError(f"put {stem} with a column {column} into a folder named by TEXTGAUGE_DATA")
    return f"{path}:{column}"


def _texts(spec: str) -> list[str]:
    """Different texts of a data set, in random order."""
    texts = sorted({text for text in load_texts(spec).texts if text.strip()})
    return [texts[row] for row in np.random.default_rng(crc32(spec.encode())).permutation(len(texts))[:TEXTS]]


def _synthetic() -> Population:
    """Vectors around topics with a falling spectrum, beside texts of Zipf-distributed words.

    The topics' shares rise in one source and fall in the other.
    """
    rng = np.random.default_rng(99)
    spectrum = 1.0 / np.sqrt(1.0 + np.arange(DIMENSIONS))
    centres = rng.normal(size=(TOPICS, DIMENSIONS)) * spectrum
    orders = np.array([rng.permutation(WORDS) for _ in range(TOPICS)])
    tilt = TILT * np.linspace(-1.0, 1.0, TOPICS)
    topics = np.concatenate([rng.choice(TOPICS, TEXTS, p=(1.0 + sign * tilt) / TOPICS) for sign in (1, -1)])
    vectors = centres[topics] + rng.normal(size=(len(topics), DIMENSIONS)) * spectrum
    shares = 1.0 / np.arange(1, WORDS + 1)
    ranks = [rng.choice(WORDS, length, p=shares / shares.sum()) for length in rng.integers(4, 12, len(topics))]
    texts = [" ".join(f"w{word}" for word in order[rank]) for order, rank in zip(orders[topics], ranks, strict=True)]
    pool = Pool(texts, embeddings=vectors.astype(np.float32))
    return Population(pool, (np.arange(TEXTS), np.arange(TEXTS, 2 * TEXTS)))


def ends(metric: CorpusMetric, comparison: Comparison, score: Score, *, level: float, seed: int) -> list[float]:
    """Both ends of the interval, at any size; NaN where there is none."""
    try:
        return list(metric.interval_ends(comparison, score, level=level, seed=seed)[:2])
    except Undefined:
        return [np.nan, np.nan]


def coverage(
    names: Sequence[str],
    source: str,
    case: str,
    sizes: tuple[int, int],
    *,
    simulations: int,
    level: float = 0.95,
    seed: int = 0,
) -> list[Cell]:
    """How often the interval of each metric holds its mean over fresh samples."""
    metrics = [get_metric(name) for name in names]
    found = population(source, embedded=not all(metric.needs == "tokens" for metric in metrics))
    rng = np.random.default_rng([crc32(f"{source} {case} {sizes}".encode()), seed])

    def draw() -> Comparison:
        first, second = (found.sample(share, n, rng) for share, n in zip(CASES[case], sizes, strict=True))
        return Comparison(first, second)

    one = Comparison(Corpus(found.pool, 0), Corpus(found.pool, 1))
    metrics = [drop_models(m) if source == SYNTHETIC else m.on_given(one) for m in metrics]
    values, intervals = [], []
    for number in range(simulations):
        comparison = draw()
        scores = [metric.measure(comparison) for metric in metrics]
        values.append([score.value for score in scores])
        intervals.append(
            [
                ends(metric, comparison, score, level=level, seed=number)
                for metric, score in zip(metrics, scores, strict=True)
            ]
        )
    for _ in range(simulations):
        comparison = draw()
        values.append([metric.measure(comparison).value for metric in metrics])
    columns = zip(names, np.array(values).T, np.array(intervals).swapaxes(0, 1), strict=True)
    return [replace(_cell((name, source, case, *sizes), truths, both), seed=seed) for name, truths, both in columns]


def _cell(place: tuple[str, str, str, int, int], values: Floats, intervals: Floats) -> Cell:
    low, high = intervals[np.isfinite(intervals).all(axis=1)].T
    if len(low) < len(intervals) / 2:
        return Cell(*place, 0, None, None)
    truth = np.mean(values)
    held, width = np.mean((low <= truth) & (truth <= high)), np.mean(high - low) / np.std(values)
    return Cell(*place, len(low), float(held), float(width))


def run(
    file: Path, names: Sequence[str], cells: Iterable[tuple[str, str, tuple[int, int]]], *, simulations: int, seed: int
) -> None:
    """Simulate what the file does not hold yet."""
    done = {(cell.metric, cell.source, cell.case, cell.n, cell.m) for cell in stored(file) if cell.seed == seed}
    for source, case, sizes in cells:
        missing = [name for name in names if (name, source, case, *sizes) not in done]
        if missing:
            simulated.add(file, map(asdict, coverage(missing, source, case, sizes, simulations=simulations, seed=seed)))


def stored(file: Path) -> list[Cell]:
    """The cells of a file."""
    return [Cell(**cell) for cell in simulated.read(file)]


def together(cells: Iterable[Cell]) -> list[Cell]:
    """Simulations of the same cell as one."""
    found: dict[tuple[str, str, str, int, int], list[Cell]] = defaultdict(list)
    for cell in cells:
        found[cell.metric, cell.source, cell.case, cell.n, cell.m].append(cell)
    return [_together(place, some) for place, some in found.items()]


def _together(place: tuple[str, str, str, int, int], cells: Sequence[Cell]) -> Cell:
    counted = [cell for cell in cells if cell.simulations]
    if not counted:
        return cells[0]
    counts = [cell.simulations for cell in counted]
    return Cell(*place, sum(counts), float(np.average([cell.coverage for cell in counted], weights=counts)))


def compatible(cell: Cell) -> bool:
    """Whether the true coverage may lie within 93 to 97 %: Wilson's 95 % interval of the simulated one overlaps it."""
    low, high = wilson(cell.coverage or 0.0, cell.simulations, compute_normal_reach(0.95))
    return high >= LEAST and low <= MOST


def offered(name: str, sizes: tuple[int, int]) -> bool:
    """Whether the metric offers an interval at these sizes."""
    metric = get_metric(name)
    enough = min(sizes) >= max(metric.min_texts_interval, max(sizes) / metric.most_unequal)
    return metric.no_interval is None and enough


def summary(cells: Iterable[Cell]) -> str:
    """Markdown: from how many texts on each metric offers an interval, and how it covers there."""
    kept = [cell for cell in together(cells) if cell.simulations and offered(cell.metric, (cell.n, cell.m))]
    lines = [["interval from", "metric", "coverage", "lowest and highest cell", "cells", "simulations"]]
    lines.append(["---"] * len(lines[0]))
    metrics = [metric for metric in list_metrics() if metric.scope == "corpus" and metric.no_interval is None]
    for metric in sorted(metrics, key=lambda metric: (metric.min_texts_interval, metric.name)):
        own = [cell for cell in kept if cell.metric == metric.name]
        rates, counts = [cell.coverage or 0.0 for cell in own], [cell.simulations for cell in own]
        mean = _digits(float(np.average(rates, weights=counts))) if own else ""
        ends = f"{_digits(min(rates))}–{_digits(max(rates))}" if own else ""
        size, name = f"{metric.min_texts_interval} texts", f"`{metric.name}`"
        lines.append([size, name, mean, ends, str(len(own)), f"{sum(counts):,}"])
    return _markdown(lines)


def refusals() -> str:
    """Markdown: the metrics without an interval at any size, and why."""
    metrics = [metric for metric in list_metrics() if metric.scope == "corpus" and metric.no_interval is not None]
    return _markdown([["metric", "why"], ["---"] * 2, *([f"`{m.name}`", str(m.no_interval)] for m in metrics)])


def table(cells: Iterable[Cell]) -> str:
    """Markdown: a row for each metric and source, coverage in the three cases at each pair of sizes.

    Brackets: simulated, not offered. Stars mark what is not compatible with 93 to 97 %.
    """
    rows: dict[tuple[str, str], dict[tuple[int, int], dict[str, Cell]]] = defaultdict(lambda: defaultdict(dict))
    for cell in together(cell for cell in cells if (cell.n, cell.m) in SIZES):
        rows[cell.metric, cell.source][cell.n, cell.m][cell.case] = cell
    head = ["metric", "source", *(f"{n}/{m}" for n, m in SIZES), "simulations"]
    lines = [head, ["---"] * len(head)]
    for (metric, source), by_size in sorted(rows.items()):
        shown = [_shown(by_size[sizes], offered(metric, sizes)) for sizes in SIZES]
        lines.append([metric, source, *shown, _counts(cell for cases in by_size.values() for cell in cases.values())])
    return _markdown(lines)


def other_sizes(cells: Iterable[Cell]) -> str:
    """Markdown: a row for each metric, pair of other sizes and source."""
    rows: dict[tuple[str, int, int, str], dict[str, Cell]] = defaultdict(dict)
    for cell in together(cell for cell in cells if (cell.n, cell.m) not in SIZES):
        rows[cell.metric, cell.m, cell.n, cell.source][cell.case] = cell
    head = ["metric", "sizes", "source", "coverage", "simulations"]
    lines = [head, ["---"] * len(head)]
    for (metric, m, n, source), cases in sorted(rows.items()):
        shown = _shown(cases, offered(metric, (n, m)))
        lines.append([metric, f"{n:,}/{m}", source, shown, _counts(cases.values())])
    return _markdown(lines)


def _counts(cells: Iterable[Cell]) -> str:
    counts = {cell.simulations for cell in cells} - {0}
    return "–".join(map(str, sorted({min(counts), max(counts)}))) if counts else ""


def _markdown(lines: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(cases: dict[str, Cell], is_offered: bool) -> str:
    if not cases:
        return "" if is_offered else "not offered"
    rates = " ".join(_rate(cases[case]) if case in cases else "·" for case in CASES)
    return rates if is_offered else f"({rates})"


def _rate(cell: Cell) -> str:
    if cell.coverage is None:
        return "–"
    return _digits(cell.coverage) + ("" if compatible(cell) else "\\*")


def _digits(rate: float) -> str:
    return f"{rate:.3f}".lstrip("0")


def main() -> None:
    """Simulate."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--file", type=Path, default=simulated.file_of("coverage"))
    options.add_argument("--metrics", default=",".join(m.name for m in list_metrics() if m.scope == "corpus"))
    options.add_argument("--sources", default=",".join([*CONFIRMING, SYNTHETIC]))
    options.add_argument("--cases", default=",".join(CASES))
    options.add_argument("--sizes", default=",".join(f"{n}/{m}" for n, m in SIZES))
    options.add_argument("--simulations", type=int, default=400)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    sizes = [tuple(map(int, pair.split("/"))) for pair in chosen.sizes.split(",")]
    names, sources, cases = (text.split(",") for text in (chosen.metrics, chosen.sources, chosen.cases))
    run(chosen.file, names, product(sources, cases, sizes), simulations=chosen.simulations, seed=chosen.seed)


if __name__ == "__main__":
    main()
