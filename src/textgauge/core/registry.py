"""One table of named things: declared in code, found in modules on first use, or brought by other packages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from threading import RLock
from typing import Any, TypeVar

from textgauge.core.errors import InputError, UnknownName

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
    lazy
        Entries as `"module:attribute"`, imported when they are asked for.
    modules
        Modules that register entries while they are imported, all of them when a name is first not known or all
        names are asked for; of a package all modules whose name has no leading underscore.
    group
        The entry point group by which other packages bring entries.
    plug_in
        What is called with the name and the object of such an entry point; registers the object under that name
        unless another function is given.

    >>> shapes = Registry("shape", {"circle": 0}, lazy={"square": "math:tau"})
    >>> shapes.register(3, "triangle"), list(shapes)
    (3, ['circle', 'triangle', 'square'])
    >>> shapes["squared"]
    Traceback (most recent call last):
    textgauge.core.errors.UnknownName: unknown shape 'squared'; did you mean square?
    """

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, T] | None = None,
        *,
        lazy: Mapping[str, str] | None = None,
        modules: Sequence[str] = (),
        group: str | None = None,
        plug_in: Callable[[str, Any], object] | None = None,
    ) -> None:
        self.kind, self.modules, self.group = kind, tuple(modules), group
        self._plug_in = plug_in or (lambda name, entry: self.register(entry, name))
        self._entries: dict[str, Any] = dict(entries or {})
        self._lazy = dict(lazy or {})
        self._is_loaded = False
        self._lock = RLock()

    def register(self, entry: E, name: str | None = None) -> E:
        """Add an entry by its name, its own (`entry.name`) where none is given; works as a decorator.

        A taken name is refused, unless it is taken by the same class, whose module was loaded again.
        """
        name = name if name is not None else str(entry.name)  # type: ignore[attr-defined]
        if name in self._entries and not _is_same_class(self._entries[name], entry):
            raise InputError(f"a {self.kind} named {name!r} is registered already")
        if name in self._lazy and not self._lazy[name].startswith(f"{getattr(entry, '__module__', '')}:"):
            raise InputError(f"a {self.kind} named {name!r} is registered already")
        self[name] = entry  # type: ignore[assignment]
        return entry

    def load(self) -> None:
        """Import all modules and plug-ins, once."""
        with self._lock:
            if self._is_loaded:
                return
            self._is_loaded = True
            for module in self.modules:
                _import_all(module)
            if self.group is not None:
                load_plugins(self.group, self._plug_in)

    def __getitem__(self, name: str) -> T:
        if name not in self._entries and name not in self._lazy:
            self.load()
        if name in self._lazy:
            module, _, attribute = self._lazy[name].partition(":")
            entry = getattr(import_module(module), attribute)
            self[name] = entry
        if name not in self._entries:
            raise UnknownName.among(self.kind, name, self)
        return self._entries[name]  # type: ignore[no-any-return]

    def __setitem__(self, name: str, entry: T) -> None:
        self._lazy.pop(name, None)
        self._entries[name] = entry

    def __delitem__(self, name: str) -> None:
        if self._entries.pop(name, self._lazy.pop(name, None)) is None:
            raise UnknownName.among(self.kind, name, self)

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._lazy or name in set(self)

    def __iter__(self) -> Iterator[str]:
        self.load()
        return iter(dict.fromkeys([*self._entries, *self._lazy]))

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
            warnings.warn(
                f"{group}: {plugin.name!r} of the package {package} is left out: {type(error).__name__}: {error}",
                stacklevel=2,
            )


def _import_all(name: str) -> None:
    module = import_module(name)
    for inner in iter_modules(getattr(module, "__path__", ())):
        if not inner.name.startswith("_"):
            import_module(f"{name}.{inner.name}")


def _is_same_class(one: Any, other: Any) -> bool:
    return isinstance(one, type) and isinstance(other, type) and one.__qualname__ == other.__qualname__
