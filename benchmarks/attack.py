"""Readers, stored results, metrics and properties under attack: damaged files, extreme embeddings, odd texts, counted.

python -m benchmarks.attack [CASES [TARGET]]    a target by a part of its name

A line is added to benchmarks/simulated/attack.jsonl for each target that it does not hold with as many cases, so that
the command can be stopped and called again; `python -m benchmarks.reliability` makes the table.
A target is tried at least CASES times by a seeded generator: a file is damaged (bytes changed,
cut out, repeated, or the file cut short), one bit of what textgauge stores is turned, or a family of metrics, or the
properties, get extreme embeddings or odd texts. A case is `refused` (one clear error, NaN with a reason, or a warning
and computed again), `taken` (read and right, or a table of other texts, which no reader of texts can know), a `crash`
(any other error, or the end of the process), `slow` (over 5 s of processor time), `large` (over 1 GB of memory more
than before) or `wrong`: a stored number that has changed without a word, a value that is not finite and has no reason,
or is outside of its bounds, or depends on the order of the texts, or of the corpora where the metric is symmetric.
What polars reads is tried in a process of its own, which is started again after a case that ended it.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack_files import Target, damaged, targets
from benchmarks.attack_stored import STORED, Case
from benchmarks.simulated import file_of, read
from benchmarks.trust import KINDS, keep
from textgauge.core.errors import TextgaugeError
from textgauge.data import Comparison, Pairs
from textgauge.measure.describing import Measuring, load_corpora
from textgauge.metrics import CorpusMetric, PairMetric, get_metric, list_metrics
from textgauge.metrics.properties import list_properties
from textgauge.testing import drop_models

SLOW = 5.0
LARGE = 1_000_000  # kilobytes
BY_POLARS = ("parquet", "arrow", "arrow stream", "spreadsheet")  # readers that can end the process
HOSTED = ("model", "service", "column")  # have no numbers of their own


def reader_cases(folder: Path, target: Target, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Damaged copies of a file; of content with a checksum none may be read."""
    path = folder / target.file

    def case() -> Case:
        content = damaged(target, rng)

        def tried() -> str:
            path.write_bytes(content)
            target.read(path)
            return "taken" if not target.checked or json.loads(content) == json.loads(target.content) else "wrong"

        return tried

    return (case() for _ in range(count))


Side = np.ndarray | list[str]
Two = tuple[Side, Side]
FRAGMENTS = [
    "the", "The", "cat", "cats", "don't", "3.5%", "$1,200", "e.g.", "नमस्ते", "你好", "世界", "مرحبا", "ありがとう",
    "สวัสดี", "👍🏽", "👨\u200d👩\u200d👧", "e\u0301", "\u0301", "\u200d", "\ufeff", "\ud800", "\udfff", "\x00", "\n",
    "\t", "\u00a0", "-", "'", "''", "&amp;", "<s>", "[CLS]", "##ing", "a_b", "ß", "İ", "ﬁ", "Ⅷ", "١٢٣", "runs", "far",
]  # fmt: skip


def extreme(rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Two corpora of embeddings that are very large, very small, constant, of one dimension, or all of these."""
    n, m, d = (*rng.integers(6, 14, 2), int(rng.choice([1, 2, 5, 16])))
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


def _judged(value: float, reason: str | None, bounds: tuple[float, float]) -> str:
    """What a value is worth by itself."""
    if not math.isfinite(value):
        return "refused" if reason else "wrong"
    return "taken" if bounds[0] - 1e-9 <= value <= bounds[1] + 1e-9 else "wrong"


def corpus_cases(
    metric: CorpusMetric, rng: np.random.Generator, count: int, draw: Callable[[np.random.Generator, int], Two]
) -> Iterator[Case]:
    """A corpus metric on corpora that are drawn; its value in another order, and with exchanged roles."""

    def value(first: Side, second: Side) -> tuple[float, str | None]:
        score = metric.measure(Comparison(first, second))
        return score.value, score.reason

    def case(number: int) -> Case:
        left, right = draw(rng, number)

        def tried() -> str:
            found, reason = value(left, right)
            kind = _judged(found, reason, metric.bounds)
            if kind != "taken":
                return kind
            others = [value(left[::-1], right[::-1])[0]]
            others += [value(right, left)[0]] if metric.symmetric else []
            return "taken" if np.allclose(others, found, rtol=1e-6, atol=1e-9) else "wrong"

        return tried

    return (case(number) for number in range(count))


def odd_text(rng: np.random.Generator) -> str:
    """Words, signs, scripts, marks, controls, lone surrogates: some of them, joined in some way."""
    if rng.random() < 0.05:
        return str(rng.choice(["", " ", "a" * 2_000, "\u0301" * 300, "x " * 400]))
    return str(rng.choice(["", " ", "\n"])).join(rng.choice(FRAGMENTS, int(rng.integers(1, 9))).tolist())


def odd_corpora(rng: np.random.Generator, number: int) -> Two:
    """Two small corpora of odd texts; some repeat one text, some share texts."""
    left, right = ([odd_text(rng) for _ in range(int(rng.integers(2, 12)))] for _ in range(2))
    if number % 7 == 0:
        left = left[:1] * len(left)
    return left, (right + left[:2] if number % 5 == 0 else right)


def in_blocks(block: Callable[[], list[str]], count: int) -> Iterator[Case]:
    """Cases of which a block is tried at a time."""
    pending: list[str] = []

    def tried() -> str:
        pending.extend([] if pending else block())
        return pending.pop()

    return (tried for _ in range(count))


def pair_cases(metric: PairMetric, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """A pair metric on pairs of odd texts, a hundred at a time; equal texts have the value at identity."""

    def block() -> list[str]:
        left, right = ([odd_text(rng) for _ in range(100)] for _ in range(2))
        scores = metric.measure(Pairs(left, right))
        same = metric.measure(Pairs(left, left)).values / metric.factor
        values = (scores.values / metric.factor).tolist()
        found = [_judged(value, scores.reason, metric.bounds) for value in values]
        equal = np.isnan(same) | (np.abs(same - metric.value_at_identity) <= 2e-6)
        return [kind if right else "wrong" for kind, right in zip(found, equal.tolist(), strict=True)]

    return in_blocks(block, count)


def property_cases(rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Every property that needs no service, on generated corpora of odd texts beside train and test."""

    def block() -> list[str]:
        (generated, train), (test, _) = (odd_corpora(rng, int(rng.integers(70))) for _ in range(2))
        corpora = load_corpora({"generated": list(generated)}, list(train), list(test))
        (corpus,) = Measuring(corpora, "wordllama", None, "kneser-ney").generated
        measured = [(known, *known.of(corpus, 0.95)) for known in list_properties()]
        return [_judged(math.nan if reason else found.value, reason, known.bounds) for known, found, reason in measured]

    return in_blocks(block, count)


def tried(make: Callable[..., Iterator[Case]], *args: Any) -> Counter[str]:
    """How the cases that are made ended."""
    return outcomes(make(*args))


def outcomes(cases: Iterator[Case]) -> Counter[str]:
    """How the cases ended."""
    found: Counter[str] = Counter()
    for case in cases:
        count(found, case)
    return found


def count(found: Counter[str], case: Case) -> None:
    """Try a case and count how it ends; what is wrong is said on standard error."""
    start, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        kind = case()
    except TextgaugeError:
        kind = "refused"
    except Exception as error:
        kind = "crash"
        print(f"{type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    found[kind] += 1
    found["slow"] += time.process_time() - start > SLOW
    found["large"] += resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory > LARGE


def outcomes_apart(name: str, cases: int) -> Counter[str]:
    """How the cases of a reader ended, in a process that is started again after a case that ended it."""
    found: Counter[str] = Counter()
    done, context = 0, multiprocessing.get_context("spawn")
    while done < cases:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=try_from, args=(name, cases, done, sender))
        process.start()
        sender.close()
        try:
            while True:
                found.update(receiver.recv())
                done += 1
        except EOFError:
            process.join()
        if done < cases:
            found["crash"] += 1
            done += 1
            print(f"{name}: case {done} ended the process ({process.exitcode})", file=sys.stderr)
    return found


def try_from(name: str, cases: int, first: int, sender: Connection) -> None:
    """Try the cases of a reader from one on, and send how each ended."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for case in islice(reader_cases(Path(folder), targets()[name], np.random.default_rng(0), cases), first, None):
            found: Counter[str] = Counter()
            count(found, case)
            sender.send(found)


def attacked(target: str, wanted: str, cases: int, tries: Callable[[], Counter[str]]) -> None:
    """Try a target whose name has `wanted` in it, unless that was done before, and keep what was found."""
    known = {line["target"]: line["cases"] for line in read(file_of("attack"))}
    if wanted not in target or known.get(target, 0) >= cases:
        return
    start, found = time.process_time(), tries()
    total = sum(found[kind] for kind in KINDS if kind not in ("slow", "large"))
    keep(file_of("attack"), {"target": target, "cases": total, **{kind: found[kind] for kind in KINDS}}, "target")
    print(f"{target}: {dict(found)}, {time.process_time() - start:.0f} s", flush=True)


def families(kind: str) -> dict[str, list[Any]]:
    """Metrics that have numbers of their own, by the file that holds them, which is their family."""
    found: dict[str, list[Any]] = {}
    for metric in (metric for metric in list_metrics(kind=kind) if metric.needs not in HOSTED):
        found.setdefault(type(metric).__module__.rpartition(".")[2], []).append(metric)
    if "mauve" in found:  # five starts of k-means take long where all texts are equal; most cases get one
        found["mauve"] += [get_metric("mauve(restarts=1)")] * 9
    return found


def family_cases(metrics: list[Any], count: int) -> Iterator[Case]:
    """The cases of a family, shared out evenly among its metrics."""
    for number, metric in enumerate(metrics):
        rng, share = np.random.default_rng([0, number]), -(-count // len(metrics))
        if isinstance(metric, PairMetric):
            yield from pair_cases(metric, rng, share)
        else:
            plain = drop_models(metric)
            yield from corpus_cases(plain, rng, share, odd_corpora if plain.reads_texts else extreme)


def main() -> None:
    """Attack every target that is asked for."""
    warnings.simplefilter("ignore")
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    with tempfile.TemporaryDirectory() as name:
        folder, rng = Path(name), np.random.default_rng
        for what, flips in STORED.items():
            attacked(f"one bit: {what}", wanted, cases, partial(tried, flips, folder, rng(0), cases))
        for format_, target in targets().items():
            tries = partial(tried, reader_cases, folder, target, rng(0), cases)
            apart = partial(outcomes_apart, format_, cases)
            attacked(f"reader: {format_}", wanted, cases, apart if format_ in BY_POLARS else tries)
    for kind in ("pair", "corpus"):
        for family, metrics in families(kind).items():
            names = ", ".join(dict.fromkeys(f"`{metric.name}`" for metric in metrics))
            attacked(f"{kind} metrics: {family} ({names})", wanted, cases, partial(tried, family_cases, metrics, cases))
    attacked("properties", wanted, cases, lambda: outcomes(property_cases(rng(0), cases)))


if __name__ == "__main__":
    main()
