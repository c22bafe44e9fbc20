"""Tables that polars reads: Parquet, Arrow and spreadsheets; damage is one short error, and nothing else is printed."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import re
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textgauge.data.packing import show
from textgauge.errors import InputError, MissingExtra
from textgauge.limits import FILE_BYTES, TABLE_CELLS
from textgauge.tabular import one_line

if TYPE_CHECKING:
    import polars

_BLOCK = 2**20
_PLACE = re.compile(rb"""<(?:\w+:)?(?:c|row)\s[^<>]*?\br\s*=\s*["']([A-Za-z]{0,3})(\d{1,9})["']""")
_MOST_SAID = 200  # characters of a library's message that are repeated


def parquet_frame(data: bytes) -> polars.DataFrame:
    """The table of a Parquet file's bytes."""
    import polars

    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        raise InputError("not a whole Parquet file")

    def read() -> polars.DataFrame:
        lazy = polars.scan_parquet(io.BytesIO(data))
        rows = lazy.select(polars.len()).collect().item()  # of the footer, before any cell is unpacked
        TABLE_CELLS.check(rows * len(lazy.collect_schema()), "a table")
        return lazy.collect()

    return _read("Parquet", read)


def scan_parquet(path: Path, rows: int, column: str | None) -> Iterator[tuple[int, polars.DataFrame]]:
    """A Parquet file, some rows at a time, each with the number of rows before it; damage is named by its rows.

    All columns of it, or one of them.
    """
    import polars

    name = show(path)
    try:
        with path.open("rb") as stream:
            start = stream.read(4)
            stream.seek(-4, os.SEEK_END)
            if start != b"PAR1" or stream.read(4) != b"PAR1":
                raise InputError(f"{name}: not a whole Parquet file")
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None
    first = 0
    chosen = polars.all() if column is None else polars.col(column)
    while True:
        part = polars.scan_parquet(path).select(chosen).slice(first, rows)
        try:
            frame = _read("Parquet", part.collect)
        except InputError as error:
            raise InputError(f"{name}: rows {first + 1} to {first + rows}: {error}") from None
        if not len(frame):
            return
        yield first, frame
        first += len(frame)


def arrow_frame(data: bytes) -> polars.DataFrame:
    """The table of an Arrow file's bytes; a stream, as Hugging Face saves datasets, or a Feather file."""
    import polars

    read = polars.read_ipc if data.startswith(b"ARROW1") else polars.read_ipc_stream
    return _read("Arrow", lambda: read(io.BytesIO(data)))


def excel_frame(data: bytes) -> polars.DataFrame:
    """The first sheet of a spreadsheet's bytes."""
    import polars

    _check_spreadsheet(data)
    try:
        fastexcel = importlib.import_module("fastexcel")
    except ImportError:
        raise MissingExtra.named("an .xlsx file", "excel") from None
    try:
        return _read("spreadsheet", lambda: polars.read_excel(io.BytesIO(data), engine="calamine"))
    except fastexcel.FastExcelError as error:
        raise InputError(f"bad spreadsheet ({one_line(str(error), _MOST_SAID)})") from None


def _check_spreadsheet(data: bytes) -> None:
    """Refuse too much unpacked data, and cells so far out that the rectangle up to them does not fit in memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            FILE_BYTES.check(sum(part.file_size for part in parts.infolist()), "unpacked, a spreadsheet")
            cells = max((_rectangle(parts, part) for part in parts.infolist()), default=0)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
        raise InputError("not a whole .xlsx file") from None
    TABLE_CELLS.check(cells, "a sheet")


def _rectangle(parts: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """The number of cells from the first to the outermost row and column that a part of the file names."""
    rows = columns = 1
    rest = b""
    with cast("zipfile.ZipExtFile", parts.open(part)) as stream:
        is_xml = stream.peek(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"<", b"")
        while is_xml and (rest or stream.peek(1)):
            block = stream.read(_BLOCK)
            whole, bracket, cut = (rest + block).rpartition(b"<") if block else (rest, b"", b"")
            rest = bracket + cut
            if len(rest) > _BLOCK:  # no cell and no tag is that long
                raise InputError("bad spreadsheet (a tag without end)")
            for letters, row in set(_PLACE.findall(whole)):
                rows, columns = max(rows, int(row)), max(columns, _column_number(letters))
    return rows * columns


def _column_number(letters: bytes) -> int:
    """1 for A, 27 for AA."""
    return functools.reduce(lambda number, letter: 26 * number + letter - 64, letters.upper(), 0)


def _read(kind: str, read: Callable[[], polars.DataFrame]) -> polars.DataFrame:
    import polars

    try:
        with _without_panics():
            return read()
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        raise InputError(f"bad {kind} ({one_line(str(error), _MOST_SAID)})") from None


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
