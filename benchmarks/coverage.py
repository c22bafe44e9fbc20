"""How often do the 95 % intervals of corpus metrics hold what they are for? Simulated on real and synthetic texts.

    python -m benchmarks.coverage run FILE [--metrics energy,fid] [--simulations 200] [--sources ...] [--cases ...]
                                           [--sizes 100/100,200/50]
    python -m benchmarks.coverage table FILE

`run` adds a line of JSON to the file for each metric, source, case and pair of sizes that it does not hold yet, so that
it can be stopped and called again; `table` prints the file as Markdown. The truth is the mean of the metric over fresh
samples of these sizes: the simulated ones, and twice as many more.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path
from zlib import crc32

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
os.environ.setdefault("TEXTGAUGE_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from textgauge import get_metric, list_metrics
from textgauge.data import Comparison, Corpus, Pool, load_texts
from textgauge.errors import TextgaugeError
from textgauge.metrics import CorpusMetric, Score
from textgauge.metrics.base import Undefined
from textgauge.testing import without_models

# Share of texts of the second source in the reference and in the candidate.
CASES = {"null": (0.5, 0.5), "near": (0.3, 0.7), "far": (0.0, 1.0)}
SIZES = ((20, 20), (30, 30), (100, 100), (300, 300), (200, 50))
SYNTHETIC = "synthetic"
# Two real pairs of sources, and what takes their place where these data sets are not at hand.
REAL = {"banking77+clinc150": "sample:banking+sample:assistant", "atis+nfcats": "sample:bible-kjv+sample:bible-web"}
TEXTS = 8_000  # of each source
_FEW = 9  # samples without an interval after which no more are tried
TOPICS, DIMENSIONS, WORDS, TILT = 12, 32, 1_000, 0.8


@dataclass(frozen=True)
class Cell:
    """What the simulation of one metric showed; `coverage` is None where most samples are offered no interval."""

    metric: str
    source: str
    case: str
    n: int
    m: int
    simulations: int
    coverage: float | None
    width: float | None  # mean width over the standard deviation of the value; 3.92 would do for a normal one


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
def population(name: str) -> Population:
    """A synthetic population, or two real sources joined by +."""
    if name == SYNTHETIC:
        return _synthetic()
    texts = [_texts(spec) for spec in _at_hand(name).split("+")]
    both = [text for source in texts for text in source]
    first = len(texts[0])
    pool = Pool(both, embeddings=Pool(both).embeddings("minilm"))
    return Population(pool, (np.arange(first), np.arange(first, len(both))))


def _at_hand(name: str) -> str:
    try:
        for spec in name.split("+"):
            load_texts(spec)
    except TextgaugeError:
        return REAL[name]
    return name


def _texts(spec: str) -> list[str]:
    """Different texts of a data set, in random order."""
    texts = sorted(set(load_texts(spec).texts))
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


def interval(metric: CorpusMetric, comparison: Comparison, score: Score, *, level: float, seed: int) -> list[float]:
    """Both ends of the interval; NaN where none is offered."""
    try:
        return list(metric.interval(comparison, score, level=level, seed=seed)[:2])
    except Undefined:
        return [np.nan, np.nan]


def coverage(
    name: str, source: str, case: str, sizes: tuple[int, int], *, simulations: int, level: float = 0.95
) -> Cell:
    """How often the interval holds the mean of the metric over fresh samples."""
    found, rng = population(source), np.random.default_rng(crc32(f"{name} {source} {case} {sizes}".encode()))

    def draw() -> Comparison:
        first, second = (found.sample(share, n, rng) for share, n in zip(CASES[case], sizes, strict=True))
        return Comparison(first, second)

    metric = get_metric(name)
    metric = without_models(metric) if source == SYNTHETIC else metric.on_given(draw())
    values, ends = [], []
    for seed in range(simulations):
        comparison = draw()
        score = metric.measure(comparison)
        values.append(score.value)
        ends.append(interval(metric, comparison, score, level=level, seed=seed))
        if seed == _FEW and np.isnan(ends).all():
            break
    low, high = np.array(ends).T
    some = np.isfinite(low)
    if some.mean() < 0.5:
        return Cell(name, source, case, *sizes, 0, None, None)
    values += [metric.measure(draw()).value for _ in range(2 * simulations)]
    truth = np.mean(values)
    held = ((low <= truth) & (truth <= high))[some].mean()
    width = (high - low)[some].mean() / np.std(values)
    return Cell(name, source, case, *sizes, int(some.sum()), float(held), float(width))


def run(file: Path, cells: Iterable[tuple[str, str, str, tuple[int, int]]], *, simulations: int) -> None:
    """Simulate what the file does not hold yet."""
    done = {(cell.metric, cell.source, cell.case, cell.n, cell.m) for cell in stored(file)}
    for name, source, case, sizes in cells:
        if (name, source, case, *sizes) not in done:
            cell = coverage(name, source, case, sizes, simulations=simulations)
            with file.open("a") as lines:
                lines.write(json.dumps(asdict(cell)) + "\n")


def stored(file: Path) -> list[Cell]:
    """The cells of a file."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [Cell(**json.loads(line)) for line in lines]


def table(cells: Iterable[Cell]) -> str:
    """Markdown: a row for each metric and source, coverage in the three cases at each pair of sizes.

    Stars mark what lies outside 93 to 97 % by more than chance would: two standard errors of a true 95 %.
    """
    rows: dict[tuple[str, str], dict[tuple[int, int], dict[str, Cell]]] = defaultdict(lambda: defaultdict(dict))
    for cell in cells:
        rows[cell.metric, cell.source][cell.n, cell.m][cell.case] = cell
    head = ["metric", "source", *(f"{n}/{m}" for n, m in SIZES), "simulations"]
    lines = [head, ["---"] * len(head)]
    for (metric, source), by_size in sorted(rows.items()):
        counts = {cell.simulations for cases in by_size.values() for cell in cases.values()} - {0}
        shown = [_shown(by_size[sizes]) for sizes in SIZES]
        lines.append([metric, source, *shown, "–".join(map(str, sorted({min(counts), max(counts)}))) if counts else ""])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(cases: dict[str, Cell]) -> str:
    if not cases:
        return ""
    found = [cases[case] for case in CASES if case in cases]
    return "not offered" if all(cell.coverage is None for cell in found) else " ".join(map(_rate, found))


def _rate(cell: Cell) -> str:
    if cell.coverage is None:
        return "–"
    slack = 2.0 * np.sqrt(0.95 * 0.05 / cell.simulations)
    outside = not min(0.93, 0.95 - slack) <= cell.coverage <= max(0.97, 0.95 + slack)
    return f"{cell.coverage:.3f}".lstrip("0") + ("\\*" if outside else "")


def main() -> None:
    """Simulate, or print what was simulated."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("action", choices=["run", "table"])
    options.add_argument("file", type=Path)
    options.add_argument("--metrics", default=",".join(m.name for m in list_metrics() if m.scope == "corpus"))
    options.add_argument("--sources", default=",".join([*REAL, SYNTHETIC]))
    options.add_argument("--cases", default=",".join(CASES))
    options.add_argument("--sizes", default=",".join(f"{n}/{m}" for n, m in SIZES))
    options.add_argument("--simulations", type=int, default=200)
    chosen = options.parse_args()
    if chosen.action == "table":
        print(table(stored(chosen.file)))
        return
    sizes = [tuple(map(int, pair.split("/"))) for pair in chosen.sizes.split(",")]
    lists = [text.split(",") for text in (chosen.metrics, chosen.sources, chosen.cases)]
    run(chosen.file, product(*lists, sizes), simulations=chosen.simulations)


if __name__ == "__main__":
    main()
