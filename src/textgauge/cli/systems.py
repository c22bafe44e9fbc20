"""`textgauge score --reference`: several systems, ranked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textgauge.cli.candidates import names_of
from textgauge.cli.output import Format, note, print_result
from textgauge.cli.progress import progress
from textgauge.data import load_aligned
from textgauge.data.source import load_references
from textgauge.errors import InputError
from textgauge.files import check_table_path, write_table
from textgauge.scoring.systems import score_systems


def print_systems(
    files: Sequence[str],
    named: Sequence[str],
    references: Sequence[str],
    metrics: str | Sequence[str],
    options: dict[str, Any],
    form: Format,
    *,
    segments: Path | None,
    output: Path | None,
) -> None:
    """Rank systems by references; `options` are those of `score_systems`."""
    if segments is not None:
        check_table_path(segments)
        if segments.suffix.lower() == ".txt":
            raise InputError(f"{segments}: values go to a .csv, .jsonl or .parquet file")
    column = options["column"]
    sources = _systems(files, named)
    right = load_references(list(references), column=column)
    with progress() as watch:
        systems = {name: load_aligned(path, column=column) for name, path in sources.items()}
        report = score_systems(systems, right, metrics=metrics, on_step=watch, **options)
    if output is not None:
        report.save(output)
    if segments is not None:
        write_table(segments, report.items())
        note(f"values of every item: {segments}")
    print_result(report, form)


def _systems(files: Sequence[str], named: Sequence[str]) -> dict[str, str]:
    found = names_of(files)
    for one in named:
        name, equals, path = one.partition("=")
        if not (name and equals and path):
            raise InputError(f"--system takes NAME=FILE, not {one!r}")
        if name in found:
            raise InputError(f"two systems are called {name!r}")
        found[name] = path
    if not found:
        raise InputError("give the files of the systems, or --system NAME=FILE")
    return found
