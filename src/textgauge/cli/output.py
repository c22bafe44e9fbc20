"""Print rows: a table for people, JSON, CSV, Markdown or LaTeX for the rest."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from textgauge.tabular import TEXT_WIDTH, Row, latex_table, markdown_table, rich_table

__all__ = [
    "DETAIL", "ColumnOption", "Format", "FormatOption", "LevelOption", "Row", "SeedOption", "note", "option_name",
    "print_rows", "progress", "shows_progress",
]  # fmt: skip


class Format(StrEnum):
    """How rows are printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Random seed.")]
LevelOption = Annotated[float, typer.Option(help="Level of the intervals.")]
ColumnOption = Annotated[str | None, typer.Option(help="The column that holds the texts, for tables.")]


def print_rows(rows: Sequence[Row], form: Format, *, columns: Sequence[str] | None = None) -> None:
    """Print rows on standard output, nothing else; `columns` chooses and orders those of the readable formats."""
    if form is Format.json:
        typer.echo(json.dumps(list(rows), indent=1, ensure_ascii=False, allow_nan=False))
        return
    names = list(columns or dict.fromkeys(name for row in rows for name in row))
    if form is Format.csv:
        names = list(dict.fromkeys([*names, *(name for row in rows for name in row)]))
    _WRITERS[form](rows, names)


def option_name(value: str) -> str:
    """The option of the command that gives a value.

    >>> option_name("source_a"), option_name("metrics")
    ('--source-a', '-m')
    """
    return {"metrics": "-m", "groups": "--set, --system, --item"}.get(value) or f"--{value.replace('_', '-')}"


@dataclass
class Detail:
    """How much a command writes on standard error besides errors: nothing, notes and progress, or each step's time."""

    quiet: bool = False
    verbose: bool = False


DETAIL = Detail()


def shows_progress() -> bool:
    """Whether progress is shown: on a terminal, if it was not turned off."""
    return sys.stderr.isatty() and not DETAIL.quiet


def note(text: str) -> None:
    """One line on standard error."""
    if not DETAIL.quiet:
        typer.echo(text, err=True)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line on a terminal's standard error that says what is being done; a line per step with `--verbose`."""
    if DETAIL.verbose:
        start = time.perf_counter()
        yield lambda step: note(f"{time.perf_counter() - start:8.2f} s  {step}")
        note(f"{time.perf_counter() - start:8.2f} s  done")
        return
    if not shows_progress():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("reading") as status:
        yield status.update


def _table(rows: Sequence[Row], names: Sequence[str]) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else TEXT_WIDTH).print(rich_table(rows, names))


def _csv(rows: Sequence[Row], names: Sequence[str]) -> None:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    typer.echo(buffer.getvalue(), nl=False)


_WRITERS: dict[Format, Callable[[Sequence[Row], Sequence[str]], None]] = {
    Format.table: _table,
    Format.csv: _csv,
    Format.markdown: lambda rows, names: typer.echo(markdown_table(rows, names)),
    Format.latex: lambda rows, names: typer.echo(latex_table(rows, names)),
}
