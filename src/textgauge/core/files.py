"""Write files and folders whole or not at all, tables as their ending says, and checksums inside files.

A sealed Parquet file stays one that every reader opens: its seal stands in front of the footer, where no column is.
A sealed JSON object has a member `checksum`. Content without a seal is from a version that wrote none, and passes; two
marks in every seal show that one was there, whatever single damage it suffered.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from textgauge.core.errors import InputError, ResourceError

if TYPE_CHECKING:
    import polars as pl

_FORMULA = re.compile(r"^[=+\-@\t\r\n＝＋－＠]")
TABLE_ENDINGS = (".txt", ".csv", ".jsonl", ".parquet")
_UNFINISHED = ".new-"  # how the names of files and folders begin that are being written
_DAY = 86_400  # seconds
_MARK = b"textgauge seal 1"
_SIZE = 16  # bytes of a digest
_TAIL = 8  # of a Parquet file: the length of the footer and PAR1
_CHECKSUM, _SEALED = "checksum", "blake2b:"  # name and begin of the member of a JSON object
_MISMATCH = "its checksum does not match"


@contextlib.contextmanager
def replace_file(path: Path, *, named_by_user: bool = True) -> Iterator[Path]:
    """Open a file next to `path` that takes its place when the block ends without an error, and else goes.

    Links of users are followed, and what is no regular file, such as /dev/stdout, is written as it is. In a run folder
    or a cache a link or pipe is no work of textgauge, and is replaced. The folder must exist; errors of the disk pass.
    """
    target = Path(os.path.realpath(path)) if named_by_user else path
    if named_by_user and target.exists() and not target.is_file():
        yield target
        return
    part = target.with_name(f"{_UNFINISHED}{uuid4().hex}.part")
    try:
        yield part
        os.replace(part, target)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


@contextlib.contextmanager
def open_scratch_folder(parent: Path) -> Iterator[Path]:
    """Make a folder in `parent` that goes when the block ends, with what killed processes left there."""
    remove_unfinished(parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix=_UNFINISHED, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def install_folder(fresh: Path, folder: Path, is_whole: Callable[[Path], bool]) -> None:
    """Rename a finished folder into place; a whole one that another process has put there meanwhile is kept."""
    for attempt in range(3):
        with contextlib.suppress(OSError):
            return os.rename(fresh, folder)
        if is_whole(folder):
            return None
        # A damaged copy is moved out of the way in one step: readers see the old folder, none, or the new one.
        with contextlib.suppress(OSError):
            os.rename(folder, fresh.parent / f"damaged-{attempt}")
    return os.rename(fresh, folder)


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed process left half-written in a folder a day ago or earlier."""
    for path in folder.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _DAY:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def write_atomically(path: Path, content: bytes | str | Callable[[Path], object]) -> Path:
    """Write a file into a folder that exists; content that is a function writes to the path it gets.

    An error of the disk becomes a `ResourceError` of one line.
    """
    check_folder(path)
    try:
        with replace_file(path) as part:
            if callable(content):
                content(part)
            else:
                part.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise ResourceError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def check_folder(path: Path) -> Path:
    """Return the path of a file to write; a folder that does not exist is refused before anything is computed."""
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}")
    return path


def check_table_path(path: Path) -> None:
    """Refuse a file that no table can be written to; called before anything is computed."""
    if path.suffix.lower() not in TABLE_ENDINGS:
        raise InputError(f"{path}: the ending must be one of {', '.join(TABLE_ENDINGS)}")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    check_folder(path)


def write_table(path: Path, table: pl.DataFrame | Sequence[Mapping[str, Any]], *, exact: bool = False) -> None:
    """Write a frame, or rows, as the ending says; `.txt` holds the column `text`, one text per line.

    A spreadsheet would run some texts of a `.csv` file as formulas: they are marked (`escape_formula`), but for
    `exact` files, which are corpora that other commands read.
    """
    import polars as pl

    check_table_path(path)
    frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table, infer_schema_length=None)
    if path.suffix.lower() == ".csv" and not exact:
        frame = frame.with_columns(pl.col(pl.String).str.replace(_FORMULA.pattern, "'$0")).rename(escape_formula)
    write: dict[str, Callable[[Path], object]] = {
        ".txt": lambda part: part.write_bytes(
            "".join(f"{' '.join(text.split())}\n" for text in frame["text"]).encode()
        ),
        ".csv": frame.write_csv,
        ".jsonl": frame.write_ndjson,
        ".parquet": frame.write_parquet,
    }
    write_atomically(path, write[path.suffix.lower()])


def escape_formula(cell: Any) -> Any:
    """Return the cell, a text that a spreadsheet would take for a formula with an apostrophe before it.

    >>> escape_formula("=1+1"), escape_formula("1+1"), escape_formula(-1)
    ("'=1+1", '1+1', -1)
    """
    return _FORMULA.sub(r"'\g<0>", cell) if isinstance(cell, str) else cell


class Damaged(ValueError):
    """Content that is not what was written."""


def seal_parquet(content: bytes) -> bytes:
    """Return a Parquet file with a digest of itself, the mark before and after it."""
    footer = len(content) - _TAIL - int.from_bytes(content[-_TAIL:-4], "little")
    return content[:footer] + _MARK + _compute_digest(content) + _MARK + content[footer:]


def unseal_parquet(content: bytes) -> bytes:
    """Return the Parquet file that was sealed.

    Two marks, looked for everywhere, tell a damaged seal from none: no single damage destroys both.
    """
    size = 2 * len(_MARK) + _SIZE
    footer = len(content) - _TAIL - int.from_bytes(content[-_TAIL:-4], "little")
    seal = content[max(footer - size, 0) : max(footer, 0)]
    whole = content[: footer - size] + content[footer:]
    if len(seal) == size and seal == _MARK + _compute_digest(whole) + _MARK:
        return whole
    if _MARK in content:
        raise Damaged(_MISMATCH)
    return content


def seal_json(content: dict[str, Any]) -> dict[str, Any]:
    """Return an object with a checksum of its other members.

    >>> unseal_json(json.dumps(seal_json({"a": 1})))
    {'a': 1}
    """
    return {**content, _CHECKSUM: _SEALED + _compute_digest(_write_canonical(content)).hex()}


def unseal_json(text: str) -> dict[str, Any]:
    """Return the object that a text holds, without its checksum; a `ValueError` where it is none, or damaged."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise Damaged("nested too deeply") from None
    if not isinstance(content, dict):
        raise Damaged("it holds no object")
    checksum = content.pop(_CHECKSUM, None)
    if checksum is None and not any(isinstance(other, str) and _SEALED in other for other in content.values()):
        return content
    if str(checksum).removeprefix(_SEALED) != _compute_digest(_write_canonical(content)).hex():
        raise Damaged(_MISMATCH)
    return content


def find_shape_error(value: Any, shape: Any, name: str = "it") -> str | None:
    """Say what of JSON content is not of a shape: types, a list of one, or an object of members with shapes.

    >>> find_shape_error({"a": [1, "2"]}, {"a": [int]})
    'an item of a is missing or of another type'
    """
    inner: list[tuple[Any, Any, str]] = []
    if isinstance(shape, dict) and isinstance(value, dict):
        inner = [(value.get(key), one, key) for key, one in shape.items()]
    elif isinstance(shape, list) and isinstance(value, list):
        inner = [(item, shape[0], f"an item of {name}") for item in value]
    elif isinstance(shape, dict | list) or not isinstance(value, shape):
        return f"{name} is missing or of another type"
    return next(filter(None, (find_shape_error(*one) for one in inner)), None)


def _write_canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=True).encode()


def _compute_digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_SIZE).digest()
