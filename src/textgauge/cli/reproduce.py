"""`textgauge reproduce`: a paper's tables next to ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textgauge.cli.output import Format, FormatOption, Row, note, print_rows
from textgauge.cli.run import progress_bar, run_program
from textgauge.errors import InputError, ResourceError, UnknownName
from textgauge.evaluate import Plan, Store
from textgauge.tabular import format_cell

if TYPE_CHECKING:
    from textgauge.papers import Paper, Request


def reproduce(
    paper: Annotated[
        str, typer.Argument(help="The paper: ackerman2023, kour2022, usmb, yamshchikov2020, zwerdling2021.")
    ],
    table: Annotated[str | None, typer.Option(help="Only this table, as 3 or figure1.")] = None,
    variant: Annotated[
        str, typer.Option(help="definition (what is right), paper (what the authors computed), or both.")
    ] = "both",
    word_vectors: Annotated[
        str, typer.Option(help="Vectors in place of fastText's: wordvec, glove-50d, or a file of yours.")
    ] = "wordvec",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder that keeps the run.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Local processes.")] = 1,
    form: FormatOption = Format.table,
) -> None:
    """Compute a paper's tables on the same data and print our numbers next to the published ones."""
    from textgauge.encode.resources import cache_root
    from textgauge.evaluate.results import Results
    from textgauge.evaluate.run import compute
    from textgauge.papers import PAPERS, Request

    if paper not in PAPERS:
        raise UnknownName.among("paper", paper, PAPERS)
    chosen = PAPERS[paper]
    if table is not None and table not in chosen.tables:
        raise InputError(f"{paper} has no table {table!r} here; the tables are {', '.join(chosen.tables)}")
    request = Request(_variants(variant, chosen.variants), seed, word_vectors)
    store = Store(out or cache_root() / "runs" / paper)
    failures: tuple[str, ...] = ()
    if chosen.program is not None:
        run_program(paper, dict(chosen.program), store.folder, seed)
    else:
        failures = compute(_plans(chosen, request), store, jobs=jobs, progress=progress_bar).failures
    rows = [row for row in chosen.rows(Results(store), request) if table in (None, row["table"])]
    print_rows(rows if form in (Format.json, Format.csv) else [_readable(row) for row in rows], form)
    for failure in failures:
        note(f"warning: {failure}")
    if failures:
        raise typer.Exit(1)


def _variants(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    if name == "both":
        return known
    if name not in known:
        raise InputError(f"--variant is {', '.join(known)} or both, not {name!r}")
    return (name,)


def _plans(paper: Paper, request: Request) -> list[Plan]:
    try:
        return paper.plans(request)
    except ResourceError as error:
        if not paper.fed:
            raise
        note(f"warning: {error}; only published numbers are fed through our formulas")
        return []


def _readable(row: Row) -> Row:
    return {name: format_cell(value) for name, value in row.items() if value is not None}
