"""Near duplicates of 100,000 texts by words: CPU time, memory, and what is found, beside datasketch and rensa.

Texts are the phone reviews of TEXTGAUGE_DATA and copies that EDA made of them. A near duplicate has Jaccard's index 0.8
or more of its set of words. Each search runs in a process of its own and gets sets of words; recall and precision are
those of "this text has a near duplicate", for 2,000 texts that were compared with all by brute force.
Run: TEXTGAUGE_DATA=... python -m benchmarks.near_duplicates [n]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from textgauge.data import find_data_table, load_texts
from textgauge.encode.tokenizers import get_tokenizer, split_folded_words
from textgauge.metrics.numerics.search import find_nearest_sets
from textgauge_papers.generate import eda

THRESHOLD, CHECKED, PERMUTATIONS = 0.8, 2_000, 128
BANDS = 16  # of rensa: 16 bands of 8 rows find a pair of 0.8 with 95 %


def texts(n: int) -> list[list[str]]:
    """Sets of words, as sorted lists, of reviews and of as many changed copies as are wanted."""
    tables = [find_data_table(f"phone_reviews/{name}") for name in ("phone_review_sentences", "phone_reviews")]
    if None in tables:
        raise SystemExit("TEXTGAUGE_DATA has no phone_reviews")
    known = [text for table in tables for text in load_texts(str(table), column="text").texts][:n]
    made = [*known, *eda(known, n=n - len(known), seed=0)] if len(known) < n else known
    return [sorted({word for word in split_folded_words(text) if any(map(str.isalnum, word))}) for text in made]


def with_textgauge(sets: list[list[str]]) -> list[bool]:
    found = find_nearest_sets(
        get_tokenizer("whitespace").encode([" ".join(words) for words in sets]), threshold=THRESHOLD
    )
    return (found.index >= 0).tolist()


def with_datasketch(sets: list[list[str]]) -> list[bool]:
    from datasketch import MinHash, MinHashLSH

    hashes = MinHash.bulk([[word.encode() for word in words] for words in sets], num_perm=PERMUTATIONS)
    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    for place, one in enumerate(hashes):
        index.insert(place, one)
    return [len(index.query(one)) > 1 for one in hashes]


def with_rensa(sets: list[list[str]]) -> list[bool]:
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)
    hashes = []
    for place, words in enumerate(sets):
        one = RMinHash(num_perm=PERMUTATIONS, seed=0)
        one.update(words)
        hashes.append(one)
        index.insert(place, one)
    return [len(index.query(one)) > 1 for one in hashes]


SEARCHES: dict[str, Callable[[list[list[str]]], list[bool]]] = {
    "textgauge": with_textgauge,
    "datasketch": with_datasketch,
    "rensa": with_rensa,
}


def brute_force(sets: list[list[str]], rows: list[int]) -> list[bool]:
    """Whether each of some rows has a near duplicate among all, compared with every one."""
    from scipy.sparse import csr_matrix

    tokens = get_tokenizer("whitespace").encode([" ".join(words) for words in sets])
    ones = np.ones(len(tokens.ids), dtype=np.int32)
    bags = csr_matrix((ones, tokens.ids, tokens.offsets), shape=(len(sets), len(tokens.vocabulary)))
    sizes, others, found = np.diff(bags.indptr), bags.T.tocsc(), []
    for row in rows:
        shared = np.asarray((bags[row] @ others).todense()).reshape(-1)
        index = shared / np.maximum(sizes + sizes[row] - shared, 1)
        index[row] = 0.0
        found.append(bool(index.max() >= THRESHOLD - 1e-9))
    return found


def _measured(name: str, file: str) -> dict[str, object]:
    sets = [line.split(" ") if line else [] for line in Path(file).read_text("utf-8").split("\n")]
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    found = SEARCHES[name](sets)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "mb": (peak - before) / 1024, "found": found}


def main(n: int) -> None:
    sets = texts(n)
    rows = np.random.default_rng(0).permutation(len(sets))[:CHECKED].tolist()
    truth = np.array(brute_force(sets, rows))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sets.txt"
        file.write_text("\n".join(" ".join(words) for words in sets), "utf-8")
        print("| search | texts | CPU s | memory, MB | recall | precision |\n|---|---|---|---|---|---|")
        for name in SEARCHES:
            print(_row(name, str(file), rows, truth), flush=True)


def _row(name: str, file: str, rows: list[int], truth: np.ndarray) -> str:
    command = [sys.executable, "-m", "benchmarks.near_duplicates", "--search", name, file]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode:
        return f"| {name} | failed: {' '.join(run.stderr.strip().splitlines()[-1:])} |"
    found = json.loads(run.stdout)
    hits = np.array(found["found"])
    right = (hits[rows] & truth).sum()
    recall, precision = right / truth.sum(), right / max(hits[rows].sum(), 1)
    return f"| {name} | {len(hits):,} | {found['seconds']:.1f} | {found['mb']:.0f} | {recall:.4f} | {precision:.4f} |"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--search"]:
        print(json.dumps(_measured(sys.argv[2], sys.argv[3])))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 100_000)
