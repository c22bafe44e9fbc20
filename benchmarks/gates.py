"""Simulation of gates: how often do checks fail texts that keep their bounds?

`python -m benchmarks.gates TEXTS` draws two corpora from one source, over and over, and sets every limit where it is
hardest: the distance may not exceed that of corpora from one source, as many near copies as are made are allowed, and a
system may not be worse than another of the same quality. All checks of a run count together. With `--documents TEXTS`
are documents, of which the corpora hold five sentences each: one check names the document of each text, one does not.
With `--looks N` corpora grow from a fifth to their full size, and are checked N times. Lines of JSON go to
benchmarks/simulated; `python -m benchmarks.reliability` makes the tables.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np

from benchmarks import simulated
from benchmarks.dependence import SENTENCES, split_documents
from textgauge.data import Corpus, load_corpus
from textgauge.measure.check import Check
from textgauge.measure.checking import run_checks

COPIED = 0.1
PER_DOCUMENT = 5


def drawn_checks(pool: Corpus, n: int, metrics, rng):
    """Checks of corpora that keep their bounds exactly."""
    reference, candidate = (pool.take(rows) for rows in rng.permutation(len(pool))[: 2 * n].reshape(2, n))
    made = [text if rng.random() < COPIED else f"{rng.integers(2**60):x}" for text in reference]
    systems = [[_noisy(text, rng) for text in reference] for _ in range(2)]
    return [
        *(
            Check("drift", name=metric, reference=reference, candidate=candidate, metric=metric, max_ratio=1)
            for metric in metrics
        ),
        Check("copies", name="copies", generated=made, train=list(reference), max=COPIED),
        Check(
            "score",
            name="score",
            candidate=systems[0],
            baseline=systems[1],
            reference=list(reference),
            metric="chrf",
            max_drop=0,
        ),
    ]


def _noisy(text: str, rng) -> str:
    return " ".join(word for word in text.split() if rng.random() < 0.8) or text


def outcomes(texts, *, simulations=400, n=200, metrics="energy,jsd", seed=0):
    """The outcomes of every simulated run, by check."""
    pool = load_corpus(texts)
    found = []
    for number in range(simulations):
        rng = np.random.default_rng([seed, number])
        checks = drawn_checks(pool, n, metrics.split(","), rng)
        found.append({result.check: result.outcome for result in run_checks(checks, seed=number)})
    return found


def document_outcomes(texts, *, simulations=300, n=100, metrics="energy", seed=0):
    """The outcomes of simulated runs of single checks on sentences of documents, with their group and without."""
    pool = Corpus.of([sentence for document in split_documents(texts) for sentence in document])
    labels, found = np.repeat(np.arange(n // PER_DOCUMENT), PER_DOCUMENT).tolist(), []
    for number in range(simulations):
        order = np.random.default_rng([seed, number]).permutation(len(pool) // SENTENCES)[: 2 * n // PER_DOCUMENT]
        rows = (order[:, None] * SENTENCES + np.arange(PER_DOCUMENT)).reshape(2, n)
        sides = {"reference": pool.take(rows[0]), "candidate": pool.take(rows[1])}
        ways = {"with their group": (labels, labels), "without": None}
        found.append(
            {
                f"{metric}, {way}": run_checks(
                    [Check("drift", **sides, metric=metric, max_ratio=1, group=group)], seed=number
                )[0].outcome
                for metric in metrics.split(",")
                for way, group in ways.items()
            }
        )
    return found


def look_outcomes(texts, looks, *, simulations=200, n=200, metrics="energy", seed=0):
    """Fail where any of several looks at growing corpora of one source fails; with the number of looks and without."""
    pool, found = load_corpus(texts), []
    for number in range(simulations):
        rows = np.random.default_rng([seed, number]).permutation(len(pool))[: 2 * n].reshape(2, n)
        sizes = np.linspace(n // 5, n, looks).round().astype(int)
        run = {}
        for way, told in ((f"{looks} looks, --looks {looks}", looks), (f"{looks} looks, not said", 1)):
            checks = (
                Check(
                    "drift",
                    reference=pool.take(rows[0, :m]),
                    candidate=pool.take(rows[1, :m]),
                    metric=metrics,
                    max_ratio=1,
                )
                for m in sizes
            )
            ends = [run_checks([check], looks=told, seed=number)[0].outcome for check in checks]
            run[f"{metrics}, {way}"] = "fail" if "fail" in ends else "undecided"
        found.append(run)
    return found


def lines(found, **how):
    """The share of each outcome, by check and for runs as a whole."""
    kinds = ("fail", "undecided", "pass")
    rows = [{"check": name, **{kind: _share(found, name, kind) for kind in kinds}} for name in found[0]]
    if how.get("design", "together") == "together":
        rows.append({"check": "any check of a run", "fail": sum("fail" in run.values() for run in found) / len(found)})
    return [{**how, "runs": len(found), **row} for row in rows]


def _share(found, name, outcome):
    return sum(run[name] == outcome for run in found) / len(found)


def table(cells):
    """Markdown: a row per check; of all designs but the first the texts are named."""
    cells = [row | {"check": f"{row['check']} ({row['texts']})"} if "design" in row else row for row in cells]
    head = ["check", "fail", "undecided", "pass", "runs"]
    rows = [[_digits(row.get(name)) if name in head[1:4] else f"{row[name]}" for name in head] for row in cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def _digits(share):
    return "" if share is None else f"{share:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("--metrics", default="energy,jsd")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--documents", action="store_true")
    parser.add_argument("--looks", type=int, default=1)
    options = vars(parser.parse_args())
    documents, looks = options.pop("documents"), options.pop("looks")
    name = Path(options["texts"].partition(":")[0]).name
    how = {"texts": name, "n": options["n"], "seed": options["seed"]}
    if documents:
        found, how["design"] = document_outcomes(**options), "documents"
    elif looks > 1:
        found, how["design"] = look_outcomes(looks=looks, **options), "looks"
    else:
        found = outcomes(**options)
    simulated.add(simulated.file_of("gates"), lines(found, **how))


if __name__ == "__main__":
    main()
