"""Published datasets by name: address and sha256 ship with the package, the texts never do."""

from __future__ import annotations

from textgauge.data.catalogue.files import Entry, data_folders, entries, fetch_dataset, is_here
from textgauge.data.catalogue.load import list_published, published_pairs, published_texts

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
