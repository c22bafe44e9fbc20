"""`textgauge run`: protocols on data, resumed where they were."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from textgauge.bench import Plan, RunReport, Store
from textgauge.bench.boards.grouped import leaderboards
from textgauge.bench.boards.verdicts import verdict_warnings
from textgauge.bench.inputs.kinds import drop_none
from textgauge.bench.judge_audit import MARGIN, audit_judge
from textgauge.bench.protocols import protocols_named
from textgauge.bench.results import Results
from textgauge.bench.run import compute, warnings_of
from textgauge.bench.suites import find_suite, known_suites, suite_or_protocol_plans
from textgauge.cli.door import argument, command, option, refuse
from textgauge.cli.leaderboard import print_boards
from textgauge.cli.output import (
    ColumnOption,
    Format,
    FormatOption,
    SchedulerOption,
    SeedOption,
    note,
    print_next,
    print_result,
)
from textgauge.cli.progress import progress, progress_bar
from textgauge.core.errors import InputError, UnknownName
from textgauge.core.result import TableResult
from textgauge.core.tabular import Row, format_cell


def _option(text: str, *names: str, **more: Any) -> Any:
    return option(*names, help=text, **more)


@command
def run(
    what: Annotated[
        str, argument(help="A suite or a protocol; `textgauge ls suites` and `textgauge ls protocols` list them.")
    ],
    out: Annotated[Path, _option("The folder that keeps the run; a run that is already there is resumed.", "--out")],
    source_a: Annotated[str | None, _option("The first corpus, for protocols that mix two sources.")] = None,
    source_b: Annotated[str | None, _option("The second corpus.")] = None,
    pairs: Annotated[str | None, _option("A table, sample or dataset of rated pairs, or of paraphrases.")] = None,
    left: Annotated[str, _option("The column of the left texts of --pairs.")] = "left",
    right: Annotated[str, _option("The column of the right texts of --pairs.")] = "right",
    rating: Annotated[
        list[str] | None, _option("A column of ratings of --pairs, larger for more similar; repeat for several raters.")
    ] = None,
    set_column: Annotated[str | None, _option("The column that says which set a pair belongs to.", "--set")] = None,
    system_column: Annotated[str | None, _option("The column of systems that wrote the texts.", "--system")] = None,
    item_column: Annotated[str | None, _option("The column of items (segments).", "--item")] = None,
    judge: Annotated[
        str | None,
        _option("Agreement: audit a judge, whose scores are this column of --pairs, by two or more --rating."),
    ] = None,
    repeat: Annotated[
        list[str] | None,
        _option("A column of the judge's scores when asked again; repeat for several.", "--judge-again"),
    ] = None,
    swapped: Annotated[
        str | None, _option("A column of the judge's scores when both texts are exchanged.", "--judge-swapped")
    ] = None,
    margin: Annotated[
        float,
        _option(
            "Audit: how much better people must be to be worth their cost: 0.2 for experts, 0.1 for crowd workers."
        ),
    ] = MARGIN,
    only: Annotated[
        str | None, _option("Paraphrases: use only the rows of --pairs with this value, such as label=1.")
    ] = None,
    limit: Annotated[int | None, _option("Use a random sample of this many of --pairs; default: all.", min=2)] = None,
    steps: Annotated[
        str | None, _option("IFC: a folder with one file for each step of training, in the order of their names.")
    ] = None,
    reference: Annotated[str | None, _option("IFC: the texts that the steps should approach.")] = None,
    rated: Annotated[str | None, _option("Alignment: a table of rated summaries, or a dataset.")] = None,
    comparisons: Annotated[
        str | None, _option("Alignment: a table of two summaries and the chosen one, or a dataset.")
    ] = None,
    documents: Annotated[
        str | None, _option("Robustness, sensitivity: a table, folder or dataset of documents.")
    ] = None,
    labelled: Annotated[str | None, _option("Clustering: a table of labelled texts, or a dataset.")] = None,
    beir: Annotated[str | None, _option("Retrieval: a folder in the layout of BEIR, or a dataset.")] = None,
    columns: Annotated[
        list[str] | None, _option("Which columns of a task's table hold what, such as text=body,summary=abstract.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        _option(
            "Metrics, separated by commas or repeated; `pr(k=3|5)` is a grid; default: those of the suite or protocol.",
            "-m",
            "--metrics",
        ),
    ] = None,
    k: Annotated[
        str | None, _option("ksc: the number of mixtures; several as 7,12; default: the protocol's.", "-k", "--k")
    ] = None,
    n: Annotated[int | None, _option("Number of texts in each corpus; default: the protocol's.", "-n", "--n")] = None,
    repetitions: Annotated[
        int | None, _option("How often texts are drawn anew; default: the protocol's.", min=1)
    ] = None,
    param: Annotated[
        list[str] | None,
        _option("Another parameter of the protocol, as name=value; repeat for several.", "--param", "-p"),
    ] = None,
    column: ColumnOption = None,
    seed: SeedOption = 0,
    jobs: Annotated[int, _option("Number of local processes.", "-j", "--jobs", min=1)] = 1,
    scheduler: SchedulerOption = None,
    dry_run: Annotated[
        bool, _option("List the results and say which are there already; compute nothing.", "--dry-run")
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Run a suite or a protocol and keep every finished result in a folder.

    Examples: textgauge run ksc --source-a a.txt --source-b b.txt -m fid,mauve -k 7,12 -n 100 --out runs/x ·
    textgauge run agreement --pairs rated.csv --left a --right b --rating score -m chrf,cosine --out runs/y ·
    textgauge run distributionality --pairs paraphrases.csv --left a --right b -m irpr,fid --out runs/z ·
    textgauge run clustering --labelled texts.csv --columns text=body,label=topic -m cosine,jaccard --out runs/u
    """
    parameters = drop_none({"k": k, "n": n, "repetitions": repetitions, **_params(param or [])})
    groups = drop_none({"set": set_column, "system": system_column, "item": item_column})
    given = drop_none(
        {
            "source_a": source_a, "source_b": source_b, "steps": steps, "reference": reference, "column": column,
            "pairs": pairs, "left": None if left == "left" else left, "right": None if right == "right" else right,
            "rating": rating, "groups": groups or None, "only": only, "limit": limit, "rated": rated,
            "comparisons": comparisons, "documents": documents, "labelled": labelled, "beir": beir,
            "columns": _params([part for item in columns or [] for part in item.split(",")]) or None,
        }
    )  # fmt: skip
    suite = find_suite(what)
    if suite is not None and suite.program is not None:
        if metrics or given or dry_run:
            raise InputError(f"the suite {what} sets its own data and has no metrics; it takes -n and -p")
        rows = run_program(what, parameters, out, seed)
        print_result(TableResult("run", rows, shown=[_rounded(row) for row in rows]), form)
        return
    audit = None
    if judge is None:
        refuse("a run without --judge", "--judge-again", "--judge-swapped", "--margin")
    else:
        rated_kind = next((kind for kind in protocols_named(what) if kind.rated), None)
        if rated_kind is None or pairs is None:
            raise InputError("--judge is for `run agreement` with --pairs")
        how: Any = {"repeat": repeat or (), "swapped": swapped, "margin": margin, "seed": seed}
        audit = audit_judge(pairs, rating=rating or (), judge=judge, text=left, **how)
        metrics = [*(metrics or [rated_kind.default_metrics]), f"column:{judge}"]
        given["rated_only"] = True
    plans = suite_or_protocol_plans(what, metrics or None, parameters, seed, given)
    if dry_run:
        rows = _listed(plans, Store(out))
        there = sum(row["state"] == "there" for row in rows)
        said = f"{len(rows)} results, {there} of them there."
        print_result(TableResult("run", rows, said, tuple(warnings_of(plans))), form)
        return
    store = Store(out)
    failed = _compute(plans, store, jobs, scheduler)
    results = Results(store)
    judged = results.judged()
    warned = (*warnings_of(plans), *verdict_warnings(results, judged))
    print_boards(leaderboards(judged), warned, form, command="run")
    if audit is not None:
        note(f"audit of the judge: {audit.save(out / 'judge_audit.json')}")
        if form.for_people:
            print_result(audit, form)
    folder = shlex.quote(str(out))
    print_next([f"textgauge leaderboard {folder} --detail", f"textgauge report {folder} -o report.html"], form)
    if failed:
        raise SystemExit(1)


def _compute(plans: Sequence[Plan], store: Store, jobs: int, scheduler: str | None) -> bool:
    """Run what the store lacks; whether anything failed."""

    def on_cells(report: RunReport) -> None:
        note(f"{report.cells} results: {report.found} were there, {report.computed} computed, kept in {store.folder}")

    try:
        report = compute(plans, store, jobs=jobs, scheduler=scheduler, progress=progress_bar, on_cells=on_cells)
    except KeyboardInterrupt:
        cells = {cell.name: cell for plan in plans for cell in plan.cells()}.values()
        kept = f"{sum(store.path(cell).exists() for cell in cells)} of {len(cells)} results are kept in {store.folder}"
        note(f"interrupted: {kept}; run the same command again to resume")
        raise SystemExit(130) from None
    for failure in report.failures:
        note(f"warning: {failure}")
    return bool(report.failures)


def run_program(name: str, parameters: Mapping[str, Any], out: Path, seed: int) -> list[Row]:
    """Run a suite that has no cells, and give its table."""
    suite = find_suite(name)
    if suite is None:
        raise UnknownName.among("suite", name, known_suites())
    program = suite.make_program(parameters)
    with progress() as step:
        return program.run_rows(out, seed=seed, on_step=step, on_note=note)


def _rounded(row: Row) -> Row:
    return {name: format_cell(value) for name, value in row.items()}


def _params(items: list[str]) -> dict[str, str]:
    found = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"parameters are written name=value, not {item!r}")
        found[name] = value
    return found


def _listed(plans: list[Plan], store: Store) -> list[Row]:
    return [
        {
            "data": cell.data,
            "protocol": cell.protocol,
            "batch": cell.batch,
            "metric": cell.metric,
            "state": "there" if store.has(cell) else "to compute",
        }
        for plan in plans
        for cell in plan.cells()
    ]
