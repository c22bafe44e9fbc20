"""Files of texts, whole and in batches: one table of formats (ending, reader, what it holds).

A reader yields batches, each a `TextTable` that remembers where its rows stand in the file; a whole file is its batches
joined, up to one limit on size, for which a cell has 64 bytes at least. Every error is an InputError of one line that
names the file. Lines end with LF, CRLF or CR. Any of these files may be packed (see `textgauge.data.packing`).
"""

from __future__ import annotations

import csv
import glob
import importlib
import io
import itertools
import json
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError, MissingExtra, warn
from textgauge.core.settings import FILE_BYTES, TEXT_CHARACTERS, cap_size, open_stored
from textgauge.core.show import shorten_line
from textgauge.data.logs import list_logs, read_archive, read_log
from textgauge.data.packing import (
    PACKINGS,
    STDIN,
    PathLike,
    format_path,
    read_bytes,
    read_pieces,
    read_text,
    read_texts,
    split_endings,
)
from textgauge.data.pool import check_embeddings, iterate_rows
from textgauge.data.tables import TextTable, describe_cell, format_column_names, parse_number, sanitize_text

if TYPE_CHECKING:
    import polars

Reader: TypeAlias = "Callable[[PathLike, bool, str | None], Iterator[TextTable]]"
Records: TypeAlias = Iterator[tuple[int, list[str]]]  # the number of the first line, and cells

_ROWS, _FRAME_ROWS = 2**14, 2**16  # at once: of CSV and TSV, of tables that polars reads
_CELL_BYTES = 64  # in memory beside its characters: of an object and its place in a list
_NEWLINE = re.compile("\r\n|\n|\r")
_DELIMITERS = ",;\t|"
_SNIFFED_CHARACTERS, _SNIFFED_RECORDS = 2**16, 20
_LONGEST_NAME = 8  # words of a column's name
_NAMED = 3  # files in a message
_LONGEST_REASON = 200  # characters of a library's message that are repeated


@dataclass(frozen=True)
class FileFormat:
    """A kind of file: its ending (and others that mean the same), what it holds, and how it is read.

    `holds` is "columns" (a table), "lines" (one text a line) or "embeddings", which hold no texts. The reader
    gets the path, whether the whole file is wanted in memory, and a column if only one is wanted. `batches` says
    whether it can read files that do not fit in memory.
    """

    ending: str
    holds: str
    read: Reader
    others: tuple[str, ...] = ()
    batches: bool = True


def read_table(path: PathLike) -> TextTable:
    """Read a file by its ending, a folder, or the files of a glob, into memory.

    An unknown ending is plain text, one text a line, in a column named `text`. A folder holds tables, as a dataset that
    Hugging Face's `save_to_disk` wrote, or `.txt` files, one text each (columns `text` and `name`). Several tables are
    read as one, with the columns that all of them have.
    """
    if os.path.isdir(path):
        return _read_folder(Path(path))
    if not os.path.isfile(path) and is_glob(path):
        return _join_files(format_path(path), list_glob(path))
    tables, cells = list[TextTable](), 0
    for table in get_format(path).read(path, True, None):
        tables.append(table)
        _limit_cells(cells := cells + len(table.rows) * len(table.columns), path)
    if not sum(len(table.rows) for table in tables):
        raise InputError(f"{format_path(path)}: the file holds no rows")
    return TextTable.join(format_path(path), tables)


def read_batches(path: PathLike, *, column: str | None = None) -> Iterator[TextTable]:
    """Yield the rows of one file, some thousand at a time; of Parquet and Arrow files one `column` if it is named."""
    return get_format(path).read(path, False, column)


def is_glob(path: PathLike) -> bool:
    """Return True if a path stands for all files of its form."""
    return glob.has_magic(os.fspath(path)) and "://" not in os.fspath(path) and not os.path.exists(path)


def list_glob(path: PathLike) -> list[str]:
    """List the files of a glob, one at least."""
    files = sorted(file for file in glob.glob(os.fspath(path), recursive=True) if os.path.isfile(file))
    if not files:
        raise InputError(f"{format_path(path)}: no file has such a name")
    return files


def get_format(path: PathLike) -> FileFormat:
    """Return the format of a file; that of plain text where the ending is unknown.

    >>> get_format("Data.CSV.gz").ending, get_format("-").ending
    ('.csv', '.txt')
    """
    return _BY_ENDING.get(split_endings(path)[0], FORMATS[0])


def list_endings(*, embeddings: bool = False) -> list[str]:
    """List the endings of all formats, for help texts."""
    return [one.ending for one in FORMATS if embeddings or one.holds != "embeddings"]


def is_text_file(path: PathLike) -> bool:
    """Return True if a file of a folder is one of texts, by its ending; a .json file mostly describes the texts."""
    known = _BY_ENDING.get(split_endings(path)[0])
    return known is not None and known.holds != "embeddings" and known.ending != ".json"


def is_table(path: PathLike) -> bool:
    """Return True if a file of a folder is a table with named columns, by its ending; see `is_text_file`."""
    return is_text_file(path) and get_format(path).holds == "columns"


def find_table(folder: Path, stem: str) -> Path | None:
    """Find the table of that name in a folder, whatever its format, packed or not."""
    known = [ending for one in FORMATS if one.holds == "columns" for ending in (one.ending, *one.others)]
    paths = (folder / f"{stem}{ending}{packed}" for packed in ("", *PACKINGS) for ending in known)
    return next((path for path in paths if path.is_file()), None)


def read_embeddings(path: PathLike) -> NDArray[Any]:
    """Read the rows of an `.npy` file, one embedding a text.

    float32 and float64 are memory-mapped as they are; float16 becomes float32, integers and wider floats float64.
    Anything but a 2-dimensional array of finite numbers is refused in one line.
    """
    name = format_path(path)
    try:
        with open_stored(path):  # a pipe would never end
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name}: this is a folder; give a file") from None
    except Exception as error:
        # A damaged header raises whatever Python raises at a damaged literal.
        reason = shorten_line(str(error), _LONGEST_REASON)
        raise InputError(f"{name}: not an .npy file of numbers, or damaged ({reason})") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu" or array.ndim != 2 or 0 in array.shape:
        what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "an archive"
        raise InputError(f"{name}: embeddings must be a matrix of numbers (texts x numbers), not {what}")
    native = np.float32 if array.dtype.kind == "f" and array.dtype.itemsize <= 4 else np.float64
    rows: NDArray[Any] = array if array.dtype == native else array.astype(native)
    try:
        for some, block in iterate_rows(rows):
            check_embeddings(block, first=some.start)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return rows


def _refuse_embeddings(path: PathLike, *_: object) -> Iterator[TextTable]:
    raise InputError(f"{format_path(path)}: an {split_endings(path)[0]} file holds embeddings, not texts")


def _join_files(name: str, files: Sequence[PathLike]) -> TextTable:
    """Read several tables as one; the columns are those that all have."""
    tables = [read_table(file) for file in files]
    joined = TextTable.join(name, tables)
    shared = {title: cells for title, cells in joined.columns.items() if all(title in one.columns for one in tables)}
    if not shared:
        raise InputError(f"{name}: its tables have no column in common; give one of them: {_list_names(files)}")
    return replace(joined, columns=shared)


def _list_names(files: Sequence[PathLike]) -> str:
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return ", ".join(map(format_path, files[:_NAMED])) + more


def _read_folder(folder: Path) -> TextTable:
    """Read the tables of a folder, or the texts of its `.txt` files, in the order of their names."""
    name = format_path(folder)
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    arrows = [path for path in paths if split_endings(path)[0] == ".arrow"]
    texts = [path for path in paths if split_endings(path)[0] == ".txt"]
    if tables := arrows or [path for path in paths if is_table(path)]:
        if texts:
            warn(f"{name}: the tables of this folder are read, not its .txt files: {_list_names(texts)}")
        FILE_BYTES.check(sum(path.stat().st_size for path in arrows), f"{name}: a dataset")
        return _join_files(name, tables)
    if logs := list_logs(folder):
        return TextTable.join(name, [read_table(log) for log in logs])
    if splits := sorted({path.parent for path in folder.glob("*/*.arrow")}):
        places = ", ".join(map(format_path, splits))
        raise InputError(f"{name}: a saved dataset with splits; give one of them: {places}")
    if not texts:
        raise InputError(f"{name}: no .txt files in this folder; give a file, or a folder with one text a file")
    FILE_BYTES.check(sum(path.stat().st_size for path in texts), f"{name}: texts")
    cells = [sanitize_text(read_text(path), format_path(path)) if path.stat().st_size else "" for path in texts]
    columns: dict[str, list[Any]] = {"text": cells, "name": [path.name for path in texts]}
    return TextTable(name, columns, range(1, len(texts) + 1), "file")


def split_lines(text: str) -> list[str]:
    r"""Split a text at LF, CRLF or CR only; a last empty line is no line.

    >>> split_lines("a\r\nb\u2028c\n")
    ['a', 'b\u2028c']
    """
    lines = _NEWLINE.split(text) if "\r" in text else text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _read_plain(path: PathLike, whole: bool, _: str | None) -> Iterator[TextTable]:
    for number, text in read_texts(path, limited=whole):
        lines: list[Any] = split_lines(text)
        yield TextTable(format_path(path), {"text": lines}, range(number, number + len(lines)))


def _read_csv(path: PathLike, whole: bool, _: str | None) -> Iterator[TextTable]:
    texts = (text for _, text in read_texts(path, limited=whole))
    first = next(texts, "")
    lines = (line for text in itertools.chain([first], texts) for line in io.StringIO(text, newline=""))
    return _read_records(format_path(path), parse_csv(lines, format_path(path), find_delimiter(first)))


def _read_tsv(path: PathLike, whole: bool, _: str | None) -> Iterator[TextTable]:
    numbered = (pair for start, text in read_texts(path, limited=whole) for pair in enumerate(split_lines(text), start))
    records = ((number, [_unquote(cell) for cell in line.split("\t")]) for number, line in numbered if line)
    return _read_records(format_path(path), records)


def find_delimiter(text: str) -> str:
    r"""Return the comma, unless the header has one column by it and several by another, as have the first records.

    >>> find_delimiter("text;price\nfine;0,5\n"), find_delimiter("text\none; two\n")
    (';', ',')
    """
    widths = {delimiter: _count_columns(text, delimiter) for delimiter in _DELIMITERS}
    return "," if widths[","] > 1 else max(widths, key=lambda delimiter: widths[delimiter])


def _count_columns(text: str, delimiter: str) -> int:
    """Return the number of columns of the header; 1 if the records that follow have another number of fields."""
    start = text[:_SNIFFED_CHARACTERS]
    try:
        reader = csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)
        records = list(itertools.islice(reader, _SNIFFED_RECORDS))
    except csv.Error:
        return 1
    # The last record may be cut.
    widths = [len(record) for record in (records[:-1] if len(start) < len(text) else records) if record]
    return widths[0] if widths and (delimiter == "," or len(set(widths)) == 1) else 1


def parse_csv(lines: Iterable[str], name: str, delimiter: str = ",") -> Records:
    """Yield the records of lines, each with the number of its first line; blank lines are left out."""
    reader, start, most = csv.reader(lines, strict=True, delimiter=delimiter), 1, TEXT_CHARACTERS.most
    try:
        while True:
            # Python's limit of a field is one for the process: it is another one only while a record is read.
            before = csv.field_size_limit(most)
            try:
                record = next(reader, None)
            finally:
                csv.field_size_limit(before)
            if record is None:
                return
            if record:
                yield start, record
            start = reader.line_num + 1
    except csv.Error as error:
        reason = f"bad CSV ({error})"
        if "field larger" in str(error):
            reason = f"too long a text, or a quote never closed; {TEXT_CHARACTERS.advice}"
        raise InputError(f"{name}: line {start}: {reason}") from None


def _unquote(cell: str) -> str:
    """Undo quoting where the whole cell is quoted: TSV has none, yet spreadsheets quote."""
    inner = cell[1:-1]
    if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return cell


def _read_records(name: str, records: Records) -> Iterator[TextTable]:
    """Yield tables of records, of which the first is the header."""
    _, header = next(records, (0, []))
    if not header:
        raise InputError(f"{name}: the file holds no header line")
    if twice := sorted(column for column, count in Counter(header).items() if count > 1):
        raise InputError(f"{name}: the header names {format_column_names(twice)} more than once")
    is_noticed = False
    while batch := list(itertools.islice(records, cap_size(_ROWS))):
        odd = next(((line, len(cells)) for line, cells in batch if len(cells) != len(header)), None)
        if odd is not None:
            advice = " or call the file .txt if each line is a text" if len(header) == 1 else ""
            raise InputError(
                f"{name}: line {odd[0]} has {odd[1]} fields, the header {len(header)}; "
                f"put quotes around texts with a delimiter in them{advice and ','}{advice}"
            )
        columns: dict[str, list[Any]] = {
            title: [cells[place] for _, cells in batch] for place, title in enumerate(header)
        }
        is_noticed = is_noticed or _warn_of_headerless(name, columns)
        yield TextTable(name, columns, [line for line, _ in batch])


def _warn_of_headerless(name: str, columns: dict[str, list[Any]]) -> bool:
    """Warn where a name of a column reads like a cell: a number, a sentence, or a value of its own column."""
    for place, (title, cells) in enumerate(columns.items()):
        words = title.split()
        is_number = parse_number(title) is not None and title.strip() != str(place)
        is_sentence = len(words) > _LONGEST_NAME or (len(words) > 2 and title.rstrip().endswith((".", "!")))
        if words and (is_number or is_sentence or title in cells):
            warn(
                f"{name}: the first line is taken for column names, but {shorten_line(repr(title), 60)} "
                "reads like a cell; "
                "if the file has no header line, add one"
            )
            return True
    return False


def _read_json_lines(path: PathLike, whole: bool, _: str | None) -> Iterator[TextTable]:
    name, texts = format_path(path), read_texts(path, limited=whole)
    for number, text in texts:
        table = _parse_json_lines(text, name, number)
        if whole and table.unit == "sample":  # of a log, a sample of which may have lines in several pieces
            table = _parse_json_lines(text + "".join(more for _, more in texts), name)
        yield table


def _parse_json_lines(text: str, name: str, first_line: int = 1) -> TextTable:
    """Parse lines that hold a JSON object or text each; blank ones are left out."""
    numbered = [(n, line) for n, line in enumerate(split_lines(text), first_line) if line.strip()]
    records = [_check_record(_parse_json(line, f"{name}: line {n}"), f"{name}: line {n}") for n, line in numbered]
    if rows := read_log(records, name):
        return _make_table(name, rows, range(1, len(rows) + 1), "sample")
    return _make_table(name, records, [n for n, _ in numbered], "line")


def _read_json(path: PathLike, whole: bool, _: str | None) -> Iterator[TextTable]:
    """Read an array of texts or objects, an object of columns or splits, or such an array under its only such key."""
    name, text = format_path(path), read_text(path)
    _limit_cells(sum(map(text.count, ",[{")), path)
    first, _, rest = text.lstrip().partition("\n")
    if first.startswith("{") and first.rstrip().endswith("}") and rest.strip():
        yield _parse_json_lines(text, name)  # as many a .json file
        return
    value = _parse_json(text, name)
    if rows := read_log(value if isinstance(value, list) else [value], path):
        yield _make_table(name, rows, range(1, len(rows) + 1), "sample")
        return
    if isinstance(value, dict):
        lists = {key: cells for key, cells in value.items() if isinstance(cells, list)}
        columns = lists or {key: list(cells.values()) for key, cells in value.items() if isinstance(cells, dict)}
        is_wrapped = len(columns) == 1 and any(isinstance(cell, dict) for cell in next(iter(columns.values())))
        if columns and len(columns) == len(value) and not is_wrapped:
            longest = max(map(len, columns.values()))  # splits of a data set may differ in length
            yield TextTable.of(
                name, {key: [*cells, *[None] * (longest - len(cells))] for key, cells in columns.items()}
            )
            return
        value = next(iter(lists.values())) if len(lists) == 1 else value
    if not isinstance(value, list):
        raise InputError(
            f"{name}: expected an array of texts or objects, or an object of columns; "
            "or write one object a line and call the file .jsonl"
        )
    records = [_check_record(item, f"{name}: item {n}") for n, item in enumerate(value, 1)]
    yield _make_table(name, records, range(1, len(records) + 1), "item")


def _read_archive(path: PathLike, whole: bool, _: str | None) -> Iterator[TextTable]:
    rows = read_log(read_archive(path), path) or []
    yield _make_table(format_path(path), rows, range(1, len(rows) + 1), "sample")


def _limit_cells(count: int, path: PathLike) -> None:
    """Refuse more cells than fit in memory, whatever their characters."""
    FILE_BYTES.check(count * _CELL_BYTES, f"{format_path(path)}: unpacked, {count:,} cells")


def _parse_json(text: str, place: str) -> object:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{place}: JSON nested too deeply") from None
    except json.JSONDecodeError as error:
        where = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{place}: bad JSON ({error.msg}, {where})") from None
    except ValueError:
        raise InputError(f"{place}: bad JSON (a number with too many digits)") from None


def _check_record(value: object, place: str) -> dict[str, object]:
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected a JSON object, found {describe_cell(value)}")
    return value


def _make_table(name: str, records: Sequence[dict[str, object]], rows: Sequence[int], unit: str) -> TextTable:
    columns = {key: None for record in records for key in record}
    return TextTable(name, {key: [record.get(key) for record in records] for key in columns}, rows, unit)


def _scan_arrow(source: Any, _: str) -> polars.LazyFrame:
    """Scan a Feather file, or read a stream, as Hugging Face saves datasets, as a whole."""
    import polars

    head = source.getvalue()[:6] if isinstance(source, io.BytesIO) else next(read_pieces(source), b"")[:6]
    return polars.scan_ipc(source) if head == b"ARROW1" else polars.read_ipc_stream(source).lazy()


def _scan_excel(source: Any, name: str) -> polars.LazyFrame:
    """Read the first sheet of a spreadsheet."""
    import polars

    with zipfile.ZipFile(source) as parts:
        FILE_BYTES.check(sum(part.file_size for part in parts.infolist()), f"{name}: unpacked, a spreadsheet")
    try:
        importlib.import_module("fastexcel")
    except ImportError:
        raise MissingExtra(f"{name}: {MissingExtra.named('an .xlsx file', 'excel')}") from None
    return polars.read_excel(source, engine="calamine").lazy()


def _read_slices(
    kind: str, scan: Callable[[Any, str], polars.LazyFrame] | None, path: PathLike, whole: bool, column: str | None
) -> Iterator[TextTable]:
    """Yield the rows of a lazy frame in slices, or all at once; what polars cannot read is one line."""
    import polars

    name = format_path(path)
    is_file = not (whole or split_endings(path)[1] or os.fspath(path) == STDIN)
    source = Path(path) if is_file else io.BytesIO(read_bytes(path))
    first, size = 0, 2**31 if whole else cap_size(_FRAME_ROWS)
    try:
        lazy = scan(source, name) if scan else polars.scan_parquet(source)
        names = lazy.collect_schema().names()
        if whole:
            _limit_cells(lazy.select(polars.len()).collect().item() * len(names), path)
        chosen = lazy.select(column) if column in names else lazy
        while not first % size and len(frame := chosen.slice(first, size).collect()):
            FILE_BYTES.check(int(frame.estimated_size()), f"{name}: unpacked, a table")
            rows = range(first + 1, first + len(frame) + 1)
            yield TextTable(name, {title: frame[title].to_list() for title in frame.columns}, rows, "row")
            first += len(frame)
    except (InputError, MissingExtra, MemoryError):
        raise
    except (Exception, polars.exceptions.PanicException) as error:
        where = "" if not first else f"from row {first + 1} on: "
        raise InputError(f"{name}: {where}bad {kind} ({shorten_line(str(error), _LONGEST_REASON)})") from None


FORMATS = (
    FileFormat(".txt", "lines", _read_plain),
    FileFormat(".csv", "columns", _read_csv),
    FileFormat(".tsv", "columns", _read_tsv),
    FileFormat(".jsonl", "columns", _read_json_lines, (".ndjson",)),
    FileFormat(".json", "columns", _read_json, batches=False),
    FileFormat(".eval", "columns", _read_archive, batches=False),
    FileFormat(".parquet", "columns", partial(_read_slices, "Parquet", None)),
    FileFormat(".arrow", "columns", partial(_read_slices, "Arrow", _scan_arrow), (".feather", ".ipc")),
    FileFormat(".xlsx", "columns", partial(_read_slices, "spreadsheet", _scan_excel), batches=False),
    FileFormat(".npy", "embeddings", _refuse_embeddings, batches=False),
)
_BY_ENDING = {ending: one for one in FORMATS for ending in (one.ending, *one.others)}
