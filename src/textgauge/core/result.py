"""What commands and functions give back: an answer in words, rows, warnings; as JSON with a schema, saved, shown.

The JSON object of a result is `{"schema": 1, "version", "command", "answer", "rows", "warnings"}`, with `details` where
a result holds more than rows. `result.schema.json` next to this file says what rows of each command hold. A saved
result has a `checksum` too, so that a number that was changed is found when the file is read.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from textgauge.core.errors import InputError
from textgauge.core.files import write_atomically
from textgauge.core.sealed import Damaged, seal_json, unsealed_json
from textgauge.core.tabular import Row, Tabular, first_lines, html_table, printable, text_table

SCHEMA = 1


class Result(Tabular):
    """A result of one command or function; subclasses give `command`, `answer`, `to_dicts` and what else they have."""

    command: ClassVar[str]

    @property
    def answer(self) -> str | None:
        """What the rows say, in one or two sentences."""
        raise NotImplementedError

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to beware of, each one sentence."""
        return ()

    @property
    def details(self) -> Row:
        """What the result holds besides rows."""
        return {}

    def readable(self) -> list[Row]:
        """The rows as tables for people have them."""
        return self.to_dicts()

    def to_dict(self) -> Row:
        """The whole result as JSON has it."""
        return as_json(self.command, self.to_dicts(), self.answer, self.warnings, self.details)

    def to_json(self) -> str:
        """The whole result as JSON text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result to a .json file that `textgauge.load` and `textgauge report` read."""
        if Path(path).suffix.lower() != ".json":
            raise InputError(f"{path}: a result is saved to a .json file")
        sealed = seal_json(self.to_dict())
        return write_atomically(Path(path), json.dumps(sealed, indent=1, ensure_ascii=False, allow_nan=False))

    def __str__(self) -> str:
        table = text_table(rows) if (rows := self.readable()) else ""
        warned = [f"warning: {text}" for text in self.warnings]
        return "\n".join(filter(None, [self.answer, table, *warned]))

    def __repr__(self) -> str:
        return first_lines(str(self))

    def _repr_html_(self) -> str:
        return result_html(self, self.readable())


@dataclass(frozen=True, repr=False)
class TableResult(Result):
    """Rows with an answer: what a listing gives, and what a saved result is read as.

    `shown` are the rows as tables for people have them, `extra` the details.
    """

    command: str  # type: ignore[misc]
    rows: Sequence[Row]
    answer: str | None = None
    warnings: tuple[str, ...] = ()
    shown: Sequence[Row] | None = None
    extra: Row | None = None

    @property
    def details(self) -> Row:
        """What the result holds besides rows."""
        return self.extra or {}

    def readable(self) -> list[Row]:
        """The rows as tables for people have them."""
        return self.to_dicts() if self.shown is None else list(self.shown)

    def to_dicts(self) -> list[Row]:
        """The rows."""
        return list(self.rows)


def result_html(result: Result, rows: Sequence[Row]) -> str:
    """Answer, a small table of `rows` and warnings; all numbers are folded below them."""
    warned = "".join(f"<li>{_text(text)}</li>" for text in result.warnings)
    return (
        (f"<p><strong>{_text(result.answer)}</strong></p>" if result.answer else "")
        + html_table(rows)
        + (f"<p>Warnings</p><ul>{warned}</ul>" if warned else "")
        + f"<details><summary>All numbers</summary>{html_table(result.to_dicts())}</details>"
    )


def as_json(
    command: str, rows: Sequence[Row], answer: str | None, warnings: Sequence[str], details: Mapping[str, Any]
) -> Row:
    """The JSON object of a result."""
    made: Row = {
        "schema": SCHEMA,
        "version": version("textgauge"),
        "command": command,
        "answer": answer,
        "rows": list(rows),
        "warnings": list(warnings),
    }
    return made | ({"details": dict(details)} if details else {})


def parsed_result(text: str) -> Row:
    """The JSON object of a saved result, its checksum tested; `InputError` where it is none."""
    try:
        found = unsealed_json(text)
    except Damaged as error:
        raise InputError(f"{error}: it is not what was saved") from None
    except ValueError as error:
        raise InputError(f"not JSON ({error})") from None
    if found.get("schema") != SCHEMA:
        raise InputError(f"no result of textgauge with schema {SCHEMA}, which this version reads")
    if not isinstance(found.get("rows"), list) or not all(isinstance(row, dict) for row in found["rows"]):
        raise InputError("a result has rows")
    return found


def is_result(content: object) -> bool:
    """Whether JSON content is meant as a result: it says which schema it has."""
    return isinstance(content, dict) and "schema" in content and "rows" in content


@cache
def schema() -> Row:
    """The JSON Schema of results."""
    found: Row = json.loads(files("textgauge.core").joinpath("result.schema.json").read_text("utf-8"))
    return found


def _text(text: str) -> str:
    return html.escape(printable(text))
