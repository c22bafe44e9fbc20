"""Several of a kind: candidates and slices of `textgauge compare`, systems of `textgauge score --reference`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from textgauge.cli.output import Format, note, print_result
from textgauge.cli.progress import progress
from textgauge.comparing import compare
from textgauge.comparing.many import MANY_METRICS
from textgauge.comparing.slices import compare_slices
from textgauge.data import Corpus, load_aligned, load_corpus
from textgauge.data.source import load_references, split_column
from textgauge.errors import InputError
from textgauge.files import check_table_path, write_table
from textgauge.scoring.systems import score_systems


def names_of(sources: Sequence[str]) -> dict[str, str]:
    """Sources by a short name: the file without folder and ending, the whole source where two would be called alike.

    >>> names_of(["out/a.txt", "out/b.txt"]), names_of(["1/a.txt", "2/a.txt"])
    ({'a': 'out/a.txt', 'b': 'out/b.txt'}, {'1/a.txt': '1/a.txt', '2/a.txt': '2/a.txt'})
    """
    twice = next((source for source in sources if sources.count(source) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is given twice")
    short = [Path(split_column(source)[0]).stem or source for source in sources]
    return {name if short.count(name) == 1 else source: source for name, source in zip(short, sources, strict=True)}


def print_candidates(
    reference: str,
    candidates: Sequence[str],
    metrics: Sequence[str] | None,
    options: dict[str, Any],
    form: Format,
    *,
    limit: int | None,
    output: Path | None,
) -> None:
    """Rank candidates by their distance to one reference; `options` are those of `compare`."""
    column, seed = options.pop("column"), options["seed"]

    def load(source: str) -> Corpus:
        if options["paired"]:
            if limit is not None:
                raise InputError("--limit draws texts of each corpus alone, so that --paired texts would not match")
            return Corpus.of(load_aligned(source, column=column))
        return load_corpus(source, column=column, limit=limit, seed=seed)

    corpora = {name: load(source) for name, source in names_of(candidates).items()}
    with progress() as watch:
        report = compare(load(reference), corpora, metrics=metrics or MANY_METRICS, on_step=watch, **options)
    print_result(report, form, output)
    if all(score.reason for found in report.reports.values() for score in found):
        raise typer.Exit(1)


def print_slices(
    reference: str,
    candidates: Sequence[str],
    metrics: Sequence[str] | None,
    options: dict[str, Any],
    form: Format,
    *,
    output: Path | None,
) -> None:
    """Say which labels differ; `options` are those of `compare_slices`."""
    with progress() as watch:
        report = compare_slices(reference, names_of(candidates), metrics=metrics or "energy", on_step=watch, **options)
    print_result(report, form, output)


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
    if segments is not None:
        write_table(segments, report.items())
        note(f"values of every item: {segments}")
    print_result(report, form, output)


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
