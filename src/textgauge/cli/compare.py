"""`textgauge compare`: the distance of two corpora, and what drives it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from textgauge.cli.explanations import FILES, explanation_rows, print_explanations, write_explanations
from textgauge.cli.output import (
    ColumnOption,
    Format,
    FormatOption,
    LevelOption,
    OutputOption,
    SchedulerOption,
    SeedOption,
    check_output,
    names_of,
    note,
    print_next,
    print_result,
    print_table,
    this_command,
)
from textgauge.cli.progress import progress
from textgauge.core.result import TableResult, show_rows
from textgauge.core.tabular import count_of
from textgauge.data.source import accepted
from textgauge.measure.comparing import DEFAULT_METRICS, PERMUTATIONS, CompareReport
from textgauge.measure.comparing import compare as run_compare
from textgauge.measure.comparing.report import COLUMNS, IN_PARTS
from textgauge.metrics import Score, get_corpus_metrics


def compare(
    reference: Annotated[str, typer.Argument(help=f"The reference corpus. {accepted(embeddings=True)}")],
    candidates: Annotated[
        list[str],
        typer.Argument(help="The corpus to compare with the reference. Several are ranked by their distance to it."),
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--metrics",
            help="Metrics, separated by commas or repeated; `pr(k=3|5)` is a grid.",
            show_default=DEFAULT_METRICS,
        ),
    ] = None,
    ci: Annotated[bool, typer.Option("--ci", help="Add a confidence interval to every value.")] = False,
    test: Annotated[
        bool,
        typer.Option(
            "--test/--no-test", help="Test whether the corpora differ, with p-values adjusted for all metrics."
        ),
    ] = True,
    parts: Annotated[bool, typer.Option("--parts", help="Add precision, recall and other parts to the table.")] = False,
    foreign: Annotated[
        str | None,
        typer.Option(
            help="A third corpus: estimate which share of its texts, mixed into the reference, gives the same energy."
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show which texts contribute most to each metric, and which words separate the corpora. "
            "json and csv hold all of them, as rows of the kinds text, token and term.",
        ),
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="How many texts and words of each corpus --explain shows.")] = 5,
    explain_to: Annotated[
        Path | None,
        typer.Option(help=f"Write the explanations to a file ({', '.join(FILES)}) instead of printing them."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="A column of labels: compare the texts of each label separately, and say which labels differ."
        ),
    ] = None,
    paired: Annotated[
        bool,
        typer.Option(
            "--paired",
            help="Text i of each candidate has the same prompt or parent, and so has text i of a reference as long.",
        ),
    ] = False,
    column: ColumnOption = None,
    limit: Annotated[
        int | None, typer.Option(min=2, help="Use a random sample of this many texts of each corpus; default: all.")
    ] = None,
    approx: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="From 50,000 texts on: compute metrics of all pairs of texts on samples of this size.",
        ),
    ] = None,
    scheduler: SchedulerOption = None,
    level: LevelOption = 0.95,
    permutations: Annotated[int, typer.Option(min=1, help="Number of permutations in the test.")] = PERMUTATIONS,
    seed: SeedOption = 0,
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Say whether two corpora differ, how far they are from each other, and which words separate them.

    Examples: textgauge compare sample:banking sample:travel --limit 300 ·
    textgauge compare old.csv:text new.csv:text -m fid,mauve,energy --ci ·
    textgauge compare sample:banking sample:travel -m energy,irpr --explain ·
    textgauge compare reference.txt gpt.txt llama.txt human.txt -m energy,pr
    """
    check_output(output)
    if explain_to is not None and explain_to.suffix not in FILES:
        raise typer.BadParameter(f"the file ends in one of {', '.join(FILES)}", param_hint="--explain-to")
    finished: list[Score] = []
    with progress(lambda: _print_finished(finished, metrics or [DEFAULT_METRICS], form)) as watch:

        def keep(score: Score) -> None:
            finished.append(score)
            watch.row(show_rows([score.to_dict()], COLUMNS)[0])

        report = run_compare(
            reference,
            candidates[0] if len(candidates) == 1 and by is None else names_of(candidates),
            metrics=metrics,
            ci=ci,
            test=test,
            parts=parts,
            foreign=foreign,
            explain=explain or explain_to is not None,
            by=by,
            paired=paired,
            column=column,
            limit=limit,
            approx=approx,
            scheduler=scheduler,
            level=level,
            permutations=permutations,
            seed=seed,
            on_score=keep,
        )
    printed = explain and explain_to is None
    print_result(_explained(report) if printed else report, form, output)
    if printed and form.for_people:
        print_explanations(report, top, form)
    in_parts = any(text.startswith(IN_PARTS) for text in report.warnings)  # explaining would hold all texts in memory
    if not report.candidates:
        print_next(_next_commands(explained=explain or in_parts, saved=output), form)
    if explain_to is not None:
        write_explanations(report, explain_to, top)
    if all(score.reason for score in report):
        raise typer.Exit(1)


def _explained(report: CompareReport) -> TableResult:
    rows = [{"kind": "metric", **row} for row in report.to_dicts()] + explanation_rows(report)
    return TableResult(report.command, rows, report.answer, report.warnings, report.readable())


def _print_finished(finished: Sequence[Score], metrics: Sequence[str], form: Format) -> None:
    """What Ctrl-C leaves: the metrics that are finished, and how to go on with the others."""
    if form.for_people:
        print_table(show_rows([score.to_dict() for score in finished], COLUMNS), form)
    left = [metric.key for metric in get_corpus_metrics(metrics)][len(finished) :]
    done = f"{count_of(len(finished), 'metric')} finished, p-values not adjusted"
    note(f"interrupted: {done}; for the others, run again with -m {','.join(left)}")


def _next_commands(*, explained: bool, saved: Path | None) -> list[str]:
    page = this_command("-o", "found.json") if saved is None else f"textgauge report {saved} -o report.html"
    return [page] if explained else [this_command("--explain"), page]
