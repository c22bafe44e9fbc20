"""Tables of a page: what a reader sees in a cell, the number behind it, and the interval drawn beneath it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from textgauge.core.show import format_cell, plain

WIDTH = 72  # pixels of a drawn interval
_EDGE = 4  # pixels kept free at each end, so that a dot is never cut
MOST_ROWS = 300
_MOST_CHARACTERS = 1_000

Order = Literal["ascending", "descending"]


@dataclass(frozen=True)
class Mark:
    """An interval as pixels from the left: a line from `low` to `high`, a dot at `at`, a stroke at `tick`."""

    low: float
    high: float
    at: float
    tick: float | None = None


@dataclass(frozen=True)
class Span:
    """A value with its interval, and a value to compare it with."""

    value: float
    low: float
    high: float
    tick: float = math.nan

    def drawn(self, start: float, stop: float) -> Mark | None:
        """The span on an axis from `start` to `stop`; None where the value is unknown. A missing end is the value."""
        if not math.isfinite(self.value):
            return None
        low, high = (end if math.isfinite(end) else self.value for end in (self.low, self.high))
        tick = _place(self.tick, start, stop) if math.isfinite(self.tick) else None
        return Mark(_place(low, start, stop), _place(high, start, stop), _place(self.value, start, stop), tick)


def axis_of(spans: Sequence[Span]) -> tuple[float, float]:
    """The least and the largest known number of spans."""
    known = [v for s in spans for v in (s.value, s.low, s.high, s.tick) if math.isfinite(v)]
    return (min(known), max(known)) if known else (0.0, 1.0)


@dataclass(frozen=True)
class PageCell:
    """One cell: the value a CSV has, what a reader sees, a smaller note after it, what is drawn, and where it leads.

    `parts` are the pieces of the text that is seen, each with whether it is highlighted; empty for one plain piece.
    """

    value: Any
    shown: str
    mark: Mark | None = None
    link: str = ""
    note: str = ""
    parts: tuple[tuple[str, bool], ...] = ()

    @property
    def exact(self) -> str | None:
        """What a CSV has where it is not all that is shown."""
        text = (
            "" if self.value is None else repr(float(self.value)) if isinstance(self.value, float) else str(self.value)
        )
        return None if text == self.shown and not self.note else text

    @property
    def numeric(self) -> bool:
        """Whether the cell holds a number."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)


@dataclass(frozen=True)
class PageColumn:
    """A column: `hidden` ones are in the CSV alone, `extra` ones are shown on demand.

    `about` defines it; `better` is an arrow to the better end, where there is one.
    """

    name: str
    about: str = ""
    hidden: bool = False
    extra: bool = False
    first: Order = "ascending"
    better: str = ""
    heading: str = ""

    @property
    def label(self) -> str:
        """What stands above the column: the name in words."""
        return self.heading or self.name.replace("_", " ")


@dataclass(frozen=True)
class PageTable:
    """A table with a caption; `starts` are the rows that begin a new tier, `sorted_by` the column in order.

    `few` rows are shown at first, all where it is 0; `flagged` rows are coloured. `of` names the number, a metric or a
    property, that the texts of a table stand behind.
    """

    title: str
    columns: tuple[PageColumn, ...]
    rows: tuple[tuple[PageCell, ...], ...]
    about: str = ""
    starts: frozenset[int] = field(default_factory=frozenset)
    sorted_by: str = ""
    few: int = 0
    flagged: frozenset[int] = field(default_factory=frozenset)
    of: str = ""

    @property
    def definitions(self) -> list[tuple[str, str]]:
        """The columns that are defined, with their definitions."""
        return [(column.label, column.about) for column in self.columns if column.about and not column.hidden]

    def numeric(self, place: int) -> bool:
        """Whether a column holds numbers."""
        return self._numbers[place]

    @cached_property
    def _numbers(self) -> list[bool]:
        return [any(row[place].numeric for row in self.rows) for place in range(len(self.columns))]


def table_of(title: str, rows: Sequence[Mapping[str, Any]], *, about: str = "") -> PageTable:
    """A table of flat rows as they are; beyond some hundred rows it is cut, and says so."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    kept = rows[:MOST_ROWS]
    cut = f"The first {len(kept)} of {len(rows):,} rows." if len(kept) < len(rows) else ""
    numbers = {name: any(cell(row.get(name)).numeric for row in kept) for name in names}
    columns = tuple(PageColumn(name, first="descending" if numbers[name] else "ascending") for name in names)
    cells = tuple(tuple(cell(row.get(name)) for name in names) for row in kept)
    return PageTable(title, columns, cells, " ".join(filter(None, (about, cut))))


def cell(value: Any, *, mark: Mark | None = None, link: str = "") -> PageCell:
    """A cell of any plain value: four digits of a number, a dash for nothing, the beginning of a very long text.

    >>> cell(0.123456).shown, cell(0.123456).exact, cell(None).shown
    ('0.1235', '0.123456', '–')
    """
    kept = plain(value)
    if isinstance(kept, list | tuple):
        kept = ", ".join(map(str, kept))
    if isinstance(kept, str) and len(kept) > _MOST_CHARACTERS:
        kept = f"{kept[:_MOST_CHARACTERS]} … ({len(kept) - _MOST_CHARACTERS:,} characters more)"
    return PageCell(kept, format_cell(kept), mark, link)


def _place(value: float, start: float, stop: float) -> float:
    share = 0.5 if stop <= start else min(max((value - start) / (stop - start), 0.0), 1.0)
    return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)
