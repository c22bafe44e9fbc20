"""Suites that run themselves, and the list of all suites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from textgauge.errors import InputError, UnknownName
from textgauge.evaluate.suites import SUITES
from textgauge.papers.zwerdling_suite import Zwerdling2021

# Suites that are no cells of metrics: their fields are their parameters, and they run themselves.
PROGRAMS: dict[str, type[Zwerdling2021]] = {"zwerdling2021": Zwerdling2021}


def program(name: str, given: Mapping[str, Any]) -> Zwerdling2021:
    """A suite that runs itself, with parameters as they are typed."""
    kind = PROGRAMS[name]
    kinds: dict[str, Callable[[Any], Any]] = {item.name: type(item.default) for item in fields(kind)}
    unknown = [key for key in given if key not in kinds]
    if unknown:
        raise UnknownName(f"{name} has no parameter {unknown[0]!r}; its parameters: {', '.join(kinds)}")
    values = {}
    for key, value in given.items():
        try:
            values[key] = kinds[key](value)
        except ValueError:
            raise InputError(f"{key} is a whole number, not {value!r}") from None
    return kind(**values)


def described() -> Iterator[tuple[str, str]]:
    """Names and first lines of all suites."""
    for name, made in {**SUITES, **PROGRAMS}.items():
        yield name, (made.__doc__ or "").strip().splitlines()[0]
