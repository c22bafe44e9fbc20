"""`textgauge compare`: the distance of two corpora, and what drives it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from textgauge.cli.door import OUTPUT, argument, calling, option
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
    show_progress,
)
from textgauge.core.errors import InputError
from textgauge.core.files import check_table_path, write_table
from textgauge.core.result import show_rows
from textgauge.core.show import Row, format_count, join_words
from textgauge.data.source import describe_accepted
from textgauge.measure.compare_report import COLUMNS, IN_PARTS, CompareReport
from textgauge.measure.comparing import DEFAULT_METRICS
from textgauge.measure.comparing import compare as run_compare
from textgauge.measure.single_texts import ADDS
from textgauge.metrics import get_corpus_metrics
from textgauge.metrics.registry import list_explained_metrics

_WIDTH = 56


@calling(run_compare, without=["candidate"])
def compare(
    given: dict[str, Any],
    reference: Annotated[str, argument(help=f"The reference corpus. {describe_accepted(embeddings=True)}")],
    candidates: Annotated[
        list[str],
        argument(help="The corpus to compare with the reference. Several are ranked by their distance to it."),
    ],
    top: Annotated[
        int, option(min=1, help="How many texts and words of each corpus --explain shows.", group=OUTPUT)
    ] = 5,
    atlas: Annotated[
        Path | None,
        option(
            help="Write every text with its contribution, nearest text and place on a map to a .parquet, .csv or "
            ".jsonl file, for embedding-atlas or Spotlight.",
            group=OUTPUT,
        ),
    ] = None,
    output: OutputOption = None,
    form: FormatOption = Format.table,
) -> None:
    """Say whether two corpora differ, how far they are from each other, and which words separate them.

    Examples: textgauge compare sample:banking sample:travel --limit 300 ·
    textgauge compare old.csv:text new.csv:text -m fid,mauve,energy --ci ·
    textgauge compare sample:banking sample:travel -m energy,irpr --explain ·
    textgauge compare reference.txt gpt.txt llama.txt human.txt -m energy,pr
    """
    is_printed = given["explain"]
    if atlas is not None:
        check_table_path(atlas)
        given["explain"] = True
    is_alone = len(candidates) == 1 and given["by"] is None
    with show_progress(lambda: _print_finished(watch.rows, given["metrics"] or [DEFAULT_METRICS], form)) as watch:
        given["on_score"] = lambda score: watch.rows.extend(show_rows([score.to_dict()], COLUMNS))
        report = run_compare(reference, candidates[0] if is_alone else name_sources(candidates), **given)
    if atlas is not None:
        _write_atlas(report, atlas)
    plain = replace(report, explanations={}, texts=None, is_explained=False)
    print_result(report if is_printed else plain, form, output)
    if atlas is not None or (is_printed and form.for_people):
        _name_unexplained(report)
    if is_printed and form.for_people:
        for title, rows in _list_sections(report, top):
            print_titled(title, rows, form, width=_WIDTH)
    sizes = {size for score in report.rows for size in (score.n_reference, score.n_candidate)}
    hints = list[str]()
    if len(sizes) == 1 and given["by"] is None and not given["paired"]:
        files = shlex.join([reference, *candidates] if report.candidates else [*candidates, reference])
        hint = f"textgauge score {'--reference ' if report.candidates else ''}{files}"
        hints = [f"{hint}  (if line i of one file answers line i of the other)"]
    in_parts = any(text.startswith(IN_PARTS) for text in report.warnings)  # explaining would hold all texts
    more = [*([] if is_printed or in_parts else ["--explain"]), *([] if output else ["-o", "found.json"])]
    page = shlex.join(["textgauge", "report", str(output or "found.json")])
    print_next([*([format_this_command(*more)] if more else []), page, *hints], form)
    if atlas is not None and report.texts is None:
        raise InputError("--atlas: nothing is written, for no metric here is explained text by text")
    if all(score.reason for score in report.rows):
        raise SystemExit(1)


def _print_finished(finished: Sequence[Row], metrics: Sequence[str], form: Format) -> None:
    """Print what Ctrl-C leaves: the metrics that are finished, and how to go on with the others."""
    if finished and form.for_people:
        print_table(finished, form)
    left = [metric.key for metric in get_corpus_metrics(metrics)][len(finished) :]
    done = f"{format_count(len(finished), 'metric')} finished, p-values not adjusted"
    note(f"interrupted: {done}; for the others, run again with -m {','.join(left)}")


def _write_atlas(report: CompareReport, path: Path) -> None:
    if report.texts is None:
        return
    first = next(name for name in report.texts.columns if name.startswith(ADDS))
    names = ["text", "source", "contribution", "nearest", "x", "y"]
    table = report.texts.with_columns(report.texts[first].alias("contribution"))
    known = [name for name in names if name in table.columns]
    write_table(path, table.select(*known, *(name for name in table.columns if name not in names)))
    note(f"{format_count(len(table), 'text')} written to {path}")


def _list_sections(report: CompareReport, top: int) -> Iterator[tuple[str, list[Row]]]:
    """Yield the top texts of each metric, the texts far from all others, and the top words, with their titles."""
    several = bool(report.candidates)  # of whom the first metric is enough on a terminal
    first = next(iter(report.explanations.values()), None)
    for name, one in report.explanations.items():
        if several and first is not None and one.metric != first.metric:
            continue
        shown = ", ".join(name) if several else one.metric
        of = "" if one.of == "value" else f" ({one.of} {one.total:.4g})"
        rows = [*one.top(top, "reference"), *one.top(top, "candidate")]
        title = f"{shown}{of}: the texts that contribute most. Contribution of a text = {one.formula}."
        yield title, [_name_texts(row, "side", "contribution", "text", "nearest", "distance") for row in rows]
        yield f"{shown}: the tokens that contribute most", one.tokens[:top]
    if first is not None and not several:
        far = [*first.uncovered(top), *first.outliers(top)]
        title = f"Texts far from every text of the other corpus, by {first.distance}"
        yield title, [_name_texts(row, "side", "text", "nearest", "distance") for row in far]
    if len(report.terms):
        rows = [{"of": side, **row} for side in ("reference", "candidate") for row in report.terms.top(top, side)]
        yield "Words that separate the corpora, by log-odds with an informative prior", rows


def _name_texts(row: Row, *names: str) -> Row:
    """Return these fields of a row; embeddings without texts are named by their place."""
    places = {"text": f"text {row['index']}", "nearest": f"text {row['nearest_index']}"}
    return {name: places.get(name) if row[name] is None else row[name] for name in names}


def _name_unexplained(report: CompareReport) -> None:
    known = {one.metric for one in report.explanations.values()}
    left = list(dict.fromkeys(score.metric for score in report if score.reason is None and score.metric not in known))
    if left:
        explained = join_words(list_explained_metrics())
        note(f"{join_words(left)} cannot be explained text by text; {explained} can")
