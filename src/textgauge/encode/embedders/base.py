"""What an embedder is, and the table of those known by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from textgauge.errors import UnknownName

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]
"""Called with the number of texts done and the number of all texts."""


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors. The vector of a text must not depend on the texts beside it, their order or the batch size.

    `identity` spells out everything the numbers depend on (model, digest or revision of the weights, pooling, longest
    input, dtype, runtime): it is part of the cache's key and of every signature.
    """

    @property
    def name(self) -> str:
        """The name it is called by."""

    @property
    def identity(self) -> str:
        """Everything the numbers depend on."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def encode(self, texts: Sequence[str], *, batch_size: int = 64, progress: Progress | None = None) -> Vectors:
        """Give one vector per text, shape (texts, dimension)."""


@dataclass(frozen=True)
class Entry:
    """How an embedder is made, and what `list_embedders` says of it."""

    make: Callable[[], Embedder]
    dimension: int | None = None
    resources: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Prefix:
    """How `prefix:VALUE` is made, what VALUE stands for, and what it is."""

    make: Callable[[str], Embedder]
    value: str
    note: str


_ENTRIES: dict[str, Entry] = {}
_PREFIXES: dict[str, Prefix] = {}
_MADE: dict[str, Embedder] = {}
_LOCK = RLock()  # an embedder may be made of another


def embedder(name: str) -> Embedder:
    """Give the embedder of that name, the same object each time; its model is loaded when it is first used."""
    with _LOCK:
        if name not in _MADE:
            _MADE[name] = _make(name)
        return _MADE[name]


def _make(name: str) -> Embedder:
    prefix, colon, model = name.partition(":")
    if colon and model and prefix in _PREFIXES:
        return _PREFIXES[prefix].make(model)
    if name not in _ENTRIES:
        raise UnknownName.among("embedder", name, [*_ENTRIES, *(row["name"] for row in list_prefixes())])
    return _ENTRIES[name].make()


def register_embedder(
    name: str, factory: Callable[[], Embedder], *, dimension: int | None = None, note: str = ""
) -> None:
    """Make an embedder known under a new name; a name in use is refused."""
    declare(name, Entry(factory, dimension, (), note))


def declare(name: str, entry: Entry) -> None:
    """Put an entry into the table."""
    if name in _ENTRIES:
        raise ValueError(f"embedder {name!r} exists already")
    _ENTRIES[name] = entry


def declare_prefix(prefix: str, make: Callable[[str], Embedder], *, value: str = "MODEL", note: str = "") -> None:
    """Let `prefix:MODEL` name an embedder made from MODEL."""
    _PREFIXES[prefix] = Prefix(make, value, note)


def list_prefixes() -> list[dict[str, str]]:
    """List the names that are made as they are asked for: form and note."""
    return [{"name": f"{name}:{prefix.value}", "note": prefix.note} for name, prefix in _PREFIXES.items()]


def list_embedders() -> list[dict[str, object]]:
    """List the embedders: name, dimension, megabytes to fetch, whether it is on this machine, a note."""
    from textgauge.encode.resources import available, resource

    return [
        {
            "name": name,
            "dimension": entry.dimension,
            "megabytes": round(sum(resource(part).size for part in entry.resources) / 1e6, 1),
            "available": all(available(part) for part in entry.resources),
            "note": entry.note,
        }
        for name, entry in _ENTRIES.items()
    ]
