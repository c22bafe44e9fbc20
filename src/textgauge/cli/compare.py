"""`textgauge compare`: the distance of two corpora, and what drives it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

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
    refuse,
    this_command,
)
from textgauge.cli.progress import progress
from textgauge.core.errors import InputError
from textgauge.core.result import TableResult
from textgauge.core.tabular import count_of
from textgauge.data import Corpus, load_aligned, load_corpus
from textgauge.data.source import accepted
from textgauge.measure.comparing import DEFAULT_METRICS, PERMUTATIONS, CompareReport
from textgauge.measure.comparing import compare as run_compare
from textgauge.measure.comparing.compare import MANY_METRICS
from textgauge.measure.comparing.report import IN_PARTS, readable_row
from textgauge.measure.comparing.slices import compare_slices
from textgauge.metrics import Score, get_corpus_metrics

_ALONE = ("foreign", "explain", "explain_to", "parts", "approx", "scheduler")  # options for one candidate


def compare(
    ctx: typer.Context,
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
    if by is not None:
        refuse(ctx, "--by", *_ALONE, "ci", "test", "paired", "limit")
        slicing: dict[str, Any] = {"by": by, "column": column, "permutations": permutations, "seed": seed}
        _print_slices(reference, candidates, metrics, slicing, form, output)
        return
    if len(candidates) > 1:
        refuse(ctx, "ranking several candidates", *_ALONE)
        how: dict[str, Any] = {"ci": ci, "test": test, "level": level, "permutations": permutations, "paired": paired}
        how |= {"column": column, "seed": seed}
        _print_candidates(reference, candidates, metrics, how, form, limit, output)
        return
    refuse(ctx, "one candidate", "paired")
    paths = [reference, *candidates, *([foreign] if foreign else [])]
    sources = [path if limit is None else load_corpus(path, column=column, limit=limit, seed=seed) for path in paths]
    finished: list[Score] = []
    with progress(lambda: _print_finished(finished, metrics or [DEFAULT_METRICS], form)) as watch:

        def keep(score: Score) -> None:
            finished.append(score)
            watch.row(readable_row(score.to_dict()))

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
            on_step=watch,
            on_score=keep,
        )
    printed = explain and explain_to is None
    result = _result(report, parts=parts, explained=printed)
    print_result(result, form, output)
    if printed and form.for_people:
        print_explanations(report, top, form)
    in_parts = any(text.startswith(IN_PARTS) for text in report.warnings)  # explaining would hold all texts in memory
    print_next(_next_commands(explained=explain or in_parts, saved=output), form)
    if explain_to is not None:
        write_explanations(report, explain_to, top)
    if all(score.reason for score in report):
        raise typer.Exit(1)


def _print_candidates(
    reference: str,
    candidates: Sequence[str],
    metrics: Sequence[str] | None,
    options: dict[str, Any],
    form: Format,
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
        report = run_compare(load(reference), corpora, metrics=metrics or MANY_METRICS, on_step=watch, **options)
    print_result(report, form, output)
    if all(score.reason for found in report.reports.values() for score in found):
        raise typer.Exit(1)


def _print_slices(
    reference: str,
    candidates: Sequence[str],
    metrics: Sequence[str] | None,
    options: dict[str, Any],
    form: Format,
    output: Path | None,
) -> None:
    """Say which labels differ; `options` are those of `compare_slices`."""
    with progress() as watch:
        report = compare_slices(reference, names_of(candidates), metrics=metrics or "energy", on_step=watch, **options)
    print_result(report, form, output)


def _result(report: CompareReport, *, parts: bool, explained: bool) -> TableResult:
    rows = report.to_dicts()
    if explained:
        rows = [{"kind": "metric", **row} for row in rows] + explanation_rows(report)
    return TableResult(report.command, rows, report.answer, report.warnings, report.readable(parts=parts))


def _print_finished(finished: Sequence[Score], metrics: Sequence[str], form: Format) -> None:
    """What Ctrl-C leaves: the metrics that are finished, and how to go on with the others."""
    if form.for_people:
        print_table([readable_row(score.to_dict()) for score in finished], form)
    left = [metric.key for metric in get_corpus_metrics(metrics)][len(finished) :]
    done = f"{count_of(len(finished), 'metric')} finished, p-values not adjusted"
    note(f"interrupted: {done}; for the others, run again with -m {','.join(left)}")


def _next_commands(*, explained: bool, saved: Path | None) -> list[str]:
    page = this_command("-o", "found.json") if saved is None else f"textgauge report {saved} -o report.html"
    return [page] if explained else [this_command("--explain"), page]
