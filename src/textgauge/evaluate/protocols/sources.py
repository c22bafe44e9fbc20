"""The data of a run: corpora by role, aligned pairs, or the card of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus, Pairs
from textgauge.evaluate.protocols.batch import Column

Data: TypeAlias = "Sources | PairSources | TaskSources"


@dataclass(frozen=True, eq=False)
class Sources:
    """The data of a run: corpora by role, under the name that results carry."""

    name: str
    corpora: Mapping[str, Corpus]

    @cached_property
    def joint(self) -> Corpus:
        """All corpora, one after the other, in one pool: rows are computed once for all trials."""
        return reduce(or_, self.corpora.values())

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all content; the order of the texts does not matter."""
        import hashlib

        digest = hashlib.blake2b(digest_size=8)
        for role, corpus in sorted(self.corpora.items()):
            digest.update(role.encode() + np.sort(corpus.keys).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class PairSources:
    """The data of a run on pairs: aligned texts, and columns of what is known about each (ratings, set, system).

    With several references, `items` tells for each right text which left text it belongs to, in rising order.
    """

    name: str
    left: Corpus
    right: Corpus
    columns: Mapping[str, Column] = field(default_factory=dict)
    items: NDArray[np.int64] | None = None

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs in one pool."""
        left = self.left if self.items is None else self.left.take(self.items)
        return Pairs(left, self.right, items=self.items)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all texts and columns, in order."""
        import hashlib

        items = b"" if self.items is None else self.items.tobytes()
        digest = hashlib.blake2b(self.left.keys.tobytes() + self.right.keys.tobytes() + items, digest_size=8)
        for name, column in sorted(self.columns.items()):
            digest.update(f"{name}{column.tolist()}".encode())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class TaskSources:
    """The data of a task: one of the cards of `datasets.tasks`, under the name that results carry."""

    name: str
    data: Any

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all content; the order of the rows does not matter."""
        import hashlib

        rows = sorted(hashlib.blake2b(repr(row).encode(), digest_size=16).digest() for row in _rows(self.data))
        return hashlib.blake2b(b"".join(rows), digest_size=8).hexdigest()


def _rows(data: Any) -> Iterator[Any]:
    """The rows of a card: aligned tuples together, everything else by itself; names and notes do not count."""
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
