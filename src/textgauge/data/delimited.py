"""Tables with a delimiter: CSV, whose delimiter is found, and TSV; a first line that is no header is noticed."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from threading import Lock

from textgauge.core.errors import InputError, warn
from textgauge.core.limits import TEXT_CHARACTERS
from textgauge.core.tabular import one_line
from textgauge.data.tables import TextTable, listed, number

_NEWLINE = re.compile("\r\n|\n|\r")
_OTHER_DELIMITERS = ";\t|"
_SNIFFED_CHARACTERS = 2**16
_SNIFFED_RECORDS = 20
_MOST_WORDS = 8  # of a column's name


def csv_table(text: str, name: str) -> TextTable:
    """The table of a CSV text; the delimiter is `;`, tab or `|` where the header has one column by commas."""
    return _from_records(name, csv_records(text, name, delimiter=find_delimiter(text)))


def tsv_table(text: str, name: str) -> TextTable:
    """The table of a TSV text."""
    return _from_records(name, ((n, tsv_record(line)) for n, line in enumerate(split_lines(text), 1) if line))


def tsv_record(line: str) -> list[str]:
    """The cells of a line of a TSV text."""
    return [_unquoted(cell) for cell in line.split("\t")]


def split_lines(text: str) -> list[str]:
    r"""The lines of a text, ended by LF, CRLF or CR only; a last empty line is no line.

    >>> split_lines("a\r\nb\u2028c\n")
    ['a', 'b\u2028c']
    """
    lines = _NEWLINE.split(text) if "\r" in text else text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def find_delimiter(text: str) -> str:
    r"""The comma, unless the header has one column by it and several by another delimiter, as have the first records.

    >>> find_delimiter("text;price\nfine;0,5\n"), find_delimiter("text\none; two\n")
    (';', ',')
    """
    widths = {delimiter: _width(text, delimiter) for delimiter in "," + _OTHER_DELIMITERS}
    return "," if widths[","] > 1 else max(widths, key=lambda delimiter: widths[delimiter])


def _width(text: str, delimiter: str) -> int:
    """The number of columns of the header; 1 if the records that follow have another number of fields."""
    start = text[:_SNIFFED_CHARACTERS]
    try:
        with _wide_fields:
            records = list(islice(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter), _SNIFFED_RECORDS))
    except csv.Error:
        return 1
    # The last record may be cut.
    widths = [len(record) for record in (records[:-1] if len(start) < len(text) else records) if record]
    return widths[0] if widths and (delimiter == "," or len(set(widths)) == 1) else 1


def csv_records(text: str | Iterable[str], name: str, *, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV text, or of its lines, each with the number of its first line; blank lines are left out."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    reader = csv.reader(lines, strict=True, delimiter=delimiter)
    start = 1
    try:
        with _wide_fields:
            for record in reader:
                if record:
                    yield start, record
                start = reader.line_num + 1
    except csv.Error as error:
        if "field larger" in str(error):
            raise InputError(
                f"{name}: line {start}: too long a text, or a quote never closed; {TEXT_CHARACTERS.advice}"
            ) from None
        raise InputError(f"{name}: line {start}: bad CSV ({error})") from None


class _WideFields(contextlib.AbstractContextManager[None]):
    """Python's limit of a field is one for the process: the first reader raises it, the last one puts it back."""

    def __init__(self) -> None:
        self._lock, self._readers, self._before = Lock(), 0, 0

    def __enter__(self) -> None:
        with self._lock:
            before = csv.field_size_limit(TEXT_CHARACTERS.most)
            self._before = self._before if self._readers else before
            self._readers += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers:
                csv.field_size_limit(self._before)


_wide_fields = _WideFields()


def _unquoted(cell: str) -> str:
    """TSV has no quoting, yet spreadsheets quote: undo it only where the whole cell is quoted."""
    inner = cell[1:-1]
    if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return cell


def _from_records(name: str, records: Iterator[tuple[int, list[str]]]) -> TextTable:
    return records_table(name, header_of(name, records), records)


def header_of(name: str, records: Iterator[tuple[int, list[str]]]) -> list[str]:
    """The first record, if it can name columns."""
    _, header = next(records, (0, []))
    if not header:
        raise InputError(f"{name}: the file holds no header line")
    twice = sorted(column for column, times in Counter(header).items() if times > 1)
    if twice:
        raise InputError(f"{name}: the header names {listed(twice)} more than once")
    return header


def records_table(name: str, header: list[str], records: Iterable[tuple[int, list[str]]]) -> TextTable:
    """The table of records, each with the number of its line."""
    rows: list[int] = []
    cells: list[list[object]] = [[] for _ in header]
    for line, record in records:
        if len(record) != len(header):
            raise InputError(f"{name}: line {line} has {len(record)} fields, the header {len(header)}; {_help(header)}")
        rows.append(line)
        for column, cell in zip(cells, record, strict=True):
            column.append(cell)
    _notice_headerless(name, header, cells)
    return TextTable(name, dict(zip(header, cells, strict=True)), rows)


def _help(header: list[str]) -> str:
    if len(header) == 1:
        return "put quotes around texts with a delimiter in them, or call the file .txt if each line is a text"
    return "put quotes around texts with a delimiter in them"


def _notice_headerless(name: str, header: list[str], cells: list[list[object]]) -> None:
    """Warn where a name of a column reads like a cell: a number, a sentence, or a value of its own column."""
    for place, (title, column) in enumerate(zip(header, cells, strict=True)):
        if title.strip() and (_is_cell(title, place) or title in column):
            shown = one_line(repr(title), 60)
            warn(
                f"{name}: the first line is taken for column names, but {shown} reads like a cell; "
                "if the file has no header line, add one"
            )
            return


def _is_cell(title: str, place: int) -> bool:
    words = title.split()
    numeric = number(title) is not None and title.strip() != str(place)
    return numeric or len(words) > _MOST_WORDS or (len(words) > 2 and title.rstrip().endswith((".", "!")))
