"""Generated texts to a file: TXT (one a line), CSV or JSONL, by the ending of its name."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from textgauge.errors import InputError

Rows = Sequence[Mapping[str, Any]]


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before a long training and not after it."""
    if path.suffix not in _WRITERS:
        raise InputError(f"{path}: generated texts are written as {', '.join(_WRITERS)}")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")


def write_rows(path: Path, rows: Rows) -> None:
    """Write rows that have a `text`, whole or not at all; TXT keeps the texts alone, white space run together."""
    check_writable(path)
    new = path.with_name(f".new-{os.getpid()}-{path.name}")
    try:
        with new.open("w", encoding="utf-8", errors="surrogatepass", newline="") as stream:
            _WRITERS[path.suffix](stream, rows)
        os.replace(new, path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def _txt(stream: TextIO, rows: Rows) -> None:
    stream.writelines(" ".join(str(row["text"]).split()) + "\n" for row in rows)


def _csv(stream: TextIO, rows: Rows) -> None:
    writer = csv.DictWriter(stream, list(rows[0]) if rows else ["text"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _jsonl(stream: TextIO, rows: Rows) -> None:
    stream.writelines(json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)


_WRITERS: dict[str, Callable[[TextIO, Rows], None]] = {".txt": _txt, ".csv": _csv, ".jsonl": _jsonl}
