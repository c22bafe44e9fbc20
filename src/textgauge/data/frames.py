"""Tables that polars reads: Parquet and Arrow; damage is one short error, and nothing else is printed."""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textgauge.core.errors import InputError
from textgauge.core.limits import FILE_BYTES, TABLE_CELLS
from textgauge.core.tabular import one_line
from textgauge.data.packing import PathLike, check_expansion, packing, read_bytes, show
from textgauge.data.parquet_pages import check_pages

if TYPE_CHECKING:
    import polars

_MARK, _DICTIONARY, _BATCH = 2**32 - 1, 2, 3  # of Arrow: before a message; kinds of messages that hold rows
MOST_SAID = 200  # characters of a library's message that are repeated


def parquet_frame(data: bytes) -> polars.DataFrame:
    """The table of a Parquet file's bytes."""
    import polars

    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
        raise InputError("not a whole Parquet file")

    check_pages(memoryview(data), together=True)

    def read() -> polars.DataFrame:
        lazy = polars.scan_parquet(io.BytesIO(data))
        rows = lazy.select(polars.len()).collect().item()  # of the footer, before any cell is unpacked
        TABLE_CELLS.check(rows * len(lazy.collect_schema()), "a table")
        return lazy.collect()

    return read_frame("Parquet", read)


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
    try:
        check_pages(_mapped(path, name), together=False)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    yield from _slices("Parquet", name, lambda: polars.scan_parquet(path), rows, column)


def _slices(
    kind: str, name: str, scan: Callable[[], polars.LazyFrame], rows: int, column: str | None
) -> Iterator[tuple[int, polars.DataFrame]]:
    import polars

    first = 0
    chosen = polars.all() if column is None else polars.col(column)
    while True:
        try:
            frame = read_frame(kind, scan().select(chosen).slice(first, rows).collect)
        except InputError as error:
            raise InputError(f"{name}: rows {first + 1} to {first + rows}: {error}") from None
        if not len(frame):
            return
        yield first, frame
        first += len(frame)


def arrow_frame(data: bytes) -> polars.DataFrame:
    """The table of an Arrow file's bytes; a stream, as Hugging Face saves datasets, or a Feather file."""
    import polars

    is_file = data.startswith(b"ARROW1")
    try:
        unpacked = _check_arrow((_arrow_file if is_file else _arrow_stream)(memoryview(data)))
        check_expansion(unpacked, len(data))
    except (struct.error, IndexError, OverflowError):
        raise InputError("not a whole Arrow file") from None
    read = polars.read_ipc if is_file else polars.read_ipc_stream
    return read_frame("Arrow", lambda: read(io.BytesIO(data)))


def scan_arrow(path: PathLike, rows: int, column: str | None) -> Iterator[tuple[int, polars.DataFrame]]:
    """An Arrow file, some rows at a time, each with the number of rows before it; damage is named by its rows.

    The file is mapped, not read: a Feather file is read by rows, a stream by its own batches.
    """
    import polars

    name = show(path)
    data = memoryview(read_bytes(path) if packing(path) else _mapped(path, name))
    if bytes(data[:6]) != b"ARROW1":
        yield from _stream_batches(name, data, column)
        return
    try:
        for message in _arrow_file(data):
            _check_arrow([message])
    except (struct.error, IndexError, OverflowError):
        raise InputError(f"{name}: not a whole Arrow file") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    source = io.BytesIO(data) if packing(path) else Path(path)
    yield from _slices("Arrow", name, lambda: polars.scan_ipc(source), rows, column)


def _stream_batches(name: str, data: memoryview, column: str | None) -> Iterator[tuple[int, polars.DataFrame]]:
    """A batch is a stream of its own once schema and dictionaries stand before it."""
    import polars

    first, before = 0, list[memoryview]()
    try:
        for head, body in _arrow_stream(data):
            _check_arrow([(head, body)])
            if _Flat(head[8:]).number(1, "B") != _BATCH:
                before += head, body
                continue
            part = io.BytesIO(b"".join([*before, head, body, struct.pack("<Ii", _MARK, 0)]))
            frame = read_frame(
                "Arrow", partial(polars.read_ipc_stream, part, columns=None if column is None else [column])
            )
            yield first, frame
            first += len(frame)
    except (struct.error, IndexError, OverflowError):
        raise InputError(f"{name}: not a whole Arrow file from row {first + 1} on") from None
    except InputError as error:
        raise InputError(f"{name}: from row {first + 1} on: {error}") from None
    if not before:
        raise InputError(f"{name}: not a whole Arrow file")


def arrow_rows(path: PathLike) -> int:
    """The number of rows that the heads of an Arrow stream's batches say."""
    heads = (_Flat(head[8:]) for head, _ in _arrow_stream(memoryview(_mapped(path, show(path)))))
    return sum(head.table(2).number(0, "q") for head in heads if head.number(1, "B") == _BATCH)


def _mapped(path: PathLike, name: str) -> mmap.mmap:
    try:
        with open(path, "rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {getattr(error, 'strerror', None) or 'the file is empty (0 bytes)'}") from None


def _check_arrow(messages: Iterable[tuple[memoryview, memoryview]]) -> int:
    """Refuse parts that say they are longer than the file, or unpack to too much: polars ends the process at them.

    Gives the number of bytes that all unpack to.
    """
    cells = unpacked = 0
    for head, body in messages:
        mark, length = struct.unpack_from("<Ii", head)
        message = _Flat(head[8:] if mark == _MARK else head[4:])
        if message.number(3, "q") != len(body) or (mark == _MARK and length != len(head) - 8):
            raise InputError("not a whole Arrow file")
        kind = message.number(1, "B")
        if kind in (_DICTIONARY, _BATCH):
            batch = message.table(2) if kind == _BATCH else message.table(2).table(1)
            cells += sum(first for first, _ in batch.structs(1, "qq"))
            unpacked += sum(_unpacked_size(body, *part, packed=batch.has(3)) for part in batch.structs(2, "qq"))
    TABLE_CELLS.check(cells, "a table")
    FILE_BYTES.check(unpacked, "unpacked, a table")
    return unpacked


def _arrow_stream(data: memoryview) -> Iterator[tuple[memoryview, memoryview]]:
    """Head and body of each message, which follow each other."""
    place = 0
    while place + 8 <= len(data):
        mark, length = struct.unpack_from("<Ii", data, place)
        if mark != _MARK or length <= 0:
            return
        start = place + 8 + length
        place = start + _Flat(data[place + 8 : start]).number(3, "q")
        yield data[start - length - 8 : start], data[start:place]


def _arrow_file(data: memoryview) -> Iterator[tuple[memoryview, memoryview]]:
    """Head and body of each message, which are listed at the end."""
    (length,) = struct.unpack_from("<i", data, len(data) - 10)
    footer = _Flat(data[len(data) - 10 - length : -10])
    for first, head, body in [*footer.structs(2, "qi4xq"), *footer.structs(3, "qi4xq")]:
        start, end = first + head, first + head + body
        if not 0 <= first <= start <= end <= len(data):
            raise InputError("not a whole Arrow file")
        yield data[first:start], data[start:end]


def _unpacked_size(body: memoryview, start: int, length: int, *, packed: bool) -> int:
    if not 0 <= start <= start + length <= len(body):
        raise InputError("not a whole Arrow file")
    if not packed or not length:
        return length
    (size,) = struct.unpack_from("<q", body, start)
    return length if size < 0 else int(size)


class _Flat:
    """A table of a flatbuffer: as much of that format as the heads of Arrow messages need."""

    def __init__(self, data: memoryview, place: int | None = None) -> None:
        self.data = data
        self.place = self._at(0, "I") if place is None else place

    def _at(self, place: int, kind: str) -> int:
        if place < 0:
            raise IndexError
        return int(struct.unpack_from(f"<{kind}", self.data, place)[0])

    def _field(self, number: int) -> int:
        """Where a field stands; 0 where it is left out."""
        fields = self.place - self._at(self.place, "i")
        offset = self._at(fields + 4 + 2 * number, "H") if 4 + 2 * number < self._at(fields, "H") else 0
        return offset and self.place + offset

    def has(self, number: int) -> bool:
        """Whether a field is there."""
        return self._field(number) > 0

    def number(self, number: int, kind: str) -> int:
        """A number of a field, 0 by default."""
        place = self._field(number)
        return place and self._at(place, kind)

    def table(self, number: int) -> _Flat:
        """A table that is a field."""
        place = self._field(number)
        return _Flat(self.data, place + self._at(place, "I"))

    def structs(self, number: int, kinds: str) -> list[tuple[int, ...]]:
        """A list of some whole numbers each; nothing where it is left out."""
        place, size = self._field(number), struct.calcsize(f"<{kinds}")
        start = place and place + self._at(place, "I")
        count = place and self._at(start, "I")
        return list(struct.iter_unpack(f"<{kinds}", self.data[start + 4 : start + 4 + size * count]))


def columns_of(frames: Sequence[polars.DataFrame], name: str) -> dict[str, list[Any]]:
    """The cells of frames by column, unless they are too many bytes of text.

    A file may hold a text once that thousands of rows have; a list holds it as often.
    """
    size = sum(_text_bytes(column) for frame in frames for column in frame)
    FILE_BYTES.check(size, f"{name}: unpacked, a table")
    return {title: [cell for frame in frames for cell in frame[title].to_list()] for title in frames[0].columns}


def _text_bytes(column: polars.Series) -> int:
    import polars

    kind = column.dtype
    if isinstance(kind, polars.List | polars.Array):
        return _text_bytes(column.explode())
    if isinstance(kind, polars.Struct):
        return sum(map(_text_bytes, column.struct.unnest()))
    if isinstance(kind, polars.Categorical | polars.Enum):
        counts = column.alias("text").value_counts()
        return int((_lengths(counts["text"].cast(polars.String)) * counts["count"]).sum())
    return int(_lengths(column).sum()) if isinstance(kind, polars.String | polars.Binary) else 0


def _lengths(column: polars.Series) -> polars.Series:
    import polars

    found = column.bin.size() if isinstance(column.dtype, polars.Binary) else column.str.len_bytes()
    return found.cast(polars.UInt64)


def read_frame(kind: str, read: Callable[[], polars.DataFrame]) -> polars.DataFrame:
    """What a function of polars reads; its errors are one line."""
    import polars

    try:
        with _without_panics():
            return read()
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        raise InputError(f"bad {kind} ({one_line(str(error), MOST_SAID)})") from None


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
