"""The first sheet of a spreadsheet, unless it is larger than it looks."""

from __future__ import annotations

import functools
import importlib
import io
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, cast

from textgauge.core.errors import InputError, MissingExtra
from textgauge.core.limits import FILE_BYTES, TABLE_CELLS
from textgauge.core.tabular import one_line
from textgauge.data.frames import MOST_SAID, read_frame
from textgauge.data.packing import check_expansion

if TYPE_CHECKING:
    import polars

_BLOCK = 2**20
_PLACE = re.compile(rb"""<(?:\w+:)?(?:c|row)\s[^<>]*?\br\s*=\s*["']([A-Za-z]{0,3})(\d{1,9})["']""")
_SHARED = re.compile(
    rb"""\bt\s*=\s*["']s["'][^<>]{0,200}>\s*<(?:\w+:)?v>(\d{1,9})<"""
)  # a cell with the number of its text
_TEXT_END, _HEAD = re.compile(rb"</(?:\w+:)?si\s*>"), 2_000


def excel_frame(data: bytes) -> polars.DataFrame:
    """The first sheet of a spreadsheet's bytes."""
    import polars

    _check_spreadsheet(data)
    try:
        fastexcel = importlib.import_module("fastexcel")
    except ImportError:
        raise MissingExtra.named("an .xlsx file", "excel") from None
    try:
        return read_frame("spreadsheet", lambda: polars.read_excel(io.BytesIO(data), engine="calamine"))
    except fastexcel.FastExcelError as error:
        raise InputError(f"bad spreadsheet ({one_line(str(error), MOST_SAID)})") from None


def _check_spreadsheet(data: bytes) -> None:
    """Refuse too much unpacked data, and cells so far out that the rectangle up to them does not fit in memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())
            FILE_BYTES.check(unpacked, "unpacked, a spreadsheet")
            check_expansion(unpacked, len(data))
            cells = max((_rectangle(parts, part) for part in parts.infolist()), default=0)
            FILE_BYTES.check(_shared_bytes(parts), "unpacked, the texts of a spreadsheet")
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


def _shared_bytes(parts: zipfile.ZipFile) -> int:
    """The bytes of the texts that the file holds once, as often as its cells have them."""
    sizes, used = list[int](), list[bytes]()
    for part in parts.infolist():
        content = parts.read(part)
        if b"sst" in content[:_HEAD]:
            sizes += map(len, _TEXT_END.split(content))
        else:
            used += _SHARED.findall(content)
    return sum(sizes[int(number)] for number in used if int(number) < len(sizes))


def _column_number(letters: bytes) -> int:
    """1 for A, 27 for AA."""
    return functools.reduce(lambda number, letter: 26 * number + letter - 64, letters.upper(), 0)
