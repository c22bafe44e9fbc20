"""All benchmarks in one run: our CPU time, the peer's, their ratio, and the bar it must reach.

    python -m benchmarks [--quick] [--out table.md]

Embeddings are those of banking77 and clinc150 where TEXTGAUGE_DATA has them, else made up.
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

from benchmarks import classifier, mauve, moments, neighbours
from benchmarks.encoder import race_row
from benchmarks.timing import Row, Rows, embeddings

BARS = {
    ("fid", 100): 60, ("fid", 1_000): 3, ("fid", 10_000): 2, ("pr+dc", 10_000): 8, ("irpr+ahd+energy", 10_000): 4,
    ("mauve", 1_000): 2, ("mauve", 3_000): 2, ("mauve", 10_000): 2,
    ("classifier, mixed 1:1", 1_000): 5, ("classifier, mixed 1:1", 3_000): 5,
    ("energy+irpr+pr, 1000 permutations", 500): 100, ("minilm sentences/s", 2_000): 1.3,
}  # fmt: skip


def all_rows(sizes: list[int], data: tuple[Rows, Rows]) -> Iterator[Row]:
    """Every benchmark, one after the other."""
    yield race_row(n=500 if max(sizes) < 10_000 else 2_000)
    yield from moments.rows(sizes, data=data)
    yield from neighbours.rows(sizes, data=data)
    yield from mauve.rows(sizes, data=data)
    yield from classifier.rows([size for size in sizes if 1_000 <= size <= 3_000], data=data)
    yield from neighbours.permutation_rows(500, data=data)
    yield from moments.permutation_rows(500, ["fid", "mmd", "energy@angular"], data=data)


def main() -> None:
    """Print a Markdown table, a line as soon as it is known; exit code 1 if a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="only up to 1,000 texts")
    options.add_argument("--out", type=Path, help="also write the table here")
    chosen = options.parse_args()
    sizes = [100, 1_000] if chosen.quick else [100, 1_000, 3_000, 10_000]
    lines = ["| what | n | ours, ms | peer, ms | ratio | bar | also |", "|---|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    missed = []
    for row in all_rows(sizes, embeddings(max(sizes))):
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
