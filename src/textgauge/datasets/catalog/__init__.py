"""Published datasets by name: address and sha256 ship with the package, the texts never do."""

from __future__ import annotations

from textgauge.datasets.catalog.fetch import data_folders, fetch_dataset, is_here
from textgauge.datasets.catalog.load import list_published, published_pairs, published_texts
from textgauge.datasets.catalog.registry import Entry, entries

__all__ = [
    "Entry",
    "data_folders",
    "entries",
    "fetch_dataset",
    "is_here",
    "list_published",
    "published_pairs",
    "published_texts",
]
