"""All benchmarks in one run: our CPU time, the peer's, their ratio, and the bar it must reach.

    python -m benchmarks [--quick] [--only encoder,corpus,pairs,ksc] [--out table.md]

Embeddings are those of banking77 and clinc150 where TEXTGAUGE_DATA has them, else made up; pairs are those of
yamshchikov14. What needs published data that is not there is left out, and said so.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
os.environ["TEXTGAUGE_THREADS"] = "1"

from benchmarks import (
    classifier,
    ksc,
    mauve,
    moments,
    neighbours,
    pair_meteor,
    pair_ngrams,
    pair_transport,
    pair_weighted,
)
from benchmarks.encoder import race_row
from benchmarks.timing import Row, embeddings
from textgauge.data import is_here

PAIRS, QUERIED = 13_225, 15_000
BARS = {
    ("fid", 100): 60, ("fid", 1_000): 3, ("fid", 10_000): 2, ("pr+dc", 10_000): 4, ("irpr+ahd+energy", 10_000): 4,
    ("mauve", 1_000): 1, ("mauve", 3_000): 1, ("classifier, mixed 1:1", 1_000): 1.5,
    ("energy+irpr+pr, 1000 permutations", 500): 40, ("minilm sentences/s", 2_000): 1.3,
    ("ROUGE-1/2/L, rouge-score", PAIRS): 5, ("BLEU cold, sacrebleu", PAIRS): 3, ("chrF, sacrebleu", PAIRS): 5,
    ("meteor, fresh", PAIRS): 3, ("wmd / gensim", PAIRS): 2,
    ("bm25plus a query, rank_bm25", QUERIED): 200, ("bm25plus a query, bm25s", QUERIED): 1,
    ("ksc, k=7", 21): 12, ("ksc, k=12", 66): 12, ("size and imbalance", 31): 4,
}  # fmt: skip
PARTS = ("encoder", "corpus", "pairs", "ksc")


def all_rows(sizes: list[int], parts: list[str]) -> Iterator[Row]:
    """Every benchmark of the chosen parts, one after the other."""
    full = max(sizes) >= 10_000
    if "encoder" in parts:
        yield race_row(n=2_000 if full else 500)
    if "corpus" in parts:
        yield from _corpus_rows(sizes)
    if "pairs" in parts:
        yield from _pair_rows()
    if "ksc" in parts and _there("clinc150", "banking77"):
        yield from ksc.rows((7, 12) if full else (7,))
        yield from ksc.size_rows() if full else ()


def _corpus_rows(sizes: list[int]) -> Iterator[Row]:
    data = embeddings(max(sizes))
    yield from moments.rows(sizes, data=data)
    yield from neighbours.rows(sizes, data=data)
    yield from mauve.rows(sizes, data=data)
    yield from classifier.rows([size for size in sizes if 1_000 <= size <= 3_000], data=data)
    yield from neighbours.permutation_rows(500, data=data)
    yield from moments.permutation_rows(500, ["fid", "mmd", "energy@angular"], data=data)


def _pair_rows() -> Iterator[Row]:
    yield from pair_ngrams.rows(PAIRS)
    yield from pair_weighted.rows(QUERIED)
    if _there("yamshchikov14"):
        yield from pair_meteor.rows()
        yield from pair_transport.rows()


def _there(*names: str) -> bool:
    missing = [name for name in names if not is_here(name)]
    if missing:
        print(f"left out, {' and '.join(missing)} not there: set TEXTGAUGE_DATA", file=sys.stderr)
    return not missing


def main() -> None:
    """Print a Markdown table, a line as soon as it is known; exit code 1 if a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="only up to 1,000 texts")
    options.add_argument("--only", default=",".join(PARTS), help="the parts to run")
    options.add_argument("--out", type=Path, help="also write the table here")
    chosen = options.parse_args()
    sizes = [100, 1_000] if chosen.quick else [100, 1_000, 3_000, 10_000]
    lines = ["| what | n | ours, ms | peer, ms | ratio | bar | also |", "|---|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    missed = []
    for row in all_rows(sizes, chosen.only.split(",")):
        bar = BARS.get((row["name"], row["n"]))
        also = ", ".join(f"{key} {_short(value)}" for key, value in list(row.items())[5:])
        cells = [row["name"], row["n"], *(_short(row[key]) for key in ("ours_ms", "peer_ms", "ratio")), bar or "", also]
        lines.append(f"| {' | '.join(map(str, cells))} |")
        print(lines[-1], flush=True)
        if bar and row["ratio"] < bar:
            missed.append(row["name"])
    if chosen.out:
        chosen.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit(f"below the bar: {', '.join(missed)}" if missed else 0)


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
