"""Tables of texts: named columns that remember where each row stood, and columns of other libraries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, TypeGuard

from textgauge.core.errors import InputError, warn
from textgauge.core.limits import TEXT_CHARACTERS
from textgauge.core.tabular import one_line
from textgauge.data.card import LabelledTexts
from textgauge.encode.tokenizers import without_surrogates

_LONGEST_NAME = 80  # characters of a column's name that messages repeat


@dataclass(frozen=True)
class TextTable:
    """Columns by name; `rows` gives the line (or row) number of each record in its file, for error messages."""

    name: str
    columns: dict[str, list[object]]
    rows: Sequence[int]
    unit: str = "line"

    @classmethod
    def of(cls, name: str, columns: Mapping[str, Iterable[object]]) -> TextTable:
        """A table of columns that are in memory."""
        lists = {key: list(cells) for key, cells in columns.items()}
        return cls(name, lists, range(1, len(next(iter(lists.values()))) + 1), "row")

    def column(self, wanted: str | None) -> str:
        """The wanted column, else `text`, else the only column that holds texts."""
        if wanted is not None:
            return self._named(wanted)
        if "text" in self.columns:
            return "text"
        strings = [name for name, cells in self.columns.items() if _textual(cells)]
        if len(strings) == 1:
            return strings[0]
        if not strings:
            raise InputError(f"{self.name}: no column holds texts; the columns are {listed(self.columns)}")
        raise InputError(f"{self.name}: several columns hold texts; name the column to read: {listed(strings)}")

    def _named(self, wanted: str) -> str:
        if wanted in self.columns:
            return wanted
        near = get_close_matches(wanted, self.columns, n=3, cutoff=0.5)
        hint = f" (did you mean {listed(near)}?)" if near else ""
        raise InputError(f"{self.name}: no column {_quoted(wanted)}{hint}; the columns are {listed(self.columns)}")

    def texts(self, column: str | None) -> list[str | None]:
        """A column as checked texts; None where the cell is missing; numbers and lists are refused."""
        name = self.column(column)
        cells = zip(self.rows, self.columns[name], strict=True)
        most = TEXT_CHARACTERS.most
        return [cell if cell is None or _is_plain(cell, most) else self._text(cell, row, name) for row, cell in cells]

    def _text(self, cell: object, row: int, column: str) -> str:
        place = f"{self.name}: {self.unit} {row}"
        if not isinstance(cell, str):
            raise InputError(f"{place}: column {_quoted(column)} holds {kind_of_cell(cell)}, not a text")
        return sound(cell, place)

    def filled(self, column: str | None) -> list[str]:
        """The texts of a column, blank ones included; a missing cell is refused."""
        found = []
        for row, text in zip(self.rows, self.texts(column), strict=True):
            if text is None:
                raise InputError(f"{self.name}: {self.unit} {row}: column {_quoted(self.column(column))} is missing")
            found.append(text)
        return found

    def without_blanks(self, column: str | None, labels: str | None) -> LabelledTexts:
        """The texts of a column that are not blank and, where `labels` names a column, their labels.

        A warning counts those left out.
        """
        texts = self.texts(column)
        kept = filled_rows(texts, self.name)
        if not kept:
            raise InputError(f"{self.name}: no texts, every {self.unit} is blank ({len(texts)} of {len(texts)})")
        marks = None if labels is None else [str(cell) for cell in self.columns[self.column(labels)]]
        found = LabelledTexts(tuple(text or "" for text in texts), None if marks is None else tuple(marks), self.name)
        return found if len(kept) == len(texts) else found.take(kept)

    def numbers(self, column: str, *, blank: bool = False) -> list[float]:
        """The numbers of a column; others are refused, and blank cells too, which are NaN where allowed."""
        name = self.column(column)
        found = []
        for row, cell in zip(self.rows, self.columns[name], strict=True):
            value = number(cell)
            if value is None or math.isinf(value) or (math.isnan(value) and not blank):
                where = f"{self.name}: {self.unit} {row}: column {_quoted(name)}"
                raise InputError(f"{where} holds {one_line(repr(cell), _LONGEST_NAME)}, not a number")
            found.append(value)
        return found

    def scores(self, columns: Iterable[str]) -> dict[str, list[float]]:
        """Columns of numbers by name, NaN where a cell is blank; a column of blank cells alone is refused."""
        found = {name: self.numbers(name, blank=True) for name in columns}
        empty = next((name for name, cells in found.items() if all(map(math.isnan, cells))), None)
        if empty is not None:
            raise InputError(f"{self.name}: column {_quoted(empty)} holds no number")
        return found

    def take(self, rows: Sequence[int]) -> TextTable:
        """Some of the rows, by position."""
        columns = {name: [cells[row] for row in rows] for name, cells in self.columns.items()}
        return replace(self, columns=columns, rows=[self.rows[row] for row in rows])

    def having(self, **columns: Iterable[object]) -> TextTable:
        """The same table with further columns, or with others in their place."""
        return replace(self, columns={**self.columns, **{key: list(cells) for key, cells in columns.items()}})


def cells_of(values: Any, column: str | None = None) -> list[Any]:
    """The cells of a list, a stream or a column of pandas, polars, Arrow or Hugging Face; of a frame those of `column`.

    Of a frame or of records without `column`: the column `text`, else the only one that holds texts.

    >>> cells_of({"question": ["why"], "n": [1]}), cells_of([{"text": "why", "n": 1}])
    (['why'], ['why'])
    """
    if is_frame(values):
        cells = None if column is None else _column_of(values, column)
        return cells if cells is not None else _chosen(_columns_of(values), column)
    cells = _listed_cells(values)
    records = bool(cells) and all(isinstance(cell, Mapping) for cell in cells)
    return _chosen(_columns_of_records(cells), column) if records else cells


def filled_rows(texts: Sequence[object], name: str) -> list[int]:
    """The places of the texts that are not blank or missing; a warning counts the others."""
    kept = [row for row, text in enumerate(texts) if not _is_blank(text)]
    if 0 < len(kept) < len(texts):
        warn(f"{name}: blank texts left out: {len(texts) - len(kept)} of {len(texts)}")
    return kept


def _is_blank(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _chosen(columns: dict[str, list[Any]], column: str | None) -> list[Any]:
    if not columns:
        raise InputError("the frame has no columns")
    return columns[TextTable.of("the frame", columns).column(column)]


def _column_of(frame: Any, column: str) -> list[Any] | None:
    try:
        return _listed_cells(frame[column])
    except Exception:
        # Each library has its own kind of error.
        return None


def _columns_of_records(records: Sequence[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    keys = dict.fromkeys(key for record in records for key in record)
    return {str(key): [record.get(key) for record in records] for key in keys}


def _columns_of(frame: Any) -> dict[str, list[Any]]:
    """The columns of a frame by name; a lazy frame is computed."""
    if hasattr(type(frame), "collect"):
        frame = frame.collect()
    if isinstance(frame, Mapping):
        names: Iterable[Any] = list(frame)
        if any(map(is_frame, frame.values())):
            raise InputError(f"this holds several tables; give one of them: {listed(map(str, names))}")
    else:
        names = getattr(frame, "column_names" if hasattr(type(frame), "column_names") else "columns")
    if names is None:  # a dataset that is streamed
        return _columns_of_records(list(frame))
    return {str(name): _listed_cells(frame[name]) for name in names}


def _listed_cells(values: Any) -> list[Any]:
    """The values as a list of Python's own; what is missing (NaN among texts, NA) is None."""
    found = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(type(values), name)), None)
    cells = values if found is None else getattr(values, found)()
    return [None if _is_missing(cell) else cell for cell in cells]


def _is_missing(cell: object) -> bool:
    return (isinstance(cell, float) and math.isnan(cell)) or type(cell).__name__ == "NAType"


def is_frame(values: Any) -> bool:
    """Whether this is a table of another library: pandas, polars, Arrow, Hugging Face, or a mapping of columns."""
    # On the class, since a lazy frame computes its columns when they are read.
    return isinstance(values, Mapping) or any(hasattr(type(values), name) for name in ("columns", "column_names"))


def _is_plain(cell: object, most: int) -> TypeGuard[str]:
    """Whether this is a text with nothing to check or replace, as most are."""
    return type(cell) is str and cell.isascii() and len(cell) <= most


def sound(text: str, place: str) -> str:
    """The text if it is not too long, with lone surrogates (no Unicode text) replaced by U+FFFD."""
    TEXT_CHARACTERS.check(len(text), f"{place}: a text")
    return text if text.isascii() else without_surrogates(text)


def number(cell: object) -> float | None:
    """The cell as a number, or None; blank and missing cells are NaN."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return float("nan")
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return None


def kind_of_cell(cell: object) -> str:
    """What a cell is, in words."""
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds.get(type(cell), "null" if cell is None else f"a {type(cell).__name__}")


def listed(names: Iterable[str]) -> str:
    """Names of columns for an error message, twenty at most."""
    shown = [_quoted(name) for name in names]
    return ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")


def _quoted(name: str) -> str:
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…")


def _textual(cells: list[object]) -> bool:
    return any(isinstance(cell, str) and number(cell) is None for cell in cells)
