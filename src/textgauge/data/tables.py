"""Texts in columns: labelled texts, pairs, tables that remember where each row stood, columns of other libraries."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Self, TypeVar

from textgauge.core.errors import InputError, warn
from textgauge.core.settings import TEXT_CHARACTERS
from textgauge.core.show import shorten_line
from textgauge.encode.tokenizers import replace_surrogates

T = TypeVar("T")
_LONGEST_NAME = 80  # characters of a column's name that messages repeat
_PATH = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+)\]|\[(\w+)=([^\]]*)\]")  # .key, [0], [role=assistant]
_ROLES, _CONTENTS = ("role", "from"), ("content", "value", "text")  # of the messages of a chat
_ANSWERS = ("assistant", "gpt", "model")
_LOOKED_AT = 100  # cells that tell what a column holds


class AlignedColumns:
    """A dataclass whose tuples, but for `notes`, and whose mappings of tuples are columns: one cell for each row.

    A field `rows` says where each row stood in the source, from 0, if some were left out.
    """

    def __post_init__(self) -> None:
        columns = {name: cells for name, cells in vars(self).items() if isinstance(cells, tuple) and name != "notes"}
        for table in vars(self).values():
            columns |= table if isinstance(table, Mapping) else {}
        lengths = {name: len(cells) for name, cells in columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"{vars(self)['name']}: columns differ in length: {lengths}")

    def __len__(self) -> int:
        return len(next(cells for cells in vars(self).values() if isinstance(cells, tuple)))

    def take(self, rows: Sequence[int]) -> Self:
        """Return the rows at these places."""
        fields: dict[str, Any] = {"rows": tuple(rows)} if "rows" in vars(self) else {}
        for name, cells in vars(self).items():
            if isinstance(cells, Mapping):
                fields[name] = {key: take(column, rows) for key, column in cells.items()}
            elif isinstance(cells, tuple) and name != "notes":
                fields[name] = take(cells, rows)
        return replace(self, **fields)  # type: ignore[type-var]

    def draw(self, n: int, seed: int = 0) -> Self:
        """Draw at most `n` of the rows without replacement; keep their order."""
        return self.take(draw_rows(len(self), n, f"{vars(self)['name']}:{seed}"))


@dataclass(frozen=True)
class LabelledTexts(AlignedColumns):
    """Texts of one source; `labels`, where there are any, has one label for each text.

    >>> LabelledTexts(("a", "b", "c"), None, "letters").draw(2, seed=1).texts
    ('a', 'b')
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] | None
    name: str
    rows: tuple[int, ...] | None = None


@dataclass(frozen=True)
class TextPairs(AlignedColumns):
    """Aligned pairs of texts.

    `grade` says how near the two are (larger is nearer), `raters` holds the single judgements behind a grade,
    `group` the part a pair comes from (a system, a file, a split), `scores` columns of further numbers by name.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    name: str
    grade: tuple[float, ...] | None = None
    raters: tuple[tuple[float, ...], ...] | None = None
    group: tuple[str, ...] | None = None
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    rows: tuple[int, ...] | None = None


def draw_rows(total: int, n: int, seed: str) -> list[int]:
    """Draw at most `n` of the rows `0..total-1`, sorted; the same for the same seed on every machine."""
    if n < 1:
        raise InputError(f"at least 1 text must be drawn, not {n}")
    rng = random.Random(seed)  # noqa: S311
    order = sorted(range(total), key=lambda _: rng.random())
    return sorted(order[:n])


def take(values: Sequence[T], rows: Sequence[int]) -> tuple[T, ...]:
    """Return the values at some rows."""
    return tuple(values[row] for row in rows)


@dataclass(frozen=True)
class TextTable:
    """Columns by name; `rows` gives the line (or row) number of each record in its file, for error messages."""

    name: str
    columns: dict[str, list[Any]]
    rows: Sequence[int]
    unit: str = "line"

    @classmethod
    def of(cls, name: str, columns: Mapping[str, Iterable[object]]) -> TextTable:
        """Make a table of columns that are in memory."""
        lists = {key: list(cells) for key, cells in columns.items()}
        if not lists:
            raise InputError(f"{name} has no columns")
        lengths = {key: len(cells) for key, cells in lists.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"{name}: columns differ in length: {lengths}")
        return cls(name, lists, range(1, len(next(iter(lists.values()))) + 1), "row")

    @classmethod
    def join(cls, name: str, tables: Sequence[TextTable]) -> TextTable:
        """Join tables that follow each other in one file or in several; a column that some lack is missing there."""
        if len(tables) == 1:
            return replace(tables[0], name=name)
        titles = {title: None for table in tables for title in table.columns}
        columns: dict[str, list[Any]] = {title: [] for title in titles}
        for table, title in itertools.product(tables, titles):
            columns[title] += table.columns.get(title) or [None] * len(table.rows)
        rows = [row for table in tables for row in table.rows]
        if len({table.name for table in tables}) > 1:
            return cls(name, columns, range(1, len(rows) + 1), "row")
        return cls(name, columns, rows, tables[0].unit)

    def find_column(self, wanted: str | None) -> str:
        """Return the wanted column, else `text`, else the only column that holds texts.

        What is nested is wanted by a path, such as `meta.text`, `$.a.b`, `messages[-1].content` or
        `messages[role=user]`, and becomes a column of that name.
        """
        if wanted is None and "text" in self.columns:
            return "text"
        if wanted in self.columns:
            return wanted
        if wanted is not None:
            cells = self._follow_path(wanted.removeprefix("$."))
            if cells is not None:
                self.columns[wanted] = cells
                return wanted
            near = get_close_matches(wanted, self.columns, n=3, cutoff=0.5)
            hint = f" (did you mean {format_column_names(near)}?)" if near else ""
            known = format_column_names(self.columns)
            raise InputError(f"{self.name}: no column {_quote(wanted)}{hint}; the columns are {known}")
        strings = [name for name, cells in self.columns.items() if _has_text(cells)]
        strings = strings or [name for name, cells in self.columns.items() if is_chat(next(filter(None, cells), None))]
        if len(strings) == 1:
            return strings[0]
        if not strings:
            known = format_column_names(self.columns)
            raise InputError(f"{self.name}: no column holds texts; the columns are {known}")
        known = format_column_names(strings)
        raise InputError(f"{self.name}: several columns hold texts; name the column to read: {known}")

    def _follow_path(self, path: str) -> list[Any] | None:
        """Return what stands at a path in each cell of a column; None where no column begins it, or no cell has it."""
        name = max((name for name in self.columns if re.match(rf"{re.escape(name)}[.\[]", path)), key=len, default=None)
        if name is None:
            return None
        steps, place = list[tuple[str, ...]](), len(name)
        while place < len(path):
            found = _PATH.match(path, place)
            if found is None:
                return None
            steps.append(found.groups(""))
            place = found.end()
        cells = [_follow(cell, steps) for cell in self.columns[name]]
        return cells if any(cell is not None for cell in cells) else None

    def get_texts(self, column: str | None) -> list[str | None]:
        """Return a column as checked texts; None where the cell is missing; numbers and lists are refused."""
        name = self.find_column(column)
        most = TEXT_CHARACTERS.most
        some = [cell for cell in self.columns[name] if isinstance(cell, str) and cell.strip()][:_LOOKED_AT]
        if some and all(parse_number(cell) is not None for cell in some):
            warn(f"{self.name}: {_quote(name)} holds numbers, which are read as texts")
        return [
            cell  # there is nothing to check or replace in most texts
            if cell is None or (type(cell) is str and cell.isascii() and len(cell) <= most)
            else self._check_text(cell, row, name)
            for row, cell in zip(self.rows, self.columns[name], strict=True)
        ]

    def _check_text(self, cell: object, row: int, column: str) -> str:
        if is_chat(cell):
            cell = get_answer(cell)  # type: ignore[arg-type]
        if not isinstance(cell, str):
            hint = ""
            if isinstance(cell, dict) and cell:
                parts = [key for key, value in cell.items() if isinstance(value, str)] or list(cell)
                hint = f"; name a part of it: {format_column_names(f'{column}.{part}' for part in parts)}"
            elif isinstance(cell, list):
                hint = f"; name an item of it, such as {_quote(f'{column}[0]')}"
            raise InputError(f"{self._place(row, column)} holds {describe_cell(cell)}, not a text{hint}")
        return sanitize_text(cell, f"{self.name}: {self.unit} {row}")

    def _place(self, row: int, column: str) -> str:
        return f"{self.name}: {self.unit} {row}: column {_quote(column)}"

    def get_filled(self, column: str | None) -> list[str]:
        """Return the texts of a column, blank ones included; a missing cell is refused."""
        texts = self.get_texts(column)
        if None in texts:
            raise InputError(f"{self._place(self.rows[texts.index(None)], self.find_column(column))} is missing")
        return [text or "" for text in texts]

    def get_numbers(self, column: str, *, blank: bool = False) -> list[float]:
        """Return the numbers of a column; others are refused, and blank cells too, which are NaN where allowed."""
        name = self.find_column(column)
        values = []
        for row, cell in zip(self.rows, self.columns[name], strict=True):
            value = parse_number(cell)
            if value is None or math.isinf(value) or (math.isnan(value) and not blank):
                shown = shorten_line(repr(cell), _LONGEST_NAME)
                raise InputError(f"{self._place(row, name)} holds {shown}, not a number")
            values.append(value)
        return values

    def get_scores(self, columns: Iterable[str]) -> dict[str, list[float]]:
        """Return columns of numbers by name, NaN where a cell is blank; a column of blank cells alone is refused."""
        scores = {name: self.get_numbers(name, blank=True) for name in columns}
        empty = next((name for name, cells in scores.items() if all(map(math.isnan, cells))), None)
        if empty is not None:
            raise InputError(f"{self.name}: column {_quote(empty)} holds no number")
        return scores

    def take(self, rows: Sequence[int]) -> TextTable:
        """Return some of the rows, by position."""
        columns = {name: [cells[row] for row in rows] for name, cells in self.columns.items()}
        return replace(self, columns=columns, rows=[self.rows[row] for row in rows])

    def with_columns(self, **columns: Iterable[object]) -> TextTable:
        """Return the same table with further columns, or with others in their place."""
        return replace(self, columns={**self.columns, **{key: list(cells) for key, cells in columns.items()}})


def get_cells(values: Any, column: str | None = None) -> list[Any]:
    """Return the cells of a list, a stream or a column of pandas, polars, Arrow or Hugging Face.

    Of a frame or of records: those of `column`, else the column `text`, else the only one that holds texts.

    >>> get_cells({"question": ["why"], "n": [1]}), get_cells([{"text": "why", "n": 1}])
    (['why'], ['why'])
    """
    if is_frame(values):
        with contextlib.suppress(Exception):  # each library has its own kind of error
            # Two columns of one name are a frame again, whose items are names.
            if column is not None and not hasattr(type(found := values[column]), "columns"):
                return _list_cells(found)
        columns = get_columns(values)
    else:
        cells = _list_cells(values)
        if cells and all(map(is_chat, cells)):
            return list(map(get_answer, cells))
        if not cells or not all(isinstance(cell, Mapping) for cell in cells):
            return cells
        columns = _turn_records(cells)
    table = TextTable.of("the frame", columns)
    found = table.columns[table.find_column(column)]
    return [get_answer(cell) if is_chat(cell) else cell for cell in found]


def is_chat(cell: object) -> bool:
    """Return whether a cell is a chat: a list of messages with a role and a content."""
    return isinstance(cell, list) and bool(cell) and all(isinstance(one, dict) and _get(one, _ROLES) for one in cell)


def get_answer(chat: list[Any]) -> Any:
    """Return the last message of the assistant, or of anyone if there is none; parts of a message that are texts.

    >>> get_answer([{"role": "assistant", "content": "Hi"}, {"role": "user", "content": [{"text": "Bye"}]}])
    'Hi'
    """
    answers = [message for message in chat if _get(message, _ROLES) in _ANSWERS]
    return _read_content((answers or chat)[-1])


def _read_content(message: Any) -> Any:
    """Return the text of a message, whose parts may stand in a list; what is no message as it is."""
    content = _get(message, _CONTENTS) if isinstance(message, dict) and _get(message, _ROLES) else message
    if isinstance(content, list) and content and all(isinstance(part, dict) and "text" in part for part in content):
        return "\n".join(str(part["text"]) for part in content)
    return content


def _follow(cell: Any, steps: Sequence[tuple[str, ...]]) -> Any:
    """Return what stands at the end of a path; None where there is nothing. A message stands for its text."""
    for key, place, name, value in steps:
        if key:
            cell = cell.get(key) if isinstance(cell, dict) else None
        elif not isinstance(cell, list):
            return None
        elif place:
            cell = cell[int(place)] if -len(cell) <= int(place) < len(cell) else None
        else:
            kept = [one for one in cell if isinstance(one, dict) and str(one.get(name)) == value]
            cell = kept[-1] if kept else None
    return _read_content(cell)


def _get(message: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((message[name] for name in names if name in message), None)


def is_frame(values: Any) -> bool:
    """Return True for a table of another library: pandas, polars, Arrow, DuckDB, Hugging Face, a mapping of columns."""
    # On the class, since a lazy frame computes its columns when they are read.
    named = any(hasattr(type(values), name) for name in ("columns", "column_names"))
    return isinstance(values, Mapping) or named or _is_stream(values)


def _is_stream(values: Any) -> bool:
    """Whether rows are known by Arrow's interface alone: a relation of DuckDB, a reader of batches, a result."""
    others = ("to_dict", "to_pydict", "to_list", "to_pylist")
    own = not any(hasattr(type(values), name) for name in others) or hasattr(type(values), "to_polars")
    return hasattr(type(values), "__arrow_c_stream__") and own


def get_columns(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of a frame or of records by name; a lazy frame is computed."""
    if not is_frame(frame):
        records = list(frame) if isinstance(frame, Iterable) else [frame]
        if not records or not all(isinstance(record, Mapping) for record in records):
            raise InputError("a table is a file, a frame, columns by name or a list of records")
        return _turn_records(records)
    if hasattr(type(frame), "collect"):
        frame = frame.collect()
    if _is_stream(frame):
        import polars

        frame = polars.DataFrame(frame)
        frame = frame.with_columns(polars.selectors.decimal().cast(polars.Float64))
    if isinstance(frame, Mapping):
        names: Iterable[Any] = list(frame)
        if any(map(is_frame, frame.values())):
            raise InputError(f"this holds several tables; give one of them: {format_column_names(map(str, names))}")
    else:
        names = getattr(frame, "column_names" if hasattr(type(frame), "column_names") else "columns")
    if names is None:  # a dataset that is streamed
        return _turn_records(list(frame))
    if twice := [name for name, count in Counter(map(str, names)).items() if count > 1]:
        raise InputError(f"the frame has several columns {_quote(twice[0])}; give each a name of its own")
    single = [name for name in names if isinstance(frame, Mapping) and not hasattr(frame[name], "__iter__")]
    if single:
        raise InputError(f"a table has a list of cells for each column; {_quote(str(single[0]))} has none")
    return {str(name): _list_cells(frame[name]) for name in names}


def _turn_records(records: Sequence[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    keys = dict.fromkeys(key for record in records for key in record)
    return {str(key): [record.get(key) for record in records] for key in keys}


def _list_cells(values: Any) -> list[Any]:
    """Return the values as a list of Python's own; what is missing (NaN among texts, NA) is None."""
    method = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(type(values), name)), None)
    cells = values if method is None else getattr(values, method)()
    if isinstance(cells, int | float | str | bytes | None):
        raise InputError(f"texts are a list, a file or a table, not {shorten_line(repr(cells), _LONGEST_NAME)}")
    return [None if _is_missing(cell) else cell for cell in cells]


def _is_missing(cell: object) -> bool:
    return (isinstance(cell, float) and math.isnan(cell)) or type(cell).__name__ == "NAType"


def find_filled_rows(texts: Sequence[object], name: str) -> list[int]:
    """Return the places of the texts that are not blank or missing; a warning counts the others."""
    rows = [
        row for row, text in enumerate(texts) if text is not None and (text.strip() if isinstance(text, str) else True)
    ]
    if 0 < len(rows) < len(texts):
        warn(f"{name}: blank texts left out: {len(texts) - len(rows)} of {len(texts)}")
    return rows


def sanitize_text(text: str, place: str) -> str:
    """Return the text if it is not too long, with lone surrogates (no Unicode text) replaced by U+FFFD."""
    TEXT_CHARACTERS.check(len(text), f"{place}: a text")
    return text if text.isascii() else replace_surrogates(text)


def parse_number(cell: object) -> float | None:
    """Return the cell as a number, or None; blank and missing cells are NaN."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return math.nan
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return None


def describe_cell(cell: object) -> str:
    """Say in words what a cell is."""
    kinds = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        bytes: "bytes",
    }
    return kinds.get(type(cell), "null" if cell is None else f"a {type(cell).__name__}")


def format_column_names(names: Iterable[str]) -> str:
    """Return names of columns for an error message, twenty at most."""
    quoted = [_quote(name) for name in names]
    return ", ".join(quoted[:20]) + (f" and {len(quoted) - 20} more" if len(quoted) > 20 else "")


def _quote(name: str) -> str:
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…")


def _has_text(cells: list[object]) -> bool:
    return any(isinstance(cell, str) and parse_number(cell) is None for cell in cells)
