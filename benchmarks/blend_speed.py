"""What `blend` and `blend-small` take: CPU seconds per 1,000 pairs and peak memory, each in a process of its own.

    python -m benchmarks.blend_speed TABLE [--pairs 1000] [--metrics blend-small,blend]

TABLE is a CSV file with the columns left and right. Embeddings are not kept on disk, so that each is computed. Loading
the models counts, as their first use does. Pairs per second are to be quoted from a quiet machine alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

METRICS = "cosine,cosine@bge-small-int8,bertscore,blend-small,blend"


def measure(table: str, pairs: int, metric: str) -> dict[str, float]:
    """Score the first pairs of a table in this process."""
    from textgauge import Pairs, get_metric

    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[:pairs]
    start, cpu = time.perf_counter(), time.process_time()
    get_metric(metric).compute_items(Pairs([row["left"] for row in rows], [row["right"] for row in rows]))  # type: ignore[attr-defined]
    wall = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return {"cpu": 1_000 * (time.process_time() - cpu) / len(rows), "each": len(rows) / wall, "mb": memory}


def main() -> None:
    """Measure each metric and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(str(given.table), given.pairs, given.one)))
        return
    print("| metric | CPU seconds per 1,000 pairs | pairs a second | peak memory, MB |")
    print("|---|---:|---:|---:|")
    for metric in given.metrics.split(","):
        call = [sys.executable, "-m", "benchmarks.blend_speed", str(given.table), "--pairs", str(given.pairs)]
        done = subprocess.run(
            [*call, "--one", metric],
            env=os.environ | {"TEXTGAUGE_NO_CACHE": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        row = json.loads(done.stdout)
        print(f"| `{metric}` | {row['cpu']:.1f} | {row['each']:.0f} | {row['mb']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
