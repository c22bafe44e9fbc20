"""Tables of encoders by name: what is declared of each, and the objects made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

from textgauge.core.registry import Registry

T = TypeVar("T")


@dataclass(frozen=True)
class Encoder:
    """How an encoder is made, and what a list of them says of it."""

    make: Callable[..., Any] | str  # or `module:attribute` of this room, imported when it is first used
    note: str = ""
    dimension: int | None = None
    resources: tuple[str, ...] = ()
    language: str | None = None
    window: int | None = None  # how many tokens of a text it reads; None for all, or where it is not known

    def __call__(self, *args: Any) -> Any:
        """Make the encoder."""
        if not isinstance(self.make, str):
            return self.make(*args)
        module, _, attribute = self.make.partition(":")
        return getattr(import_module(f"textgauge.encode.{module}"), attribute)(*args)

    def describe(self, name: str) -> dict[str, object]:
        """Return name, dimension, language, window, megabytes to fetch, whether it is on this machine, a note."""
        from textgauge.encode.resources import get_resource, is_available

        any_model = ":" in name
        return {
            "name": name,
            "dimension": self.dimension,
            "language": self.language,
            "window": self.window,
            "megabytes": None if any_model else round(sum(get_resource(r).size for r in self.resources) / 1e6, 1),
            "available": None if any_model else all(map(is_available, self.resources)),
            "note": self.note,
        }


class Encoders(Registry[Encoder], Generic[T]):
    """The encoders of one kind; an entry `prefix:MODEL` makes those of every name that begins with its prefix."""

    def __init__(self, kind: str, entries: Mapping[str, Encoder], **options: Any) -> None:
        super().__init__(kind, entries, **options)
        self._made: dict[tuple[Any, ...], T] = {}

    def make(self, name: str, *args: Any) -> T:
        """Return the encoder of that name and these arguments, the same object each time."""
        prefix, _, model = name.partition(":")
        form = next((form for form in self if model and form.startswith(f"{prefix}:")), None)
        entry, given = (self[name], args) if form is None else (self[form], (model, *args))
        with self._lock:  # which one encoder made of another takes again
            if (entry, given) not in self._made:
                self._made[entry, given] = entry(*given)
            return self._made[entry, given]
