"""`textgauge run`: protocols on data, resumed where they were."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from textgauge.bench import Plan, Store
from textgauge.bench import run as run_plans
from textgauge.cli.output import Format, FormatOption, Row, note, print_rows
from textgauge.errors import InputError, UnknownName
from textgauge.protocols import PROTOCOLS, Protocol, Sources


def run(
    what: Annotated[str, typer.Argument(help="A suite or a protocol: see `textgauge ls suites`, `ls protocols`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder that keeps the run; an old run goes on in it.")],
    source_a: Annotated[str | None, typer.Option(help="The first corpus, for protocols on two sources.")] = None,
    source_b: Annotated[str | None, typer.Option(help="The second corpus.")] = None,
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

    Example: textgauge run ksc --source-a a.txt --source-b b.txt -m fid,mauve -k 7,12 -n 100 --out runs/x
    """
    given: dict[str, Any] = {"k": k, "n": n, "repetitions": repetitions, **_params(param or [])}
    plans = _plans(
        what, source_a, source_b, metrics, {name: v for name, v in given.items() if v is not None}, column, seed
    )
    for text in dict.fromkeys(warning for plan in plans for warning in shared_texts(plan)):
        note(f"warning: {text}")
    store = Store(out)
    if dry_run:
        print_rows(_listed(plans, store), form)
        return
    from textgauge.bench.execute import executor

    with executor(jobs=jobs, scheduler=scheduler) as where, progress_bar() as step:
        report = run_plans(plans, store, executor=where, ahead=max(8, 2 * jobs), on_progress=step)
    note(f"{report.cells} cells: {report.found} were there, {report.computed} computed, kept in {out}")
    for failure in report.failures:
        note(f"warning: {failure}")
    if report.failures:
        raise typer.Exit(1)


def shared_texts(plan: Plan) -> list[str]:
    """A warning where both sources hold the same texts."""
    import numpy as np

    if not isinstance(plan.sources, Sources):
        return []
    corpora = plan.sources.corpora
    shared = len(np.intersect1d(corpora["a"].keys, corpora["b"].keys))
    return [f"{plan.sources.name}: {shared} different texts are in both sources"] if shared else []


def _plans(
    what: str,
    source_a: str | None,
    source_b: str | None,
    metrics: list[str] | None,
    given: dict[str, Any],
    column: str | None,
    seed: int,
) -> list[Plan]:
    from textgauge.bench.suites import QUICK_METRICS, SUITES, plans_of, sources_of, suite

    if what in SUITES:
        if given or source_a or source_b:
            raise InputError(f"the suite {what} sets its own data and parameters; name a protocol to set them yourself")
        return suite(what, metrics=metrics, seed=seed)
    if what not in PROTOCOLS:
        raise UnknownName.among("suite or protocol", what, [*SUITES, *PROTOCOLS])
    if source_a is None or source_b is None:
        raise InputError(f"{what} needs two corpora: --source-a and --source-b")
    protocols = _protocols(PROTOCOLS[what], given)
    return plans_of(protocols, [sources_of(source_a, source_b, column=column)], metrics or QUICK_METRICS, seed)


def _protocols(kind: type[Protocol], given: dict[str, Any]) -> list[Protocol]:
    """One protocol for every combination of values."""
    kinds: dict[str, Callable[[str], Any]] = {item.name: type(item.default) for item in fields(kind)}
    unknown = [name for name in given if name not in kinds]
    if unknown:
        raise UnknownName(f"{kind.name} has no parameter {unknown[0]!r}; its parameters: {', '.join(kinds)}")
    axes = [[_read(kinds[name], value) for value in str(text).split(",")] for name, text in given.items()]
    return [kind(**dict(zip(given, values, strict=True))) for values in product(*axes)]


def _read(kind: Callable[[str], Any], text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        return text  # the protocol says what it takes instead


def _params(items: list[str]) -> dict[str, str]:
    found = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"parameters are written name=value, not {item!r}")
        found[name] = value
    return found


def _listed(plans: list[Plan], store: Store) -> list[Row]:
    from textgauge.bench.run import plan_cells

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
