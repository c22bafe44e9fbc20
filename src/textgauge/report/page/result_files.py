"""Results that are not runs: what `compare`, `score`, `describe` and other commands write as JSON.

A file holds a result as `save` and `--format json` write it, rows (a list of flat objects), tables
(`{"title": …, "about": …, "rows": […]}`, one or a list, also under `"tables"`), or an object whose lists of objects are
tables and whose other values are one more.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.core.errors import InputError, TextgaugeError
from textgauge.core.registry import load_plugins
from textgauge.core.result import is_result, parsed_result
from textgauge.core.tabular import count_of, format_cell, listed
from textgauge.data.packing import read_text
from textgauge.measure.describing.answer import WorseThanReal, findings
from textgauge.metrics import get_metric
from textgauge.metrics.properties.base import list_properties
from textgauge.report.page.boards import anchor
from textgauge.report.page.result_schema import check_row, is_comparison, is_number, is_property, is_summary
from textgauge.report.page.tables import PageCell, PageColumn, PageTable, Span, axis_of, cell, table_of
from textgauge.stats.decisions import comparison_sentence, different
from textgauge.stats.simultaneous import holm

Rows = list[dict[str, Any]]

_HIDDEN = frozenset({"interval", "test", "adjustment", "signature"})  # long, and in the provenance or the CSV
_MOST_TABLES = 100
_ARROWS = {"smaller": "↓", "lower": "↓", "larger": "↑", "higher": "↑"}
# The columns of known kinds of rows that are shown at first.
_COMPARED = ("metric", "value", "null", "times", "p_adjusted", "p_value", "reason")
_SCORED = ("metric", "corpus", "mean", "n", "reason")
_DESCRIBED = ("property", "value", "test", "train", "about")
_HEADINGS = {"null": "if same source", "p_adjusted": "adjusted p", "p_value": "p", "about": "what it is"}
_DEFINED = {
    "null": "The mean and the middle 95 % of the values if both corpora had one source.",
    "times": "The value, in multiples of what is expected if both corpora had one source.",
    "p_adjusted": 'The p-value of "same source", adjusted for all metrics tested together.',
    "p_value": 'The p-value of "same source" by this metric alone.',
    "test": "The same property of the test texts.",
    "train": "The same property of the training texts.",
}


@dataclass(frozen=True)
class ResultFile:
    """The tables of one file, sentences that say what they hold, and the rows that carry signatures.

    `findings` are what is wrong with a described corpus, `warnings` those that were saved with the result.
    """

    name: str
    heading: str
    tables: tuple[PageTable, ...]
    sentences: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    findings: tuple[WorseThanReal, ...] = ()
    warnings: tuple[str, ...] = ()
    section: str = "Corpora"


def read_result(path: str | os.PathLike[str]) -> ResultFile:
    """The result that a JSON file holds."""
    name, content = Path(path).name, _content(path)
    found = _listed_tables(path, content)
    if not found:
        raise InputError(f"{path}: the file holds no rows")
    for _, _, part in found:
        for place, row in enumerate(part, 1):
            check_row(row, f"{path}: row {place}")
    rows = [row for _, _, rows in found for row in rows]
    for make_page in _page_makers():
        made = make_page(name, rows)
        if made is not None:
            return made
    described = [row for row in rows if is_property(row)]
    compared = [row for row in rows if is_comparison(row)]
    said = _said(content) or [
        *(finding.sentence for finding in findings(described)),
        *(comparison_sentences(compared) if compared else []),
        *score_sentences([row for row in rows if is_summary(row)]),
    ]
    named = "Properties" if described else "Distances, metric by metric" if compared else Path(path).stem
    tables = [_table(title or named, about, rows) for title, about, rows in found]
    return ResultFile(
        name,
        f"Generated texts ({name})" if described else f"Two corpora ({name})" if compared else name,
        tuple(tables),
        tuple(said),
        tuple(row for row in rows if "metric" in row),
        tuple(findings(described)),
        tuple(_texts(content, "warnings")),
    )


@cache
def _page_makers() -> list[Callable[[str, Rows], ResultFile | None]]:
    """Return the functions under the entry point `textgauge.pages`: they give the page of rows that they know."""
    makers: list[Callable[[str, Rows], ResultFile | None]] = []
    load_plugins("textgauge.pages", lambda _, make: makers.append(make))
    return makers


def texts_anchor(of: str) -> str:
    """The address of the table of the texts behind a metric or a property."""
    return anchor(of).replace("metric-", "texts-of-", 1)


def _said(content: Any) -> list[str]:
    answer = content.get("answer") if is_result(content) else None
    return [answer] if isinstance(answer, str) else []


def _texts(content: Any, name: str) -> list[str]:
    found = content.get(name) if is_result(content) else None
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def comparison_sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rows of `compare` say: tests, sizes, what is undefined."""
    sizes = {(row.get("n_reference"), row.get("n_candidate")) for row in rows}
    said = _answer([row for row in rows if row.get("p_value") is not None])
    if len(sizes) == 1:
        reference, candidate = sizes.pop()
        said.append(f"{count_of(len(rows), 'metric')} compared {reference} reference and {candidate} candidate texts.")
    said += [f"`{row['metric']}` is undefined: {row['reason']}." for row in rows if row.get("reason")]
    return said


def _answer(tested: Sequence[Mapping[str, Any]]) -> list[str]:
    """Whether the corpora differ; p-values that were not adjusted together are adjusted here."""
    if not tested:
        return []
    names = [f"`{row['metric']}`" for row in tested]
    p: list[Any] = [row.get("p_adjusted") for row in tested]
    method = tested[0].get("adjustment")
    if None in p:
        p, method = holm(np.array([row["p_value"] for row in tested])).tolist(), "Holm" if len(tested) > 1 else None
    found = dict(zip(names, p, strict=True))
    rejecting = [name for name in names if different(found[name])]
    return [comparison_sentence(found, method) + (f" Rejecting: {listed(rejecting)}." if rejecting else "")]


def score_sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rows of `score --summary` say: the mean of every metric."""
    return [
        f"`{row['metric']}`: mean {format_cell(row['mean'])} over {count_of(row['n'], 'pair')}"
        + ("." if row.get("low") is None else f" (interval {format_cell(row['low'])} to {format_cell(row['high'])}).")
        for row in rows
        if row.get("mean") is not None
    ]


def parsed_tables(path: str | os.PathLike[str]) -> list[tuple[str, str, Rows]]:
    """The tables of a JSON file: title, what is said about it, rows."""
    return _listed_tables(path, _content(path))


def _content(path: str | os.PathLike[str]) -> Any:
    text = read_text(path)
    try:
        content = json.loads(text)
        return parsed_result(text) if is_result(content) else content
    except RecursionError:
        raise InputError(f"{path}: JSON nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _listed_tables(path: str | os.PathLike[str], content: Any) -> list[tuple[str, str, Rows]]:
    found = list(_tables("", content))
    if len(found) > _MOST_TABLES:
        raise InputError(f"{path}: holds {len(found)} tables; a page shows {_MOST_TABLES} at most")
    return found


def _tables(title: str, content: Any) -> Iterator[tuple[str, str, Rows]]:
    if isinstance(content, dict) and isinstance(content.get("rows"), list):
        yield str(content.get("title") or title), str(content.get("about") or ""), _rows(content["rows"])
    elif isinstance(content, dict):
        single = {name: value for name, value in content.items() if not _holds_rows(value)}
        if single:
            yield title, "", [{"name": name, "value": flat(value)} for name, value in single.items()]
        for name, value in content.items():
            if _holds_rows(value):
                yield from _tables("" if name == "tables" else str(name), value)
    elif isinstance(content, list) and any(isinstance(item, dict) and "rows" in item for item in content):
        for item in content:
            yield from _tables(title, item)
    elif isinstance(content, list) and content:
        yield title, "", _rows(content)


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _rows(items: list[Any]) -> Rows:
    whole = [item if isinstance(item, dict) else {"value": item} for item in items]
    return [{str(name): flat(value) for name, value in row.items()} for row in whole]


def flat(value: Any) -> Any:
    """A value that fits into a cell: what is nested is written out."""
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _table(title: str, about: str, rows: Rows) -> PageTable:
    """A table as it is, less columns that say nothing; metrics lead to their cards, intervals are drawn."""
    described = all(is_property(row) for row in rows)
    rows = [_defined(row) for row in rows] if described else rows
    made = table_of(title, rows, about=about)
    said = {name for row in rows for name, value in row.items() if value is not None}
    said -= _HIDDEN - {"test"} if described else _HIDDEN
    columns = _columns(rows, made.columns, said)
    cells = tuple(tuple(_cell(column.name, row) for column in columns) for row in rows[: len(made.rows)])
    drawn = "Lines are intervals, each on a scale of its own."
    tick = "A stroke is the mean if both corpora had one source." if "null" in said else ""
    lines = (made.about, drawn, tick) if said >= {"low", "high"} else (made.about,)
    worse = {(one.corpus, one.property) for one in findings(rows)} if described else set()
    flagged = frozenset(n for n, row in enumerate(rows) if (str(row.get("corpus") or ""), row.get("property")) in worse)
    return replace(made, columns=columns, rows=cells, about=" ".join(filter(None, lines)), flagged=flagged)


def _defined(row: dict[str, Any]) -> dict[str, Any]:
    """A row of `describe` with what its property is."""
    known = {declared.name: declared for declared in list_properties()}.get(row["property"])
    ordered = {name: row[name] for name in ("property", *row)}
    return ordered | ({"about": known.about} if known else {})


def _columns(rows: Rows, columns: Sequence[PageColumn], said: set[str]) -> tuple[PageColumn, ...]:
    kinds = {is_comparison: _COMPARED, is_summary: _SCORED, is_property: _DESCRIBED}
    first = next((names for fits, names in kinds.items() if all(fits(row) for row in rows)), None)
    several = len({row.get("corpus") for row in rows}) > 1
    if first == _DESCRIBED and several:
        first = ("corpus", *first)
    if first == _COMPARED and "p_adjusted" in said:
        first = tuple(name for name in first if name != "p_value")
    return tuple(
        replace(
            column,
            hidden=column.name not in said,
            extra=first is not None and column.name not in first,
            heading=_HEADINGS.get(column.name, "") if first else "",
            about=_DEFINED.get(column.name, "") if first else "",
        )
        for column in columns
    )


def _cell(name: str, row: dict[str, Any]) -> PageCell:
    value = row.get(name)
    if name == "metric":
        return cell(value, link=anchor(str(value)))
    if name == "property":
        return _named(value)
    if name == "null" and is_number(row.get("null_low")) and is_number(row.get("null_high")):
        return replace(cell(value), note=f"{format_cell(row['null_low'])}–{format_cell(row['null_high'])}")
    if name not in ("value", "mean"):
        return cell(value)
    made = replace(cell(value, link=texts_anchor(str(row.get("metric") or row.get("property")))), note=_ends(row))
    made = replace(made, shown=f"{made.shown} {_closer(row)}".rstrip())
    if not is_number(row.get("low")):
        return made
    numbers = [row[n] if is_number(row.get(n)) else math.nan for n in (name, "low", "high", "null")]
    span = Span(*numbers)
    return replace(made, mark=span.drawn(*axis_of([span])))


def _named(value: Any) -> PageCell:
    """The name of a property in words, with an arrow to its better end."""
    known = {declared.name: declared.better for declared in list_properties()}.get(value) or ""
    made = cell(value)
    return replace(made, shown=f"{made.shown.replace('_', ' ')} {_ARROWS.get(known, '')}".rstrip())


def _ends(row: Mapping[str, Any]) -> str:
    low, high = row.get("low"), row.get("high")
    return f"{format_cell(low)}–{format_cell(high)}" if is_number(low) and is_number(high) else ""


def _closer(row: Mapping[str, Any]) -> str:
    """An arrow that says which way a metric of corpora is closer."""
    if not is_comparison(row) or row.get("value") is None:
        return ""
    try:
        return _ARROWS[get_metric(row["metric"]).closer]
    except TextgaugeError:
        return ""
