"""Explanations of a comparison, printed or written; what comes from a corpus is plain text and acts on nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from textgauge.cli.output import Format, fill_line, note, print_table, say
from textgauge.core.files import write_atomically, write_table
from textgauge.core.result import TableResult
from textgauge.core.tabular import Row, one_line, printable
from textgauge.measure.comparing import CompareReport, Explanation
from textgauge.metrics.registry import explained_metrics

FILES = (".json", ".csv", ".html", ".svg", ".png")

_WIDTH = 56
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#&!])")


def explanation_rows(report: CompareReport) -> list[Row]:
    """All rows of all explanations, their texts printable."""
    return [
        {name: printable(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in report.explained_dicts()
    ]


def print_explanations(report: CompareReport, top: int, form: Format) -> None:
    """The top texts of each metric, the texts far from all others, and the top words, as titled tables."""
    _name_unexplained(report)
    for title, rows in _sections(report, top):
        if rows:
            latex = f"\n% {' '.join(title.split())}"
            say({Format.markdown: f"\n### {title}\n", Format.latex: latex}.get(form, fill_line(title)))
            print_table([{name: _cell(value, form) for name, value in row.items()} for row in rows], form)


def write_explanations(report: CompareReport, path: Path, top: int) -> None:
    """Write all rows (.json, .csv) or a figure of the top ones (.html, .svg, .png)."""
    _name_unexplained(report)
    match path.suffix:
        case ".json":
            TableResult(report.command, explanation_rows(report), report.answer, report.warnings).save(path)
        case ".csv":
            write_table(path, explanation_rows(report))
        case ending:
            from textgauge.core.charts import rendered
            from textgauge.report.figures.corpora import explanation_figure

            write_atomically(path, rendered(explanation_figure(report, top), ending[1:]))
    note(f"explanations written to {path}")


def _sections(report: CompareReport, top: int) -> Iterator[tuple[str, list[Row]]]:
    explanations = list(report.explanations.values())
    for found in explanations:
        of = "" if found.of == "value" else f" ({found.of} {found.total:.4g})"
        yield (
            f"{found.metric}{of}: the texts that contribute most. Contribution of a text = {found.formula}.",
            _driving(found, top),
        )
        yield f"{found.metric}: the tokens that contribute most", found.tokens[:top]
    if explanations:
        first = explanations[0]
        far = [_far(row) for row in (*first.uncovered(top), *first.outliers(top))]
        yield f"Texts far from every text of the other corpus, by {first.distance}", far
    if len(report.terms):
        rows = [{"of": side, **row} for side in ("reference", "candidate") for row in report.terms.top(top, side)]
        yield "Words that separate the corpora, by log-odds with an informative prior", rows


def _driving(found: Explanation, top: int) -> list[Row]:
    rows = [*found.top(top, "reference"), *found.top(top, "candidate")]
    return [{"side": row["side"], "contribution": row["contribution"], **_far(row)} for row in rows]


def _far(row: Row) -> Row:
    text = f"text {row['index']}" if row["text"] is None else row["text"]
    nearest = f"text {row['nearest_index']}" if row["nearest"] is None else row["nearest"]
    return {"side": row["side"], "text": text, "nearest": nearest, "distance": row["distance"]}


def _cell(value: object, form: Format) -> object:
    if not isinstance(value, str):
        return value
    line = one_line(value, _WIDTH)
    return _MARKDOWN.sub(r"\\\1", line) if form is Format.markdown else line


def _name_unexplained(report: CompareReport) -> None:
    left = [score.metric for score in report if score.reason is None and score.metric not in report.explanations]
    if left:
        known = ", ".join(explained_metrics())
        note(f"not explained, because they have no per-text contributions: {', '.join(left)}; those that have: {known}")
