"""Frames as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textgauge.errors import InputError, ResourceError

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".csv", ".jsonl", ".parquet", ".txt")


def check_ending(path: Path) -> None:
    """Refuse a file name whose ending is not known, before anything is computed."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: the ending must be one of {', '.join(ENDINGS)}")


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as its file's ending says; `.txt` holds the texts alone, one a line."""
    check_ending(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        match path.suffix.lower():
            case ".csv":
                frame.write_csv(path)
            case ".jsonl":
                frame.write_ndjson(path)
            case ".parquet":
                frame.write_parquet(path)
            case _:
                lines = (" ".join(text.splitlines()) + "\n" for text in frame["text"])
                path.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise ResourceError(f"cannot write {path}: {error.strerror or error}") from None
