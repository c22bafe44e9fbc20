"""Files of results as a page shows them: what the result says, its figure, its texts, then all its numbers.

The command that a result names decides what is drawn: values against the range to expect of one source, candidates,
slices and systems as a matrix of one row each, differences from a baseline, properties next to those of real texts.
Tables of single texts are those of `compare --atlas` and `describe --per-text`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.core.errors import InputError, TextgaugeError
from textgauge.core.registry import Registry
from textgauge.core.show import ARROWS, Row, drop_nonfinite, format_cell, format_percent, format_ranks
from textgauge.data.formats import read_table
from textgauge.data.packing import split_endings
from textgauge.data.tables import parse_number
from textgauge.measure.findings import WorseThanReal, find_worse_rows
from textgauge.metrics import get_metric
from textgauge.metrics.properties.base import list_properties
from textgauge.report.page.tables import (
    Mark,
    PageCell,
    PageColumn,
    PageTable,
    Span,
    find_axis,
    make_anchor,
    make_cell,
    make_table,
)
from textgauge.report.page.texts import PageTexts, make_texts
from textgauge.report.saved import SavedResult, load

_LARGEST = 1e300  # that can be drawn
_BINS = 30
_WIDE_COLUMNS = 4  # of a matrix, whose figures stand next to the numbers
_HIDDEN = frozenset({"interval", "adjustment", "signature"})  # long, and in the provenance or the CSV
# What commands call their tables, and the columns that are shown at first.
_COMPARED = ("slice", "candidate", "rank", "metric", "value", "null", "times", "p_adjusted", "reason")
_SCORED = ("system", "metric", "of", "mean", "value", "baseline", "difference", "p_adjusted", "whole", "n", "reason")
_RANKED = ("board", "metric", "rank", "overall", "tier")
_KINDS = {
    "compare": ("Two corpora", "Values by metric", _COMPARED),
    "score": ("Scores", "Scores by metric", _SCORED),
    "describe": ("Generated texts", "Properties", ("corpus", "property", "value", "test", "train", "about")),
    "check": ("Checks", "Values and limits", ("check", "measured", "outcome", "value", "limit", "note")),
    "recommend": ("Which metric", "Metrics by overall score", _RANKED),
    "leaderboard": ("Which metric", "Metrics by overall score", _RANKED),
    "run": ("Which metric", "Metrics by overall score", _RANKED),
}
_HEADINGS = {"null": "if same source", "p_adjusted": "adjusted p", "about": "what it is", "whole": "whole set"}
_DEFINED = {
    "null": "The mean and the middle 95 % of the values if both corpora had one source.",
    "times": "The value, in multiples of what is expected if both corpora had one source.",
    "p_adjusted": "The p-value, adjusted for all metrics tested together.",
    "test": "The same property of the test texts.",
    "train": "The same property of the training texts.",
}
_FIRST_ROWS = 8  # of properties, those that are worse than in real texts first
_FIRST = "Those that are worse than in real texts first; all are folded below."
_BEHIND = {"near_copies": "syntactic", "plausibility": "perplexity", "copied_passages": "copied_share"}  # of a text
_BEHIND |= {"grammar": "grammar_errors", "semantic_f1": "semantic", "repetition": "mode_size"}
_SEVERAL = {"slice": "Slices", "system": "Systems", "candidate": "Candidates"}
_EXPLAINED = {"compare": "the texts behind these numbers", "score": "every item with its texts"}
_EXPLAINED |= {"describe": "every text with its numbers"}
_LEGENDS = {  # what the figure in a column shows
    "null": "Dot: the value; line: its interval; grey: the range to expect if both corpora had one source.",
    "difference": "Dot: the difference from the baseline; line: its interval; rule: no difference.",
    "test": "Dot: the value; line: its interval; strokes: test (dark) and train (light).",
    "limit": "Dot: the value; line: its interval; stroke: the limit.",
    "bars": "Bars: the values of all items; dot and line: their mean with its interval.",
    "overall": "Dot: the overall score; line: its interval.",
}


@dataclass(frozen=True)
class ResultFile:
    """What a page shows of one file: sentences, tables, of which the first is the figure, and texts.

    `rows` are those that carry signatures, `findings` what is wrong with a described corpus, `warnings` those that were
    saved with the result; `folded` tables hold all numbers.
    """

    name: str
    heading: str
    tables: tuple[PageTable, ...]
    sentences: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    findings: tuple[WorseThanReal, ...] = ()
    warnings: tuple[str, ...] = ()
    section: str = "Corpora"
    folded: tuple[PageTable, ...] = ()
    texts: PageTexts | None = None
    hint: str = ""


PAGES: Registry[Callable[[str, Sequence[Row]], ResultFile | None]] = Registry("page", group="textgauge.pages")
"""What other packages show of the rows of their commands, by the name of the command."""


def read_result(path: str | os.PathLike[str]) -> ResultFile:
    """Return what a page shows of a saved result, or of a table of texts."""
    name = Path(path).name
    if split_endings(path)[0] != ".json":
        columns = {name: _parse_numbers(cells) for name, cells in read_table(path).columns.items()}
        texts = make_texts(Path(path).stem, columns)
        if texts is None:
            raise InputError(f"{path}: neither a saved result nor a table of texts")
        return ResultFile(name, Path(path).stem, (), section="Texts", texts=texts)
    saved = load(path)
    rows: list[Row] = [{str(key): write_flat(value) for key, value in row.items()} for row in saved.rows]
    if not rows:
        raise InputError(f"{path}: the file holds no rows")
    if saved.command in PAGES and (own := PAGES[saved.command](name, rows)) is not None:
        return own
    heading, title, _ = _KINDS.get(saved.command, ("", Path(path).stem, ()))
    heading = (
        "Two systems" if "difference" in rows[0] and heading else heading and _SEVERAL.get(_find_key(rows), heading)
    )
    worse = find_worse_rows(rows) if saved.command == "describe" else []
    rows, tables, folded = _make_tables(title, saved, rows, worse)
    return ResultFile(
        name,
        f"{heading} ({name})" if heading else name,
        tables,
        (str(saved.answer),) if saved.answer else (),
        tuple(row for row in rows if "metric" in row),
        tuple(worse),
        tuple(map(str, saved.warnings)),
        folded=folded,
        texts=_make_saved_texts(saved),
        hint=f"Save the result with `--explain` to see {_EXPLAINED[saved.command]} here."
        if saved.command in _EXPLAINED and not {"slice", "candidate"} & set(rows[0])
        else "",
    )


def _make_saved_texts(saved: SavedResult) -> PageTexts | None:
    if saved.texts is None:
        return None
    first = saved.rows[0]
    total = sum(first[name] for name in ("n_reference", "n_candidate") if isinstance(first.get(name), int))
    terms = saved.details.get("terms")
    columns = saved.texts.to_dict(as_series=False)
    return make_texts("Texts", columns, total or len(saved.texts), terms if isinstance(terms, list) else ())


def write_flat(value: Any) -> Any:
    """Return a value that fits into a cell: what is nested is written out."""
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _make_tables(
    title: str, saved: SavedResult, rows: list[Row], worse: Sequence[WorseThanReal]
) -> tuple[list[Row], tuple[PageTable, ...], tuple[PageTable, ...]]:
    """Return the rows of metrics, the figure of a result, and the tables that are folded."""
    summary = saved.details.get("summary")
    if saved.command == "score" and "index" in rows[0] and isinstance(summary, list) and summary:
        items, rows = rows, [{str(key): write_flat(value) for key, value in row.items()} for row in summary]
        first = _make_result_table(title, saved.command, rows, worse, items)
        return rows, (first,), () if saved.texts is not None else (make_table("Items", items),)
    key = _find_key(rows)
    if not key or saved.command not in ("compare", "score") or "metric" not in rows[0]:
        table = _make_result_table(title, saved.command, rows, worse)
        if saved.command != "describe" or len(rows) <= _FIRST_ROWS:
            return rows, (table,), ()
        columns = tuple(replace(column, extra=column.extra or column.name == "about") for column in table.columns)
        first = replace(table, columns=columns, rows=table.rows[:_FIRST_ROWS], about=f"{table.about} {_FIRST}")
        return rows, (first,), (replace(table, title="All properties", about=""),)
    whole = _make_result_table("All numbers", saved.command, rows, worse)
    return rows, (_make_matrix(key, rows),), (whole,)


def _find_key(rows: Sequence[Row]) -> str:
    """Return what several rows of each metric are about: slices, systems or candidates."""
    return next((name for name in _SEVERAL if len({row.get(name) for row in rows}) > 1), "")


def _make_matrix(key: str, rows: Sequence[Row]) -> PageTable:
    """Return one row a candidate, slice or system, and one column a metric, each on one scale for all rows."""
    sides = [name for name in dict.fromkeys((key, "candidate")) if len({row.get(name) for row in rows}) > 1]
    names = list(dict.fromkeys(tuple(row.get(side) for side in sides) for row in rows))
    metrics = list(dict.fromkeys(str(row["metric"]) for row in rows))
    known = {(tuple(row.get(side) for side in sides), str(row["metric"])): row for row in rows}
    shares = ("share_reference", "share_candidate") if key == "slice" else ()
    arrows = _find_better_ends("compare", rows)
    wide = len(metrics) <= _WIDE_COLUMNS
    columns = [PageColumn(side) for side in sides]
    columns += [
        PageColumn(metric, "", better=arrows.get(metric, ""), wide=wide, first="descending") for metric in metrics
    ]
    columns += [PageColumn(share, heading=share.replace("share_", "share of ")) for share in shares]
    cells = [[make_cell(part) for part in name] for name in names]
    for metric in metrics:
        found = [known.get((name, metric), {}) for name in names]
        axis = find_axis([_make_span(row) for row in found])
        for line, row in zip(cells, found, strict=True):
            line.append(_make_matrix_cell(row, axis))
    for line, name in zip(cells, names, strict=True):
        row = next(known[name, metric] for metric in metrics if (name, metric) in known)
        line += [PageCell(row.get(share), _format_share(row.get(share))) for share in shares]
    flagged = frozenset(
        n for n, name in enumerate(names) if any(known.get((name, m), {}).get("differs") for m in metrics)
    )
    legend = _LEGENDS["null"] if any("null" in row for row in rows) else "Dot: the value; line: its interval."
    scale = " Each metric has one scale for all rows."
    order = " Those that differ are coloured." if flagged else ""
    return PageTable(
        f"{_SEVERAL[key]} by metric", tuple(columns), tuple(map(tuple, cells)), legend + scale + order, flagged=flagged
    )


def _make_matrix_cell(row: Row, axis: tuple[float, float]) -> PageCell:
    made = make_cell(row.get("value"))
    ranks = format_ranks(row.get("rank_low"), row.get("rank_high")) if row.get("rank") else ""
    note = f"rank {ranks}" if ranks else ""
    return replace(
        made, note=note, mark=_make_span(row).drawn(*axis), best=row.get("rank") == 1, by=str(row.get("metric"))
    )


def _format_share(share: Any) -> str:
    return format_percent(float(f"{share:.3g}")) if _is_number(share) else format_cell(None)


def _make_result_table(
    title: str, command: str, rows: list[Row], worse: Sequence[WorseThanReal], items: Sequence[Row] = ()
) -> PageTable:
    """Return a table less columns that say nothing; metrics lead to their cards, values to their texts."""
    if command == "describe":
        about = {declared.name: declared.about for declared in list_properties()}
        named: dict[Any, int] = {(one.corpus, one.property): place for place, one in enumerate(worse)}
        rows = [row | {"about": about.get(row.get("property", ""))} for row in rows]
        places = [named.get((str(row.get("corpus") or ""), row.get("property")), len(named)) for row in rows]
        rows = [rows[place] for place in np.argsort(places, kind="stable").tolist()]
        flagged = frozenset(range(sum(place < len(named) for place in places)))
    else:
        flagged = frozenset(n for n, row in enumerate(rows) if row.get("outcome") == "fail")
    table = make_table(title, rows)
    told = {name for row in rows for name, value in row.items() if value is not None} - _HIDDEN
    _, _, first = _KINDS.get(command, ("", "", ()))
    one_row = len(rows) < 2 or not first
    varying = {
        name for name in told if one_row or name in ("metric", "property") or len({row.get(name) for row in rows}) > 1
    }
    drawn = next((name for name in ("difference", "overall", "mean", "value") if name in told), "")
    columns = tuple(
        replace(
            column,
            hidden=column.name not in told,
            extra=bool(first) and not (column.name in first and column.name in varying),
            heading=_HEADINGS.get(column.name, "") if first else "",
            about=_DEFINED.get(column.name, "") if first else "",
            wide=column.name == drawn and bool(first),
        )
        for column in table.columns
    )
    seats = {name: place for place, name in enumerate(first)}
    order = sorted(range(len(columns)), key=lambda n: 99 if columns[n].extra else seats.get(columns[n].name, 99))
    columns = tuple(columns[n] for n in order)
    arrows = _find_better_ends(command, rows)
    axis = find_axis([_make_span(row, drawn) for row in rows]) if drawn == "overall" else None
    spread = {str(row["metric"]): _make_bars([one.get(str(row["metric"])) for one in items]) for row in rows if items}
    cells = tuple(
        tuple(_make_cell(column, row, arrows, axis, spread) for column in columns) for row in rows[: len(table.rows)]
    )
    kind = (
        "bars"
        if items
        else next((name for name in (drawn, "null", "test", "limit") if name in _LEGENDS and name in told), "")
    )
    legend = _LEGENDS.get(kind, "") if first else ""
    return replace(
        table, columns=columns, rows=cells, about=" ".join(filter(None, (legend, table.about))), flagged=flagged
    )


def _find_better_ends(command: str, rows: Sequence[Row]) -> dict[str, str]:
    """Return an arrow for each metric or property: which way is closer, or better."""
    if command == "describe":
        ends = {"lower": "↓", "higher": "↑"}
        return {declared.name: ends.get(declared.better or "", "") for declared in list_properties()}
    arrows = {}
    for name in {str(row["metric"]) for row in rows if row.get("metric")} if command in ("compare", "score") else ():
        try:
            arrows[name] = ARROWS[get_metric(name).closer]
        except TextgaugeError:
            continue
    return arrows


def _make_cell(
    column: PageColumn,
    row: Row,
    arrows: Mapping[str, str],
    axis: tuple[float, float] | None,
    spread: Mapping[str, tuple[Mark, tuple[float, float]] | None],
) -> PageCell:
    name, value = column.name, row.get(column.name)
    if name in ("metric", "property"):
        made = make_cell(value, link=make_anchor(str(value)))
        arrow = arrows.get(str(value), "") if name == "property" else ""
        return replace(made, shown=f"{made.shown.replace('_', ' ')} {arrow}".rstrip()) if arrow else made
    if name == "null":
        return replace(make_cell(value), note=_format_ends(row, "null_low", "null_high"))
    if name not in ("value", "mean", "difference", "overall"):
        return make_cell(value)
    of = str(row.get("metric") or row.get("property"))
    arrow = arrows.get(of, "") if value is not None and name in ("value", "mean") and "property" not in row else ""
    made = replace(make_cell(value), by=_BEHIND.get(of, of))
    ends = ("overall_low", "overall_high") if name == "overall" else ("low", "high")
    note = _format_ends(row, *ends) if column.wide else ""
    made = replace(made, note=note, shown=f"{made.shown} {arrow}".rstrip())
    return replace(made, mark=_draw_value(_make_span(row, name), axis, spread.get(of))) if column.wide else made


def _draw_value(
    span: Span, axis: tuple[float, float] | None, bars: tuple[Mark, tuple[float, float]] | None
) -> Mark | None:
    if bars is None:
        return span.drawn(*(axis or _start_at_zero(span)))
    drawn = Span(span.value, span.low, span.high).drawn(*bars[1])
    return drawn and replace(drawn, bars=bars[0].bars)


def _make_span(row: Row, name: str = "value") -> Span:
    ends = ("overall_low", "overall_high") if name == "overall" else ("low", "high")
    value, low, high, null, test, train, limit, null_low, null_high = (
        float(row[key]) if _is_number(row.get(key)) else math.nan
        for key in (name, *ends, "null", "test", "train", "limit", "null_low", "null_high")
    )
    tick = next((mark for mark in (null, test, limit) if not math.isnan(mark)), math.nan)
    return Span(value, low, high, tick, train, (null_low, null_high), zero=name == "difference")


def _start_at_zero(span: Span) -> tuple[float, float]:
    """Return the axis of one span: from 0, or with 0 in the middle for differences."""
    low, high = find_axis([span])
    return (-max(-low, high), max(-low, high)) if span.zero else (min(low, 0.0), max(high, 0.0))


def _make_bars(values: Sequence[Any]) -> tuple[Mark, tuple[float, float]] | None:
    """Return the histogram of values, and its axis."""
    known = [float(value) for value in values if _is_number(value)]
    if len(set(known)) < 2:
        return None
    counts, edges = np.histogram(known, bins=_BINS)
    axis = (float(edges[0]), float(edges[-1]))
    ends = [span.at for edge in edges.tolist() if (span := Span(edge).drawn(*axis))]
    tops = (counts / counts.max()).round(3).tolist()
    bars = [(left, round(right - left, 2), top) for left, right, top in zip(ends[:-1], ends[1:], tops, strict=True)]
    return Mark(0, 0, 0, bars=tuple(bars)), axis


def _format_ends(row: Mapping[str, Any], *names: str) -> str:
    ends: list[Any] = [row.get(name) for name in names]
    return " … ".join(f"{float(end):.3g}" for end in ends) if all(map(_is_number, ends)) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _parse_numbers(cells: Sequence[object]) -> list[Any]:
    """Return a column of a text file as numbers, where all its cells are numbers or blank."""
    if not all(isinstance(item, str) for item in cells):
        return [write_flat(item) for item in cells]
    numbers = [parse_number(item) for item in cells]
    return list(cells) if any(value is None for value in numbers) else list(map(drop_nonfinite, numbers))
