"""Files of texts read in batches, for corpora larger than memory: text, CSV, TSV, JSON Lines, Parquet, Arrow.

Each batch is a `TextTable` that remembers where its rows stand in the file. Errors are those of whole files
(`textgauge.data.formats`): one line that names the file and the place.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textgauge.core.errors import InputError
from textgauge.core.limits import TEXT_CHARACTERS
from textgauge.core.sizes import capped
from textgauge.data.delimited import csv_records, find_delimiter, header_of, records_table, split_lines, tsv_record
from textgauge.data.formats import format_of, json_lines_table
from textgauge.data.frames import columns_of, scan_arrow, scan_parquet
from textgauge.data.packing import PathLike, check_text, read_pieces, show
from textgauge.data.tables import TextTable

if TYPE_CHECKING:
    import polars

Records = Iterator[tuple[int, list[str]]]  # the number of the first line, and cells
Lines = Iterator[tuple[int, list[str]]]  # the number of the first line, and lines without their ends


_BYTES, _ROWS, _TABLE_ROWS = 2**22, 2**14, 2**16  # of text, of CSV and TSV, of tables that polars reads


def has_batches(path: PathLike) -> bool:
    """Whether files of this kind can be read in batches."""
    return format_of(path).ending in (*_READERS, ".parquet", ".arrow")


def read_batches(path: PathLike, *, column: str | None = None) -> Iterator[TextTable]:
    """The rows of one file, some thousand at a time; of Parquet and Arrow files one `column` if it is named."""
    ending = format_of(path).ending
    if ending == ".parquet":
        yield from _frames(path, scan_parquet(Path(path), capped(_TABLE_ROWS), column))
    elif ending == ".arrow":
        yield from _frames(path, scan_arrow(path, capped(_TABLE_ROWS), column))
    else:
        yield from _READERS[ending](path)


def text_lines(path: PathLike) -> Lines:
    """The lines of a UTF-8 file (unpacked, without byte-order mark), some megabytes at a time."""
    number = 1
    for text in _texts(path):
        lines = split_lines(text)
        yield number, lines
        number += len(lines)


def _texts(path: PathLike) -> Iterator[str]:
    """Pieces of a file that end with a line."""
    name, number, waiting, held = show(path), 1, [b""], 0
    for data in read_pieces(path, capped(_BYTES)):
        whole, ends = b"", re.search(rb"[\r\n]", waiting[-1][-1:] + data)
        waiting.append(data)
        held += len(data)
        if ends:  # a long line in many pieces is put together once
            whole, rest = _cut(b"".join(waiting))
            waiting, held = [rest], len(rest)
        if held > 4 * TEXT_CHARACTERS.most + _BYTES:
            raise InputError(f"{name}: too long a text from line {number} on; {TEXT_CHARACTERS.advice}")
        if whole:
            yield check_text(whole, name, first_line=number)
            number += len(re.findall(rb"\r\n|\n|\r", whole))
    if held:
        yield check_text(b"".join(waiting), name, first_line=number)


def _cut(data: bytes) -> tuple[bytes, bytes]:
    """What ends with a line, and the rest; a CR at the very end may be half of a CRLF."""
    place = data.rfind(b"\n") + 1 or data.rfind(b"\r", 0, -1) + 1
    return data[:place], data[place:]


def _plain(path: PathLike) -> Iterator[TextTable]:
    for number, lines in text_lines(path):
        yield TextTable(show(path), {"text": list(lines)}, range(number, number + len(lines)))


def _jsonl(path: PathLike) -> Iterator[TextTable]:
    for number, lines in text_lines(path):
        yield json_lines_table(lines, show(path), first_line=number)


def _delimited(records: Callable[[PathLike], Records], path: PathLike) -> Iterator[TextTable]:
    """A table with a header line, from an iterator over its records."""
    name, found = show(path), records(path)
    header = header_of(name, found)
    while batch := list(itertools.islice(found, capped(_ROWS))):
        yield records_table(name, header, batch)


def _csv_records(path: PathLike) -> Records:
    texts = _texts(path)
    first = next(texts, "")
    lines = (line for text in itertools.chain([first], texts) for line in io.StringIO(text, newline=""))
    return csv_records(lines, show(path), delimiter=find_delimiter(first))


def _tsv_records(path: PathLike) -> Records:
    for number, lines in text_lines(path):
        yield from ((n, tsv_record(line)) for n, line in enumerate(lines, number) if line)


def _frames(path: PathLike, frames: Iterator[tuple[int, polars.DataFrame]]) -> Iterator[TextTable]:
    for start, frame in frames:
        yield TextTable(
            show(path), columns_of([frame], show(path)), range(start + 1, start + len(frame) + 1), unit="row"
        )


_READERS: dict[str, Callable[[PathLike], Iterator[TextTable]]] = {
    ".txt": _plain,
    ".csv": partial(_delimited, _csv_records),
    ".tsv": partial(_delimited, _tsv_records),
    ".jsonl": _jsonl,
}
