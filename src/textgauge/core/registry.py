"""Named things: one table of them, declared in code, found in modules on first use, or brought by other packages.

Names are values: `name[.part][(param=value,...)][@on]`, with `|` for grids. A column of scores that a table has is a
metric too: `column:NAME`, where smaller is closer `column(closer=smaller):NAME`.

>>> parse("pr.recall(k=3)@minilm:cosine")
Name(name='pr', part='recall', params=(('k', '3'),), on='minilm:cosine')
>>> str(parse(" pr( k = 3 ) "))
'pr(k=3)'
>>> expand("pr(k=3|5)@minilm|wordllama")
['pr(k=3)@minilm', 'pr(k=3)@wordllama', 'pr(k=5)@minilm', 'pr(k=5)@wordllama']
>>> parse("column:judge score"), str(parse("column(closer=smaller):ter"))
(Name(name='column', part=None, params=(), on='judge score'), 'column(closer=smaller):ter')
>>> split_names("fid, pr(k=3,ties=open),dc")
['fid', 'pr(k=3,ties=open)', 'dc']
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pkgutil import iter_modules
from threading import RLock
from typing import Any, TypeVar

from textgauge.core.errors import InputError, UnknownName, warn

_FORM = re.compile(
    r"\s*(?P<name>[A-Za-z_][\w/-]*)(?:\.(?P<part>\w+))?\s*(?:\((?P<params>[^()]*)\))?\s*(?:@(?P<on>[^@\s].*?))?\s*"
)
COLUMN = "column"
_MOST = 1_000  # names that a grid may stand for; three of 400 choices each would be 64 million
_COLUMN = re.compile(rf"\s*(?P<name>{COLUMN})(?P<part>)\s*(?:\((?P<params>[^()]*)\))?\s*:\s*(?P<on>\S.*?)\s*")


@dataclass(frozen=True)
class Name:
    """A parsed name; `str` gives it back in its shortest regular form."""

    name: str
    part: str | None = None
    params: tuple[tuple[str, str], ...] = ()
    on: str | None = None

    def __str__(self) -> str:
        part = f".{self.part}" if self.part else ""
        params = ",".join(f"{key}={value}" for key, value in self.params)
        sign = ":" if self.name == COLUMN else "@"
        return f"{self.name}{part}{f'({params})' if params else ''}{f'{sign}{self.on}' if self.on else ''}"


def parse(text: str) -> Name:
    """Parse one name without grids."""
    match = _COLUMN.fullmatch(text) or _FORM.fullmatch(text)
    if match is None:
        raise UnknownName(f"cannot read {text!r} as name[.part][(param=value,...)][@on]")
    params = tuple(_parse_parameter(item, text) for item in (match["params"] or "").split(",") if item.strip())
    doubled = [key for key, _ in params if sum(key == other for other, _ in params) > 1]
    if doubled:
        raise UnknownName(f"parameter {doubled[0]!r} is given twice in {text!r}")
    return Name(match["name"], match["part"] or None, params, match["on"])


def expand(text: str) -> list[str]:
    """Return all names a grid stands for, in reading order; a plain name stands for itself."""
    name = parse(text)
    keys = [key for key, _ in name.params]
    axes = [value.split("|") for _, value in name.params]
    places: list[str | None] = [*name.on.split("|")] if name.on else [None]
    if "" in places or any("" in axis for axis in axes):
        raise UnknownName(f"a choice between '|' is empty in {text!r}")
    count = math.prod(map(len, axes)) * len(places)
    if count > _MOST:
        raise UnknownName(f"this grid of {name.name} stands for {count:,} names; the limit is {_MOST:,}")
    return [
        str(Name(name.name, name.part, tuple(zip(keys, values, strict=True)), on))
        for values in product(*axes)
        for on in places
    ]


def split_names(text: str) -> list[str]:
    """Split a comma-separated list of names, leaving commas inside brackets alone."""
    return [piece.strip() for piece in re.split(r",(?![^()]*\))", text) if piece.strip()]


def _parse_parameter(item: str, text: str) -> tuple[str, str]:
    key, equals, value = item.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise UnknownName(f"parameters are written name=value: {item.strip()!r} in {text!r}")
    return key.strip(), value.strip()


T = TypeVar("T")
E = TypeVar("E")


class Registry(MutableMapping[str, T]):
    """Things of one kind by name; a name that is not there raises `UnknownName` with the names that are near.

    Parameters
    ----------
    kind
        What one entry is called in messages, such as "metric".
    entries
        Entries declared in code.
    modules
        Modules that register entries while they are imported: as many as it takes to know a name, all of them when
        all names are asked for; of a package all modules whose name has no leading underscore.
    group
        The entry point group by which other packages bring entries.
    plug_in
        What is called with the name and the object of such an entry point; registers the object under that name
        unless another function is given.

    >>> shapes = Registry("shape", {"circle": 0, "square": 4})
    >>> shapes.register(3, "triangle"), list(shapes)
    (3, ['circle', 'square', 'triangle'])
    >>> shapes["squared"]
    Traceback (most recent call last):
    textgauge.core.errors.UnknownName: unknown shape 'squared'; did you mean square?
    """

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, T] | None = None,
        *,
        modules: Sequence[str] = (),
        group: str | None = None,
        plug_in: Callable[[str, Any], object] | None = None,
    ) -> None:
        self.kind, self.modules, self.group = kind, tuple(modules), group
        self._plug_in = plug_in or (lambda name, entry: self.register(entry, name))
        self._entries: dict[str, Any] = dict(entries or {})
        self._to_import: list[str] | None = None
        self._is_loaded = False
        self._lock = RLock()

    def register(self, entry: E, name: str | None = None) -> E:
        """Add an entry by its name, its own (`entry.name`) where none is given; works as a decorator.

        A taken name is refused, unless it is taken by the same class, whose module was loaded again.
        """
        name = name if name is not None else str(entry.name)  # type: ignore[attr-defined]
        known = self._entries.get(name)
        is_same_class = isinstance(known, type) and isinstance(entry, type) and known.__qualname__ == entry.__qualname__
        if name in self._entries and not is_same_class:
            raise InputError(f"a {self.kind} named {name!r} is registered already")
        self[name] = entry  # type: ignore[assignment]
        return entry

    def load(self, name: str | None = None) -> None:
        """Import modules, then plug-ins, each once: until a name is known, or all of them."""
        if self._is_loaded or name in self._entries:
            return
        with self._lock:
            if self._to_import is None:
                self._to_import = [inner for module in self.modules for inner in _list_modules(module)]
            while self._to_import and name not in self._entries:
                import_module(self._to_import.pop(0))
            if name not in self._entries and not self._is_loaded:
                self._is_loaded = True
                if self.group is not None:
                    load_plugins(self.group, self._plug_in)

    def __getitem__(self, name: str) -> T:
        self.load(name)
        if name not in self._entries:
            raise UnknownName.among(self.kind, name, self)
        return self._entries[name]  # type: ignore[no-any-return]

    def __setitem__(self, name: str, entry: T) -> None:
        self._entries[name] = entry

    def __delitem__(self, name: str) -> None:
        if self._entries.pop(name, None) is None:
            raise UnknownName.among(self.kind, name, self)

    def __contains__(self, name: object) -> bool:
        self.load(str(name))
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        self.load()
        return iter([*self._entries])

    def __len__(self) -> int:
        return len(list(iter(self)))


def load_plugins(group: str, register: Callable[[str, Any], object]) -> None:
    """Pass the name and the object of every entry point of a group to `register`.

    A plug-in that fails, while loading or registering, is left out with one warning that names its package;
    the others and textgauge itself keep working.
    """
    from importlib.metadata import entry_points

    for plugin in entry_points(group=group):
        try:
            register(plugin.name, plugin.load())
        except (Exception, SystemExit) as error:
            package = plugin.dist.name if plugin.dist else plugin.value
            warn(f"{group}: {plugin.name!r} of the package {package} is left out: {type(error).__name__}: {error}")


def _list_modules(name: str) -> list[str]:
    path = getattr(import_module(name), "__path__", ())
    return [f"{name}.{inner.name}" for inner in iter_modules(path) if not inner.name.startswith("_")]
