"""Corpora of a million texts: CPU seconds and memory of whole jobs, each in a process of its own.

    python -m benchmarks.scale texts|arrays|pairs|growth [N]

`texts` writes two files of N short synthetic texts (1,000,000) and compares them by energy@wordllama, fid@wordllama and
jsd with nothing cached; `arrays` two memory-mapped .npy files of N × 384 by fid, energy, medoid and ttest; `pairs` two
of N × 384 (100,000) by pr, dc, irpr, ahd and mmd, with the matrix products alone. `growth` measures every corpus
metric by itself from 100 texts up to N (1,000,000; metrics of pairs up to 30,000): CPU seconds without those of 100
texts, the exponent between the two largest sizes, the most memory.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORDS = 20_000
DIMENSION = 384
JOBS = {
    "texts": (1_000_000, "energy@wordllama,fid@wordllama,jsd"),
    "arrays": (1_000_000, "fid,energy,medoid,ttest"),
    "pairs": (100_000, "pr,dc,irpr,ahd,mmd"),
}


def write_texts(path: Path, n: int, seed: int) -> None:
    """Short texts of words by Zipf's law; the corpora differ a little in how often they use them."""
    rng = np.random.default_rng(seed)
    letters = np.random.default_rng(0)
    lengths = letters.integers(3, 9, WORDS)
    words = np.array(["".join(letters.choice(list("etaoinshrdlu"), length)) for length in lengths], dtype=object)
    weights = 1.0 / np.arange(1, WORDS + 1) ** (1.0 + 0.02 * seed)
    with path.open("w") as file:
        for start in range(0, n, 50_000):
            sizes = rng.integers(5, 13, min(50_000, n - start))
            drawn = words[rng.choice(WORDS, sizes.sum(), p=weights / weights.sum())]
            ends = np.cumsum(sizes)
            file.writelines(" ".join(drawn[a:b]) + "\n" for a, b in zip(ends - sizes, ends, strict=True))


def write_rows(path: Path, n: int, seed: int) -> None:
    """Rows about a common mean, of fewer directions than dimensions, as sentence embeddings are."""
    mix = np.random.default_rng(0).normal(size=(64, DIMENSION)) / 8
    rng = np.random.default_rng(seed)
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, DIMENSION))
    for start in range(0, n, 50_000):
        size = min(50_000, n - start)
        rows[start : start + size] = 0.1 + 0.01 * seed + rng.normal(size=(size, 64)) @ mix
        rows[start : start + size] += 0.2 * rng.normal(size=(size, DIMENSION))
    rows.flush()


def run(arguments: list[str], cache: str) -> tuple[list[dict[str, object]], float, float]:
    """Run textgauge in a child: its result, CPU seconds, and the most memory it had, in gigabytes."""
    command = [sys.executable, "-m", "textgauge", *arguments, "--format", "json"]
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, env=os.environ | {"TEXTGAUGE_CACHE": cache}, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{' '.join(command)} ended with {child.returncode}")
        out.seek(0)
        return json.load(out)["rows"], usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


def products(first: Path, second: Path) -> tuple[float, float]:
    """CPU seconds of matrix products alone: float32, in blocks of the same size.

    First those that the job makes: across the corpora for Euclidean distances and for cosines, one half within each.
    Then those that nearest texts, balls and kernel need where each has its own: balls and kernel share the first ones.
    """
    A, B = (np.array(np.load(path, mmap_mode="r")) for path in (first, second))
    across, within = _multiplied(A, B), _multiplied(A, A) + _multiplied(B, B)
    return 2 * across + within, 3 * across + 2 * within


def _multiplied(left: np.ndarray, right: np.ndarray) -> float:
    space = np.empty((512, 1_024), dtype=np.float32)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    for at in range(0, len(right), 1_024):
        columns = np.ascontiguousarray(right[at : at + 1_024].T)
        for start in range(0, min(at + 1_024, len(left)) if left is right else len(left), 512):
            rows = left[start : start + 512]
            np.matmul(rows, columns, out=space[: len(rows), : columns.shape[1]])
    later = resource.getrusage(resource.RUSAGE_SELF)
    return later.ru_utime + later.ru_stime - usage.ru_utime - usage.ru_stime


def growth(most: int) -> None:
    """One line per corpus metric: its path, CPU seconds by size, exponent, memory."""
    from textgauge.metrics import list_metrics

    limits = {"sums": most, "blocks": min(most, 30_000), "fitted": min(most, 100_000)}
    steps = [100, 1_000, 10_000, 30_000, 100_000, 1_000_000]
    print("| metric | path | " + " | ".join(f"{n:,}" for n in steps) + " | exponent | GB |")
    print("|---" * (len(steps) + 4) + "|")
    with tempfile.TemporaryDirectory() as folder:
        run(["compare", "sample:banking", "sample:travel", "-m", "jsd,self_bleu_gap"], folder)  # fetches the models
        for metric in list_metrics():
            if metric.scope != "corpus":
                continue
            sizes = [n for n in steps if n <= limits[metric.grows]]
            took = {n: _one(metric.key, n, Path(folder), texts=metric.reads_texts) for n in sizes}
            seconds = [max(took[n][0] - took[100][0], 0.01) for n in sizes[1:]]
            slope = np.log(seconds[-1] / seconds[-2]) / np.log(sizes[-1] / sizes[-2])
            cells = ["0", *(f"{second:.2f}" for second in seconds), *[""] * (len(steps) - len(sizes))]
            memory = took[sizes[-1]][1]
            print(f"| {metric.name} | {metric.grows} | {' | '.join(cells)} | {slope:.2f} | {memory:.2f} |", flush=True)


def _one(metric: str, n: int, folder: Path, *, texts: bool) -> tuple[float, float]:
    ending, write = (".txt", write_texts) if texts else (".npy", write_rows)
    paths = [folder / f"{role}-{n}{ending}" for role in ("reference", "candidate")]
    for seed, path in enumerate(paths):
        if not path.exists():
            write(path, n, seed)
    return run(["compare", *map(str, paths), "-m", metric], str(folder))[1:]


def main(job: str, n: int) -> None:
    """Make the data, run the job, print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        ending, write = (".txt", write_texts) if job == "texts" else (".npy", write_rows)
        paths = [Path(folder) / f"{role}{ending}" for role in ("reference", "candidate")]
        for seed, path in enumerate(paths):
            write(path, n, seed)
        if job == "texts":
            run(["compare", "sample:banking", "sample:travel", "-m", JOBS[job][1]], folder)  # fetches the models
        options = ["--no-test"] if job == "pairs" else []  # what is tested of fewer texts has other costs
        found, seconds, gigabytes = run(["compare", *map(str, paths), "-m", JOBS[job][1], *options], folder)
        for row in found:
            print(f"{row['metric']:>20} {row['value']:.6g}")
        print(f"{job}, {n:,} + {n:,}: {seconds:.1f} CPU s, {gigabytes:.2f} GB")
        if job == "pairs":
            shared, apart = products(*paths)
            print(f"products that it makes: {shared:.1f} CPU s, ratio {seconds / shared:.2f}")
            print(f"products that each kind of metric needs by itself: {apart:.1f} CPU s, ratio {seconds / apart:.2f}")


if __name__ == "__main__":
    if sys.argv[1] == "growth":
        growth(int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else JOBS[sys.argv[1]][0])
