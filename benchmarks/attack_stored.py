"""What textgauge stores, with one bit turned: results, caches, models. No bit may be believed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack_files import flipped, targets
from textgauge.bench import Ksc, Plan, Sources, Store, run
from textgauge.core.errors import TextgaugeError
from textgauge.core.files import seal_json, unseal_json
from textgauge.data import Corpus
from textgauge.data.cache import EmbeddingStore
from textgauge.encode import resources
from textgauge.encode.endpoint import Answers
from textgauge.metrics import get_corpus_metrics

Case = Callable[[], str]
RESOURCE = "wordpiece"  # a small one


def _cases(kept: list[tuple[Path, Callable[[], str]]], rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Bits of some files in turn, and what is then made of each; the file is whole again afterwards."""
    whole = [path.read_bytes() for path, _ in kept]

    def case(number: int) -> Case:
        (path, read), content = kept[number % len(kept)], whole[number % len(kept)]

        def tried() -> str:
            path.write_bytes(flipped(content, rng))
            try:
                return read()
            finally:
                path.write_bytes(content)

        return tried

    return (case(number) for number in range(count))


def cells(folder: Path, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """The results of a run."""
    sides = {role: Corpus.of([f"{role} {word} {n}" for n in range(40) for word in "xyz"]) for role in "ab"}
    plan = Plan(Ksc(k=4, n=20, repetitions=3), Sources("a,b", sides), get_corpus_metrics("jsd@words,zipf@words"), 0)
    store = Store(folder / "run")
    run([plan], store)

    def reading(cell: Any) -> Callable[[], str]:
        frame = store.read(cell)

        def read() -> str:
            found = store.read(cell)
            return "refused" if found is None else "taken" if found.equals(frame, null_equal=True) else "wrong"

        return read

    return _cases([(store.path(cell), reading(cell)) for cell in plan.cells()], rng, count)


def embeddings(folder: Path, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """The file of the embedding cache."""
    texts = [f"text {n}" for n in range(20)]
    vectors = dict(zip(texts, rng.normal(size=(20, 8)).astype(np.float32), strict=True))
    EmbeddingStore(folder / "cache").write(texts, np.stack(list(vectors.values())))

    def read() -> str:
        found = EmbeddingStore(folder / "cache").read(texts)
        if not all(np.array_equal(vector, vectors[text]) for text, vector in found.items()):
            return "wrong"
        return "taken" if len(found) == len(texts) else "refused"

    return _cases([(path, read) for path in (folder / "cache").glob("*.sqlite")], rng, count)


def answers(folder: Path, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """What an endpoint answered."""
    given = {f"question {n}": f"answer {n}" for n in range(20)}
    kept = Answers(folder / "answers" / "a.jsonl", {})
    for key, answer in given.items():
        kept.keep(key, answer)
    path = folder / "answers" / "a.jsonl"

    def read() -> str:
        found = Answers.read(path)
        return "wrong" if found.items() - given.items() else "taken" if len(found) == len(given) else "refused"

    return _cases([(path, read)], rng, count)


def models(folder: Path, rng: np.random.Generator, count: int) -> Iterator[Case]:
    """A fetched resource."""
    entry, copy = resources.get_resource(RESOURCE), folder / "resource"
    shutil.copytree(resources.locate(RESOURCE), copy)

    def read() -> str:
        return "wrong" if not resources.find_wrong_files(copy, entry.files) else "refused"

    return _cases([(copy / name, read) for name in entry.files], rng, count)


def sealed(name: str) -> Callable[[Path, np.random.Generator, int], Iterator[Case]]:
    """A file with a checksum that is read by itself."""

    def cases(folder: Path, rng: np.random.Generator, count: int) -> Iterator[Case]:
        target = targets()[name]
        path, content = folder / target.file, seal_json(unseal_json(target.content.decode()))
        path.write_text(json.dumps(content, indent=1))

        def read() -> str:
            changed = path.read_bytes()
            try:
                target.read(path)
            except TextgaugeError:
                return "refused"
            return "taken" if json.loads(changed) == content else "wrong"

        return _cases([(path, read)], rng, count)

    return cases


STORED: dict[str, Callable[[Path, np.random.Generator, int], Iterator[Case]]] = {
    "results of a run": cells,
    "manifest of a run": sealed("run store, manifest"),
    "saved result": sealed("saved result"),
    "trained metric": sealed("ensemble"),
    "embedding cache": embeddings,
    "answers of an endpoint": answers,
    "resource": models,
}
