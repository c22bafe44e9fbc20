"""Short texts with labels: BANKING77, CLINC150, ATIS, NF-CATS."""

from __future__ import annotations

import json
from collections.abc import Iterator

from textgauge.datasets.catalog.fetch import read
from textgauge.datasets.catalog.published import Item, Published, published
from textgauge.datasets.decode import split_lines
from textgauge.datasets.tables import csv_records


def banking77() -> Iterator[Item]:
    """Questions of bank customers with 77 intents (Casanueva et al. 2020)."""
    for split in ("train", "test"):
        for text, label in _rows("banking77", f"{split}.csv"):
            yield Item(split, text, label)


def clinc150() -> Iterator[Item]:
    """Requests to an assistant with 150 intents, and out-of-scope ones labelled `oos` (Larson et al. 2019)."""
    for part, rows in json.loads(read("clinc150", "data_full.json")).items():
        split = "oos" if part.startswith("oos") else part
        for text, label in rows:
            yield Item(split, text, label)


def atis() -> Iterator[Item]:
    """Spoken questions about flights with their intents (Hemphill et al. 1990)."""
    for split in ("train", "valid", "test"):
        texts = split_lines(read("atis", f"{split}_seq.in"))
        labels = split_lines(read("atis", f"{split}_label"))
        for text, label in zip(texts, labels, strict=True):
            yield Item(split, text.strip(), label.strip())


def nfcats() -> Iterator[Item]:
    """Non-factoid questions of the web with eight categories (Bolotova et al. 2022)."""
    for split in ("train", "valid", "test"):
        for _, label, text in _rows("nfcats", f"{split}.csv"):
            yield Item(split, text, label)


def _rows(dataset: str, file: str) -> Iterator[list[str]]:
    """The records below the header."""
    records = csv_records(read(dataset, file), f"{dataset}/{file}")
    next(records)
    for _, record in records:
        yield record


def datasets() -> tuple[Published, ...]:
    """The datasets of this file."""
    three = ("train", "valid", "test")
    return (
        published(
            "banking77", size=13_083, about="bank customers, 77 intents", splits=("train", "test"), read=banking77
        ),
        published(
            "clinc150",
            size=22_500,
            about="assistant requests, 150 intents",
            splits=("train", "val", "test"),
            extra=("oos",),
            read=clinc150,
        ),
        published("atis", size=5_871, about="questions about flights, by intent", splits=three, read=atis),
        published("nfcats", size=11_984, about="non-factoid questions, by category", splits=three, read=nfcats),
    )
