"""One p-value of the default metrics together: does a combined test find more than the smallest adjusted p-value?

    python -m benchmarks.omnibus DATA [--runs 100] [--cells 7]

Decided before any number was seen: a combined test is worth having if, at a level of at most 5 % within the error of
the simulation, its power is at least 10 points above that of the smallest p-value adjusted by max-T in four of the six
settings. `mean` is the mean of the values of all metrics in standard deviations of their exchanges, `fisher` the mean
of −log of their ranks from above; both are compared with the same statistic of each exchange.
The sizes of the effects were set by the smallest p-value alone, in other runs, so that it finds neither all nor none.

DATA is a folder of published sets. A line of JSON for each run goes to benchmarks/simulated/omnibus.jsonl; a run goes
on where it stopped.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np

from benchmarks import simulated
from textgauge.core.arrays import Floats
from textgauge.data import Comparison, Corpus, load_texts
from textgauge.measure.comparing import DEFAULT_METRICS, PERMUTATIONS
from textgauge.metrics import get_corpus_metrics
from textgauge.stats.resampling import adjust_by_max_t, compute_permutation_p

FILE = simulated.file_of("omnibus")
TEXTS, SIZE = 3_000, 100  # of each source, and of a side
SOURCES = {
    "headlines": "huffpost_headlines/huffpost_v3_recent.csv.gz:headline",
    "stackoverflow": "stackoverflow_titles/stackoverflow20.csv:text",
    "ag_news": "ag_news/ag_news_test.csv:text",
    "phones": "phone_reviews/phone_review_sentences.csv.gz:text",
    "biomedical": "biomedical_titles/biomedical20.csv:text",
    "questions": "qqp/qqp_dev_labelled.csv.gz:question1",
}
Rng = np.random.Generator
Change = Callable[[list[str], list[str], Rng], list[str]]


def mix(share: float) -> Change:
    """Put texts of the other source in the place of a share."""
    return lambda own, other, rng: own[round(share * len(own)) :] + other[: round(share * len(own))]


def drop_words(share: float) -> Change:
    """Leave out words of every text."""

    def change(own: list[str], other: list[str], rng: Rng) -> list[str]:
        kept = [[word for word in text.split() if rng.random() >= share] for text in own]
        return [" ".join(words) or text for words, text in zip(kept, own, strict=True)]

    return change


def repeat(share: float) -> Change:
    """Put copies of other texts, with their last word left out, in the place of a share."""

    def change(own: list[str], other: list[str], rng: Rng) -> list[str]:
        count = round(share * len(own))
        return own[count:] + [text.rpartition(" ")[0] or text for text in own[count : 2 * count]]

    return change


def keep_short(share: float) -> Change:
    """Leave out the longest texts of a share."""
    return lambda own, other, rng: sorted(own, key=len)[: round(len(own) * (1.0 - share))]


SETTINGS: dict[str, tuple[str, str, Change]] = {
    "same source": ("headlines", "stackoverflow", mix(0.0)),
    "15 % foreign headlines": ("headlines", "stackoverflow", mix(0.15)),
    "15 % foreign news": ("ag_news", "phones", mix(0.15)),
    "15 % foreign titles": ("biomedical", "questions", mix(0.15)),
    "25 % of words left out": ("ag_news", "phones", drop_words(0.25)),
    "10 % near copies": ("headlines", "stackoverflow", repeat(0.10)),
    "the longest 35 % left out": ("questions", "biomedical", keep_short(0.35)),
}


def test_together(nulls: list[Floats]) -> dict[str, float]:
    """Return the p-values of both combined tests; of each metric its standardised values, the observed one first."""
    values = np.column_stack(nulls)
    mean = values.mean(axis=1)
    above = (values[None] >= values[:, None]).mean(axis=1)  # of all, the share at least as far
    fisher = -np.log(above).mean(axis=1)
    return {
        "mean": compute_permutation_p(mean[0], mean[1:]),
        "fisher": compute_permutation_p(fisher[0], fisher[1:]),
    }


def simulate(setting: str, texts: dict[str, list[str]], number: int) -> dict[str, float]:
    """Test one pair of samples."""
    source, other, change = SETTINGS[setting]
    rng = np.random.default_rng([number, *setting.encode()])
    own, foreign = (list(rng.permutation(texts[name])[: 3 * SIZE]) for name in (source, other))
    reference, candidate = own[:SIZE], change(own[SIZE : 2 * SIZE], foreign, rng)
    comparison = Comparison(Corpus.of(reference), Corpus.of(candidate))
    found, ranks = [], []
    for metric in get_corpus_metrics(DEFAULT_METRICS, "wordllama"):
        null = metric.null_values(comparison, permutations=PERMUTATIONS, seed=number)
        values = null.farther * np.append(null.observed, null.permuted)
        spread = values[np.isfinite(values)].std()
        found.append(np.where(np.isfinite(values), (values - values.mean()) / (spread or 1.0), 0.0))
        ranks.append(null.compute_ranks())
    return {"smallest": float(adjust_by_max_t(np.column_stack(ranks)).min()), **test_together(found)}


def table(lines: list[dict[str, Any]]) -> str:
    """Return the share of tests that reject, by setting and rule, as Markdown."""
    rows = [
        "| setting | smallest p-value, by max-T | mean of standardised values | mean of −log ranks | runs |",
        "|---|---:|---:|---:|---:|",
    ]
    for setting in SETTINGS:
        own = [line for line in lines if line["setting"] == setting]
        shares = [np.mean([line[rule] <= 0.05 for line in own]) for rule in ("smallest", "mean", "fisher")]
        rows.append(f"| {setting} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} | {len(own)} |")
    return "\n".join(rows)


def main() -> None:
    """Simulate what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--cells", type=int, default=len(SETTINGS))
    given = parser.parse_args()
    there = {(line["setting"], line["run"]) for line in simulated.read(FILE)}
    texts = {name: list(dict.fromkeys(load_texts(str(given.data / of)).texts))[:TEXTS] for name, of in SOURCES.items()}
    for run in range(given.runs):
        for setting in list(SETTINGS)[: given.cells]:
            if (setting, run) not in there:
                simulated.add(FILE, [{"setting": setting, "run": run, **simulate(setting, texts, run)}])
    print(table(simulated.read(FILE)))


if __name__ == "__main__":
    main()
