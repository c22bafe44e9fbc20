"""Tables of the users: CSV, TSV, JSONL, Parquet and TXT become named columns that remember where each row stood."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from textgauge.data.decode import MAX_CHARACTERS, read_bytes, read_text, show, sound, split_lines, suffix
from textgauge.errors import InputError


@dataclass(frozen=True)
class Table:
    """Columns by name; `rows` gives the line (or row) number of each record in its file, for complaints."""

    name: str
    columns: dict[str, list[object]]
    rows: Sequence[int]
    unit: str = "line"

    def texts(self, column: str) -> list[str | None]:
        """A column as checked texts; None where the cell is missing; numbers and lists are refused."""
        cells = zip(self.rows, self.columns[column], strict=True)
        return [None if cell is None else self._text(cell, row, column) for row, cell in cells]

    def _text(self, cell: object, row: int, column: str) -> str:
        place = f"{self.name}: {self.unit} {row}"
        if not isinstance(cell, str):
            raise InputError(f"{place}: column {column!r} holds {_kind(cell)}, not a text")
        return sound(cell, place)

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
            raise InputError(f"{self.name}: no column holds texts; the columns are {_listed(self.columns)}")
        raise InputError(f"{self.name}: several columns hold texts; name one with --column: {_listed(strings)}")

    def _named(self, wanted: str) -> str:
        if wanted in self.columns:
            return wanted
        near = get_close_matches(wanted, self.columns, n=3, cutoff=0.5)
        hint = f" (did you mean {_listed(near)}?)" if near else ""
        raise InputError(f"{self.name}: no column {wanted!r}{hint}; the columns are {_listed(self.columns)}")


def load_table(path: str | os.PathLike[str]) -> Table:
    """Read a file by its ending; an unknown ending is plain text, one text a line, in a column named `text`."""
    kind = suffix(path)
    if kind == ".npy":
        raise InputError(f"{show(path)}: an .npy file holds embeddings, not texts")
    if kind == ".json":
        raise InputError(f"{show(path)}: a .json file has no rows; write one object a line and call it .jsonl")
    readers = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}
    table = readers.get(kind, _plain)(path)
    if not table.rows:
        raise InputError(f"{table.name}: the file holds no rows")
    return table


def _plain(path: str | os.PathLike[str]) -> Table:
    lines: list[object] = list(split_lines(read_text(path)))
    return Table(show(path), {"text": lines}, range(1, len(lines) + 1))


def _csv(path: str | os.PathLike[str]) -> Table:
    return _from_records(show(path), csv_records(read_text(path), show(path)))


def _tsv(path: str | os.PathLike[str]) -> Table:
    lines = split_lines(read_text(path))
    records = ((n, [_unquoted(cell) for cell in line.split("\t")]) for n, line in enumerate(lines, 1) if line)
    return _from_records(show(path), records)


def csv_records(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV text, each with the number of its first line; blank lines are left out."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    start = 1
    try:
        with _wide_fields():
            for record in reader:
                if record:
                    yield start, record
                start = reader.line_num + 1
    except csv.Error as error:
        if "field larger" in str(error):
            raise InputError(
                f"{name}: line {start}: a text over the limit of {MAX_CHARACTERS:,} characters, or a quote never closed"
            ) from None
        raise InputError(f"{name}: line {start}: bad CSV ({error})") from None


@contextlib.contextmanager
def _wide_fields() -> Iterator[None]:
    before = csv.field_size_limit(MAX_CHARACTERS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _unquoted(cell: str) -> str:
    """TSV has no quoting, yet spreadsheets quote: undo it only where the whole cell is soundly quoted."""
    inner = cell[1:-1]
    if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return cell


def _from_records(name: str, records: Iterator[tuple[int, list[str]]]) -> Table:
    _, header = next(records, (0, []))
    if not header:
        raise InputError(f"{name}: the file holds no header line")
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise InputError(f"{name}: the header names {_listed(twice)} more than once")
    rows: list[int] = []
    cells: list[list[object]] = [[] for _ in header]
    for line, record in records:
        if len(record) != len(header):
            raise InputError(f"{name}: line {line} has {len(record)} fields, the header {len(header)}")
        rows.append(line)
        for column, cell in zip(cells, record, strict=True):
            column.append(cell)
    return Table(name, dict(zip(header, cells, strict=True)), rows)


def _jsonl(path: str | os.PathLike[str]) -> Table:
    name = show(path)
    numbered = [(n, line) for n, line in enumerate(split_lines(read_text(path)), 1) if line.strip()]
    records = [_json_record(line, f"{name}: line {n}") for n, line in numbered]
    columns = {key: None for record in records for key in record}
    return Table(name, {key: [r.get(key) for r in records] for key in columns}, [n for n, _ in numbered])


def _json_record(line: str, place: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except RecursionError:
        raise InputError(f"{place}: JSON nested too deeply") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{place}: bad JSON ({error.msg}, column {error.colno})") from None
    except ValueError:
        raise InputError(f"{place}: bad JSON (a number with too many digits)") from None
    if isinstance(record, str):
        return {"text": record}
    if not isinstance(record, dict):
        raise InputError(f"{place}: expected a JSON object, found {_kind(record)}")
    return record


def _parquet(path: str | os.PathLike[str]) -> Table:
    import polars

    name = show(path)
    data = read_bytes(path)
    if not data:
        raise InputError(f"{name}: the file is empty")
    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        raise InputError(f"{name}: not a whole Parquet file")
    try:
        frame = polars.read_parquet(io.BytesIO(data))
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        raise InputError(f"{name}: bad Parquet ({str(error).splitlines()[0][:200]})") from None
    columns = {column.name: column.to_list() for column in frame.get_columns()}
    return Table(name, columns, range(1, len(frame) + 1), unit="row")


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


def _textual(cells: list[object]) -> bool:
    return any(isinstance(cell, str) and number(cell) is None for cell in cells)


def _kind(cell: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds.get(type(cell), "null" if cell is None else f"a {type(cell).__name__}")


def _listed(names: Sequence[str] | dict[str, list[object]]) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")
