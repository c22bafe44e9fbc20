"""All benchmarks in one run: our CPU time, the peer's, their ratio, and the bar it must reach.

    python -m benchmarks [--only encoder,fid,'mauve 1000'] [--again]

The rows of each job are kept in build/bench.jsonl as soon as it ends: a run that was stopped goes on where it was, and
--again measures anew. At the end the table is put between its marks in docs/performance.md. TEXTGAUGE_DATA names the
folder with banking77, clinc150 and yamshchikov14; what needs data that is not there is left out, and said so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
os.environ["TEXTGAUGE_THREADS"] = "1"

from benchmarks import (
    classifier,
    encoder,
    ksc,
    mauve,
    moments,
    neighbours,
    pair_meteor,
    pair_ngrams,
    pair_transport,
    pair_weighted,
)
from benchmarks.ledgers import marked
from benchmarks.timing import Row, Rows, embeddings
from textgauge.data import is_here

KEPT = Path("build") / "bench.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
SIZES = (100, 1_000, 3_000, 10_000)
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


@cache
def _vectors() -> tuple[Rows, Rows]:
    return embeddings(max(SIZES))


def _of_size(kind: Callable[..., Iterable[Row]], n: int) -> Iterable[Row]:
    return kind([n], data=_vectors())


def list_jobs() -> dict[str, Callable[[], Iterable[Row]]]:
    """Return what measures rows, by name, in the order of the table; some minutes each at most."""
    jobs: dict[str, Callable[[], Iterable[Row]]] = {"encoder": lambda: [encoder.race_row(n=2_000)]}
    for name, kind in (("fid", moments), ("neighbours", neighbours), ("mauve", mauve)):
        jobs |= {f"{name} {n}": partial(_of_size, kind.rows, n) for n in SIZES}
    jobs |= {
        "classifier": lambda: classifier.rows([1_000, 3_000], data=_vectors()),
        "permutations": lambda: neighbours.permutation_rows(500, data=_vectors()),
        "recomputed": lambda: moments.permutation_rows(500, ["fid", "mmd", "energy@angular"], data=_vectors()),
        "n-grams": lambda: pair_ngrams.rows(PAIRS),
        "weighted": lambda: pair_weighted.rows(QUERIED),
    }
    if _is_there("yamshchikov14"):
        jobs |= {"meteor": pair_meteor.rows, "transport": pair_transport.rows}
    if _is_there("clinc150", "banking77"):
        jobs |= {f"ksc {k}": partial(ksc.rows, [k], repeats=3 if k == 7 else 1) for k in (7, 12)}
        jobs["sizes"] = ksc.size_rows
    return jobs


def _is_there(*names: str) -> bool:
    missing = [name for name in names if not is_here(name)]
    if missing:
        print(f"left out, {' and '.join(missing)} not there: set TEXTGAUGE_DATA", file=sys.stderr)
    return not missing


def read_kept() -> dict[str, list[Row]]:
    """Return the rows of the jobs that ended, by job."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    return {line["job"]: line["rows"] for line in map(json.loads, lines)}


def format_table(rows: Iterable[Row]) -> tuple[str, list[str]]:
    """Return the rows as Markdown with what is below its bar or slower than its peer, and the names below their bar."""
    lines = ["| what | n | ours, ms | peer, ms | ratio | bar | also |", "|---|---|---|---|---|---|---|"]
    missed, slower = [], []
    for row in rows:
        bar, name = BARS.get((row["name"], row["n"])), f"`{row['name']}` at {row['n']:,} ({row['ratio']:.2f})"
        also = ", ".join(f"{key} {_format(value)}" for key, value in list(row.items())[5:])
        cells = [
            row["name"],
            row["n"],
            *(_format(row[key]) for key in ("ours_ms", "peer_ms", "ratio")),
            bar or "",
            also,
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
        if bar and row["ratio"] < bar:
            missed.append(name)
        elif row["ratio"] < 1:
            slower.append(name)
    said = [("Below the bar", missed), ("Slower than the peer, without a bar", slower)]
    notes = [f"{what}: {', '.join(names) or 'none'}." for what, names in said]
    return "\n".join([*lines, "", *notes]), missed


def _format(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Run the jobs that are not kept, and write the table; exit code 1 if a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", help="the jobs to run, such as `mauve` or `mauve 1000`; the page is not written")
    options.add_argument("--again", action="store_true", help="measure what is kept anew")
    chosen = options.parse_args()
    jobs = list_jobs()
    if chosen.only:
        wanted = chosen.only.split(",")
        jobs = {name: job for name, job in jobs.items() if name in wanted or name.split()[0] in wanted}
    kept = {} if chosen.again else read_kept()
    KEPT.parent.mkdir(exist_ok=True)
    for name, job in jobs.items():
        if name in kept:
            continue
        start = time.perf_counter()
        kept[name] = json.loads(json.dumps(list(job()), default=float))
        lines = [json.dumps({"job": done, "rows": rows}) for done, rows in kept.items()]
        KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    table, missed = format_table([row for name in jobs for row in kept[name]])
    print(table)
    if not chosen.only:
        PAGE.write_text(marked(PAGE.read_text(encoding="utf-8"), "bench", table), encoding="utf-8")
    sys.exit(f"below the bar: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
