"""Simulations of leaderboards: false statements among equal metrics, rank ranges, power, and what intervals cover.

    python -m benchmarks.leaderboards [TABLE …]
    python -m benchmarks.leaderboards runs --sources A B

The first makes up the values of metrics. The second runs the protocol ksc on texts of two sources (`PATH:COLUMN`), with
twelve metrics that are the energy distance with noise: as much for all, so that all are equally good, or more and more.
Rows go as lines of JSON to the file leaderboards.jsonl of benchmarks/simulated, or to `--file`; `python -m
benchmarks.reliability` makes the tables.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from statistics import mean

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
os.environ.setdefault("TEXTGAUGE_THREADS", "1")

import numpy as np

from benchmarks import simulated
from textgauge.bench import Ksc
from textgauge.bench.gaps import MeasureTable, estimate_gaps
from textgauge.bench.leaderboard import rank_metrics
from textgauge.bench.protocols.base import Measure, Observations
from textgauge.bench.results import Group
from textgauge.bench.sources import Sources
from textgauge.core.show import render_markdown
from textgauge.data import Corpus, load_texts
from textgauge.metrics import get_metric
from textgauge.stats.rankings import compute_gap_p, find_better, rank_ranges
from textgauge.stats.resampling import resample_sums

DESIGNS = (
    ("repetitions", 2),
    ("repetitions", 3),
    ("repetitions", 5),
    ("repetitions", 20),
    ("units", 50),
    ("units", 300),
)
METRICS = (2, 5, 12, 20, 40)
MEASURE = Measure("accuracy")
KINDS = ("even", "uneven", "skewed")


def board_gaps(means, kind, design, count, rng):
    """The differences of metrics with these true means: values of repetitions, or resamples of units."""
    noise = {
        "even": lambda: 0.02 * rng.normal(size=(len(means), count)),
        "uneven": lambda: 0.02 * np.exp(rng.normal(size=(len(means), 1))) * rng.normal(size=(len(means), count)),
        "skewed": lambda: 0.9 - rng.beta(18, 2, size=(len(means), count)),
    }[kind]()
    values = means[:, None] + 0.05 * rng.normal(size=count) + noise  # what a repetition has in common is paired
    draws = None
    if design == "units":
        draws = resample_sums(np.ascontiguousarray(values.T), 1_000, int(rng.integers(2**31))).T / count
        values = values.mean(axis=1, keepdims=True)
    table = MeasureTable(MEASURE, Group("data", Ksc(), 0), values, draws, count)
    return [part[:-1, :-1] for part in estimate_gaps([table], "texts")]


def false_statements(boards, seed):
    """The share of boards of equal metrics with any "better": all together, and without correction."""
    for kind in KINDS:
        for design, count in DESIGNS:
            row = {"noise": kind, "resampled": f"{count} {design}"}
            for m in METRICS if kind == "even" else (12,):
                rng = np.random.default_rng([seed, m, count, KINDS.index(kind)])
                found = [board_gaps(np.full(m, 0.5), kind, design, count, rng) for _ in range(boards)]
                row[f"{m} metrics"] = np.mean([find_better(*gaps).any() for gaps in found])
                row[f"{m}, uncorrected"] = np.mean([_uncorrected(*gaps).any() for gaps in found])
            yield row


def ranges_and_power(boards, seed, m=12):
    """How often all true ranks lie in their ranges, and the share of true differences that are found."""
    for step in (0.002, 0.01, 0.05):
        means, row = 0.8 - step * np.arange(m), {"step between metrics": step}
        for design, count in DESIGNS:
            rng = np.random.default_rng([seed, count, int(1000 * step)])
            covered, found, plain = [], [], []
            for _ in range(boards):
                gaps = board_gaps(means, "even", design, count, rng)
                better = find_better(*gaps)
                low, high = rank_ranges(better)
                covered.append(((low <= np.arange(1, m + 1)) & (np.arange(1, m + 1) <= high)).all())
                found.append(better[np.triu_indices(m, 1)].mean())
                plain.append(_uncorrected(*gaps)[np.triu_indices(m, 1)].mean())
            row[f"{count} {design}"] = f"{np.mean(covered):.3f}; {np.mean(found):.2f} ({np.mean(plain):.2f})"
        yield row


def _uncorrected(gap, error, freedom):
    return (compute_gap_p(gap, error, freedom) <= 0.05) & (gap > 0)


def pool_coverage(boards, seed, k=5, n=10, repetitions=5):
    """Coverage of the overall score of `energy` on known-similarity corpora, for these texts and for new ones."""
    protocol = Ksc(k=k, n=n, repetitions=repetitions)
    truth = mean(rank_metrics([group]).rows[0].overall for group in normal_groups(protocol, 2_000, 300, seed + 1))
    for pool in (80, 200, 1_000):
        held = {"texts": [], "sources": []}
        for group in normal_groups(protocol, pool, boards, seed):
            for scope, covered in held.items():
                row = rank_metrics([group], scope=scope).rows[0]
                covered.append(row.low <= truth <= row.high)
        yield {
            "texts of each source": pool,
            "used by a repetition": f"{100 * protocol._needed()['a'] / pool:.0f} %",
            "interval for these texts": np.mean(held["texts"]),
            "interval for new texts": np.mean(held["sources"]),
        }


def normal_groups(protocol, pool, boards, seed):
    """Results of a protocol on points of two normal distributions."""
    for number in range(boards):
        rng = np.random.default_rng([seed, pool, number])
        shift = np.zeros(16)
        shift[0] = 0.6
        yield ksc_group([np.ones(16) + rng.normal(size=(pool, 16)) + side * shift for side in (0, 1)], protocol, number)


def ksc_group(rows, protocol, number, noises=(0.0,)):
    """What `run` gives on two sources, without its store: the energy distance and noise, for each metric its own."""
    metric, rng = get_metric("energy@given"), np.random.default_rng([number, 5])
    sources = Sources("a,b", {name: Corpus.of(part) for name, part in zip("ab", rows, strict=True)})
    batches = list(protocol.trials(sources, number))
    values = np.array([metric.select(metric.compute_many(batch.joint, batch.draws)) for batch in batches])
    batch = np.repeat(np.arange(len(batches)), values.shape[1])
    columns = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in ("i", "j")}
    observed = {
        f"metric {m}": Observations((values + noise * rng.normal(size=values.shape)).ravel(), batch, columns)
        for m, noise in enumerate(noises)
    }
    return Group("a,b", protocol, 0, observed=observed, pool_share=protocol.pool_share(sources))


def data_set_coverage(boards, seed):
    """Coverage of the interval for new data sets, where data sets differ; beside the one for these data sets."""
    for count in (5, 10, 14):
        rng, held = np.random.default_rng([seed, count]), {"texts": [], "data": []}
        for _ in range(boards):
            levels = 0.7 + 0.05 * rng.normal(size=count)
            tables = [
                MeasureTable(
                    MEASURE, Group(str(d), Ksc(), 0), level + 0.03 * rng.normal(size=(1, 5)), None, 0, weight=1 / count
                )
                for d, level in enumerate(levels)
            ]
            for scope, found in held.items():
                gap, error, freedom = (part[0, -1] for part in estimate_gaps(tables, scope))
                found.append(compute_gap_p(*(np.array([x]) for x in (gap - 0.7, error, freedom)))[0] > 0.05)
        yield {
            "data sets": count,
            "interval for these texts": np.mean(held["texts"]),
            "interval for new data sets": np.mean(held["data"]),
        }


NOISES = {
    "equal": [0.3] * 12,
    "equal, near the ceiling": [0.05] * 12,
    "different": [0.19, 0.24, 0.3, 0.36, 0.43, 0.5, 0.6, 0.72, 0.9, 1.2, 1.8, 4.0],  # overall .83 to .35
}
EMBEDDED = 4_000  # texts of each source that pools are drawn from


def real_groups(sources, noises, pool, repetitions, boards, seed):
    """Results of ksc on pools of texts of two sources; noise is in units of the energy between mixtures."""
    rows = [Corpus.of(list(dict.fromkeys(load_texts(of).texts))[:EMBEDDED]).embeddings("wordllama") for of in sources]
    protocol = Ksc(repetitions=repetitions)
    # The mean over mixtures, with what their size adds.
    scale = 0.3 * get_metric("energy")(reference=rows[0], candidate=rows[1]).value + 1.8 / protocol.n
    for number in range(boards):
        rng = np.random.default_rng([seed, pool, number])
        two = [of[rng.permutation(len(of))[:pool]] for of in rows]
        yield ksc_group(two, protocol, number, scale * np.array(noises))


def run_boards(sources, boards, seed):
    """What boards of real runs say of metrics that are equally good, and of those that are not."""
    names = ", ".join(Path(of.partition(":")[0]).parent.name for of in sources)
    default = Ksc().repetitions
    designs = [
        ("different", 1_500, default),
        ("equal", 1_500, default),
        ("different", 300, default),
        ("equal", 300, default),
        ("different", 1_500, 5),
        ("equal, near the ceiling", 1_500, default),
    ]
    for kind, pool, count in designs:
        some = boards if kind != "different" else max(boards // 5, 1)
        groups = real_groups(sources, NOISES[kind], pool, count, some, seed)
        found = [[rank_metrics([group], scope=scope) for scope in (None, "texts")] for group in groups]
        pairs = len(NOISES[kind]) * (len(NOISES[kind]) - 1) / 2
        # A metric's range of ranks leaves out those that are better, and those that are worse.
        shares = [[sum(row.rank_low - 1 for row in board) / pairs for board in both] for both in found]
        yield {
            "sources": names,
            "metrics": kind,
            "texts of each": pool,
            "repetitions": count,
            "boards": some,
            "any better": mean(both[0] > 0 for both in shares),
            "pairs found": mean(both[0] for both in shares),
            "any better, these texts": mean(both[1] > 0 for both in shares),
            "pairs found, these texts": mean(both[1] for both in shares),
            "smallest difference": mean(both[0].smallest for both in found),
        }


TABLES = {
    "equal_metrics": false_statements,
    "different_metrics": ranges_and_power,
    "new_texts": pool_coverage,
    "new_data_sets": data_set_coverage,
}


def table(name, lines):
    """The rows of one table as Markdown."""
    rows = [line["row"] for line in lines if line["table"] == name]
    shown = [{column: f"{v:.3f}" if isinstance(v, float) else v for column, v in row.items()} for row in rows]
    return render_markdown(shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES), choices=[*TABLES, "runs"])
    parser.add_argument("--sources", nargs=2, default=())
    parser.add_argument("--boards", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--file", type=Path, default=simulated.file_of("leaderboards"))
    given = parser.parse_args()
    for name in given.tables:
        made = TABLES[name] if name in TABLES else partial(run_boards, given.sources)
        for row in made(given.boards, given.seed):
            simulated.add(given.file, [{"table": name, "boards": given.boards, "seed": given.seed, "row": row}])


if __name__ == "__main__":
    main()
