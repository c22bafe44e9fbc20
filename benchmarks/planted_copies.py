"""Planted copies: which kinds does each detector find, in documents and in sentences?

The texts are those of the protocol `copies`: copies of BBC articles among posts of 20 Newsgroups, and of sentences of
`sample:banking` among `sample:cooking`. Printed are the share of each kind of copy that a detector finds and that of
the other texts it names, with Wilson's interval. Detectors are what `describe` counts (near copies, near duplicates,
copied passages), and peers as in `benchmarks.passages`, each at the threshold it comes with.

`--write` makes src/textgauge/measure/planted_copies.csv, from which `describe` says what its limits find: the recall
for each limit of near copies (next to train; without one, near duplicates of another file) and of passages.
Run: TEXTGAUGE_DATA=... python -m benchmarks.planted_copies [n of each kind] [--write]
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.passages import BBC, NEWSGROUPS, search_datasketch, search_rensa, search_runs
from textgauge.bench import Copies, Observations
from textgauge.bench.inputs import read_two
from textgauge.bench.protocols.copies import KINDS
from textgauge.data import Corpus, Pool, find_data_table
from textgauge.metrics.properties.base import NEAR_COPY
from textgauge.metrics.properties.meaning import find_nearest_wording
from textgauge.metrics.properties.repeats import find_copied_passages, find_word_matches

FILE = Path(__file__).parents[1] / "src" / "textgauge" / "measure" / "planted_copies.csv"
NEAR_COPIES, PASSAGES = (0.6, 0.7, 0.8, 0.9, 1.0), (3, 5, 8, 10, 13, 20)
Texts = tuple[list[str], list[str], dict[str, np.ndarray]]


class Detected:
    """What `describe` counts, of the texts to judge: similarities, and words of the longest passage."""

    def __init__(self, train: list[str], texts: list[str]) -> None:
        pool = Pool([*texts, *train])
        rows, others = Corpus(pool, np.arange(len(texts))), Corpus(pool, np.arange(len(texts), pool.size))
        found = find_copied_passages(rows, others, words=min(PASSAGES))
        self.wording = find_nearest_wording(rows.tokens("words"), others.tokens("words")).similarity
        self.is_duplicate = find_word_matches(rows, others).index >= 0
        self.longest = np.append(found.lengths, 0)[found.longest]


def plant(n: int) -> Iterator[tuple[str, Copies, Texts]]:
    """Yield the name of a collection, the protocol, and what it plants."""
    tables = [find_data_table(name) for name in (BBC, NEWSGROUPS)]
    if None in tables:
        raise SystemExit("TEXTGAUGE_DATA has no bbc_news and newsgroups20")
    protocol = Copies(n=n, train=1_000)
    yield "documents", protocol, protocol.plant(read_two(*map(str, tables), column="text"), 0)
    yield "sentences", protocol, protocol.plant(read_two("sample:banking", "sample:cooking"), 0)


def write(n: int) -> None:
    """Write what each pair of limits finds."""
    with FILE.open("w", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["texts", "near_copy", "passage", "planted", "recall", "least", "least_recall", "alarms"])
        for name, _, (train, texts, columns) in plant(n):
            found, copied = Detected(train, texts), columns["copy"]
            for limit, words in product((None, *NEAR_COPIES), PASSAGES):
                near = found.is_duplicate if limit is None else found.wording >= limit
                hits = near | (found.longest >= words)
                shares = {kind: float(hits[copied & (columns["kind"] == kind)].mean()) for kind in KINDS}
                least = min(shares, key=shares.__getitem__)
                numbers = (copied.sum(), hits[copied].mean().round(4), least, shares[least], hits[~copied].mean())
                table.writerow([name, "" if limit is None else limit, words, *numbers])


def show(n: int) -> None:
    """Print the share of each kind that each detector finds."""
    for collection, protocol, (train, texts, columns) in plant(n):
        found = Detected(train, texts)
        near = found.wording >= NEAR_COPY
        detectors = {
            "describe: near copy, or passage of 8 words": near | (found.longest >= 8),
            **{f"passage of {words} words": found.longest >= words for words in (5, 8, 13)},
            "near copy (SynSim 0.9)": near,
            "near duplicate (Jaccard 0.8)": found.is_duplicate,
            "script: 13 words between white space": np.array(search_runs(texts, train)),
            "rensa, runs of 8 words, 0.8": np.array(search_rensa(texts, train)),
            "datasketch, runs of 8 words, 0.8": np.array(search_datasketch(texts, train)),
        }
        print(f"| {collection} | {' | '.join(KINDS)} | other texts named |\n" + "|---" * (len(KINDS) + 2) + "|")
        for name, flags in detectors.items():
            given = Observations(flags.astype(np.float64), np.zeros(len(flags), dtype=np.int64), columns)
            one = {verdict.measure: verdict for verdict in protocol.judge(given)}["alarms_at_50"]
            cells = [f"{flags[columns['copy'] & (columns['kind'] == kind)].mean():.2f}" for kind in KINDS]
            print(f"| {name} | {' | '.join(cells)} | {one.value:.3f} ({one.low:.3f} … {one.high:.3f}) |", flush=True)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word != "--write"]
    (write if "--write" in sys.argv else show)(numbers[0] if numbers else 100)
