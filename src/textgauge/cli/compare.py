"""`textgauge compare`: the distance of two corpora, and what drives it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textgauge.cli.explanations import FILES, explanation_rows, print_explanations, write_explanations
from textgauge.cli.output import Format, FormatOption, SchedulerOption, print_result, progress
from textgauge.comparing import DEFAULT_METRICS, CompareReport
from textgauge.comparing import compare as run_compare
from textgauge.data import load_corpus
from textgauge.data.source import accepted
from textgauge.result import TableResult


def compare(
    reference: Annotated[str, typer.Argument(help=f"The reference corpus. {accepted(embeddings=True)}")],
    candidate: Annotated[str, typer.Argument(help="The corpus to compare with it.")],
    metrics: Annotated[
        list[str] | None,
        typer.Option("-m", "--metrics", help="Metric names, comma-separated or repeated; grids as pr(k=3|5)."),
    ] = None,
    ci: Annotated[bool, typer.Option("--ci", help="Add a confidence interval to every value.")] = False,
    test: Annotated[
        bool, typer.Option("--test", help="Add a permutation p-value, raw and adjusted for all metrics.")
    ] = False,
    foreign: Annotated[
        str | None,
        typer.Option(
            help="A third corpus: add which share of its texts, mixed into the reference, would give the same distance."
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Add what single texts contribute, for the metrics that `textgauge ls metrics` says have it, "
            "and the words that separate the corpora: the top ones in readable formats; all as further rows of "
            "a `kind` (metric, text, token, term) in json and csv.",
        ),
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="How many texts and words --explain shows per corpus.")] = 5,
    explain_to: Annotated[
        Path | None,
        typer.Option(help=f"Write the explanations to a file instead: {', '.join(FILES)}; implies --explain."),
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column that holds the texts, for tables.")] = None,
    limit: Annotated[int | None, typer.Option(min=2, help="Use a random sample of this many texts of each.")] = None,
    approx: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Of more than 50,000 texts, measure metrics of all pairs of texts on samples of this many of each.",
        ),
    ] = None,
    scheduler: SchedulerOption = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    permutations: Annotated[int, typer.Option(min=1, help="Permutations of the test.")] = 999,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    form: FormatOption = Format.table,
) -> None:
    """Measure how far the candidate corpus is from the reference corpus.

    Examples: textgauge compare sample:banking sample:travel -m fid,mauve,energy --ci --test ·
    textgauge compare sample:banking sample:travel -m energy,irpr --explain
    """
    if explain_to is not None and explain_to.suffix not in FILES:
        raise typer.BadParameter(f"the file ends in one of {', '.join(FILES)}", param_hint="--explain-to")
    paths = [reference, candidate, *([foreign] if foreign else [])]
    sources = [path if limit is None else load_corpus(path, column=column, limit=limit, seed=seed) for path in paths]
    with progress() as step:
        report = run_compare(
            reference=sources[0],
            candidate=sources[1],
            metrics=metrics or DEFAULT_METRICS,
            ci=ci,
            test=test,
            level=level,
            permutations=permutations,
            seed=seed,
            foreign=sources[2] if foreign else None,
            explain=explain or explain_to is not None,
            column=column,
            approx=approx,
            scheduler=scheduler,
            on_step=step,
        )
    printed = explain and explain_to is None
    if form.for_people or not printed:
        print_result(report, form)
    else:
        print_result(_with_explanations(report), form)
    if printed and form.for_people:
        print_explanations(report, top, form)
    if explain_to is not None:
        write_explanations(report, explain_to, top)
    if all(score.reason for score in report):
        raise typer.Exit(1)


def _with_explanations(report: CompareReport) -> TableResult:
    rows = [{"kind": "metric", **row} for row in report.to_dicts()] + explanation_rows(report)
    return TableResult(report.command, rows, report.answer, report.warnings)
