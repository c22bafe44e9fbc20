"""Readers, stored results and corpus metrics under attack: damaged files and extreme embeddings, counted.

python -m benchmarks.attack [CASES [TARGET]]    a target by a part of its name

Each line of the table is one target: a file of it is damaged CASES times by a seeded generator (bytes changed, cut out,
repeated, or the file cut short; one bit flipped for stored results), or a metric gets CASES pairs of extreme corpora.
A case is `refused` (one clear error, or a warning and computed again), `taken` (read and right, or a table of other
texts, which no reader of texts can know), a `crash` (any other error), `slow` (over 5 s) or `wrong`: a stored number
that has changed without a word, a NaN or infinite value without a reason, a value that depends on the order of the
texts or of the corpora where the metric is symmetric.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from textgauge.data import Comparison, Corpus, read_embeddings
from textgauge.data.cache import EmbeddingStore, text_keys
from textgauge.data.formats import load_table
from textgauge.errors import InputError, TextgaugeError
from textgauge.evaluate import Plan, Store, run
from textgauge.evaluate.protocols import Ksc, Sources
from textgauge.metrics import get_corpus_metrics, get_metric
from textgauge.metrics.registry import known_metrics
from textgauge.report.page import page, read_result

KINDS = ("refused", "taken", "crash", "slow", "wrong")
SLOW = 5.0
Case = Callable[[], str]


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """One to four changes: a byte set, a stretch cut out or repeated, the end cut off."""
    for _ in range(int(rng.integers(1, 5))):
        place, length = int(rng.integers(len(content) + 1)), int(rng.integers(1, 40))
        how = int(rng.integers(8))
        if how < 5:
            content = content[:place] + rng.bytes(1) + content[place + 1 :]
        elif how == 5:
            content = content[:place] + content[place + length :]
        elif how == 6:
            content = content[:place] + content[place : place + length] * 3 + content[place:]
        else:
            content = content[:place] or b"\0"
    return content


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """One bit of one byte turned."""
    place = int(rng.integers(len(content)))
    return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]


def readers(folder: Path) -> Iterator[tuple[str, Path, Callable[[Path], object]]]:
    """A good file of every format, and what reads it."""
    texts = [f"text {n}, with “signs” and\ttabs" for n in range(30)]
    frame = pl.DataFrame({"text": [text.replace("\t", " ") for text in texts], "n": list(range(30))})
    parquet, npy = io.BytesIO(), io.BytesIO()
    frame.write_parquet(parquet)
    np.save(npy, np.random.default_rng(0).normal(size=(30, 4)))
    rows = [{"metric": "energy", "value": 0.2, "low": 0.1, "high": 0.3, "p_value": 0.01, "n_reference": 30,
             "n_candidate": 30, "reason": None, "null": 0.05}] * 3  # fmt: skip
    scored = [{"metric": "bleu", "mean": 0.2, "low": 0.1, "high": 0.3, "n": 30, "reason": None}]
    files = {
        "texts.txt": "\n".join(texts).encode(),
        "texts.csv": frame.write_csv().encode(),
        "texts.tsv": frame.write_csv(separator="\t").encode(),
        "texts.jsonl": frame.write_ndjson().encode(),
        "texts.parquet": parquet.getvalue(),
        "rows.npy": npy.getvalue(),
        "result.json": json.dumps([*rows, *scored]).encode(),
    }
    for name, content in files.items():
        path = folder / name
        path.write_bytes(content)
        read: Callable[[Path], object] = {
            ".npy": read_embeddings,
            ".json": lambda path: page((), [read_result(path)]),
        }.get(path.suffix, _texts)
        yield path.suffix.removeprefix(".") + (" (saved result, report)" if path.suffix == ".json" else ""), path, read


def _texts(path: Path) -> list[str | None]:
    table = load_table(path)
    return table.texts(table.column(None))


def reader_cases(path: Path, read: Callable[[Path], object], rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Damaged copies of a file; of an .npy file half are damaged in the header."""
    whole = path.read_bytes()
    head = 128 if path.suffix == ".npy" else 0

    def case(content: bytes) -> Case:
        def tried() -> str:
            path.write_bytes(content)
            read(path)
            return "taken"

        return tried

    for number in range(count):
        in_head = head and number % 2
        yield case(mutated(whole[:head], rng) + whole[head:] if in_head else mutated(whole, rng))


def store_cases(folder: Path, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Bits flipped in the results of a run."""
    sides = {role: Corpus.of([f"{role} {word} {n}" for n in range(40) for word in "xyz"]) for role in "ab"}
    plan = Plan(Ksc(k=4, n=20, repetitions=3), Sources("a,b", sides), get_corpus_metrics("jsd@words,zipf@words"), 0)
    store = Store(folder)
    run([plan], store)
    kept = [(cell, store.path(cell), store.read(cell), store.path(cell).read_bytes()) for cell in plan.cells()]

    def case(number: int) -> Case:
        cell, path, frame, whole = kept[number % len(kept)]

        def tried() -> str:
            path.write_bytes(flipped(whole, rng))
            found = store.read(cell)
            path.write_bytes(whole)
            return "refused" if found is None else "taken" if found.equals(frame, null_equal=True) else "wrong"

        return tried

    return (case(number) for number in range(count))


def cache_cases(folder: Path, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Bits flipped in a segment of the embedding cache."""
    store, keys = EmbeddingStore(folder), text_keys([f"text {n}" for n in range(20)])
    vectors = rng.normal(size=(20, 8)).astype(np.float32)
    store.write(keys, vectors)
    (path,) = folder.glob("*.vec")
    whole = path.read_bytes()

    def tried() -> str:
        path.write_bytes(flipped(whole, rng))
        found, read = store.read(keys)
        if found.any() and not np.array_equal(read[found], vectors[found]):
            return "wrong"
        return "taken" if found.all() else "refused"

    return (tried for _ in range(count))


def extreme(rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Two corpora of embeddings that are very large, very small, constant, of one dimension, or all of these."""
    n, m, d = (*rng.integers(6, 25, 2), int(rng.choice([1, 2, 5, 30])))
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d)) + rng.choice([0, 1, 1e3])
    scale = 10.0 ** rng.choice([300.0, -300, -320, 150, -150, 19, -19, 16, -16, 9, -9, 5, -5])
    with np.errstate(all="ignore"):
        changes: list[Callable[[], tuple[np.ndarray, np.ndarray]]] = [
            lambda: (X * scale, Y * scale),
            lambda: (X * scale, Y),
            lambda: (np.ones_like(X), Y),
            lambda: (np.hstack([X, np.full((n, 1), scale)]), np.hstack([Y, np.full((m, 1), scale)])),
            lambda: (np.vstack([X[:1] * scale, X[1:]]), Y),
            lambda: (X * 0, Y * 0),
            lambda: (np.repeat(X[:2], 5, axis=0), np.repeat(X[:2], 4, axis=0)),
            lambda: (np.full_like(X, 5e-324), Y * 5e-324),
            lambda: ((X * 1e18).astype(np.float32), (Y * 1e15).astype(np.float32)),
            lambda: (X, X),
        ]
        left, right = changes[number % len(changes)]()
    return np.nan_to_num(left), np.nan_to_num(right)


def metric_cases(name: str, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """A corpus metric on extreme embeddings."""
    metric = get_metric(name)

    def case(number: int) -> Case:
        left, right = extreme(rng, number)

        def value(first: np.ndarray, second: np.ndarray) -> tuple[float, str | None]:
            comparison = Comparison(first, second)
            score = metric.on_given(comparison).measure(comparison)
            return score.value, score.reason

        def tried() -> str:
            found, reason = value(left, right)
            if not np.isfinite(found):
                return "refused" if reason else "wrong"
            others = [value(left[::-1], right[::-1])[0]]
            others += [value(right, left)[0]] if metric.symmetric else []
            return "taken" if np.allclose(others, found, rtol=1e-6, atol=1e-9) else "wrong"

        return tried

    return (case(number) for number in range(count))


def outcomes(cases: Iterator[Case]) -> Counter[str]:
    """How the cases ended."""
    found: Counter[str] = Counter()
    for case in cases:
        start = time.perf_counter()
        try:
            kind = case()
        except (InputError, TextgaugeError):
            kind = "refused"
        except Exception as error:
            kind = "crash"
            print(f"{type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        found[kind] += 1
        found["slow"] += time.perf_counter() - start > SLOW
    return found


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    print(f"| target | cases | {' | '.join(KINDS)} |\n|---|---|{'---|' * len(KINDS)}")

    def line(target: str, cases: Iterator[Case]) -> None:
        if wanted not in target:
            return
        found = outcomes(cases)
        total = sum(found[kind] for kind in KINDS if kind != "slow")
        print(f"| {target} | {total:,} | {' | '.join(f'{found[kind]:,}' for kind in KINDS)} |", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder, rng = Path(name), np.random.default_rng(0)
        line("results of a run, one bit", store_cases(folder / "run", rng, count))
        line("embedding cache, one bit", cache_cases(folder / "cache", rng, count))
        for target, path, read in list(readers(folder)):
            line(target, reader_cases(path, read, rng, count))
    kinds = {name: kind for name, kind in known_metrics().items() if kind.scope == "corpus"}
    for metric in (name for name, kind in kinds.items() if kind.needs in ("embeddings", "ground")):
        line(f"`{metric}`, extreme embeddings", metric_cases(metric, np.random.default_rng(0), max(count // 5, 10)))


if __name__ == "__main__":
    main()
