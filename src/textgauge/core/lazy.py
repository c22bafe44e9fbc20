"""Public names of a room that are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def export_lazily(room: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a room whose names are in modules of it; each module's names are one string.

    `name=own` gives the `own` name of a module another one, where a module has the same.

    >>> export_lazily("textgauge.core", {"errors": "InputError warn"})("InputError").__name__
    'InputError'
    """
    places = {}
    for module, names in modules.items():
        for name, _, own in (item.partition("=") for item in names.split()):
            places[name] = f"{room}.{module}", own or name

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, own = places[name]
        return getattr(import_module(module), own)

    return get
