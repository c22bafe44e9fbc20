"""Results that are not runs: what `compare`, `score`, `describe` and other commands write as JSON; and tables of texts.

The command that a result names decides which columns are seen at first. Tables of single texts are those of
`compare --explain-to` and `describe --per-text`: JSON, CSV, TSV, JSONL or Parquet, with the telling words marked.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from textgauge.core.errors import InputError, TextgaugeError
from textgauge.core.registry import Registry
from textgauge.core.show import ARROWS, Row, format_cell
from textgauge.data.formats import read_table
from textgauge.data.packing import split_endings
from textgauge.data.tables import parse_number
from textgauge.measure.findings import WorseThanReal, find_worse_rows
from textgauge.metrics import get_metric
from textgauge.metrics.properties.base import list_properties
from textgauge.report.page.tables import PageCell, PageTable, Span, find_axis, make_anchor, make_cell, make_table
from textgauge.report.saved import load

_LARGEST = 1e300  # that can be drawn
_HIDDEN = frozenset({"interval", "adjustment", "signature"})  # long, and in the provenance or the CSV
# What commands call their tables, and the columns that are shown at first.
_COMPARED = ("slice", "candidate", "rank", "metric", "value", "null", "times", "p_adjusted", "reason")
_SCORED = ("system", "metric", "of", "value", "baseline", "difference", "p_adjusted", "corpus", "mean", "n", "reason")
_DESCRIBED = ("corpus", "property", "value", "test", "train", "about")
_KINDS = {
    "compare": ("Two corpora", "Distances, metric by metric", _COMPARED),
    "score": ("Scores", "Scores, metric by metric", _SCORED),
    "describe": ("Generated texts", "Properties", _DESCRIBED),
}
_SIDES = frozenset({"slice", "candidate", "system", "of", "corpus"})  # shown where rows differ in them
_HEADINGS = {"null": "if same source", "p_adjusted": "adjusted p", "about": "what it is"}
_DEFINED = {
    "null": "The mean and the middle 95 % of the values if both corpora had one source.",
    "times": "The value, in multiples of what is expected if both corpora had one source.",
    "p_adjusted": "The p-value, adjusted for all metrics tested together.",
    "test": "The same property of the test texts.",
    "train": "The same property of the training texts.",
}

_FEW = 5  # texts that a page shows at first
_TELLING = 2.0  # standard errors of the log-odds from which a word is marked
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_OF_TEXTS = frozenset(
    {"side", "text", "contribution", "nearest", "distance", "nearest_train", "syntactic", "term", "z", "token"}
    | {"count_reference", "count_candidate", "passage_index"}
)
_NAMES = {"text": "Texts", "token": "Tokens", "term": "Words that separate the corpora"}

Telling = Callable[[Row], frozenset[str]]
"""The words of a row's text that are marked, in lower case."""


@dataclass(frozen=True)
class ResultFile:
    """The tables of one file, sentences that say what they hold, and the rows that carry signatures.

    `findings` are what is wrong with a described corpus, `warnings` those that were saved with the result.
    """

    name: str
    heading: str
    tables: tuple[PageTable, ...]
    sentences: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    findings: tuple[WorseThanReal, ...] = ()
    warnings: tuple[str, ...] = ()
    section: str = "Corpora"


PAGES: Registry[Callable[[str, Sequence[Row]], ResultFile | None]] = Registry("page", group="textgauge.pages")
"""What other packages show of the rows of their commands, by the name of the command."""


def read_result(path: str | os.PathLike[str]) -> ResultFile:
    """Return what a page shows of a saved result."""
    name, saved = Path(path).name, load(path)
    rows: list[Row] = [{str(key): write_flat(value) for key, value in row.items()} for row in saved.rows]
    if not rows:
        raise InputError(f"{path}: the file holds no rows")
    command = saved.command
    if command in PAGES and (own := PAGES[command](name, rows)) is not None:
        return own
    heading, title, _ = _KINDS.get(command, ("", Path(path).stem, ()))
    worse = find_worse_rows(rows) if command == "describe" else []
    return ResultFile(
        name,
        f"{heading} ({name})" if heading else name,
        (_make_result_table(title, command, rows, worse),),
        (str(saved.answer),) if saved.answer else (),
        tuple(row for row in rows if "metric" in row),
        tuple(worse),
        tuple(map(str, saved.warnings)),
    )


def make_texts_anchor(of: str) -> str:
    """Return the address of the table of the texts behind a metric or a property."""
    return make_anchor(of).replace("metric-", "texts-of-", 1)


def write_flat(value: Any) -> Any:
    """Return a value that fits into a cell: what is nested is written out."""
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _make_result_table(title: str, command: str, rows: list[Row], worse: Sequence[WorseThanReal]) -> PageTable:
    """Return a table less columns that say nothing; metrics lead to their cards, intervals are drawn."""
    if command == "describe":
        about = {declared.name: declared.about for declared in list_properties()}
        rows = [row | {"about": about.get(row.get("property", ""))} for row in rows]
    table = make_table(title, rows)
    told = {name for row in rows for name, value in row.items() if value is not None} - _HIDDEN
    _, _, first = _KINDS.get(command, ("", "", ()))
    first = tuple(name for name in first if name not in _SIDES or len({row.get(name) for row in rows}) > 1)
    columns = tuple(
        replace(
            column,
            hidden=column.name not in told,
            extra=bool(first) and column.name not in first,
            heading=_HEADINGS.get(column.name, "") if first else "",
            about=_DEFINED.get(column.name, "") if first else "",
        )
        for column in table.columns
    )
    order = sorted(range(len(columns)), key=lambda n: first.index(columns[n].name) if columns[n].name in first else 99)
    columns = tuple(columns[n] for n in order)
    arrows = _find_better_ends(command, rows)
    cells = tuple(tuple(_make_cell(column.name, row, arrows) for column in columns) for row in rows[: len(table.rows)])
    drawn = "Lines are intervals, each on a scale of its own."
    tick = "A stroke is the mean if both corpora had one source." if "null" in told else ""
    lines = (table.about, drawn, tick) if told >= {"low", "high"} else (table.about,)
    named = {(one.corpus, one.property) for one in worse}
    flagged = frozenset(n for n, row in enumerate(rows) if (str(row.get("corpus") or ""), row.get("property")) in named)
    return replace(table, columns=columns, rows=cells, about=" ".join(filter(None, lines)), flagged=flagged)


def _find_better_ends(command: str, rows: Sequence[Row]) -> dict[str, str]:
    """Return an arrow for each metric or property: which way is closer, or better."""
    if command == "describe":
        ends = {"lower": "↓", "higher": "↑"}
        return {declared.name: ends.get(declared.better or "", "") for declared in list_properties()}
    arrows = {}
    for name in {str(row["metric"]) for row in rows if row.get("metric")} if command == "compare" else ():
        try:
            arrows[name] = ARROWS[get_metric(name).closer]
        except TextgaugeError:
            continue
    return arrows


def _make_cell(name: str, row: Row, arrows: Mapping[str, str]) -> PageCell:
    value = row.get(name)
    if name == "metric":
        return make_cell(value, link=make_anchor(str(value)))
    if name == "property":
        made = make_cell(value)
        return replace(made, shown=f"{made.shown.replace('_', ' ')} {arrows.get(str(value), '')}".rstrip())
    if name == "null":
        return replace(make_cell(value), note=_format_ends(row, "null_low", "null_high"))
    if name not in ("value", "mean"):
        return make_cell(value)
    made = make_cell(value, link=make_texts_anchor(str(row.get("metric") or row.get("property"))))
    arrow = arrows.get(str(row.get("metric")), "") if value is not None else ""
    made = replace(made, note=_format_ends(row, "low", "high"), shown=f"{made.shown} {arrow}".rstrip())
    if not _is_number(row.get("low")):
        return made
    span = Span(*(row[n] if _is_number(row.get(n)) else math.nan for n in (name, "low", "high", "null")))
    return replace(made, mark=span.drawn(*find_axis([span])))


def _format_ends(row: Mapping[str, Any], *names: str) -> str:
    ends = [row.get(name) for name in names]
    return "–".join(map(format_cell, ends)) if all(map(_is_number, ends)) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def read_texts(path: str | os.PathLike[str]) -> list[PageTable]:
    """Return tables of single texts: which drive a distance, their neighbours, their own numbers.

    Rows of a `kind` (text, token, term), as `compare --explain-to` writes them, give a table per kind and metric, those
    that add most first. Rows with a nearest training text begin with the nearest.
    """
    if split_endings(path)[0] == ".json":
        rows = [{name: write_flat(value) for name, value in row.items()} for row in load(path).rows]
    else:
        columns = {name: _parse_numbers(cells) for name, cells in read_table(path).columns.items()}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return list(_make_text_tables(Path(path).stem, rows))


def _make_text_tables(title: str, rows: list[Row]) -> Iterator[PageTable]:
    if all("kind" in row for row in rows):
        yield from _make_explanation_tables(rows)
    elif all("nearest_train" in row and "syntactic" in row for row in rows):
        about = (
            "Nearest to a training text by wording first; marked: the longest passage that stands in a training text, "
            "that of the passage index; without one, words that the nearest training text does not have."
        )
        ordered = sorted(rows, key=lambda row: _rank(row["syntactic"]))
        yield replace(_make_text_table(title, about, ordered, _find_new_words), of="near_copies")
    else:
        yield _make_text_table(title, "", rows)


def _make_explanation_tables(rows: list[Row]) -> Iterator[PageTable]:
    telling = _find_separating_words(rows)
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        rest = {name: value for name, value in row.items() if name not in ("kind", "metric", "of")}
        groups.setdefault((str(row["kind"]), str(row.get("metric") or "")), []).append(rest)
    for (kind, metric), part in groups.items():
        name = _NAMES.get(kind, kind.capitalize())
        title = f"{name} by what they add to {metric}" if metric else name
        marked = kind == "text" and any(telling.values())
        about = "Marked: words that speak for the side of the text." if marked else ""
        first = "contribution" if any("contribution" in row for row in part) else "z"
        strength = [(_rank(row.get(first)), _rank(row.get("distance")), n) for n, row in enumerate(part)]
        ordered = [part[n] for _, _, n in sorted(strength)]
        made = _make_text_table(title, about, ordered, lambda row: telling.get(row.get("side"), frozenset()))
        yield replace(made, of=metric if kind == "text" else "")


def _find_separating_words(rows: list[Row]) -> dict[Any, frozenset[str]]:
    """Return the words that speak for each side, in lower case."""
    terms = [(str(row.get("term")).lower(), row.get("z")) for row in rows if row["kind"] == "term"]
    known = [(term, z) for term, z in terms if isinstance(z, int | float)]
    return {
        "reference": frozenset(term for term, z in known if z <= -_TELLING),
        "candidate": frozenset(term for term, z in known if z >= _TELLING),
    }


def _find_new_words(row: Row) -> frozenset[str]:
    own, train = (
        frozenset(map(str.lower, _WORD.findall(str(row.get(name) or "")))) for name in ("text", "nearest_train")
    )
    return own - train


def _make_text_table(title: str, about: str, rows: list[Row], telling: Telling = lambda _: frozenset()) -> PageTable:
    table = make_table(title, rows, about=about)
    known = {column.name for column in table.columns} & _OF_TEXTS
    columns = tuple(replace(column, extra=bool(known) and column.name not in _OF_TEXTS) for column in table.columns)
    place = next((n for n, column in enumerate(columns) if column.name == "text"), None)
    cells = table.rows
    if place is not None:
        marked = [
            mark_passage(row[place].shown, str(given["passage"]))
            if given.get("passage")
            else mark_words(row[place].shown, telling(given))
            for row, given in zip(cells, rows, strict=False)
        ]
        cells = tuple(
            (*row[:place], replace(row[place], parts=parts), *row[place + 1 :])
            for row, parts in zip(cells, marked, strict=True)
        )
    return replace(table, columns=columns, rows=cells, few=_FEW)


def mark_passage(text: str, passage: str) -> tuple[tuple[str, bool], ...]:
    """Return the text in pieces, a passage of it marked.

    >>> mark_passage("We saw the cat.", "the cat.")
    (('We saw ', False), ('the cat.', True))
    """
    before, here, after = text.partition(passage)
    return tuple(piece for piece in ((before, False), (here, True), (after, False)) if piece[0]) if here else ()


def mark_words(text: str, words: frozenset[str]) -> tuple[tuple[str, bool], ...]:
    """Return the text in pieces, those of the given words marked; nothing where no word is.

    >>> mark_words("My Visa, please", frozenset({"visa"}))
    (('My ', False), ('Visa', True), (', please', False))
    """
    spans = [match.span() for match in _WORD.finditer(text) if match[0].lower() in words]
    ends = [0, *(end for span in spans for end in span), len(text)]
    pieces = ((text[start:end], n % 2 == 1) for n, (start, end) in enumerate(pairwise(ends)))
    return tuple(piece for piece in pieces if piece[0]) if spans else ()


def _rank(value: Any) -> float:
    return -abs(value) if isinstance(value, int | float) else 0.0


def _parse_numbers(cells: Sequence[object]) -> list[Any]:
    """Return a column of a text file as numbers, where all its cells are numbers or blank."""
    if not all(isinstance(item, str) for item in cells):
        return [write_flat(item) for item in cells]
    numbers = [parse_number(item) for item in cells]
    return list(cells) if any(value is None for value in numbers) else list(numbers)
