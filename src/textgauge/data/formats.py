"""Files of texts: one table of formats (ending, reader, what it holds), and folders of texts or of a saved dataset.

Every error is an InputError of one line that names the file and the line. Lines end with LF, CRLF or CR. Any of these
files may be packed (see `textgauge.data.packing`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textgauge.core.errors import InputError, MissingExtra
from textgauge.core.limits import FILE_BYTES, TABLE_CELLS
from textgauge.data.delimited import csv_table, split_lines, tsv_table
from textgauge.data.frames import arrow_frame, columns_of, parquet_frame
from textgauge.data.packing import PACKINGS, PathLike, read_bytes, read_text, show, suffix
from textgauge.data.spreadsheet import excel_frame
from textgauge.data.tables import TextTable, kind_of_cell, sound

if TYPE_CHECKING:
    import polars


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
    """Read a file by its ending, or a folder.

    An unknown ending is plain text, one text a line, in a column named `text`. A folder holds `.txt` files, one text
    each (columns `text` and `name`), or is a dataset that Hugging Face's `save_to_disk` wrote.
    """
    if os.path.isdir(path):
        return load_folder(Path(path))
    read = format_of(path).read
    if read is None:
        raise InputError(f"{show(path)}: an {suffix(path)} file holds embeddings, not texts")
    table = read(path)
    if not table.rows:
        raise InputError(f"{table.name}: the file holds no rows")
    return table


def load_folder(folder: Path) -> TextTable:
    """The texts of a folder's `.txt` files in the order of their names, or the rows of a saved dataset."""
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    arrows = [path for path in paths if suffix(path) == ".arrow"]
    if arrows:
        return _saved_dataset(folder, arrows)
    splits = sorted(path.parent.name for path in folder.glob("*/*.arrow"))
    if splits:
        places = ", ".join(show(folder / name) for name in dict.fromkeys(splits))
        raise InputError(f"{show(folder)}: a saved dataset with splits; give one of them: {places}")
    texts = [path for path in paths if suffix(path) == ".txt"]
    if not texts:
        raise InputError(f"{show(folder)}: no .txt files in this folder; give a file, or a folder with one text a file")
    return _folder_of_texts(folder, texts)


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
    """Whether a file of a folder is one of texts, by its ending; a .json file beside texts mostly describes them."""
    found = _BY_ENDING.get(suffix(path))
    return found is not None and found.read is not None and found.ending != ".json"


def is_table(path: PathLike) -> bool:
    """Whether a file of a folder is a table with named columns, by its ending; see `holds_texts`."""
    return holds_texts(path) and format_of(path).holds == "columns"


def find_table(folder: Path, stem: str) -> Path | None:
    """The table of that name in a folder, whatever its format, packed or not."""
    known = [ending for one in FORMATS if one.holds == "columns" for ending in (one.ending, *one.others)]
    paths = (folder / f"{stem}{ending}{packed}" for packed in ("", *PACKINGS) for ending in known)
    return next((path for path in paths if path.is_file()), None)


def _plain(path: PathLike) -> TextTable:
    lines: list[object] = list(split_lines(read_text(path)))
    return TextTable(show(path), {"text": lines}, range(1, len(lines) + 1))


def _csv(path: PathLike) -> TextTable:
    return csv_table(read_text(path), show(path))


def _tsv(path: PathLike) -> TextTable:
    return tsv_table(read_text(path), show(path))


def _jsonl(path: PathLike) -> TextTable:
    return json_lines_table(split_lines(read_text(path)), show(path))


def json_lines_table(lines: Iterable[str], name: str, *, first_line: int = 1) -> TextTable:
    """The table of lines that hold a JSON object or text each; blank ones are left out."""
    numbered = [(n, line) for n, line in enumerate(lines, first_line) if line.strip()]
    records = [_record(_parsed(line, place), place) for n, line in numbered for place in (f"{name}: line {n}",)]
    return _of_records(name, records, [n for n, _ in numbered], "line")


def _json(path: PathLike) -> TextTable:
    """An array of texts or objects, an object of columns, or such an array under the only key that has an array."""
    name, text = show(path), read_text(path)
    if _is_json_lines(text):
        return json_lines_table(split_lines(text), name)
    value = _parsed(text, name)
    if isinstance(value, dict):
        lists = {key: cells for key, cells in value.items() if isinstance(cells, list)}
        columns = lists or {key: list(cells.values()) for key, cells in value.items() if isinstance(cells, dict)}
        if columns and len(columns) == len(value) and not _one_array_of_objects(columns):
            return _of_columns(name, columns)
        value = next(iter(lists.values())) if len(lists) == 1 else value
    if not isinstance(value, list):
        raise InputError(
            f"{name}: expected an array of texts or objects, or an object of columns; "
            "or write one object a line and call the file .jsonl"
        )
    records = [_record(item, f"{name}: item {n}") for n, item in enumerate(value, 1)]
    return _of_records(name, records, range(1, len(records) + 1), "item")


def _is_json_lines(text: str) -> bool:
    """Whether this is an object on the first line and more on the next, as many a .json file holds."""
    first, _, rest = text.lstrip().partition("\n")
    return first.rstrip().endswith("}") and first.startswith("{") and bool(rest.strip())


def _one_array_of_objects(columns: dict[str, list[object]]) -> bool:
    (first, *others) = columns.values()
    return not others and any(isinstance(cell, dict) for cell in first)


def _of_columns(name: str, columns: dict[str, list[object]]) -> TextTable:
    if len({len(cells) for cells in columns.values()}) > 1:
        lengths = ", ".join(f"{key!r} {len(cells)}" for key, cells in list(columns.items())[:5])
        raise InputError(f"{name}: the columns differ in length ({lengths})")
    return TextTable.of(name, columns)


def _of_records(name: str, records: Sequence[dict[str, object]], rows: Sequence[int], unit: str) -> TextTable:
    columns = {key: None for record in records for key in record}
    TABLE_CELLS.check(len(columns) * len(records), f"{name}: a table")
    return TextTable(name, {key: [record.get(key) for record in records] for key in columns}, rows, unit)


def _parsed(text: str, place: str) -> object:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{place}: JSON nested too deeply") from None
    except json.JSONDecodeError as error:
        where = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{place}: bad JSON ({error.msg}, {where})") from None
    except ValueError:
        raise InputError(f"{place}: bad JSON (a number with too many digits)") from None


def _record(value: object, place: str) -> dict[str, object]:
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected a JSON object, found {kind_of_cell(value)}")
    return value


def _by(frame_of: Callable[[bytes], polars.DataFrame]) -> Callable[[PathLike], TextTable]:
    """A reader of files whose bytes are a frame of polars."""

    def read(path: PathLike) -> TextTable:
        return _of_frames(show(path), [_frame(path, frame_of)])

    return read


def _frame(path: PathLike, frame_of: Callable[[bytes], polars.DataFrame]) -> polars.DataFrame:
    try:
        return frame_of(read_bytes(path))
    except MissingExtra as error:
        raise MissingExtra(f"{show(path)}: {error}") from None
    except InputError as error:
        raise InputError(str(error) if str(error).startswith(show(path)) else f"{show(path)}: {error}") from None


def _of_frames(name: str, frames: Sequence[polars.DataFrame]) -> TextTable:
    return TextTable(name, columns_of(frames, name), range(1, sum(map(len, frames)) + 1), unit="row")


def _saved_dataset(folder: Path, paths: Iterable[Path]) -> TextTable:
    found = list(paths)
    FILE_BYTES.check(sum(path.stat().st_size for path in found), f"{show(folder)}: a dataset")
    frames = [_frame(path, arrow_frame) for path in found]
    odd = next((path for path, frame in zip(found, frames, strict=True) if frame.columns != frames[0].columns), None)
    if odd is not None:
        raise InputError(f"{show(folder)}: {found[0].name} and {odd.name} have different columns; give one file")
    return _of_frames(show(folder), frames)


def _folder_of_texts(folder: Path, paths: Sequence[Path]) -> TextTable:
    texts: list[object] = []
    size = 0
    for path in paths:
        text = sound(read_text(path), show(path)) if path.stat().st_size else ""
        size += len(text)
        FILE_BYTES.check(size, f"{show(folder)}: texts")
        texts.append(text)
    names: list[object] = [path.name for path in paths]
    return TextTable(show(folder), {"text": texts, "name": names}, range(1, len(paths) + 1), "file")


FORMATS = (
    FileFormat(".txt", "lines", _plain),
    FileFormat(".csv", "columns", _csv),
    FileFormat(".tsv", "columns", _tsv),
    FileFormat(".jsonl", "columns", _jsonl, (".ndjson",)),
    FileFormat(".json", "columns", _json),
    FileFormat(".parquet", "columns", _by(parquet_frame)),
    FileFormat(".arrow", "columns", _by(arrow_frame), (".feather",)),
    FileFormat(".xlsx", "columns", _by(excel_frame)),
    FileFormat(".npy", "embeddings", None),
)
_BY_ENDING = {ending: one for one in FORMATS for ending in (one.ending, *one.others)}
