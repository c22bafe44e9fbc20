"""Planted copies of BBC articles among posts of 20 Newsgroups: which kinds does each detector find?

The texts are those of the protocol `copies`, and its measures: recall for each kind of copy with Wilson's interval, and
the other texts named. Detectors are what `describe` counts (near copies, near duplicates, copied passages), and
peers as in `benchmarks.passages`, each at the threshold it comes with.
Run: TEXTGAUGE_DATA=... python -m benchmarks.planted_copies [n of each kind]
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.passages import search_datasketch, search_rensa, search_runs
from textgauge.bench.inputs import read_two
from textgauge.bench.protocols import Copies, Observations
from textgauge.bench.protocols.copies import KINDS
from textgauge.data import Corpus, Pool, find_data_table
from textgauge.metrics.properties.base import NEAR_COPY
from textgauge.metrics.properties.meaning import find_nearest_wording
from textgauge.metrics.properties.repeats import find_copied_passages, find_word_matches


def detect(texts: list[str], train: list[str]) -> dict[str, np.ndarray]:
    """Return the flags of each detector."""
    pool = Pool([*texts, *train])
    rows, others = Corpus(pool, np.arange(len(texts))), Corpus(pool, np.arange(len(texts), pool.size))
    near = find_nearest_wording(rows.tokens("words"), others.tokens("words")).similarity >= NEAR_COPY
    found = {
        f"passage of {words} words": find_copied_passages(rows, others, words=words).longest >= 0
        for words in (5, 8, 13)
    }
    return {
        "describe: near copy, or passage of 8 words": near | found["passage of 8 words"],
        **found,
        "near copy (SynSim 0.9)": near,
        "near duplicate (Jaccard 0.8)": find_word_matches(rows, others).index >= 0,
        "script: 13 words between white space": np.array(search_runs(texts, train)),
        "rensa, runs of 8 words, 0.8": np.array(search_rensa(texts, train)),
        "datasketch, runs of 8 words, 0.8": np.array(search_datasketch(texts, train)),
    }


def main(n: int) -> None:
    tables = [find_data_table(name) for name in ("bbc_news/bbc_news", "newsgroups20/newsgroups20_sample")]
    if None in tables:
        raise SystemExit("TEXTGAUGE_DATA has no bbc_news and newsgroups20")
    protocol = Copies(n=n, train=1_000)
    train, texts, columns = protocol.plant(read_two(*map(str, tables), column="text"), 0)
    print(f"| detector | {' | '.join(KINDS)} | other texts named |\n" + "|---" * (len(KINDS) + 2) + "|")
    for name, flags in detect(texts, train).items():
        judged = protocol.judge(Observations(flags.astype(np.float64), np.zeros(len(flags), dtype=np.int64), columns))
        shares = {verdict.measure: verdict for verdict in judged}
        cells = [f"{flags[columns['copy'] & (columns['kind'] == kind)].mean():.2f}" for kind in KINDS]
        one = shares["alarms_at_50"]
        print(f"| {name} | {' | '.join(cells)} | {one.value:.3f} ({one.low:.3f} … {one.high:.3f}) |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 100)
