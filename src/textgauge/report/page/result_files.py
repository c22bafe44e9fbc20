"""Files of results as a page shows them: what the result says, its figure, its texts, then all its numbers.

The command that a result names decides its layout: values against the range to expect of one source, candidates,
slices and systems as a matrix of one row each, differences from a baseline, properties next to those of real texts.
Tables of single texts are those of `compare --atlas` and `describe --per-text`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.core.errors import InputError
from textgauge.core.registry import Registry
from textgauge.core.show import ARROWS, Row, drop_nonfinite, format_percent, format_ranks
from textgauge.data.formats import read_table
from textgauge.data.packing import split_endings
from textgauge.data.tables import parse_number
from textgauge.measure.compare_report import name_metric
from textgauge.measure.findings import name_gravest, sort_by_gravity
from textgauge.measure.single_texts import TEXT
from textgauge.metrics.properties.base import list_properties
from textgauge.report.page import tables
from textgauge.report.page.tables import PageCell, PageColumn, PageTable, Span
from textgauge.report.page.texts import PageTexts, make_texts
from textgauge.report.saved import SavedResult, load

_BINS = 30
_WIDE_COLUMNS = 4  # of a matrix, whose figures stand next to the numbers
_HIDDEN = frozenset({"interval", "adjustment", "signature"})  # long, and in the provenance or the CSV


@dataclass(frozen=True)
class Layout:
    """How rows of a command are shown: what the page and the table are called, the columns at first, what is drawn.

    Rows with the same value in `scale` share an axis, all rows where it is empty. `legend` says what the figure shows.
    """

    heading: str
    title: str
    first: tuple[str, ...] = ()
    drawn: str = ""
    legend: str = ""
    scale: str = "metric"


_NULL = "Dot: the value; line: its interval; grey: the range to expect if both corpora had one source."
_PLAIN = "Dot: the value; line: its interval."
_RANKED = Layout(
    "Which metric",
    "Metrics by overall score",
    ("board", "metric", "rank", "overall"),
    "overall",
    "Dot: the overall score; line: its interval.",
    scale="",
)
_DESCRIBED = ("corpus", "property", "value", "test", "train", "about")
_CHECKED = ("check", "measured", "outcome", "value", "limit", "note")
LAYOUTS = {
    "compare": Layout(
        "Two corpora", "Values by metric", ("metric", "value", "null", "times", "p_adjusted", "reason"), "value", _NULL
    ),
    "score": Layout("Scores", "Scores by metric", ("metric", "mean", "whole", "n", "reason"), "mean", _PLAIN),
    "diff": Layout("Two versions", "How near they are", ("metric", "mean", "reason"), "mean", _PLAIN),
    "score --baseline": Layout(
        "Two systems",
        "Scores by metric",
        ("metric", "difference", "value", "baseline", "of", "p_adjusted", "reason"),
        "difference",
        "Dot: the difference from the baseline; line: its interval; rule: no difference.",
    ),
    "describe": Layout(
        "Generated texts",
        "Properties",
        _DESCRIBED,
        "value",
        "Dot: the value; line: its interval; strokes: test (dark) and train (light).",
        scale="property",
    ),
    "describe alone": Layout("Texts", "Properties", _DESCRIBED, "value", _PLAIN, scale="property"),
    "check": Layout(
        "Checks",
        "Values and limits",
        _CHECKED,
        "value",
        "Dot: the value; line: its interval; stroke: the limit.",
        "check",
    ),
    "judge": Layout(
        "A judge and people", "Agreement", ("measure", "of", "value", "n", "note"), "value", _PLAIN, scale="measure"
    ),
    "recommend": _RANKED,
    "run": _RANKED,
    "leaderboard": _RANKED,
    "leaderboard of scores": Layout(
        "Systems", "Systems by score", ("system", "metric", "rank", "score", "tied_with"), "score", _PLAIN
    ),
}
_JUDGED = {"disagreements": "Where they differ most", "confusion": "Ratings of people in rows, of the judge in columns"}
_SEVERAL = {"slice": "Slices", "system": "Systems", "candidate": "Candidates"}
_HEADINGS = {"null": "if same source", "p_adjusted": "adjusted p", "about": "what it is", "whole": "whole set"}
_DEFINED = {
    "null": "The mean and the middle 95 % of the values if both corpora had one source.",
    "times": "The value, in multiples of what is expected if both corpora had one source.",
    "p_adjusted": "The p-value, adjusted for all metrics tested together.",
    "test": "The same property of the test texts.",
    "train": "The same property of the training texts.",
}
_BETTER = {"lower": "↓", "higher": "↑"}
_FIRST_ROWS = 8  # of properties, those that are worse than in real texts first
_FIRST, _REST = "Those that are worse than in real texts first; all are folded below.", "All are folded below."
_BEHIND = {"near_copies": "syntactic", "plausibility": "perplexity", "copied_passages": "copied_share"}  # of a text
_BEHIND |= {"grammar": "grammar_errors", "semantic_f1": "semantic", "repetition": "mode_size"}
_EXPLAINED = {"compare": "the texts behind these numbers", "score": "every item with its texts"}
_EXPLAINED |= {"describe": "every text with its numbers"}


@dataclass(frozen=True)
class ResultFile:
    """What a page shows of one file: sentences, tables, of which the first is the figure, and texts.

    `rows` are those that carry signatures, `finding` what is worst about a described corpus, `warnings` those that were
    saved with the result; `folded` tables hold all numbers.
    """

    name: str
    heading: str
    tables: tuple[PageTable, ...]
    sentences: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    finding: str = ""
    warnings: tuple[str, ...] = ()
    folded: tuple[PageTable, ...] = ()
    texts: PageTexts | None = None
    hint: str = ""


PAGES: Registry[Callable[[str, Sequence[Row]], ResultFile | None]] = Registry("page", group="textgauge.pages")
"""What other packages show of the rows of their commands, by the name of the command."""


def read_result(path: str | os.PathLike[str]) -> ResultFile:
    """Return what a page shows of a saved result, or of a table of texts."""
    name, stem = Path(path).name, Path(path).stem
    if split_endings(path)[0] != ".json":
        columns = {name: _parse_numbers(cells) for name, cells in read_table(path).columns.items()}
        texts = make_texts(stem, columns)
        if texts is None:
            raise InputError(f"{path}: neither a saved result nor a table of texts")
        return ResultFile(name, stem, (), texts=texts)
    saved = load(path)
    rows = _flatten(saved.rows)
    if not rows:
        raise InputError(f"{path}: the file holds no rows")
    if saved.command in PAGES and (own := PAGES[saved.command](name, rows)) is not None:
        return own
    layout = _find_layout(saved, rows) or Layout("", stem)
    several = _SEVERAL.get(_find_key(rows), "")
    heading = several if several and saved.command in ("compare", "score") else layout.heading
    finding = name_gravest(rows) if saved.command == "describe" else ""
    rows, pictures, folded = _make_tables(layout, saved, rows)
    return ResultFile(
        name,
        f"{heading} ({name})" if heading else name,
        pictures,
        (str(saved.answer),) if saved.answer else (),
        tuple(row for row in rows if "metric" in row),
        finding,
        tuple(map(str, saved.warnings)),
        folded=folded,
        texts=_make_saved_texts(saved),
        hint=_write_hint(saved.command),
    )


def _write_hint(command: str) -> str:
    """Say how the page shows texts; empty where it cannot."""
    return f"Save the result with `--explain` to see {_EXPLAINED[command]} here." if command in _EXPLAINED else ""


def _flatten(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    return [{str(key): write_flat(value) for key, value in row.items()} for row in rows]


def write_flat(value: Any) -> Any:
    """Return a value that fits into a cell: what is nested is written out."""
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _find_layout(saved: SavedResult, rows: Sequence[Row]) -> Layout | None:
    command = saved.command
    if command == "score" and "difference" in rows[0]:
        command = "score --baseline"
    if command == "score" and saved.texts is not None and f"{TEXT}old" in saved.texts.columns:
        command = "diff"
    if command == "describe" and all(row.get("test") is row.get("train") is None for row in rows):
        command = "describe alone"
    if command == "leaderboard" and "system" in rows[0]:
        command = "leaderboard of scores"
    return LAYOUTS.get(command)


def _make_saved_texts(saved: SavedResult) -> PageTexts | None:
    if saved.texts is None:
        return None
    first = {(row.get("slice"), row.get("candidate")): row for row in saved.rows}.values()
    total = sum(
        row[name] for row in first for name in ("n_reference", "n_candidate") if tables.is_number(row.get(name))
    )
    terms = saved.details.get("terms")
    columns = saved.texts.to_dict(as_series=False)
    return make_texts("Texts", columns, total or len(saved.texts), terms if isinstance(terms, list) else ())


def _make_tables(
    layout: Layout, saved: SavedResult, rows: list[Row]
) -> tuple[list[Row], tuple[PageTable, ...], tuple[PageTable, ...]]:
    """Return the rows of metrics, the figure of a result, and the tables that are folded."""
    summary = saved.details.get("summary")
    if saved.command == "score" and "index" in rows[0] and isinstance(summary, list) and summary:
        items, rows = rows, _flatten(summary)
        first = _make_result_table(layout, rows, items)
        return rows, (first,), () if saved.texts is not None else (tables.make_table("Items", items),)
    key = _find_key(rows)
    if key and saved.command in ("compare", "score") and "metric" in rows[0]:
        whole = replace(_make_result_table(replace(layout, drawn="value"), rows), title="All numbers")
        return rows, (_make_matrix(key, rows),), (whole,)
    if saved.command == "judge":
        folded = [(title, saved.details.get(name)) for name, title in _JUDGED.items()]
        more = tuple(tables.make_table(title, _flatten(of)) for title, of in folded if isinstance(of, list) and of)
        return rows, (_make_result_table(layout, rows),), more
    if saved.command != "describe":
        return rows, (_make_result_table(layout, rows),), ()
    table = _make_property_table(layout, rows)
    if len(rows) <= _FIRST_ROWS:
        return rows, (table,), ()
    columns = [
        replace(column, cells=column.cells[:_FIRST_ROWS], extra=column.extra or column.name == "about")
        for column in table.columns
    ]
    shown = replace(table, columns=columns, about=f"{table.about} {_FIRST if table.flagged else _REST}")
    return rows, (shown,), (replace(table, title="All properties", about=""),)


def _find_key(rows: Sequence[Row]) -> str:
    """Return what several rows of each metric are about: slices, systems or candidates."""
    return next((name for name in _SEVERAL if len({row.get(name) for row in rows}) > 1), "")


def _make_matrix(key: str, rows: Sequence[Row]) -> PageTable:
    """Return one row a candidate, slice or system, and one column a metric, each on one scale for all rows."""
    sides = [name for name in dict.fromkeys((key, "candidate")) if len({row.get(name) for row in rows}) > 1]
    by_name: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        by_name.setdefault(tuple(row.get(side) for side in sides), {})[str(row["metric"])] = row
    metrics = list(dict.fromkeys(metric for of in by_name.values() for metric in of))
    columns = [tables.make_column(side, names) for side, names in zip(sides, zip(*by_name, strict=True), strict=True)]
    for metric in metrics:
        found = [of.get(metric, {}) for of in by_name.values()]
        axis = tables.find_axis([_make_span(row, "value") for row in found])
        look = {"better": _get_arrow(metric), "wide": len(metrics) <= _WIDE_COLUMNS, "first": "descending"}
        named = [json.dumps(dict(zip(sides, name, strict=True))) for name in by_name]
        made = [replace(_make_matrix_cell(row, axis), of=of) for row, of in zip(found, named, strict=True)]
        columns.append(tables.make_column(metric, made, heading=name_metric(metric), **look))
    for share in ("share_reference", "share_candidate") if key == "slice" else ():
        shares = [next(iter(of.values())).get(share) for of in by_name.values()]
        cells = [PageCell(one, format_percent(float(f"{one:.3g}")) if tables.is_number(one) else "–") for one in shares]
        heading = share.replace("share_", "share of ")
        columns.append(tables.make_column(share, cells, heading=heading, first="ascending"))
    flagged = {n for n, of in enumerate(by_name.values()) if any(row.get("differs") for row in of.values())}
    about = [_NULL if any("null" in row for row in rows) else _PLAIN, "Each metric has one scale for all rows."]
    about += ["Those that differ are coloured."] if flagged else []
    return PageTable(f"{_SEVERAL[key]} by metric", columns, " ".join(about), flagged=flagged)


def _make_matrix_cell(row: Row, axis: tuple[float, float]) -> PageCell:
    ranks = format_ranks(row.get("rank_low"), row.get("rank_high")) if row.get("rank") else ""
    note = f"rank {ranks}" if ranks else ""
    mark, metric = _make_span(row, "value").place(*axis), str(row.get("metric"))
    return replace(tables.make_cell(row.get("value"), mark=mark), note=note, best=row.get("rank") == 1, by=metric)


def _make_property_table(layout: Layout, rows: list[Row]) -> PageTable:
    """Return the properties of corpora, those that are worse than in real texts first."""
    about = {one.name: one.about for one in list_properties()}
    rows = [row | {"about": about.get(row.get("property", ""))} for row in sort_by_gravity(rows)]
    flagged = {place for place, row in enumerate(rows) if row.get("worse_than") is not None}
    return replace(_make_result_table(layout, rows), flagged=flagged)


def _make_result_table(layout: Layout, rows: list[Row], items: Sequence[Row] = ()) -> PageTable:
    """Return a table less columns that say nothing, with its figure; metrics lead to their cards, values to texts."""
    table, marks = tables.make_table(layout.title, rows), _place_marks(layout, rows, items)
    told = {name for row in rows for name, value in row.items() if value is not None} - _HIDDEN
    columns = [replace(column, hidden=column.name not in told) for column in table.columns]
    if layout.first:
        varying = {name for name in told if len(rows) == 1 or len({row.get(name) for row in rows}) > 1}
        first = [name for name in layout.first if name in varying]
        columns = [
            replace(
                column,
                extra=column.name not in first,
                heading=_HEADINGS.get(column.name, ""),
                about=_DEFINED.get(column.name, ""),
                wide=column.name == layout.drawn,
            )
            for column in columns
        ]
        columns.sort(key=lambda column: len(first) if column.extra else first.index(column.name))
    columns = [
        replace(column, cells=[_make_cell(column, *of) for of in zip(column.cells, rows, marks, strict=False)])
        for column in columns
    ]
    legend = "Bars: the values of all items; dot and line: their mean with its interval." if items else layout.legend
    flagged = {n for n, row in enumerate(rows) if row.get("outcome") == "fail"}
    return replace(table, columns=columns, about=f"{legend} {table.about}".strip(), flagged=flagged)


def _place_marks(layout: Layout, rows: Sequence[Row], items: Sequence[Row]) -> list[Span | None]:
    """Return what is drawn of each row: with the values of its items, or next to the rows that share its scale."""
    spans = [_make_span(row, layout.drawn) for row in rows]
    by_scale: dict[Any, list[Span]] = {}
    for row, span in zip(rows, spans, strict=True):
        by_scale.setdefault(row.get(layout.scale), []).append(span)
    axes = {scale: tables.find_axis(of, from_zero=bool(layout.scale)) for scale, of in by_scale.items()}
    marks = []
    for row, span in zip(rows, spans, strict=True):
        values: list[Any] = [item.get(str(row.get("metric"))) for item in items]
        known = [float(value) for value in values if tables.is_number(value)]
        if len(set(known)) < 2:
            scale = row.get(layout.scale)
            is_count = span.known.keys() == {"at"} and axes[scale][1] > 1 and len(by_scale[scale]) == 1
            marks.append(None if is_count else span.place(*axes[scale]))
            continue
        counts, edges = np.histogram(known, bins=_BINS)
        ends, tops = edges.tolist(), (counts / counts.max()).round(3).tolist()
        bars = tuple(zip(ends[:-1], ends[1:], tops, strict=True))
        marks.append(replace(span, bars=bars).place(ends[0], ends[-1]))
    return marks


def _get_arrow(metric: str) -> str:
    """Return an arrow to the closer side of a metric; empty where this version does not know it."""
    known = tables.find_metric(metric)
    return ARROWS[known.closer] if known is not None else ""


def _make_cell(column: PageColumn, made: PageCell, row: Row, mark: Span | None) -> PageCell:
    name = column.name
    if name == "metric":
        return replace(made, link=tables.make_anchor(str(made.value)), shown=name_metric(made.shown))
    if name == "property":
        better = next((one.better for one in list_properties() if one.name == made.value), None)
        return replace(made, shown=f"{made.shown.replace('_', ' ')} {_BETTER.get(better or '', '')}".rstrip())
    if name == "rank" and row.get("rank_low"):
        return replace(made, shown=format_ranks(row["rank_low"], row.get("rank_high")))
    if name == "null":
        return replace(made, note=_format_ends(row, "null_low", "null_high"))
    if name not in ("value", "mean", "difference", "overall", "score") or made.value is None:
        return made
    of = str(row.get("metric") or row.get("property"))
    arrow = _get_arrow(of) if name in ("value", "mean") and "metric" in row else ""
    made = replace(made, by=_BEHIND.get(of, of), shown=f"{made.shown} {arrow}".rstrip())
    return replace(made, note=_format_ends(row, *_name_ends(name)), mark=mark) if column.wide else made


def _name_ends(name: str) -> tuple[str, str]:
    return ("overall_low", "overall_high") if name == "overall" else ("low", "high")


def _make_span(row: Row, name: str) -> Span:
    numbers = ("null", "test", "train", "limit", "null_low", "null_high")
    at, low, high, null, test, train, limit, null_low, null_high = (
        float(row[key]) if tables.is_number(row.get(key)) else None for key in (name, *_name_ends(name), *numbers)
    )
    tick = next((mark for mark in (null, test, limit) if mark is not None), None)
    return Span(at, low, high, tick, train, null_low, null_high, zero=0.0 if name == "difference" else None)


def _format_ends(row: Mapping[str, Any], *names: str) -> str:
    ends: list[Any] = [row.get(name) for name in names]
    return " … ".join(f"{float(end):.3g}" for end in ends) if all(map(tables.is_number, ends)) else ""


def _parse_numbers(cells: Sequence[object]) -> list[Any]:
    """Return a column of a text file as numbers, where all its cells are numbers or blank."""
    if not all(isinstance(item, str) for item in cells):
        return [write_flat(item) for item in cells]
    numbers = [parse_number(item) for item in cells]
    return list(cells) if any(value is None for value in numbers) else list(map(drop_nonfinite, numbers))
