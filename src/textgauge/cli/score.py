"""`textgauge score`: pairs of texts, one system or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from textgauge.cli.door import argument, command, option, refuse
from textgauge.cli.output import (
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
    say,
    this_command,
)
from textgauge.cli.progress import progress
from textgauge.core.errors import InputError
from textgauge.core.files import check_table_path, write_table
from textgauge.core.result import TableResult
from textgauge.core.show import format_cell, listed
from textgauge.data import Corpus
from textgauge.data.source import accepted, load_aligned, load_pairs, load_references
from textgauge.measure.score_report import ScoreReport
from textgauge.measure.scoring import DEFAULT_METRICS
from textgauge.measure.scoring import score as run_score
from textgauge.measure.systems import contrast as run_contrast
from textgauge.measure.systems import score_systems
from textgauge.metrics import PairScores
from textgauge.metrics.pair.models import column_names

_SHOWN = 10  # pairs in a table for people


_ALONE = ("--background", "--scheduler", "--cluster", "--parts")  # options for one system


@command
def score(
    left: Annotated[str | None, argument(help=f"The texts to score. {accepted(embeddings=True)}")] = None,
    right: Annotated[
        list[str] | None,
        argument(help="The references, line by line; several files give several references for each text."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        option(
            "-m",
            "--metrics",
            help="Metrics, separated by commas or repeated; `rouge1@words|13a` is a grid.",
            show_default=DEFAULT_METRICS,
        ),
    ] = None,
    pairs: Annotated[
        str | None,
        option(help="A table, sample or dataset that holds both texts of each pair, instead of two files."),
    ] = None,
    left_column: Annotated[str, option("--left", help="The column of the left texts of --pairs.")] = "left",
    right_column: Annotated[str, option("--right", help="The column of the right texts of --pairs.")] = "right",
    column: Annotated[
        str | None,
        option(help="The column that holds the texts, for tables; default: `text`, or the only column of texts."),
    ] = None,
    reference: Annotated[
        list[str] | None,
        option(help="A file of references (repeat for several): rank the other files as systems."),
    ] = None,
    system: Annotated[
        list[str] | None, option(help="NAME=FILE: a system to rank by --reference; repeat for several.")
    ] = None,
    segments: Annotated[
        Path | None,
        option(help="With --reference: write the score of every item and system to a .csv, .jsonl or .parquet file."),
    ] = None,
    baseline: Annotated[
        str | None, option(help="The texts of another system: test the difference from it, metric by metric.")
    ] = None,
    background: Annotated[
        str | None,
        option(help="The corpus that tfidf, bm25plus and idf weights are fitted on; default: all texts given."),
    ] = None,
    summary: Annotated[
        bool,
        option("--summary", help="Print one row for each metric, with mean and interval, and no single pairs."),
    ] = False,
    parts: Annotated[bool, option("--parts", help="Add precision, recall and other parts of each metric.")] = False,
    limit: Annotated[
        int | None, option(min=1, help="Use a random sample of this many of --pairs; default: all.")
    ] = None,
    level: LevelOption = 0.95,
    resamples: Annotated[int, option(min=100, help="Number of resamples in bootstrap and test.")] = 1_000,
    seed: SeedOption = 0,
    scheduler: SchedulerOption = None,
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Score pairs of texts: candidate and reference, query and document, text and paraphrase.

    Examples: textgauge score out.txt ref.txt -m bleu,chrf,ter --summary ·
    textgauge score --pairs sample:banking -m cosine ·
    textgauge score out.txt ref.txt --baseline old.txt -m bleu,chrf ·
    textgauge score --reference ref.txt out/*.txt -m bleu,chrf
    """
    check_output(output)
    if reference or system or segments:
        files = [*([left] if left else []), *(right or [])]
        if not reference:
            raise InputError("systems are ranked by --reference")
        refuse("ranking systems", "--pairs", "--baseline", "--limit", *_ALONE)
        how = {"level": level, "resamples": resamples, "seed": seed, "column": column}
        _print_systems(
            files, system or [], reference, metrics or DEFAULT_METRICS, how, form, segments=segments, output=output
        )
        return
    if baseline is not None:
        refuse("--baseline", *_ALONE)
    if pairs is None:
        refuse("scoring files without --pairs", "--limit", "--left", "--right")
    names = metrics or DEFAULT_METRICS
    wanted = column_names(names)
    texts, references, scores = _read(
        left, right or [], pairs, (left_column, right_column), column, wanted, limit, seed
    )
    options: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    with progress() as step:
        if baseline is not None:
            other = load_aligned(baseline, column=column)
            found = run_contrast(left=texts, baseline=other, right=references, metrics=names, **options)
            print_result(found, form, output)
            return
        fitted = None if background is None else load_aligned(background, column=column)

        def keep(scores: PairScores) -> None:
            mean = float(scores.defined.mean()) if len(scores.defined) else None
            step.row({"metric": scores.metric, "mean": format_cell(mean)})

        given: dict[str, Any] = {"metrics": names, "background": fitted, "columns": scores, "scheduler": scheduler}
        report = run_score(left=texts, right=references, on_score=keep, **given, **options)
        if summary or form.for_people:
            report.summary()
    if output is not None:
        report.save(output)
    _print(report, summary=summary, parts=parts, form=form)
    other = [] if pairs else [this_command("--baseline", "other.txt")]
    print_next([*other, this_command("-o", "found.json")] if output is None else other, form)
    if all(not len(scores.defined) for scores in report):
        raise SystemExit(1)


def _print(report: ScoreReport, *, summary: bool, parts: bool, form: Format) -> None:
    if summary or form.for_people:
        rows = [row.to_dict() for row in report.summary()]
        print_result(TableResult("score", rows, report.answer, report.warnings, report.readable()), form)
        for line in report.citations if form is not Format.latex and form.for_people else ():
            say(line)
        if report.citations and form is Format.table:
            say("")
    else:
        rows = report.to_dicts(parts=parts)
        print_result(TableResult("score", rows, report.answer, report.warnings, extra=report.details), form)
    if form.for_people and not summary:
        print_table(report.to_dicts(parts=parts)[:_SHOWN], form)
        left = len(report.scores[0]) - _SHOWN
        if left > 0:
            say(f"… and {left:,} more: -f csv prints all")


def _read(
    left: str | None,
    right: list[str],
    pairs: str | None,
    columns: tuple[str, str],
    column: str | None,
    scores: list[str],
    limit: int | None,
    seed: int,
) -> tuple[Any, Any, Mapping[str, Sequence[float]]]:
    if pairs is not None:
        if left is not None:
            raise InputError("give two files or --pairs, not both")
        found = load_pairs(pairs, left=columns[0], right=columns[1], scores=scores, limit=limit, seed=seed)
        return Corpus.of(found.left, source_rows=found.rows), found.right, found.scores
    if left is None or not right:
        raise InputError("give the texts and their references as two files, or a table by --pairs")
    if scores:
        raise InputError(f"column:{scores[0]} is a column of a table: give the table by --pairs")
    texts, references = load_aligned(left, column=column), load_references(right, column=column)
    if len(texts) != len(references):
        counts = f"{left} has {len(texts)} texts, but {listed(right)} {len(references)}"
        raise InputError(f"{counts}: pairs need equal numbers")
    return texts, references, {}


def _print_systems(
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
    with progress():
        systems = {name: load_aligned(path, column=column) for name, path in sources.items()}
        report = score_systems(systems, right, metrics=metrics, **options)
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
