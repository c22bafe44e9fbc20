"""One process, mixed work for a long time: memory and open files should stay flat.

python -m benchmarks.soak [SECONDS]    1,800 unless told

Ten lines of JSON go to benchmarks/simulated in the place of the last ones; `python -m benchmarks.reliability` makes the
table.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import textgauge
from benchmarks import simulated
from benchmarks.attack import BY_POLARS
from benchmarks.attack_files import damaged, targets
from textgauge.core.errors import TextgaugeError

WORDS = "red blue old new cat dog bird train sees likes near far house tree please send money bank"
LINES = 10  # of the table


def work(folder: Path, rng: np.random.Generator) -> None:
    """Compare, score, run, save and load, and read damaged files, with texts that were never seen before."""
    left, right = ([" ".join(rng.choice(WORDS.split(), 6)) for _ in range(40)] for _ in range(2))
    report = textgauge.compare(left, right, metrics="jsd@words,cbdf@words,energy@levenshtein,energy@wordllama")
    textgauge.load(report.save(folder / "result.json"))
    textgauge.score(left=left, right=right, metrics="bleu,chrf,jaccard,levenshtein")
    X, Y = rng.normal(size=(2, 40, 8))
    textgauge.compare(X, Y, metrics="fid,mauve,pr,mmd")
    for target in (target for name, target in targets().items() if name not in BY_POLARS):  # which can end a process
        path = folder / target.file
        path.write_bytes(damaged(target, rng))
        try:
            target.read(path)
        except TextgaugeError:
            continue


def state() -> tuple[float, int]:
    """Megabytes of memory, and open files."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6, len(os.listdir("/proc/self/fd"))


def main() -> None:
    """Keep memory and open files as time goes by."""
    warnings.simplefilter("ignore")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1_800.0
    rng, rounds, start, lines = np.random.default_rng(0), 0, time.monotonic(), []
    with tempfile.TemporaryDirectory() as name:
        for line in range(1, LINES + 1):
            while time.monotonic() - start < line * seconds / LINES:
                work(Path(name), rng)
                rounds += 1
            memory, files = state()
            minutes = (time.monotonic() - start) / 60
            lines.append({"minutes": round(minutes, 1), "rounds": rounds, "memory": round(memory), "files": files})
    file = simulated.file_of("soak")
    file.unlink(missing_ok=True)
    simulated.add(file, lines)


if __name__ == "__main__":
    main()
