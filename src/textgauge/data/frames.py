"""Tables that polars reads: Parquet, Arrow and spreadsheets; damage is one short error, and nothing else is printed."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from textgauge.data import packing
from textgauge.errors import InputError, MissingExtra
from textgauge.tabular import one_line

if TYPE_CHECKING:
    import polars

_MOST_SAID = 200  # characters of a library's message that are repeated


def parquet_frame(data: bytes) -> polars.DataFrame:
    """The table of a Parquet file's bytes."""
    import polars

    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        raise InputError("not a whole Parquet file")
    return _read("Parquet", lambda: polars.read_parquet(io.BytesIO(data)))


def arrow_frame(data: bytes) -> polars.DataFrame:
    """The table of an Arrow file's bytes; a stream, as Hugging Face saves datasets, or a Feather file."""
    import polars

    read = polars.read_ipc if data.startswith(b"ARROW1") else polars.read_ipc_stream
    return _read("Arrow", lambda: read(io.BytesIO(data)))


def excel_frame(data: bytes) -> polars.DataFrame:
    """The first sheet of a spreadsheet's bytes."""
    import polars

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            size = sum(part.file_size for part in parts.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise InputError("not a whole .xlsx file") from None
    if size > packing.MAX_BYTES:
        raise InputError(f"more than {packing.MAX_BYTES:,} bytes; take a part of it")
    try:
        fastexcel = importlib.import_module("fastexcel")
    except ImportError:
        raise MissingExtra.named("an .xlsx file", "excel") from None
    try:
        return _read("spreadsheet", lambda: polars.read_excel(io.BytesIO(data), engine="calamine"))
    except fastexcel.FastExcelError as error:
        raise InputError(f"bad spreadsheet ({one_line(str(error), _MOST_SAID)})") from None


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
