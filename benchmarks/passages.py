"""Copied passages in a million short texts and in 200 MB of documents: CPU time, memory, what is found; and peers.

Short texts are sentences of BBC News and 20 Newsgroups (TEXTGAUGE_DATA) with their words in another order. Documents
are 10 to 50 sentences of these and of the essays, news and stories of Ghostbuster, drawn at random: those of the
candidate are other sentences than those of the reference, and share no run of 8 words with them. In the candidate,
1 text in 50 is a copy of a reference text, and 1 in 50 holds a passage of one: 12 words in a sentence, 40 in a
document. Each search runs in a process of its own, reads both files and says which candidate texts are copied, or hold
copied words. Peers: MinHash of runs of 8 words (datasketch, rensa; 128 permutations, threshold 0.8), and the script
that many use: a set of all runs of 13 words of the reference.
Run: TEXTGAUGE_DATA=... python -m benchmarks.passages short|documents [n, or megabytes] [searches]
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from textgauge.bench.pieces import sentence_spans
from textgauge.data import Corpus, Pool, find_data_table, load_texts
from textgauge.metrics.properties.repeats import find_copied_passages

SHORT = "short"
BBC, NEWSGROUPS, ESSAYS = "bbc_news/bbc_news", "newsgroups20/newsgroups20_sample", "ghostbuster/human_vs_machine"
PLANTED = 50
THRESHOLD, PERMUTATIONS, BANDS = 0.8, 128, 16
Search = Callable[[list[str], list[str]], list[bool]]


def load_documents(*names: str) -> list[str]:
    """Return the texts of data sets of TEXTGAUGE_DATA."""
    tables = {name: find_data_table(name) for name in names}
    absent = [name for name, table in tables.items() if table is None]
    if absent:
        raise SystemExit(f"TEXTGAUGE_DATA has no {', '.join(absent)}")
    return [text for table in tables.values() for text in load_texts(str(table), column="text").texts]


def draw_short(size: int, seed: int) -> Iterator[str]:
    """Yield so many sentences, with their words in random order."""
    known = [part for text in load_documents(BBC, NEWSGROUPS) for part in text.split(". ")]
    words = [np.array(part.split(), dtype=object) for part in known if 10 <= len(part.split()) <= 40]
    rng = np.random.default_rng(seed)
    for _ in range(size):
        yield " ".join(rng.permutation(words[int(rng.integers(len(words)))]))


def draw_documents(size: int, seed: int) -> Iterator[str]:
    """Yield documents of so many bytes in all, made of the sentences of one of two sides."""
    parts = [text[start:end] for text in load_documents(BBC, NEWSGROUPS, ESSAYS) for start, end in sentence_spans(text)]
    known = sorted({" ".join(part.split()) for part in parts if 10 <= len(part.split()) <= 60})
    sides = np.random.default_rng(0).permutation(np.array(known, dtype=object))
    own, others = (sides[start::2].tolist() for start in (seed, 1 - seed))
    if seed == 0:  # the candidate: without what stands in the reference
        runs = {run for text in others for run in _split_runs(text)}
        own = [text for text in own if runs.isdisjoint(_split_runs(text))]
    rng, made = np.random.default_rng(seed), 0
    while made < size:
        text = " ".join(own[place] for place in rng.integers(0, len(own), int(rng.integers(10, 51))))
        made += len(text.encode()) + 1
        yield text


def _split_runs(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.lower())
    return [tuple(words[place : place + 8]) for place in range(len(words) - 7)]


def plant(texts: list[str], others: list[str], run: int) -> tuple[list[str], list[str]]:
    """Return the texts with copies and passages planted, and what each is."""
    rng, kinds = np.random.default_rng(2), [""] * len(texts)
    for row in range(0, len(texts) - PLANTED // 2, PLANTED):
        texts[row], kinds[row] = others[int(rng.integers(len(others)))], "copy"
        source = others[int(rng.integers(len(others)))].split()
        start = int(rng.integers(max(len(source) - run, 0) + 1))
        half = row + PLANTED // 2
        texts[half] += " " + " ".join(source[start : start + run])
        kinds[half] = "passage" if len(source) >= run else ""
    return texts, kinds


def search_passages(texts: list[str], others: list[str]) -> list[bool]:
    n = len(texts)
    pool = Pool([*texts, *others])
    texts.clear()
    others.clear()
    found = find_copied_passages(Corpus(pool, np.arange(n)), Corpus(pool, np.arange(n, pool.size)))
    return (found.longest >= 0).tolist()


def _split(text: str, run: int) -> list[str]:
    words = text.lower().split()
    return [" ".join(words[place : place + run]) for place in range(max(len(words) - run + 1, 1))]


def search_datasketch(texts: list[str], others: list[str]) -> list[bool]:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)

    def sketch(text: str) -> MinHash:
        one = MinHash(num_perm=PERMUTATIONS)
        one.update_batch([run.encode() for run in _split(text, 8)])
        return one

    for place, text in enumerate(others):
        index.insert(place, sketch(text))
    return [bool(index.query(sketch(text))) for text in texts]


def search_rensa(texts: list[str], others: list[str]) -> list[bool]:
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)

    def sketch(text: str) -> RMinHash:
        one = RMinHash(num_perm=PERMUTATIONS, seed=0)
        one.update(_split(text, 8))
        return one

    for place, text in enumerate(others):
        index.insert(place, sketch(text))
    return [bool(index.query(sketch(text))) for text in texts]


def search_runs(texts: list[str], others: list[str]) -> list[bool]:
    known = {hash(run) for text in others for run in _split(text, 13)}
    return [any(hash(run) in known for run in _split(text, 13)) for text in texts]


SEARCHES: dict[str, Search] = {
    "textgauge": search_passages,
    "13 words": search_runs,
    "rensa": search_rensa,
    "datasketch": search_datasketch,
}


def read_peak() -> float:
    """Return the most memory that this process had, in MB; what getrusage gives is also that of its parent."""
    return int(re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[0]) / 1024


def measure(name: str, folder: Path) -> dict[str, object]:
    sides = []
    for file in ("texts.txt", "others.txt"):
        with (folder / file).open(encoding="utf-8", newline="\n") as stream:
            sides.append([line.removesuffix("\n") for line in stream])
    start = time.process_time()
    found = SEARCHES[name](*sides)
    seconds = time.process_time() - start
    return {
        "seconds": seconds,
        "mb": read_peak(),
        "found": np.flatnonzero(found).tolist(),
    }


def main(kind: str, size: int, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        texts, others = (
            list(draw_short(size, seed) if kind == SHORT else draw_documents(size * 1_000_000, seed)) for seed in (0, 1)
        )
        texts, kinds = plant(texts, others, 12 if kind == SHORT else 40)
        (folder / "texts.txt").write_text("\n".join(texts), "utf-8")
        (folder / "others.txt").write_text("\n".join(others), "utf-8")
        (folder / "kinds.json").write_text(json.dumps(kinds))
        print(f"{kind}: {len(texts):,} against {len(others):,} texts", flush=True)
        del texts, others
        print(
            "| search | CPU s | memory in all, MB | copies found | passages found | others named |\n" + "|---" * 6 + "|"
        )
        for name in names:
            print(_format_row(name, folder, np.array(kinds)), flush=True)


def _format_row(name: str, folder: Path, kinds: np.ndarray) -> str:
    command = [sys.executable, "-m", "benchmarks.passages", "--search", name, str(folder)]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode:
        return f"| {name} | failed: {' '.join(run.stderr.strip().splitlines()[-1:])} |"
    found = json.loads(run.stdout)
    hits = np.zeros(len(kinds), dtype=bool)
    hits[found["found"]] = True
    shares = " | ".join(f"{hits[kinds == what].mean():.4f}" for what in ("copy", "passage"))
    return f"| {name} | {found['seconds']:.0f} | {found['mb']:.0f} | {shares} | {hits[kinds == ''].sum():,} |"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--search"]:
        print(json.dumps(measure(sys.argv[2], Path(sys.argv[3]))))
    else:
        kind = sys.argv[1] if sys.argv[1:] else SHORT
        size = int(sys.argv[2]) if sys.argv[2:] else (1_000_000 if kind == SHORT else 200)
        main(kind, size, sys.argv[3].split(",") if sys.argv[3:] else list(SEARCHES))
