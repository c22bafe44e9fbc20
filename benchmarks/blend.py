"""`blend` from rated sets: values of features, families left out in turn, and the weights that the package brings.

    python -m benchmarks.blend features SETS STATE
    python -m benchmarks.blend table SETS STATE
    python -m benchmarks.blend weights SETS STATE

SETS is a CSV table of rated sets: set, family, file, low, high, licence, weights, pairs. `file` is a CSV table with the
columns left, right and rating; `low` and `high` are the ends of the scale; `weights` is 1 where the licence allows to
publish sums of the ratings; `pairs` of the set are drawn at random. STATE is a folder; values are kept there and
computed once. No text is kept.
"""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.data import Corpus, Pairs
from textgauge.metrics import get_pair_metrics
from textgauge.metrics.pair_metric import PairMetric

FEATURES = (
    "chrf,rouge1,rouge2,rougeL,levenshtein,meteor,cosine,cosine@bge-small-int8,bertscore,cosine@mpnet,cosine@gte-small,"
    "cosine@e5-small,cross_encoder@ms-marco-int8,bertscore@bge-small-int8,bertscore@mpnet"
)


@dataclass(frozen=True)
class RatedSet:
    """One rated set: where it is, the ends of its scale, whether sums of its ratings may be published."""

    name: str
    family: str
    file: Path
    low: float
    high: float
    licence: str
    weights: bool
    pairs: int

    def read(self) -> tuple[Pairs, Floats]:
        """Return the pairs that are used, and their ratings from 0 to 1."""
        with self.file.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        some = np.sort(np.random.default_rng(0).permutation(len(rows))[: self.pairs])
        left, right = ([rows[i][side] for i in some] for side in ("left", "right"))
        ratings = np.array([float(rows[i]["rating"]) for i in some])
        return Pairs(Corpus.of(left), Corpus.of(right)), (ratings - self.low) / (self.high - self.low)


def read_sets(path: Path) -> list[RatedSet]:
    """Return the rated sets of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            RatedSet(
                row["set"],
                row["family"],
                path.parent / row["file"],
                float(row["low"]),
                float(row["high"]),
                row["licence"],
                row["weights"] == "1",
                int(row["pairs"]),
            )
            for row in csv.DictReader(file)
        ]


def compute_symmetric(metric: PairMetric, pairs: Pairs) -> Floats:
    """Return values that are larger for closer texts: the mean of both directions where these differ."""
    value = -metric.orient(metric.select(metric.compute(pairs)))
    if metric.symmetric:
        return np.asarray(value)
    turned = Pairs(pairs.right, pairs.left)
    return np.asarray((value - metric.orient(metric.select(metric.compute(turned)))) / 2)


def keep_features(sets: list[RatedSet], state: Path) -> None:
    """Compute what the state lacks, one feature after the other."""
    file = state / "features.jsonl"
    there = {(row["set"], row["metric"]) for row in map(json.loads, file.open())} if file.exists() else set()
    for metric in get_pair_metrics(FEATURES):
        for one in sets:
            if (one.name, metric.key) in there:
                continue
            pairs, ratings = one.read()
            values = compute_symmetric(metric, pairs).tolist()
            row = {"set": one.name, "metric": metric.key, "values": values, "ratings": ratings.tolist()}
            with file.open("a") as out:
                out.write(json.dumps(row) + "\n")
            print(metric.key, one.name, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["features", "table", "weights"])
    parser.add_argument("sets", type=Path)
    parser.add_argument("state", type=Path)
    given = parser.parse_args()
    sets = read_sets(given.sets)
    if given.what == "features":
        keep_features(sets, given.state)


if __name__ == "__main__":
    main()
