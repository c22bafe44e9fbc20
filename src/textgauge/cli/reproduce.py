"""`textgauge reproduce`: a paper's tables beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textgauge.bench import Store
from textgauge.bench import run as run_plans
from textgauge.cli.output import Format, FormatOption, Row, print_rows, shown
from textgauge.cli.run import progress_bar
from textgauge.errors import InputError, UnknownName


def reproduce(
    paper: Annotated[str, typer.Argument(help="The paper: kour2022.")],
    table: Annotated[str | None, typer.Option(help="Only this table.")] = None,
    variant: Annotated[
        str, typer.Option(help="definition (what is right), paper (what the authors computed), or both.")
    ] = "both",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder that keeps the run.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Local processes.")] = 1,
    form: FormatOption = Format.table,
) -> None:
    """Compute a paper's tables on the same data and print our numbers beside the published ones."""
    from textgauge.bench.execute import executor
    from textgauge.bench.reproduce import PAPERS, Variant, kour_plans, kour_rows
    from textgauge.represent.resources import cache_root

    if paper not in PAPERS:
        raise UnknownName.among("paper", paper, PAPERS)
    if table is not None and table not in PAPERS[paper].tables:
        raise InputError(f"{paper} has no table {table!r} here; the tables are {', '.join(PAPERS[paper].tables)}")
    variants: dict[str, list[Variant]] = {
        "definition": ["definition"],
        "paper": ["paper"],
        "both": ["definition", "paper"],
    }
    if variant not in variants:
        raise InputError(f"--variant is definition, paper or both, not {variant!r}")
    store = Store(out or cache_root() / "runs" / paper)
    plans = [plan for name in variants[variant] for plan in kour_plans(name, seed)]
    with executor(jobs=jobs) as where, progress_bar() as step:
        run_plans(plans, store, executor=where, on_progress=step)
    rows = [row for name in variants[variant] for row in kour_rows(store, name)]
    print_rows(rows if form in (Format.json, Format.csv) else [_readable(row) for row in rows], form)


def _readable(row: Row) -> Row:
    return {name: shown(value) for name, value in row.items() if name not in ("table", "source")}
