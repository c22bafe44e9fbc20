"""Simulations of leaderboards: false statements among equal metrics, rank ranges, power, and what intervals cover.

`python -m benchmarks.leaderboards` adds the rows of the tables as lines of JSON to the file leaderboards.jsonl of
benchmarks/simulated, or to `--file`; `python -m benchmarks.reliability` makes the tables.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks import simulated
from textgauge.bench.leaderboard import rank_metrics
from textgauge.bench.overall import MeasureTable, estimate_gaps
from textgauge.bench.protocols import Ksc
from textgauge.bench.protocols.base import Measure, Observations
from textgauge.bench.results import Group
from textgauge.bench.sources import Sources
from textgauge.core.show import render_markdown
from textgauge.data import Corpus
from textgauge.metrics import get_metric
from textgauge.stats.rankings import find_better, pair_p_values, rank_ranges
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
    table = MeasureTable(MEASURE, "data", ("trials",), values, draws, count)
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
    return (pair_p_values(gap, error, freedom) <= 0.05) & (gap > 0)


def pool_coverage(boards, seed, k=5, n=10, repetitions=5):
    """Coverage of the overall score of `energy` on known-similarity corpora, for these texts and for new ones."""
    truth = np.mean([row.overall for row in _ksc_boards(2_000, 300, seed + 1, k, n, repetitions)])
    for pool in (80, 200, 1_000):
        held = {"texts": [], "sources": []}
        for scope in held:
            rows = _ksc_boards(pool, boards, seed, k, n, repetitions, scope)
            held[scope] = [row.low <= truth <= row.high for row in rows]
        yield {
            "texts of each source": pool,
            "used by a repetition": f"{100 * Ksc(k=k, n=n)._needed()['a'] / pool:.0f} %",
            "interval for these texts": np.mean(held["texts"]),
            "interval for new texts": np.mean(held["sources"]),
        }


def _ksc_boards(pool, boards, seed, k, n, repetitions, scope="texts"):
    protocol, metric = Ksc(k=k, n=n, repetitions=repetitions), get_metric("energy@given")
    for number in range(boards):
        rng = np.random.default_rng([seed, pool, number])
        shift = np.zeros(16)
        shift[0] = 0.6
        rows = [np.ones(16) + rng.normal(size=(pool, 16)) + side * shift for side in (0, 1)]
        sources = Sources("a,b", {name: Corpus.of(part) for name, part in zip("ab", rows, strict=True)})
        batches = list(protocol.trials(sources, number))
        values = [metric.select(metric.compute_many(batch.joint, batch.draws)) for batch in batches]
        observed = Observations(
            np.concatenate(values),
            np.repeat(np.arange(repetitions), len(values[0])),
            {name: np.concatenate([batch.columns[name] for batch in batches]) for name in ("i", "j")},
        )
        group = Group("a,b", protocol, 0, observed={"energy": observed}, pool_share=protocol.pool_share(sources))
        yield rank_metrics([group], scope=scope).rows[0]


def data_set_coverage(boards, seed):
    """Coverage of the interval for new data sets, where data sets differ; beside the one for these data sets."""
    for count in (5, 10, 14):
        rng, held = np.random.default_rng([seed, count]), {"texts": [], "data": []}
        for _ in range(boards):
            levels = 0.7 + 0.05 * rng.normal(size=count)
            tables = [
                MeasureTable(MEASURE, str(d), (d,), level + 0.03 * rng.normal(size=(1, 5)), None, 0, weight=1 / count)
                for d, level in enumerate(levels)
            ]
            for scope, found in held.items():
                gap, error, freedom = (part[0, -1] for part in estimate_gaps(tables, scope))
                found.append(pair_p_values(*(np.array([x]) for x in (gap - 0.7, error, freedom)))[0] > 0.05)
        yield {
            "data sets": count,
            "interval for these texts": np.mean(held["texts"]),
            "interval for new data sets": np.mean(held["data"]),
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
    return render_markdown(shown, list(shown[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--file", type=Path, default=simulated.file_of("leaderboards"))
    given = parser.parse_args()
    for name, rows in TABLES.items():
        about = {"table": name, "boards": given.boards, "seed": given.seed}
        simulated.add(given.file, ({**about, "row": row} for row in rows(given.boards, given.seed)))


if __name__ == "__main__":
    main()
