"""`textgauge score`: pairs of texts, one system or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from textgauge.cli.door import argument, calling, option, refuse
from textgauge.cli.output import (
    Format,
    FormatOption,
    OutputOption,
    format_this_command,
    name_sources,
    note,
    print_next,
    print_result,
    print_table,
    print_titled,
    say,
    show_progress,
)
from textgauge.core.errors import InputError
from textgauge.core.files import check_table_path, write_table
from textgauge.core.result import TableResult
from textgauge.core.show import format_cell, format_count, join_words
from textgauge.data import Corpus
from textgauge.data.source import describe_accepted, load_aligned, load_pairs, load_references, load_table
from textgauge.measure.dependence import find_repeating_column
from textgauge.measure.score_report import ScoreReport
from textgauge.measure.scoring import DEFAULT_METRICS, find_labels, score_systems
from textgauge.measure.scoring import score as run_score
from textgauge.measure.single_texts import rank_changes
from textgauge.measure.systems import ContrastReport
from textgauge.metrics import PairScores, get_pair_metrics
from textgauge.metrics.pair.models import list_column_names

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 10  # pairs in a table for people
_WIDTH = 48  # characters of a text that a table shows
_CHANGED = "levenshtein,cosine"  # how much a text changed


@calling(run_score, without=["columns"], kinds={"group": str | None})
def score(
    given: dict[str, Any],
    left: Annotated[str | None, argument(help=f"The texts to score. {describe_accepted(embeddings=True)}")] = None,
    right: Annotated[
        list[str] | None,
        argument(help="The references, line by line; several files give several references for each text."),
    ] = None,
    pairs: Annotated[
        str | None,
        option(help="A table, sample or dataset that holds both texts of each pair, instead of two files."),
    ] = None,
    left_column: Annotated[str, option("--left", help="The column of the left texts of --pairs.")] = "left",
    right_column: Annotated[str, option("--right", help="The column of the right texts of --pairs.")] = "right",
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
    summary: Annotated[
        bool,
        option("--summary", help="Print one row for each metric, with mean and interval, and no single pairs."),
    ] = False,
    parts: Annotated[bool, option("--parts", help="Add precision, recall and other parts of each metric.")] = False,
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Score pairs of texts: candidate and reference, query and document, text and paraphrase.

    Examples: textgauge score out.txt ref.txt -m bleu,chrf,ter --summary ·
    textgauge score --pairs sample:banking -m cosine ·
    textgauge score out.txt ref.txt --baseline old.txt -m bleu,chrf ·
    textgauge score --reference ref.txt out/*.txt -m bleu,chrf
    """
    if reference or system or segments:
        if not reference:
            raise InputError("--system and --segments are for ranked systems: name the references by --reference")
        refuse("ranking systems", "--pairs", "--baseline", "--parts")
        files = _name_systems([*([left] if left else []), *(right or [])], system or [])
        given = {name: value for name, value in given.items() if name != "baseline"}
        _print_systems(files, reference, given, form, segments=segments, output=output)
        return
    if given["baseline"] is not None:
        refuse("--baseline", "--parts")
    if pairs is None and left is not None and not right and _is_log(left):
        pairs, left, left_column, right_column = left, None, "text", "reference"
    if pairs is None:
        refuse("scoring files without --pairs", "--left", "--right")
    limit = given.pop("limit") if pairs else None
    sample = {"scores": list_column_names(given["metrics"]), "limit": limit, "seed": given["seed"]}
    texts, references, scores = _read(left, right or [], pairs, (left_column, right_column), given["column"], sample)
    tables = [pairs] if pairs else [left, *(right or []), given["baseline"]]
    sign = None
    if given["group"] is None:
        sign = find_repeating_column(tables)
    else:
        labels = find_labels(given["group"], tables)
        given["group"] = [labels[row] for row in texts.source_rows] if limit else labels
    with show_progress() as step:

        def keep(scores: PairScores) -> None:
            mean = float(scores.defined.mean()) if len(scores.defined) else None
            step.rows.append({"metric": scores.metric, "mean": format_cell(mean)})

        report: Any = replace(run_score(texts, references, columns=scores, on_score=keep, **given), sign=sign)
        if isinstance(report, ScoreReport) and (summary or form.for_people):
            report.summary()
    if isinstance(report, ContrastReport):
        _print_contrast(report, form, output)
        return
    if output is not None:
        report.save(output)
    _print(report, summary=summary, parts=parts, form=form)
    other = [] if pairs else [format_this_command("--baseline", "other.txt")]
    print_next([*other, format_this_command("-o", "found.json")] if output is None else other, form)
    if all(not len(scores.defined) for scores in report):
        raise SystemExit(1)


@calling(
    run_score,
    without=["left", "right", "baseline", "metrics", "explain", "background", "columns", "scheduler"],
    kinds={"group": str | None},
)
def diff(
    given: dict[str, Any],
    old: Annotated[str, argument(help=f"The texts as they were. {describe_accepted()}")],
    new: Annotated[str, argument(help="The texts as they are now, line by line.")],
    reference: Annotated[
        list[str] | None, option(help="References (repeat for several): say which texts got worse and better.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        option("-m", "--metrics", help=f"Metrics; default: {_CHANGED}, with --reference those of `score`."),
    ] = None,
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Show what changed between two versions of the same texts, item by item: the most changed, or the worst, first.

    Examples: textgauge diff old.txt new.txt · textgauge diff old.txt new.txt --reference ref.txt -m chrf -o diff.json
    """
    if reference:
        right = load_references(reference, column=given["column"])
        with show_progress():
            chosen = metrics or DEFAULT_METRICS
            found = run_score(new, right, baseline=old, metrics=chosen, explain=True, **given)
        _print_contrast(found, form, output)
        return
    with show_progress():
        report = run_score(new, old, metrics=metrics or _CHANGED, explain=True, **given)
        rows = [row.to_dict() for row in report.summary()]
    names = {"reference": "text.old", "text.candidate": "text.new"}
    names |= {f"{row.metric}.candidate": f"{row.metric}.new" for row in report}
    closer = {"descending": rows[0]["closer"] == "smaller"}
    texts = cast("pl.DataFrame", report.texts).rename(names).sort(f"{rows[0]['metric']}.new", nulls_last=True, **closer)
    changed = texts.filter(texts["text.old"] != texts["text.new"])
    answer = f"{len(changed):,} of {format_count(len(texts), 'text')} changed. {report.answer if len(changed) else ''}"
    print_result(
        TableResult("score", rows, answer.rstrip(), report.warnings, report.readable(), texts=texts), form, output
    )
    _print_items(f"Changed most, by {rows[0]['metric']}", changed.select("index", "text.old", "text.new"), form)


def _print_contrast(found: ContrastReport, form: Format, output: Path | None) -> None:
    """Print two systems, and the items that got worse and better where they were asked for."""
    print_result(found, form, output)
    if found.texts is None:
        return
    metric = found.rows[0].metric
    items = rank_changes(found.texts, metric, larger=get_pair_metrics([metric])[0].closer == "larger")
    worse, better = items.filter(items["change"] < 0), items.filter(items["change"] > 0).reverse()
    for title, some in (("Got worse most", worse), ("Got better most", better)):
        _print_items(f"{title}, by {metric} ({len(some):,} of {len(items):,} items)", some, form)


def _print_items(title: str, items: pl.DataFrame, form: Format) -> None:
    if form.for_people:
        rows = items.rename(lambda name: name.removeprefix("text.")).head(_SHOWN // 2).to_dicts()
        print_titled(f"{title}:", rows, form, width=_WIDTH)


def _is_log(name: str) -> bool:
    """Whether a file has outputs and references, as logs of evaluation harnesses have."""
    try:
        return {"text", "reference"} <= load_table(name).columns.keys()
    except InputError:
        if name.endswith((".eval", ".json", ".jsonl")):  # a damaged log
            raise
        return False


def _print(report: ScoreReport, *, summary: bool, parts: bool, form: Format) -> None:
    is_short = summary or form.for_people
    rows = [row.to_dict() for row in report.summary()] if is_short else report.to_dicts(parts=parts)
    shown, details = (report.readable(), None) if is_short else (None, report.details)
    print_result(TableResult("score", rows, report.answer, report.warnings, shown, details), form)
    if not form.for_people:
        return
    for line in report.citations if form is not Format.latex else ():
        say(line)
    if report.citations and form is Format.table:
        say("")
    if not summary:
        print_table(report.to_dicts(parts=parts)[:_SHOWN], form)
        left = len(report[0]) - _SHOWN
        if left > 0:
            say(f"… and {left:,} more: -f csv prints all")


def _read(
    left: str | None,
    right: list[str],
    pairs: str | None,
    columns: tuple[str, str],
    column: str | None,
    sample: dict[str, Any],
) -> tuple[Any, Any, Mapping[str, Sequence[float]]]:
    if pairs is not None:
        if left is not None:
            raise InputError("give two files or --pairs, not both")
        found = load_pairs(pairs, left=columns[0], right=columns[1], **sample)
        return Corpus.of(found.left, source_rows=found.rows), found.right, found.scores
    if left is None or not right:
        raise InputError("give the texts and their references as two files, or a table by --pairs")
    if sample["scores"]:
        raise InputError(f"column:{sample['scores'][0]} is a column of a table: give the table by --pairs")
    texts, references = load_aligned(left, column=column), load_references(right, column=column)
    if len(texts) != len(references):
        counts = f"{left} has {len(texts)} texts, but {join_words(right)} {len(references)}"
        raise InputError(f"{counts}: pairs need equal numbers")
    return texts, references, {}


def _print_systems(
    sources: Mapping[str, str],
    references: Sequence[str],
    given: dict[str, Any],
    form: Format,
    *,
    segments: Path | None,
    output: Path | None,
) -> None:
    """Rank systems by references; `given` are the options of `score_systems`."""
    if segments is not None:
        check_table_path(segments)
        if segments.suffix.lower() == ".txt":
            raise InputError(f"{segments}: values go to a .csv, .jsonl or .parquet file")
    right = load_references(list(references), column=given["column"])
    with show_progress():
        if given["group"] is not None:
            given["group"] = find_labels(given["group"], [*sources.values(), *references])
        report = score_systems(sources, right, **given)
        if given["group"] is None and report.sign is None:
            report = replace(report, scored=replace(report.scored, sign=find_repeating_column(references)))
    if segments is not None:
        write_table(segments, report.items())
        note(f"values of every item: {segments}")
    print_result(report, form, output)


def _name_systems(files: Sequence[str], named: Sequence[str]) -> dict[str, str]:
    found = name_sources(files)
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
