"""`textgauge run`: protocols on data, resumed where they were."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from textgauge.cli.output import Format, FormatOption, Row, note, print_rows, progress
from textgauge.errors import InputError
from textgauge.evaluate import Plan, RunReport, Store
from textgauge.evaluate.compute import computed, warnings_of
from textgauge.evaluate.run_data import DataOptions, said, task_columns
from textgauge.evaluate.run_plans import plans_of
from textgauge.papers.programs import PROGRAMS
from textgauge.tabular import format_cell


def run(
    what: Annotated[str, typer.Argument(help="A suite or a protocol: see `textgauge ls suites`, `ls protocols`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder that keeps the run; an old run goes on in it.")],
    source_a: Annotated[str | None, typer.Option(help="The first corpus, for protocols on two sources.")] = None,
    source_b: Annotated[str | None, typer.Option(help="The second corpus.")] = None,
    pairs: Annotated[
        str | None, typer.Option(help="A table, sample or dataset of rated pairs, or of paraphrases.")
    ] = None,
    left: Annotated[str, typer.Option(help="The column of the left texts of --pairs.")] = "left",
    right: Annotated[str, typer.Option(help="The column of the right texts of --pairs.")] = "right",
    rating: Annotated[
        list[str] | None, typer.Option(help="A column of ratings of --pairs, larger for nearer; several raters repeat.")
    ] = None,
    set_column: Annotated[str | None, typer.Option("--set", help="The column of sets of pairs.")] = None,
    system_column: Annotated[str | None, typer.Option("--system", help="The column of systems that wrote.")] = None,
    item_column: Annotated[str | None, typer.Option("--item", help="The column of items (segments).")] = None,
    only: Annotated[
        str | None, typer.Option(help="Paraphrases: only the rows of --pairs with this value, as label=1.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=2, help="Use a random sample of this many of --pairs.")] = None,
    steps: Annotated[
        str | None, typer.Option(help="IFC: a folder of corpora, one file for each step, in order of their names.")
    ] = None,
    reference: Annotated[str | None, typer.Option(help="IFC: the texts that the steps should come near to.")] = None,
    rated: Annotated[str | None, typer.Option(help="Alignment: a table of rated summaries, or a dataset.")] = None,
    comparisons: Annotated[
        str | None, typer.Option(help="Alignment: a table of two summaries and the chosen one, or a dataset.")
    ] = None,
    documents: Annotated[
        str | None, typer.Option(help="Robustness, sensitivity: a table, folder or dataset of documents.")
    ] = None,
    labelled: Annotated[str | None, typer.Option(help="Clustering: a table of labelled texts, or a dataset.")] = None,
    beir: Annotated[str | None, typer.Option(help="Retrieval: a folder in the layout of BEIR, or a dataset.")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", help="Columns of a task's table, as text=body,summary=abstract; see the docs."),
    ] = None,
    metrics: Annotated[
        list[str] | None, typer.Option("-m", "--metrics", help="Metric names; grids as pr(k=3|5).")
    ] = None,
    k: Annotated[str | None, typer.Option("-k", help="Number of corpora of ksc; several as 7,12.")] = None,
    n: Annotated[int | None, typer.Option("-n", help="Texts of each corpus.")] = None,
    repetitions: Annotated[int | None, typer.Option(min=1, help="How often draws are repeated.")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="Other parameters of the protocol, name=value.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column that holds the texts, for tables.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Local processes.")] = 1,
    scheduler: Annotated[str | None, typer.Option(help="The address of a Dask scheduler, tcp://...")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cells and which are there; compute nothing.")
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Run a suite or a protocol and keep every finished cell in a folder.

    Examples: textgauge run ksc --source-a a.txt --source-b b.txt -m fid,mauve -k 7,12 -n 100 --out runs/x ·
    textgauge run agreement --pairs rated.csv --left a --right b --rating score -m chrf,cosine --out runs/y ·
    textgauge run distributionality --pairs paraphrases.csv --left a --right b -m irpr,fid --out runs/z ·
    textgauge run clustering --labelled texts.csv --columns text=body,label=topic -m cosine,jaccard --out runs/u
    """
    parameters: dict[str, Any] = {"k": k, "n": n, "repetitions": repetitions, **_params(param or [])}
    groups = {"set": set_column, "system": system_column, "item": item_column}
    options = DataOptions(
        said({"a": source_a, "b": source_b, "steps": steps, "reference": reference, "column": column}),
        said({"spec": pairs, "ratings": rating, "groups": said(groups) or None, "only": only, "limit": limit}),
        (left, right),
        said({"rated": rated, "comparisons": comparisons, "documents": documents, "labelled": labelled, "beir": beir}),
        task_columns(_params([part for item in columns or [] for part in item.split(",")])),
    )
    if what in PROGRAMS:
        if metrics or options or dry_run:
            raise InputError(f"the suite {what} sets its own data and has no metrics or cells; it takes -n and -p")
        print_rows(_rounded(run_program(what, said(parameters), out, seed), form), form)
        return
    plans = plans_of(what, metrics or None, said(parameters), seed, options)
    for text in warnings_of(plans):
        note(f"warning: {text}")
    store = Store(out)
    if dry_run:
        print_rows(_listed(plans, store), form)
        return

    def tell(report: RunReport) -> None:
        note(f"{report.cells} cells: {report.found} were there, {report.computed} computed, kept in {out}")

    report = computed(plans, store, jobs=jobs, scheduler=scheduler, progress=progress_bar, on_cells=tell)
    for failure in report.failures:
        note(f"warning: {failure}")
    if report.failures:
        raise typer.Exit(1)


def run_program(name: str, parameters: dict[str, Any], out: Path, seed: int) -> list[Row]:
    """Run a suite that is no set of cells, and give its table."""
    from textgauge.papers.programs import program
    from textgauge.papers.zwerdling_suite import side_by_side

    chosen = program(name, parameters)
    with progress() as step:
        found = chosen.run(out, seed=seed, on_step=step, on_note=note)
    for text in [f"{one.name}: {told}" for one in found for told in one.warnings]:
        note(f"warning: {text}")
    return side_by_side(found)


def _rounded(rows: list[Row], form: Format) -> list[Row]:
    if form in (Format.json, Format.csv):
        return rows
    return [{name: format_cell(value) for name, value in row.items()} for row in rows]


def _params(items: list[str]) -> dict[str, str]:
    found = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"parameters are written name=value, not {item!r}")
        found[name] = value
    return found


def _listed(plans: list[Plan], store: Store) -> list[Row]:
    from textgauge.evaluate.run import plan_cells

    rows: list[Row] = []
    for plan in plans:
        for cell in plan_cells(plan):
            state = "there" if store.has(cell) else "to compute"
            rows.append(
                {
                    "data": cell.data,
                    "protocol": cell.protocol,
                    "batch": cell.batch,
                    "metric": cell.metric,
                    "state": state,
                }
            )
    return rows


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Cells done, rate and time left, on a terminal's standard error."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("cells", total=None, rate="")

        def step(done: int, total: int, what: str) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, description=what or "cells", rate=f"{speed:.1f} cells/s" if speed else "")
            if total:
                bar.update(task, completed=done, total=total)

        yield step
