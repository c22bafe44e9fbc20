"""What commands and functions give back: an answer in words, rows with declared columns, warnings, details.

Tables, JSON, frames and files follow from these. The JSON object of a result is
`{"schema": 1, "version", "command", "answer", "rows", "warnings"}`, with `details` where a result holds more than rows,
and `texts`, by column, where single texts were asked for.
`result.schema.json` next to this file says what rows of each command hold. A saved result has a `checksum` too, so that
a number that was changed is found when the file is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from textgauge.core import show
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.files import Damaged, seal_json, unseal_json, write_atomically
from textgauge.core.show import Row, Tabular

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
MOST_TEXTS = 10_000  # that a result is saved with, and a page shows


@dataclass(frozen=True)
class Column:
    """One column of the tables that people read.

    Parameters
    ----------
    heading
        What stands above it.
    fields
        The fields of a row that a cell is made of, separated by spaces; the heading by default, `*` for the whole row.
    form
        Writes these fields as a cell; by default the cell is the field as it is.
    when
        A field, or a test of a row. Rows without a value there, or that fail the test, have no such cell, and a table
        without such cells has no such column.

    >>> show_rows([{"low": 0.25, "high": 1.0}], [Column("interval", "low high", "{:.1f} to {:.1f}".format, when="low")])
    [{'interval': '0.2 to 1.0'}]
    """

    heading: str
    fields: str = ""
    form: Callable[..., Any] | None = None
    when: str | Callable[[Row], Any] | None = None


def show_rows(rows: Sequence[Row], columns: Sequence[Column]) -> list[Row]:
    """Return rows as tables for people have them, by the headings of their columns."""
    shown: list[Row] = [{} for _ in rows]
    for column in columns:
        names, when, cells = (column.fields or column.heading).split(" "), column.when, {}
        for place, row in enumerate(rows):
            if when is None or (row.get(when) is not None if isinstance(when, str) else when(row)):
                values = [row if name == "*" else row.get(name) for name in names]
                cells[place] = values[0] if column.form is None else column.form(*values)
        for place, line in enumerate(shown if cells else ()):
            line[column.heading] = cells.get(place)
    return shown


class Result(Tabular):
    """An answer, rows, warnings and details; by a row's place or name `result[0]` and `result["energy"]` give it.

    A subclass says which `command` it is of, holds its `rows` (dictionaries, or objects with `to_dict`), and declares
    how its `columns` are shown and which fields of a row are its name, its `keys`.
    """

    command: ClassVar[str]
    columns: ClassVar[Sequence[Column]] = ()
    keys: ClassVar[Sequence[str]] = ("metric",)

    if TYPE_CHECKING:  # a field or a property of the subclass

        @property
        def rows(self) -> Sequence[Any]:
            """The rows."""

    @property
    def answer(self) -> str | None:
        """What the rows say, in one or two sentences."""
        raise NotImplementedError

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to beware of, each one sentence."""
        return ()

    @property
    def footnote(self) -> str | None:
        """What the table rests on, in one sentence below it."""
        return None

    @property
    def details(self) -> Row:
        """What the result holds besides rows."""
        return {}

    @property
    def texts(self) -> pl.DataFrame | None:
        """What is known of each single text, where that was asked for."""
        return None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __contains__(self, name: object) -> bool:
        return any(row is name for row in self.rows) or bool(self._named(name))

    def __getitem__(self, name: Any) -> Any:
        """Return the row at a place, or of a name: the value of the first key, or a tuple of the values of several."""
        if isinstance(name, SupportsIndex) and not -len(self) <= index(name) < len(self):
            raise IndexError(f"there is no row {name}: this result has {len(self)}, counted from 0")
        if isinstance(name, SupportsIndex | slice):
            return self.rows[name if isinstance(name, slice) else index(name)]
        rows = self._named(name)
        if len(rows) == 1:
            return rows[0]
        if not rows:
            given = len(name) if isinstance(name, tuple) else 1
            known = {_join_name(self._name(row)[:given]) for row in self.rows}
            raise UnknownName.among(f"{self.keys[0]} in this result", _join_name(name), known)
        raise UnknownName(f"{len(rows)} rows are called {_join_name(name)!r}: give {' and '.join(self.keys)}")

    def _name(self, row: Any) -> tuple[Any, ...]:
        return tuple(row.get(key) if isinstance(row, Mapping) else getattr(row, key) for key in self.keys)

    def _named(self, name: object) -> list[Any]:
        values = name if isinstance(name, tuple) else (name,)
        return [row for row in self.rows if self._name(row)[: len(values)] == values]

    def to_dicts(self) -> list[Row]:
        """Return one flat dictionary per row."""
        return [row if isinstance(row, dict) else row.to_dict() for row in self.rows]

    def readable(self) -> list[Row]:
        """Return the rows formatted for display."""
        return show_rows(self.to_dicts(), self.columns) if self.columns else self.to_dicts()

    def at_a_glance(self) -> list[Row]:
        """Return the rows that notebooks and prompts show."""
        return self.readable()

    def to_dict(self) -> Row:
        """Return the whole result as JSON has it."""
        from importlib.metadata import version

        content: Row = {
            "schema": SCHEMA,
            "version": version("textgauge"),
            "command": self.command,
            "answer": self.answer,
            "rows": self.to_dicts(),
            "warnings": list(self.warnings),
        }
        content |= {"details": dict(self.details)} if self.details else {}
        if self.texts is not None:  # column by column
            shown = self.texts.head(MOST_TEXTS)
            content["texts"] = {column.name: list(map(show.drop_nonfinite, column.to_list())) for column in shown}
        return content

    def to_json(self) -> str:
        """Return the whole result as JSON text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def to_markdown(self) -> str:
        """Return the table for people in Markdown."""
        return show.render_markdown(self.readable())

    def to_latex(self, digits: int | None = None) -> str:
        """Return the table for people in LaTeX, numbers with so many digits; it needs the package booktabs."""
        with show.use_digits(digits):
            return show.render_latex(self.readable())

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result to a .json file that `textgauge.load` and `textgauge report` read."""
        if Path(path).suffix.lower() != ".json":
            raise InputError(f"{path}: a result is saved to a .json file")
        sealed = seal_json(self.to_dict())
        return write_atomically(Path(path), json.dumps(sealed, indent=1, ensure_ascii=False, allow_nan=False))

    def __str__(self) -> str:
        return self._text(self.readable())

    def _text(self, rows: Sequence[Row]) -> str:
        warned = [f"warning: {' '.join(text.splitlines())}" for text in self.warnings]
        text = "\n".join(filter(None, [self.answer, show.render_text(rows) if rows else "", *warned]))
        return show.make_printable(text)

    def __repr__(self) -> str:
        return show.take_first_lines(self._text(self.at_a_glance()))

    def _repr_html_(self) -> str:
        """Answer, the table for people and warnings; all numbers are folded below them."""
        answer = f"<p><strong>{show.escape_html(self.answer)}</strong></p>" if self.answer else ""
        warned = "".join(f"<li>{show.escape_html(text)}</li>" for text in self.warnings)
        warned = f"<p>Warnings</p><ul>{warned}</ul>" if warned else ""
        numbers = f"<details><summary>All numbers</summary>{show.render_html(self.to_dicts())}</details>"
        return answer + show.render_html(self.at_a_glance()) + warned + numbers


@dataclass(frozen=True, repr=False)
class TableResult(Result):
    """Rows with an answer: what a listing gives, and what a saved result is read as.

    `shown` are the rows formatted for display, `extra` the details.
    """

    command: str  # type: ignore[misc]
    rows: Sequence[Row]
    answer: str | None = None
    warnings: tuple[str, ...] = ()
    shown: Sequence[Row] | None = None
    extra: Row | None = None
    texts: pl.DataFrame | None = None

    @property
    def details(self) -> Row:
        """What the result holds besides rows."""
        return self.extra or {}

    def readable(self) -> list[Row]:
        """Return the rows formatted for display."""
        return super().readable() if self.shown is None else list(self.shown)


def parse_result(text: str) -> Row:
    """Return the JSON object of a saved result, its checksum tested; raise `InputError` where it is none."""
    try:
        found = unseal_json(text)
    except Damaged as error:
        raise InputError(f"{error}: it is not what was saved") from None
    except ValueError as error:
        raise InputError(f"not JSON ({error})") from None
    if found.get("schema") != SCHEMA:
        raise InputError(f"no result of textgauge with schema {SCHEMA}, which this version reads")
    if not isinstance(found.get("rows"), list) or not all(isinstance(row, dict) for row in found["rows"]):
        raise InputError("a result has rows")
    return found


def _join_name(name: object) -> str:
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
