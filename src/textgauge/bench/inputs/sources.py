"""The data of a run: corpora by role, aligned pairs, or the card of a task; and how corpora are read."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs.ngrams import write_ngram_corpora
from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError
from textgauge.data import Corpus, Pairs, load_texts
from textgauge.data.formats import holds_texts, list_endings
from textgauge.data.source import Source, get_source_name, load_corpus
from textgauge.metrics import Metric

Column = NDArray[Any]
Data: TypeAlias = "Sources | PairSources | TaskSources"

REFERENCE = "reference"
_LEARNED = "sample:banking"


@dataclass(frozen=True, eq=False)
class Sources:
    """The data of a run: corpora by role, under the name that results carry."""

    name: str
    corpora: Mapping[str, Corpus]

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether two sources that are compared share texts."""
        if not self.corpora.keys() >= {"a", "b"}:
            return ()
        shared = len(np.intersect1d(self.corpora["a"].keys, self.corpora["b"].keys))
        return (f"{self.name}: {shared} different texts are in both sources",) if shared else ()

    @cached_property
    def joint(self) -> Corpus:
        """All corpora, one after the other, in one pool: rows are computed once for all trials."""
        return reduce(or_, self.corpora.values())

    def distinct(self, role: str) -> Ints:
        """Return one row of each different text of a corpus, in an order of their content alone."""
        return np.asarray(np.unique(self.corpora[role].keys, return_index=True)[1])

    @cached_property
    def sides(self) -> tuple[Ints, Ints]:
        """The same for `a` and for `b`, as rows of the joint corpus."""
        return self.distinct("a"), self.distinct("b") + len(self.corpora["a"])

    @property
    def fewest(self) -> int:
        """How many different texts the corpus has that has the fewest."""
        return min(len(self.distinct(role)) for role in self.corpora)

    def check_different(self, needed: Mapping[str, int], who: str) -> None:
        """Refuse a source with fewer different texts than are needed; `who` needs them, verb included."""
        for role, count in needed.items():
            have = len(self.distinct(role))
            if have < count:
                raise InputError(f"source {role} has {have} different texts, but {who} {count}")

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all content; the order of the texts does not matter."""
        digest = hashlib.blake2b(digest_size=8)
        for role, corpus in sorted(self.corpora.items()):
            digest.update(role.encode() + np.sort(corpus.keys).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class PairSources:
    """The data of a run on pairs: aligned texts, and columns of what is known about each (ratings, set, system).

    With several references, `items` is the left text that each right text belongs to, in rising order. `scores` are
    numbers that `column:NAME` metrics read, one for each left text.
    """

    name: str
    left: Corpus
    right: Corpus
    columns: Mapping[str, Column] = field(default_factory=dict)
    items: NDArray[np.int64] | None = None
    scores: Mapping[str, Column] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing: all pairs are used."""
        return ()

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs in one pool."""
        places = np.arange(len(self.left)) if self.items is None else self.items
        scores = {name: column[places] for name, column in self.scores.items()}
        return Pairs(self.left.take(places), self.right, items=self.items, columns=scores)

    def signature(self, metric: Metric) -> str:
        """Return what decides a metric's numbers on these pairs: its signature, and the content of the column it reads.

        A column is not part of the fingerprint, so that it can be added to a run without computing the rest again.
        """
        if metric.needs != "column" or metric.on not in self.scores:
            return metric.signature
        content = np.ascontiguousarray(self.scores[metric.on], dtype=np.float64).tobytes()
        return f"{metric.signature}|values={hashlib.blake2b(content, digest_size=8).hexdigest()}"

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all texts and columns, in order."""
        items = b"" if self.items is None else self.items.tobytes()
        digest = hashlib.blake2b(self.left.keys.tobytes() + self.right.keys.tobytes() + items, digest_size=8)
        for name, column in sorted(self.columns.items()):
            digest.update(f"{name}{column.tolist()}".encode())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class TaskSources:
    """The data of a task: one of the sets of `textgauge.data`, under the name that results carry."""

    name: str
    data: Any

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out on reading."""
        return tuple(f"{self.name}: {note}" for note in self.data.notes)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all content; the order of the rows does not matter."""
        rows = sorted(hashlib.blake2b(repr(row).encode(), digest_size=16).digest() for row in _list_rows(self.data))
        return hashlib.blake2b(b"".join(rows), digest_size=8).hexdigest()


def _list_rows(data: Any) -> Iterator[Any]:
    """Yield the rows of a card: aligned tuples together, everything else by itself; names and notes do not count."""
    if not is_dataclass(data):
        raise TypeError(f"{type(data).__name__} is not a card of task data")
    columns: dict[int, list[tuple[str, tuple[Any, ...]]]] = {}
    for item in fields(data):
        value = getattr(data, item.name)
        if isinstance(value, Mapping):
            for key, cells in value.items():
                if isinstance(cells, tuple):
                    columns.setdefault(len(cells), []).append((f"{item.name}.{key}", cells))
                else:
                    yield item.name, key, sorted(cells)
        elif isinstance(value, tuple) and item.name != "notes":
            columns.setdefault(len(value), []).append((item.name, value))
    for named in columns.values():
        yield from zip(*(cells for _, cells in sorted(named)), strict=True)


def read_two(a: Source, b: Source, *, column: str | None = None, limit: int | None = None, seed: int = 0) -> Sources:
    """Return two corpora, by path, sample or dataset name, or as texts."""
    given = {"a": a, "b": b}
    corpora = {
        role: load_corpus(source, role=f"source {role}", column=column, limit=limit, seed=seed)
        for role, source in given.items()
    }
    return Sources(",".join(get_source_name(source, role) for role, source in given.items()), corpora)


def format_step_role(number: int) -> str:
    """Return the role of a step's corpus.

    >>> format_step_role(7)
    'step-007'
    """
    return f"step-{number:03d}"


def read_steps(
    steps: str | os.PathLike[str] | Sequence[Source], reference: Source, *, column: str | None = None
) -> Sources:
    """The reference and the corpora of the steps: all text files of a folder in natural order (2 before 10), or files
    or texts in the order given.
    """
    found = list_step_files(steps) if isinstance(steps, str | os.PathLike) else list(steps)
    corpora = [load_corpus(step, column=column) for step in found]
    folder = Path(steps).name if isinstance(steps, str | os.PathLike) else f"{len(found)} files"
    approached = Path(get_source_name(reference, REFERENCE)).name
    return _join_steps(
        f"{folder or 'steps'},{approached}", load_corpus(reference, role=REFERENCE, column=column), corpora
    )


def list_step_files(folder: str | os.PathLike[str]) -> list[str]:
    """Return the text files of a folder, in natural order of their names."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{folder} is not a folder of corpora, one file for each step")
    names = [path.name for path in place.iterdir() if path.is_file() and holds_texts(path)]
    found = sorted((name for name in names if not name.startswith(".")), key=make_natural_key)
    if not found:
        raise InputError(f"{folder} holds no corpora ({', '.join(list_endings())})")
    return [str(place / name) for name in found]


def make_natural_key(name: str) -> list[tuple[int, int, str]]:
    """Return a key that orders numbers in names by size.

    >>> sorted(["step10.txt", "step2.txt", "step1.txt"], key=make_natural_key)
    ['step1.txt', 'step2.txt', 'step10.txt']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(0, int(part), part) if part.isascii() and part.isdigit() else (1, 0, part) for part in parts]


def make_learned_steps(*, steps: int = 8, texts: int = 2_000, per_step: int = 300, seed: int = 0) -> Sources:
    """Built-in texts, and what a back-off trigram model writes that has seen 1/128, 1/64, … and all of them."""
    learned = load_texts(_LEARNED, limit=texts).texts
    corpora = write_ngram_corpora(learned, steps=steps, per_step=per_step, seed=seed)
    return _join_steps(f"trigrams,{_LEARNED}", Corpus.of(learned), [Corpus.of(list(texts)) for texts in corpora])


def _join_steps(name: str, reference: Corpus, steps: Sequence[Corpus]) -> Sources:
    corpora = {format_step_role(number): corpus for number, corpus in enumerate(steps, start=1)}
    return Sources(name, {REFERENCE: reference, **corpora})
