"""The files of the published datasets: where they are, what their bytes hash to, who allows what."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from textgauge.core.errors import ResourceError, UnknownName
from textgauge.data.formats import find_table
from textgauge.encode.resource_sources import download, file_sha256, offline
from textgauge.encode.resources import cache_root, make_cache_folder

SETTING = "TEXTGAUGE_DATA"


@dataclass(frozen=True)
class PublishedFile:
    """One file of a published dataset; the address is pinned to a revision."""

    dataset: str
    file: str
    url: str
    sha256: str
    size: int
    licence: str


@cache
def entries() -> tuple[PublishedFile, ...]:
    """Every file of the catalogue."""
    text = (files("textgauge.data.catalogue") / "registry.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(
        PublishedFile(row["dataset"], row["file"], row["url"], row["sha256"], int(row["bytes"]), row["licence"])
        for row in rows
    )


def entries_of(dataset: str) -> tuple[PublishedFile, ...]:
    """The files of one dataset.

    >>> [entry.file for entry in entries_of("clinc150")]
    ['data_full.json', 'domains.json']
    """
    found = tuple(entry for entry in entries() if entry.dataset == dataset)
    if not found:
        raise UnknownName.among("dataset", dataset, {entry.dataset for entry in entries()})
    return found


def data_folders() -> tuple[Path, ...]:
    """The folders named by `TEXTGAUGE_DATA`, in order."""
    return tuple(Path(os.path.expanduser(part)) for part in os.environ.get(SETTING, "").split(os.pathsep) if part)


def data_table(stem: str) -> Path | None:
    """The first table in a folder of `TEXTGAUGE_DATA` that has this path without its ending."""
    found = (find_table(folder, stem) for folder in data_folders())
    return next((path for path in found if path is not None), None)


def fetch(dataset: str) -> list[Path]:
    """The paths of all files of a dataset, downloaded where they are missing."""
    return [locate(entry) for entry in entries_of(dataset)]


def is_complete(dataset: str) -> bool:
    """Whether all files of a dataset are on this machine; reads no content and no network."""
    return all(
        any(_size(path) == entry.size for path in (*_candidates(entry), _cached(entry)))
        for entry in entries_of(dataset)
    )


def read(dataset: str, file: str) -> str:
    """The text of one file of a dataset."""
    entry = next(entry for entry in entries_of(dataset) if entry.file == file)
    return locate(entry).read_text("utf-8")


def locate(entry: PublishedFile) -> Path:
    """The path of a file with the right bytes; wrong bytes in a data folder are refused, not passed over."""
    for path in _candidates(entry):
        if path.is_file():
            return _checked(path, entry)
    cached = _cached(entry)
    if cached.is_file() and _digest(cached) == entry.sha256:
        return cached
    if offline():
        raise ResourceError(_absent(entry, "and TEXTGAUGE_OFFLINE is set"))
    try:
        make_cache_folder(cached.parent)
        download(entry.url, entry.sha256, cached)
    except (OSError, ValueError) as error:
        reason = "its bytes have changed" if isinstance(error, ValueError) else type(error).__name__
        raise ResourceError(_absent(entry, f"and {entry.url} cannot be used ({reason})")) from None
    return cached


def _candidates(entry: PublishedFile) -> list[Path]:
    return [folder / entry.dataset / entry.file for folder in data_folders()]


def _cached(entry: PublishedFile) -> Path:
    return cache_root() / "datasets" / entry.dataset / entry.file


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def _checked(path: Path, entry: PublishedFile) -> Path:
    found = _digest(path)
    if found != entry.sha256:
        raise ResourceError(
            f"{path} is not the published file: its sha256 is {found[:12]}..., the catalogue's {entry.sha256[:12]}..."
        )
    return path


def _digest(path: Path) -> str:
    state = path.stat()
    return _remembered(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _remembered(path: Path, size: int, changed: int) -> str:
    del size, changed  # part of the key only: a changed file is read again
    return file_sha256(path)


def _absent(entry: PublishedFile, reason: str) -> str:
    return (
        f"{entry.dataset}/{entry.file} is not on this machine {reason}; "
        f"put it into a folder named by {SETTING} as {entry.dataset}/{entry.file}"
    )
