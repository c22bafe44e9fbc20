"""Read texts, tables and pairs from the users' files: TXT, CSV, TSV, JSONL, Parquet, `.gz` of the text ones, `-`.

A wrong file raises InputError with one line that names the file and the line. TXT is one text a line; the others have
named columns. UTF-8 with or without byte-order mark; LF, CRLF or CR.
"""

from __future__ import annotations

import math
import os
import warnings
from typing import TYPE_CHECKING

from textgauge.data.arrays import read_embeddings
from textgauge.data.card import TextPairs
from textgauge.data.decode import show
from textgauge.data.tables import Table, load_table, number
from textgauge.errors import InputError

if TYPE_CHECKING:
    import polars

__all__ = ["filled", "labelled", "read_embeddings", "read_pairs", "read_table", "read_texts"]


def read_texts(path: str | os.PathLike[str], *, column: str | None = None, limit: int | None = None) -> list[str]:
    """Read the texts of one column, the first `limit` of them.

    Without `column`: the column `text`, else the only column that holds texts. Blank and missing texts are left out
    with a warning that counts them. One text is enough here; metrics say how many they need.
    """
    if limit is not None and limit < 1:
        raise InputError(f"the limit must be at least 1, not {limit}")
    return labelled(load_table(path), column=column)[0][:limit]


def labelled(
    table: Table, *, column: str | None = None, labels: str | None = None
) -> tuple[list[str], list[str] | None]:
    """The texts of one column of a table and, where `labels` names a column, the label of each text."""
    texts = table.texts(table.column(column))
    marks = None if labels is None else [str(cell) for cell in table.columns[table.column(labels)]]
    kept = [row for row, text in enumerate(texts) if text is not None and text.strip()]
    _check_blanks(table, len(texts) - len(kept), kept)
    return [texts[row] or "" for row in kept], None if marks is None else [marks[row] for row in kept]


def read_table(path: str | os.PathLike[str]) -> polars.DataFrame:
    """Read a whole file as a polars frame; a column of a text format is numeric where every filled cell is a number."""
    import polars

    table = load_table(path)
    if table.unit == "row":
        return polars.DataFrame(table.columns, strict=False)
    return polars.DataFrame({name: _typed(table, name) for name in table.columns}, strict=False)


def read_pairs(
    path: str | os.PathLike[str], *, left: str, right: str, rating: str | None = None, limit: int | None = None
) -> TextPairs:
    """Read aligned pairs from two columns, with an optional column of ratings (larger is nearer).

    An empty text is kept, since dropping it would break the pair; a missing cell or rating is refused.
    """
    table = load_table(path)
    sides = [filled(table, table.column(side)) for side in (left, right)]
    grade = None if rating is None else tuple(_ratings(table, table.column(rating)))[:limit]
    return TextPairs(tuple(sides[0][:limit]), tuple(sides[1][:limit]), show(path), grade=grade)


def _check_blanks(table: Table, blank: int, kept: list[int]) -> None:
    if not kept:
        raise InputError(f"{table.name}: no texts, every {table.unit} is blank ({blank} of {blank})")
    if blank:
        warnings.warn(f"{table.name}: blank texts left out: {blank} of {blank + len(kept)}", stacklevel=4)


def filled(table: Table, column: str) -> list[str]:
    """The texts of a column, blank ones included; a missing cell is refused."""
    filled = []
    for row, text in zip(table.rows, table.texts(column), strict=True):
        if text is None:
            raise InputError(f"{table.name}: {table.unit} {row}: column {column!r} is missing")
        filled.append(text)
    return filled


def _ratings(table: Table, column: str) -> list[float]:
    ratings = []
    for row, cell in zip(table.rows, table.columns[column], strict=True):
        value = number(cell)
        if value is None or not math.isfinite(value):
            raise InputError(f"{table.name}: {table.unit} {row}: column {column!r} holds {cell!r}, not a number")
        ratings.append(value)
    return ratings


def _typed(table: Table, name: str) -> list[object]:
    cells = table.columns[name]
    if not all(isinstance(cell, str) for cell in cells):
        return cells
    values = [number(cell) for cell in cells]
    if any(value is None for value in values) or not any(cell.strip() for cell in cells if isinstance(cell, str)):
        return cells
    return [None if value is None or math.isnan(value) else value for value in values]
