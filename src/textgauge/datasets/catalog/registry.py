"""The files of the published datasets: where they are, what their bytes hash to, who allows what."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from textgauge.errors import UnknownName


@dataclass(frozen=True)
class Entry:
    """One file of a published dataset; the address is pinned to a revision."""

    dataset: str
    file: str
    url: str
    sha256: str
    size: int
    licence: str


@cache
def entries() -> tuple[Entry, ...]:
    """Every file of the catalogue."""
    text = (files("textgauge.datasets.catalog") / "registry.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(
        Entry(row["dataset"], row["file"], row["url"], row["sha256"], int(row["bytes"]), row["licence"]) for row in rows
    )


def entries_of(dataset: str) -> tuple[Entry, ...]:
    """The files of one dataset.

    >>> [entry.file for entry in entries_of("clinc150")]
    ['data_full.json', 'domains.json']
    """
    found = tuple(entry for entry in entries() if entry.dataset == dataset)
    if not found:
        raise UnknownName.among("dataset", dataset, {entry.dataset for entry in entries()})
    return found
