"""Files of texts: one table of formats (ending, reader, what it holds), and the bytes turned into checked text.

Every error is an InputError of one line that names the file and the line. Text is UTF-8 with or without
byte-order mark; lines end with LF, CRLF or CR. A final `.gz` is unpacked, `-` is standard input.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from textgauge.data.tables import MAX_CHARACTERS, TextTable, kind_of_cell, listed
from textgauge.errors import InputError
from textgauge.tabular import one_line

if TYPE_CHECKING:
    import polars

STDIN = "-"
# Texts are held in memory; a gibibyte of text is about ten million sentences.
MAX_BYTES = 2**30
_MOST_SAID = 200  # characters of a library's message that are repeated

_NEWLINE = re.compile("\r\n|\n|\r")
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class FileFormat:
    """A kind of file: its ending (and others that mean the same) and how it is read.

    `holds` is "columns" (a table), "lines" (one text a line) or "embeddings", which have no reader of texts.
    """

    ending: str
    holds: str
    read: Callable[[PathLike], TextTable] | None
    others: tuple[str, ...] = ()


def load_table(path: PathLike) -> TextTable:
    """Read a file by its ending; an unknown ending is plain text, one text a line, in a column named `text`."""
    if suffix(path) == ".json":
        raise InputError(f"{show(path)}: a .json file has no rows; write one object a line and call it .jsonl")
    read = format_of(path).read
    if read is None:
        raise InputError(f"{show(path)}: an {suffix(path)} file holds embeddings, not texts")
    table = read(path)
    if not table.rows:
        raise InputError(f"{table.name}: the file holds no rows")
    return table


def format_of(path: PathLike) -> FileFormat:
    """The format of a file; that of plain text where the ending is unknown.

    >>> format_of("Data.CSV.gz").ending, format_of("-").ending
    ('.csv', '.txt')
    """
    return _BY_ENDING.get(suffix(path), FORMATS[0])


def endings(*, embeddings: bool = False) -> list[str]:
    """The endings of all formats, as help texts list them."""
    return [one.ending for one in FORMATS if embeddings or one.holds != "embeddings"]


def holds_texts(path: PathLike) -> bool:
    """Whether the ending is known as one of texts."""
    found = _BY_ENDING.get(suffix(path))
    return found is not None and found.read is not None


def is_table(path: PathLike) -> bool:
    """Whether the ending is known as one of tables with named columns."""
    return suffix(path) in _BY_ENDING and format_of(path).holds == "columns"


def find_table(folder: Path, stem: str) -> Path | None:
    """The table of that name in a folder, whatever its format, packed or not."""
    known = [ending for one in FORMATS if one.holds == "columns" for ending in (one.ending, *one.others)]
    paths = (folder / f"{stem}{ending}{packed}" for packed in ("", ".gz") for ending in known)
    return next((path for path in paths if path.is_file()), None)


def suffix(path: PathLike) -> str:
    """The file's ending in lower case, without a final `.gz`: `.csv` for `Data.CSV.gz`, empty if there is none."""
    name = os.fspath(path).lower()
    return Path(name.removesuffix(".gz")).suffix


def show(path: PathLike) -> str:
    """The path as error messages print it: one line, whatever it holds."""
    name = os.fspath(path)
    return "standard input" if name == STDIN else name if name.isprintable() else repr(name)


def read_text(path: PathLike) -> str:
    """The whole of a UTF-8 text file (`.gz` unpacked, `-` for standard input), without byte-order mark."""
    name = show(path)
    data = _read_bytes(path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name}: the file is UTF-16; save it as UTF-8")
    if (place := data.find(b"\0")) >= 0:
        raise InputError(f"{name}: this is a binary file, not text (a zero byte at position {place})")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\n|\r", data[: error.start])) + 1
        byte = data[error.start]
        raise InputError(f"{name}: line {line} is not UTF-8 (byte 0x{byte:02x}); save the file as UTF-8") from None


def split_lines(text: str) -> list[str]:
    r"""The lines of a text, ended by LF, CRLF or CR only; a last empty line is no line.

    >>> split_lines("a\r\nb\u2028c\n")
    ['a', 'b\u2028c']
    """
    lines = _NEWLINE.split(text) if "\r" in text else text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


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


def _plain(path: PathLike) -> TextTable:
    lines: list[object] = list(split_lines(read_text(path)))
    return TextTable(show(path), {"text": lines}, range(1, len(lines) + 1))


def _csv(path: PathLike) -> TextTable:
    return _from_records(show(path), csv_records(read_text(path), show(path)))


def _tsv(path: PathLike) -> TextTable:
    lines = split_lines(read_text(path))
    records = ((n, [_unquoted(cell) for cell in line.split("\t")]) for n, line in enumerate(lines, 1) if line)
    return _from_records(show(path), records)


def _unquoted(cell: str) -> str:
    """TSV has no quoting, yet spreadsheets quote: undo it only where the whole cell is quoted."""
    inner = cell[1:-1]
    if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return cell


def _from_records(name: str, records: Iterator[tuple[int, list[str]]]) -> TextTable:
    _, header = next(records, (0, []))
    if not header:
        raise InputError(f"{name}: the file holds no header line")
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise InputError(f"{name}: the header names {listed(twice)} more than once")
    rows: list[int] = []
    cells: list[list[object]] = [[] for _ in header]
    for line, record in records:
        if len(record) != len(header):
            raise InputError(f"{name}: line {line} has {len(record)} fields, the header {len(header)}")
        rows.append(line)
        for column, cell in zip(cells, record, strict=True):
            column.append(cell)
    return TextTable(name, dict(zip(header, cells, strict=True)), rows)


def _jsonl(path: PathLike) -> TextTable:
    name = show(path)
    numbered = [(n, line) for n, line in enumerate(split_lines(read_text(path)), 1) if line.strip()]
    records = [_json_record(line, f"{name}: line {n}") for n, line in numbered]
    columns = {key: None for record in records for key in record}
    return TextTable(name, {key: [r.get(key) for r in records] for key in columns}, [n for n, _ in numbered])


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
        raise InputError(f"{place}: expected a JSON object, found {kind_of_cell(record)}")
    return record


def _parquet(path: PathLike) -> TextTable:
    name = show(path)
    try:
        frame = parquet_frame(_read_bytes(path))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    columns = {column.name: column.to_list() for column in frame.get_columns()}
    return TextTable(name, columns, range(1, len(frame) + 1), unit="row")


def parquet_frame(data: bytes) -> polars.DataFrame:
    """The table of a Parquet file's bytes; damage is one short error, and nothing else is printed."""
    import polars

    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        raise InputError("not a whole Parquet file")
    try:
        with _without_panics():
            return polars.read_parquet(io.BytesIO(data))
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        raise InputError(f"bad Parquet ({one_line(str(error), _MOST_SAID)})") from None


@contextlib.contextmanager
def _without_panics() -> Iterator[None]:
    """Keep what a library prints on standard error while it panics; anything else is passed on."""
    sys.stderr.flush()
    try:
        real = os.dup(2)
    except OSError:  # there is no standard error to keep clean
        yield
        return
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(real, 2)
            kept.seek(0)
            said = kept.read()
            if b"panicked at" not in said:
                os.write(real, said)
            os.close(real)


def _read_bytes(path: PathLike) -> bytes:
    """All bytes of a file, `.gz` unpacked; a missing or empty file, a folder and more than MAX_BYTES are refused."""
    name = show(path)
    try:
        if os.fspath(path) == STDIN:
            return _limited(sys.stdin.buffer, name)
        with open(path, "rb") as stream:
            if not os.fspath(path).lower().endswith(".gz"):
                return _limited(stream, name)
            with gzip.open(stream) as unpacked:
                return _limited(unpacked, name)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{name}: not a whole gzip file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {_reason(error)}") from None


def _limited(stream: BinaryIO | gzip.GzipFile, name: str) -> bytes:
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"{name}: more than {MAX_BYTES:,} bytes; take a part of it")
    if not data:
        raise InputError(f"{name}: the file is empty")
    return data


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "this is a folder; give a file"
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


FORMATS = (
    FileFormat(".txt", "lines", _plain),
    FileFormat(".csv", "columns", _csv),
    FileFormat(".tsv", "columns", _tsv),
    FileFormat(".jsonl", "columns", _jsonl, (".ndjson",)),
    FileFormat(".parquet", "columns", _parquet),
    FileFormat(".npy", "embeddings", None),
)
_BY_ENDING = {ending: one for one in FORMATS for ending in (one.ending, *one.others)}
