"""The data of a run: corpora by role, aligned pairs, or the card of a task, each with a fingerprint of its content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError
from textgauge.data import Corpus, Pairs
from textgauge.metrics import Metric

Column = NDArray[Any]
Data: TypeAlias = "Sources | PairSources | TaskSources"


@dataclass(frozen=True, eq=False)
class Sources:
    """The data of a run: corpora by role, under the name that results carry.

    `planted` is the file of planted copies, if there is one, with its texts and the columns that `column:NAME` reads.
    """

    name: str
    corpora: Mapping[str, Corpus]
    planted: Path | None = None
    texts: Sequence[str] = ()
    scores: Mapping[str, Column] = field(default_factory=dict)

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
    notes: tuple[str, ...] = ()

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs in one pool."""
        places = np.arange(len(self.left)) if self.items is None else self.items
        scores = {name: column[places] for name, column in self.scores.items()}
        return Pairs(self.left.take(places), self.right, items=self.items, columns=scores)

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


def sign_metric(metric: Metric, sources: Data) -> str:
    """Return what decides a metric's numbers on these data: its signature, and the content of the column it reads.

    A column is not part of the fingerprint, so that it can be added to a run without computing the rest again.
    """
    scores = {} if isinstance(sources, TaskSources) else sources.scores
    if metric.needs != "column" or metric.on not in scores:
        return metric.signature
    content = np.ascontiguousarray(scores[metric.on], dtype=np.float64).tobytes()
    return f"{metric.signature}|values={hashlib.blake2b(content, digest_size=8).hexdigest()}"


def _list_rows(data: Any) -> Iterator[Any]:
    """Yield the rows of a card: aligned tuples together, everything else by itself; names and notes do not count."""
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
