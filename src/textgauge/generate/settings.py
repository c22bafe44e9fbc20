"""Settings by name: what a user types becomes the fields of a settings class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TypeVar

from textgauge.errors import InputError, UnknownName

T = TypeVar("T")


def settings_of(kind: type[T], given: Sequence[str]) -> T:
    """Settings from `name=value` texts; what is not named is as usual.

    >>> from textgauge.generate import GptSettings
    >>> settings_of(GptSettings, ["width=64", "dropout=0"]).width
    64
    """
    kinds = {item.name: type(item.default) for item in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, int | float] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"settings are written name=value, not {text!r}")
        if name not in kinds:
            raise UnknownName(f"no setting {name!r}; the settings are {', '.join(kinds)}")
        try:
            values[name] = int(value) if kinds[name] is int else float(value)
        except ValueError:
            raise InputError(f"the setting {name} is a number, not {value!r}") from None
    return kind(**values)
