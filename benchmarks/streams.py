"""Simulation of watched streams: how often is there a false alarm, and after how many foreign texts a true one?

    python -m benchmarks.streams TEXTS [FOREIGN] [--documents] [--streams 400]

Streams and their references are drawn from TEXTS without replacement. Without FOREIGN both come from one source for
10,000 looks; with it, a share of each stream comes from there, from the first text on or after 1,000 texts. With
--documents TEXTS are documents, of which streams hold five sentences each, with and without their group. Lines of JSON
go to benchmarks/simulated; `python -m benchmarks.reliability` makes the table.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np

import textgauge
from benchmarks import simulated
from benchmarks.dependence import SENTENCES, split_documents
from textgauge.data import Corpus, load_texts

LOOKS, SHORT, LATE, PER_DOCUMENT = 10_000, 5_000, 1_000, 5
SHARES = (0.05, 0.2, 0.5, 1.0)
FILE = simulated.file_of("streams")


def load_pool(*sources: str) -> tuple[Corpus, int]:
    """Return different texts of all sources, and how many are of the first."""
    texts = [list(dict.fromkeys(load_texts(source).texts)) for source in sources]
    pool = Corpus.of([text for own in texts for text in own])
    pool.embeddings("wordllama")
    return pool, len(texts[0])


def watch_one_source(pool: Corpus, count: int, run: int) -> int:
    """Return after how many of 10,000 texts of one source there was an alarm; 0 for none."""
    rows = np.random.default_rng([run, 1]).permutation(count)[: 2 * LOOKS]
    return _find_alarm(textgauge.watch(pool.take(rows[:LOOKS]), pool.take(rows[LOOKS:]), embedder="wordllama"))


def watch_foreign(pool: Corpus, count: int, run: int, share: float, late: int) -> int:
    """Return after how many texts of a stream with foreign ones there was an alarm; 0 for none."""
    rng = np.random.default_rng([run, 2])
    rows, foreign = rng.permutation(count)[: 2 * SHORT], count + rng.permutation(len(pool) - count)
    stream = rows[SHORT:].copy()
    moved = np.flatnonzero((rng.random(SHORT) < share) & (np.arange(SHORT) >= late))[: len(foreign)]
    stream[moved] = foreign[: len(moved)]
    return _find_alarm(textgauge.watch(pool.take(rows[:SHORT]), pool.take(stream), embedder="wordllama"))


def watch_documents(pool: Corpus, run: int, *, named: bool) -> int:
    """Return after how many sentences of documents of one source there was an alarm; 0 for none."""
    documents = np.random.default_rng([run, 3]).permutation(len(pool) // SENTENCES)
    half = len(documents) // 2
    rows = (documents[: 2 * half, None] * SENTENCES + np.arange(PER_DOCUMENT)).reshape(2, -1)
    labels = np.repeat(np.arange(half), PER_DOCUMENT).tolist()
    how = {"group": (labels, labels)} if named else {}
    return _find_alarm(textgauge.watch(pool.take(rows[0]), pool.take(rows[1]), embedder="wordllama", **how))


def _find_alarm(found) -> int:
    return found[-1]["texts"] if found.details["outcome"] == "fail" else 0


def summarise(alarms: list[int], looks: int, late: int = 0, **how):
    """Return the share of streams with an alarm, and the median number of texts from the change on."""
    after = [alarm - late if alarm > late else looks for alarm in alarms]
    half = float(np.median(after))
    found = {"alarms": float(np.mean(np.array(alarms) > 0)), "median": half if half < looks - late else None}
    return how | {"late": late, "looks": looks, "streams": len(alarms)} | found


def table(cells):
    """Markdown: a row per setting."""
    head = ["stream", "looks", "streams", "with an alarm", "median texts until then"]
    rows = [
        [
            cell["stream"],
            f"{cell['looks']:,}",
            f"{cell['streams']}",
            f"{cell['alarms']:.3f}",
            "" if cell["median"] is None else f"{cell['median']:,.0f}",
        ]
        for cell in cells
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def main() -> None:
    """Simulate the streams of one kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("foreign", nargs="?")
    parser.add_argument("--documents", action="store_true")
    parser.add_argument("--streams", type=int, default=400)
    chosen = parser.parse_args()
    name, *other = (Path(one.partition(":")[0]).name.partition(".")[0] for one in (chosen.texts, chosen.foreign or ""))
    runs = range(chosen.streams)
    if chosen.documents:
        pool = Corpus.of([sentence for document in split_documents(chosen.texts) for sentence in document])
        looks = len(pool) // SENTENCES // 2 * PER_DOCUMENT
        for named in (True, False):
            stream = f"{name}, five sentences a document, {'with' if named else 'without'} their group"
            alarms = [watch_documents(pool, run, named=named) for run in runs]
            simulated.add(FILE, [summarise(alarms, looks, stream=stream)])
    elif chosen.foreign is None:
        pool, count = load_pool(chosen.texts)
        alarms = [watch_one_source(pool, count, run) for run in runs]
        simulated.add(FILE, [summarise(alarms, LOOKS, stream=f"{name}, one source")])
    else:
        pool, count = load_pool(chosen.texts, chosen.foreign)
        for late in (0, LATE):
            for share in SHARES:
                when = f" after {late:,} texts" if late else ""
                stream = f"{name}, {100 * share:g} % of {other[0]}{when}"
                alarms = [watch_foreign(pool, count, run, share, late) for run in runs]
                simulated.add(FILE, [summarise(alarms, SHORT, late, stream=stream)])


if __name__ == "__main__":
    main()
