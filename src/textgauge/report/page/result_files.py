"""Results that are not runs: JSON of `compare`, `score`, `describe` and `reproduce`, and tables of single texts.

A file holds a saved result, rows (a list of flat objects), tables (`{"title": …, "about": …, "rows": […]}`, one or a
list, also under `"tables"`), or an object whose lists of objects are tables and whose other values are one more. Tables
of single texts may also be CSV, TSV, JSONL or Parquet files.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from textgauge.data.formats import load_table
from textgauge.data.packing import read_text, suffix
from textgauge.data.tables import number
from textgauge.errors import InputError
from textgauge.report.page.boards import anchor
from textgauge.report.page.ledger import is_ledger, ledger_tables
from textgauge.report.page.result_schema import check_row, is_comparison, is_number, is_summary
from textgauge.report.page.tables import PageCell, PageTable, Span, axis_of, cell, table_of
from textgauge.result import is_result, parsed_result
from textgauge.stats.decisions import comparison_sentence, different
from textgauge.stats.multiple_tests import holm
from textgauge.tabular import count_of, format_cell, listed

Rows = list[dict[str, Any]]

_HIDDEN = frozenset({"interval", "test", "adjustment", "signature"})  # long, and in the provenance or the CSV
_MOST_TABLES = 100


@dataclass(frozen=True)
class ResultFile:
    """The tables of one file, sentences that say what they hold, and the rows that carry signatures."""

    name: str
    tables: tuple[PageTable, ...]
    sentences: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()


def read_result(path: str | os.PathLike[str]) -> ResultFile:
    """The result that a JSON file holds."""
    name = Path(path).name
    found = _parsed(path)
    if not found:
        raise InputError(f"{path}: the file holds no rows")
    for _, _, part in found:
        for place, row in enumerate(part, 1):
            check_row(row, f"{path}: row {place}")
    if is_ledger(claims := [row for _, _, part in found for row in part]):
        listed_claims, counted = ledger_tables(claims)
        return ResultFile(name, tuple(listed_claims), tuple(counted))
    rows = [row for _, _, rows in found for row in rows if "metric" in row]
    compared = [row for row in rows if is_comparison(row)]
    scored = [row for row in rows if is_summary(row)]
    said = (comparison_sentences(compared) if compared else []) + score_sentences(scored)
    tables = [_table(title or Path(path).stem, about, rows) for title, about, rows in found]
    return ResultFile(name, tuple(tables), tuple(said), tuple(rows))


def read_texts(path: str | os.PathLike[str]) -> list[PageTable]:
    """Tables of single texts: which drive a distance, their neighbours, their own numbers.

    Rows of a `kind` (text, token, term), as `compare --explain-to` writes them, give a table per kind and metric, those
    that add most first.
    """
    if suffix(path) == ".json":
        found = _parsed(path)
    else:
        table = load_table(path)
        columns = {name: _typed(cells) for name, cells in table.columns.items()}
        found = [("", "", [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])]
    return [
        _table(name, about, part)
        for title, about, rows in found
        for name, part in _by_kind(title or Path(path).stem, rows)
    ]


def comparison_sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rows of `compare` say: sizes, tests, what is undefined."""
    sizes = {(row.get("n_reference"), row.get("n_candidate")) for row in rows}
    said = []
    if len(sizes) == 1:
        reference, candidate = sizes.pop()
        said.append(f"{count_of(len(rows), 'metric')} compared {reference} reference and {candidate} candidate texts.")
    said += _answer([row for row in rows if row.get("p_value") is not None])
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


def _by_kind(title: str, rows: Rows) -> Iterator[tuple[str, Rows]]:
    if not all("kind" in row for row in rows):
        yield title, rows
        return
    groups: dict[tuple[str, str], Rows] = {}
    for row in rows:
        rest = {name: value for name, value in row.items() if name not in ("kind", "metric", "of")}
        groups.setdefault((str(row["kind"]), str(row.get("metric") or "")), []).append(rest)
    for (kind, metric), part in groups.items():
        yield f"{metric}: {kind}s by what they add" if metric else f"{kind.capitalize()}s", sorted(part, key=_strength)


def _strength(row: dict[str, Any]) -> tuple[float, float]:
    """What puts a row first: what it adds, then how far it is from its nearest text."""
    adds, far = (row.get(name) for name in ("contribution" if "contribution" in row else "z", "distance"))
    return tuple(-abs(x) if isinstance(x, int | float) else 0.0 for x in (adds, far))  # type: ignore[return-value]


def _parsed(path: str | os.PathLike[str]) -> list[tuple[str, str, Rows]]:
    text = read_text(path)
    try:
        content = json.loads(text)
        if is_result(content):
            content = {"rows": parsed_result(text)["rows"]}
    except RecursionError:
        raise InputError(f"{path}: JSON nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
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
            yield title, "", [{"name": name, "value": _flat(value)} for name, value in single.items()]
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
    return [{str(name): _flat(value) for name, value in row.items()} for row in whole]


def _flat(value: Any) -> Any:
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _table(title: str, about: str, rows: Rows) -> PageTable:
    """A table as it is, less columns that say nothing; metrics lead to their cards, intervals are drawn."""
    made = table_of(title, rows, about=about)
    said = {name for row in rows for name, value in row.items() if value is not None} - _HIDDEN
    columns = tuple(replace(column, hidden=column.name not in said) for column in made.columns)
    cells = tuple(tuple(_cell(column.name, row) for column in columns) for row in rows[: len(made.rows)])
    drawn = "A line is the interval of a value, on a scale of its own."
    tick = "A stroke is the mean if both corpora had one source." if "null" in said else ""
    lines = (made.about, drawn, tick) if said >= {"low", "high"} else (made.about,)
    return replace(made, columns=columns, rows=cells, about=" ".join(filter(None, lines)))


def _cell(name: str, row: dict[str, Any]) -> PageCell:
    value = row.get(name)
    if name == "metric":
        return cell(value, link=anchor(str(value)))
    if name not in ("value", "mean") or not is_number(row.get("low")):
        return cell(value)
    numbers = [row[n] if is_number(row.get(n)) else math.nan for n in (name, "low", "high", "null")]
    span = Span(*numbers)
    return cell(value, mark=span.drawn(*axis_of([span])))


def _typed(cells: Sequence[object]) -> list[Any]:
    """A column of a text file as numbers, where all its cells are numbers or blank."""
    if not all(isinstance(item, str) for item in cells):
        return [_flat(item) for item in cells]
    numbers = [number(item) for item in cells]
    return list(cells) if any(value is None for value in numbers) else list(numbers)
