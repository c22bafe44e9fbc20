"""Tables of single texts: those that make a distance, and those of a generated corpus, with the telling words marked.

The files are those of `compare --explain-to` and `describe --per-text`: JSON, CSV, TSV, JSONL or Parquet.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from textgauge.data.formats import load_table
from textgauge.data.packing import suffix
from textgauge.data.tables import number
from textgauge.report.page.result_files import Rows, flat, parsed_tables
from textgauge.report.page.tables import PageTable, table_of

_FEW = 5  # texts that a page shows at first
_TELLING = 2.0  # standard errors of the log-odds from which a word is marked
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_SHOWN = frozenset(
    {"side", "text", "contribution", "nearest", "distance", "nearest_train", "syntactic", "term", "z", "token"}
    | {"count_reference", "count_candidate"}
)
_NAMES = {"text": "Texts", "token": "Tokens", "term": "Words that separate the corpora"}

Telling = Callable[[dict[str, Any]], frozenset[str]]
"""The words of a row's text that are marked, in lower case."""


def read_texts(path: str | os.PathLike[str]) -> list[PageTable]:
    """Tables of single texts: which drive a distance, their neighbours, their own numbers.

    Rows of a `kind` (text, token, term), as `compare --explain-to` writes them, give a table per kind and metric, those
    that add most first. Rows with a nearest training text begin with the nearest.
    """
    if suffix(path) == ".json":
        found = parsed_tables(path)
    else:
        table = load_table(path)
        columns = {name: _typed(cells) for name, cells in table.columns.items()}
        found = [("", "", [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])]
    return [made for title, about, rows in found for made in _tables(title or Path(path).stem, about, rows)]


def _tables(title: str, about: str, rows: Rows) -> Iterator[PageTable]:
    if all("kind" in row for row in rows):
        yield from _explanation(about, rows)
    elif all("nearest_train" in row and "syntactic" in row for row in rows):
        said = "Nearest to a training text by wording first; marked: words that this training text does not have."
        ordered = sorted(rows, key=lambda row: _size(row["syntactic"]))
        made = _table(title, " ".join(filter(None, (about, said))), ordered, _new_words)
        yield replace(made, of="near_copies")
    else:
        yield _table(title, about, rows)


def _explanation(about: str, rows: Rows) -> Iterator[PageTable]:
    telling = _separating(rows)
    groups: dict[tuple[str, str], Rows] = {}
    for row in rows:
        rest = {name: value for name, value in row.items() if name not in ("kind", "metric", "of")}
        groups.setdefault((str(row["kind"]), str(row.get("metric") or "")), []).append(rest)
    for (kind, metric), part in groups.items():
        name = _NAMES.get(kind, kind.capitalize())
        title = f"{name} by what they add to {metric}" if metric else name
        marked = (
            "Marked: words that speak for the side of the text." if kind == "text" and any(telling.values()) else ""
        )
        about_it = " ".join(filter(None, (about, marked)))
        made = _table(
            title, about_it, sorted(part, key=_strength), lambda row: telling.get(row.get("side"), frozenset())
        )
        yield replace(made, of=metric if kind == "text" else "")


def _separating(rows: Rows) -> dict[Any, frozenset[str]]:
    """The words that speak for each side, in lower case."""
    terms = [(str(row.get("term")).lower(), row.get("z")) for row in rows if row["kind"] == "term"]
    known = [(term, z) for term, z in terms if isinstance(z, int | float)]
    return {
        "reference": frozenset(term for term, z in known if z <= -_TELLING),
        "candidate": frozenset(term for term, z in known if z >= _TELLING),
    }


def _new_words(row: dict[str, Any]) -> frozenset[str]:
    own, train = (
        frozenset(map(str.lower, _WORD.findall(str(row.get(name) or "")))) for name in ("text", "nearest_train")
    )
    return own - train


def _table(title: str, about: str, rows: Rows, telling: Telling = lambda _: frozenset()) -> PageTable:
    made = table_of(title, rows, about=about)
    known = {column.name for column in made.columns} & _SHOWN
    columns = tuple(replace(column, extra=bool(known) and column.name not in _SHOWN) for column in made.columns)
    place = next((n for n, column in enumerate(columns) if column.name == "text"), None)
    cells = made.rows
    if place is not None:
        marked = [marked_parts(row[place].shown, telling(given)) for row, given in zip(cells, rows, strict=False)]
        cells = tuple(
            (*row[:place], replace(row[place], parts=parts), *row[place + 1 :])
            for row, parts in zip(cells, marked, strict=True)
        )
    return replace(made, columns=columns, rows=cells, few=_FEW)


def marked_parts(text: str, words: frozenset[str]) -> tuple[tuple[str, bool], ...]:
    """The text in pieces, those of the given words marked; nothing where no word is.

    >>> marked_parts("My Visa, please", frozenset({"visa"}))
    (('My ', False), ('Visa', True), (', please', False))
    """
    found = [match.span() for match in _WORD.finditer(text) if match[0].lower() in words]
    ends = [0, *(end for span in found for end in span), len(text)]
    pieces = ((text[start:end], n % 2 == 1) for n, (start, end) in enumerate(pairwise(ends)))
    return tuple(piece for piece in pieces if piece[0]) if found else ()


def _strength(row: dict[str, Any]) -> tuple[float, float]:
    """What puts a row first: what it adds, then how far it is from its nearest text."""
    return _size(row.get("contribution" if "contribution" in row else "z")), _size(row.get("distance"))


def _size(value: Any) -> float:
    return -abs(value) if isinstance(value, int | float) else 0.0


def _typed(cells: Sequence[object]) -> list[Any]:
    """A column of a text file as numbers, where all its cells are numbers or blank."""
    if not all(isinstance(item, str) for item in cells):
        return [flat(item) for item in cells]
    numbers = [number(item) for item in cells]
    return list(cells) if any(value is None for value in numbers) else list(numbers)
