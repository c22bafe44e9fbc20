"""Corpora of a million texts: CPU seconds and memory of whole jobs, each in a process of its own.

    python -m benchmarks.scale texts|arrays|pairs [N]

`texts` writes two files of N short synthetic texts (1,000,000) and compares them by energy@wordllama, fid@wordllama and
jsd with nothing cached; `arrays` two memory-mapped .npy files of N × 384 by fid, energy, medoid and ttest; `pairs` two
of N × 384 (100,000) by pr, dc, irpr, ahd and mmd, beside the matrix products alone.
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
    environment = os.environ | {"TEXTGAUGE_CACHE": cache}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "textgauge", *arguments, "--format", "json"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout)["rows"], seconds, after.ru_maxrss / 1e6


def products(first: Path, second: Path) -> float:
    """CPU seconds of the matrix products that the job makes, alone: float32, in blocks of the same size.

    Across the corpora for nearest texts, for balls and for the kernel; half of them within each for radii and kernel.
    """
    A, B = (np.array(np.load(path, mmap_mode="r")) for path in (first, second))
    space = np.empty((512, 1_024), dtype=np.float32)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    for left, right in (A, B), (A, B), (A, B), (A, A), (A, A), (B, B), (B, B):
        for at in range(0, len(right), 1_024):
            columns = np.ascontiguousarray(right[at : at + 1_024].T)
            for start in range(0, min(at + 1_024, len(left)) if left is right else len(left), 512):
                rows = left[start : start + 512]
                np.matmul(rows, columns, out=space[: len(rows), : columns.shape[1]])
    later = resource.getrusage(resource.RUSAGE_SELF)
    return later.ru_utime + later.ru_stime - usage.ru_utime - usage.ru_stime


def main(job: str, n: int) -> None:
    """Make the data, run the job, print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        ending, write = (".txt", write_texts) if job == "texts" else (".npy", write_rows)
        paths = [Path(folder) / f"{role}{ending}" for role in ("reference", "candidate")]
        for seed, path in enumerate(paths):
            write(path, n, seed)
        if job == "texts":
            run(["compare", "sample:banking", "sample:travel", "-m", JOBS[job][1]], folder)  # fetches the models
        found, seconds, gigabytes = run(["compare", *map(str, paths), "-m", JOBS[job][1]], folder)
        for row in found:
            print(f"{row['metric']:>20} {row['value']:.6g}")
        print(f"{job}, {n:,} + {n:,}: {seconds:.1f} CPU s, {gigabytes:.2f} GB")
        if job == "pairs":
            alone = products(*paths)
            print(f"the matrix products alone: {alone:.1f} CPU s, ratio {seconds / alone:.2f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else JOBS[sys.argv[1]][0])
