"""Leave out what cannot be used, count it, and say so in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textgauge.errors import InputError

_SHOWN = 5


def sieve(
    name: str, unit: str, places: Sequence[object], faults: Mapping[str, Sequence[bool]]
) -> tuple[list[int], tuple[str, ...]]:
    """The rows without fault, and a note for each kind of fault; a row counts under its first fault alone.

    >>> sieve("a.csv", "row", [2, 3, 4], {"an empty summary": [False, True, False]})
    ([0, 2], ('1 of 3 rows has an empty summary: skipped (row 3)',))
    """
    left = list(range(len(places)))
    notes = []
    for fault, present in faults.items():
        bad = [row for row in left if present[row]]
        left = [row for row in left if not present[row]]
        if bad:
            notes.append(_note(unit, fault, [str(places[row]) for row in bad], len(places)))
    if not left:
        raise InputError(f"{name}: nothing is left to score; {'; '.join(notes) or f'there are no {plural(unit)}'}")
    return left, tuple(notes)


def plural(unit: str) -> str:
    """More than one of a unit.

    >>> plural("row"), plural("query")
    ('rows', 'queries')
    """
    return f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"


def _note(unit: str, fault: str, places: list[str], total: int) -> str:
    verb, units = ("has", unit) if len(places) == 1 else ("have", plural(unit))
    shown = ", ".join(places[:_SHOWN]) + (", ..." if len(places) > _SHOWN else "")
    return f"{len(places)} of {total} {plural(unit)} {verb} {fault}: skipped ({units} {shown})"
