"""Encoders by name: a table of makers that are imported and called when a name is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from threading import RLock
from typing import Any, Generic, TypeVar

from textgauge.core.errors import InputError, UnknownName

T = TypeVar("T")


def lazy(module: str, name: str) -> Callable[..., Any]:
    """A function that imports the real one when it is called, so that naming it costs nothing."""

    def made(*args: Any) -> Any:
        return getattr(import_module(module), name)(*args)

    return made


@dataclass(frozen=True)
class Entry:
    """How a named thing is made, and what a list of them says of it."""

    make: Callable[..., Any]
    dimension: int | None = None
    resources: tuple[str, ...] = ()
    note: str = ""
    language: str | None = None
    window: int | None = None  # how many tokens of a text it reads; None for all, or where it is not known

    def row(self, name: str) -> dict[str, object]:
        """Name, dimension, language, window, megabytes to fetch, whether it is on this machine, a note."""
        from textgauge.encode.resources import available, resource

        return {
            "name": name,
            "dimension": self.dimension,
            "language": self.language,
            "window": self.window,
            "megabytes": round(sum(resource(part).size for part in self.resources) / 1e6, 1),
            "available": all(available(part) for part in self.resources),
            "note": self.note,
        }


@dataclass(frozen=True)
class Prefix:
    """How `prefix:VALUE` is made, what VALUE stands for, and what it is."""

    make: Callable[..., Any]
    value: str = "MODEL"
    note: str = ""
    kept: bool = True  # whether the same value gives the same object; not for files, which may change


@dataclass(frozen=True)
class Named(Generic[T]):
    """The table of one kind of encoder; each is made once for its name and arguments."""

    kind: str
    entries: dict[str, Entry] = field(default_factory=dict)
    prefixes: dict[str, Prefix] = field(default_factory=dict)
    made: dict[tuple[Any, ...], T] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=RLock, repr=False)  # one encoder may be made of another

    def get(self, name: str, *args: Any) -> T:
        """The encoder of that name, the same object each time."""
        if not getattr(self.prefixes.get(name.partition(":")[0]), "kept", True):
            return self._make(name, *args)
        with self._lock:
            if (name, *args) not in self.made:
                self.made[name, *args] = self._make(name, *args)
            return self.made[name, *args]

    def register(self, name: str, entry: Entry) -> None:
        """Make an encoder known under a new name; a name in use is refused."""
        if name in self.entries:
            raise InputError(f"{self.kind} {name!r} exists already")
        self.entries[name] = entry

    def forms(self) -> list[str]:
        """All names, those with a part to fill in as `prefix:VALUE`."""
        return [*self.entries, *(f"{name}:{prefix.value}" for name, prefix in self.prefixes.items())]

    def _make(self, name: str, *args: Any) -> T:
        prefix, colon, value = name.partition(":")
        if colon and value and prefix in self.prefixes:
            return self.prefixes[prefix].make(value, *args)  # type: ignore[no-any-return]
        if name not in self.entries:
            raise self.unknown(name)
        return self.entries[name].make(*args)  # type: ignore[no-any-return]

    def unknown(self, name: str, others: Iterable[str] = ()) -> UnknownName:
        """The error for a name that the table does not have."""
        return UnknownName.among(self.kind, name, [*self.forms(), *others])
