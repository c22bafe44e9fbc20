"""How well each metric did elsewhere: makes src/textgauge/bench/records.csv, which `recommend` reads.

    python -m benchmarks.records DATA RAW [--pairs 150] [--tests 40]

Metrics of pairs: the mean over rated sets of Spearman's ρ with people's ratings (or labels). Metrics of corpora: the
mean over pairs of sources of the share of tests that find a quarter of foreign texts among 100. DATA and RAW are
folders of published sets; none of their texts is kept. A line of JSON for each metric and set goes to
benchmarks/simulated/records.jsonl; what is there is not measured again, so that a run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np
import polars as pl

from benchmarks import simulated
from textgauge.bench.power import Contaminated, simulate_tests
from textgauge.bench.recommend import list_usable_metrics
from textgauge.bench.sources import Sources
from textgauge.core.errors import MissingExtra, ResourceError
from textgauge.data import Corpus, Pairs, load_texts
from textgauge.stats.correlation import spearman

FILE = Path(__file__).parents[1] / "src" / "textgauge" / "bench" / "records.csv"
LINES = simulated.file_of("records")
KINDS = {"pair": "mean Spearman's ρ over {} rated sets", "corpus": "mean power over {} pairs of corpora"}
TEXTS, SIZE, EFFECT = 600, 100, 0.25  # with a tenth of foreign texts hardly any test rejects
SOURCES = (
    ("huffpost_headlines/huffpost_v3_recent.csv.gz:headline", "stackoverflow_titles/stackoverflow20.csv:text"),
    ("ag_news/ag_news_test.csv:text", "phone_reviews/phone_review_sentences.csv.gz:text"),
    ("biomedical_titles/biomedical20.csv:text", "qqp/qqp_dev_labelled.csv.gz:question1"),
)


Rated = dict[str, list[tuple[str, str, float]]]
Line = dict[str, Any]


def read_rated(data: Path, raw: Path) -> Rated:
    """Every rated set by name: left, right, rating."""
    rated: Rated = {}

    def add(name: str, table: pl.DataFrame, left: str, right: str, rating: str) -> None:
        rated[name] = table.select(left, right, pl.col(rating).cast(pl.Float64)).drop_nulls().rows()

    names = ["left", "right", "rating"]
    add("stsb", pl.read_csv(raw / "stsb/stsb-en-dev.csv", has_header=False, new_columns=names), *names)
    add("mrpc", pl.read_csv(data / "mrpc/mrpc.csv"), "sentence1", "sentence2", "label")
    add("paws", pl.read_csv(data / "paws_wiki/paws_wiki_dev_test.csv.gz"), "sentence1", "sentence2", "label")
    add("qqp", pl.read_csv(data / "qqp/qqp_dev_labelled.csv.gz"), "question1", "question2", "is_duplicate")
    chaganty = pl.read_csv(data / "cnndm_chaganty/cnndm_human_scores.csv")
    add("chaganty", chaganty, "summary", "reference", "overall")
    summaries = pl.read_csv(data / "summeval/summeval_summaries.csv")
    documents = pl.read_ndjson(data / "summeval/summeval_documents.jsonl")
    add("summeval", summaries.join(documents, on="doc_id"), "summary", "cnndm_reference", "relevance")
    outputs = pl.read_ndjson(data / "data_to_text_human/d2t_human.jsonl")
    outputs = outputs.with_columns(pl.col("references").list.first().alias("reference"))
    for (name,), own in outputs.group_by("dataset", maintain_order=True):
        add(str(name), own, "output", "reference", "informativeness")
    return rated


def measure_pair_metrics(rated: Rated, count: int, there: set[tuple[str, str]]) -> Iterator[Line]:
    """Spearman's ρ of every metric on a random part of each set."""
    for name, rows in rated.items():
        some = np.random.default_rng(0).permutation(len(rows))[:count]
        left, right, rating = zip(*(rows[i] for i in some), strict=True)
        pairs = Pairs(Corpus.of(left), Corpus.of(right))
        for metric in list_usable_metrics("pair"):
            if (name, metric.key) in there:
                continue
            try:
                near = metric.select(metric.compute_items(pairs))
            except (MissingExtra, ResourceError):
                continue
            near = -metric.orient(near)
            known = np.isfinite(near)
            value = spearman(np.array(rating)[known], near[known])
            yield {"kind": "pair", "data": name, "metric": metric.key, "value": value, "pairs": int(known.sum())}


def measure_corpus_metrics(data: Path, tests: int, there: set[tuple[str, str]]) -> Iterator[Line]:
    """The share of tests of every metric that find foreign texts, for each pair of sources."""
    for two in SOURCES:
        corpora = [Corpus.of(list(dict.fromkeys(load_texts(str(data / of)).texts))[:TEXTS]) for of in two]
        name = "+".join(of.partition("/")[0] for of in two)
        samples = Contaminated(Sources(",".join(two), dict(zip("ab", corpora, strict=True))), EFFECT)
        for metric in list_usable_metrics("corpus"):
            if (name, metric.key) in there:
                continue
            try:
                curve = simulate_tests(metric, samples, sizes=[SIZE], tests=tests, power=0.8)
            except (MissingExtra, ResourceError):
                continue
            ((rejected, made),) = curve.outcomes.values()
            yield {"kind": "corpus", "data": name, "metric": metric.key, "value": rejected / made, "tests": made}


def make_table(lines: list[Line]) -> list[tuple[str, str, str]]:
    """Return rows of the table: a metric that has a value on every set of its kind, their mean, and what that is."""
    rows = []
    for kind, what in KINDS.items():
        own = [line for line in lines if line["kind"] == kind]
        sets = {line["data"] for line in own}
        for metric in sorted({line["metric"] for line in own}):
            values = [line["value"] for line in own if line["metric"] == metric]
            if len(values) == len(sets):
                rows.append((metric, f"{fmean(values):.3f}", what.format(len(sets))))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("raw", type=Path)
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--tests", type=int, default=0, help="of each corpus metric and pair of sources; 0: none")
    given = parser.parse_args()
    there = {(line["data"], line["metric"]) for line in simulated.read(LINES)}
    measured = (
        measure_pair_metrics(read_rated(given.data, given.raw), given.pairs, there),
        measure_corpus_metrics(given.data, given.tests, there) if given.tests else (),
    )
    for lines in measured:
        for line in lines:
            simulated.add(LINES, [line])
    with FILE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [("metric", "record", "what"), *make_table(simulated.read(LINES))]
        )


if __name__ == "__main__":
    main()
