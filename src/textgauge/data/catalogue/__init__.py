"""Published datasets by name: `NAME`, `NAME/SPLIT`, `NAME/SIDE` or `NAME/SPLIT/SIDE`.

Address and sha256 of their files ship with the package, the texts never do. Packages add datasets of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.registry import load_plugins
from textgauge.data.card import DatasetCard, LabelledTexts, TextPairs
from textgauge.data.catalogue.files import data_folders, data_table, entries, fetch, is_complete
from textgauge.data.catalogue.readers import Item, Published, catalogue_datasets

__all__ = [
    "data_folders",
    "data_table",
    "fetch_dataset",
    "is_here",
    "list_published",
    "published_pairs",
    "published_texts",
    "register_dataset",
]

GROUP = "textgauge.datasets"
_registered: dict[str, Published] = {}


def register_dataset(
    name: str,
    read: Callable[[], LabelledTexts | TextPairs],
    *,
    kind: str = "texts",
    size: int,
    about: str = "",
    licence: str = "",
    source: str = "",
) -> None:
    """Make a dataset known by its name, as those of the catalogue are; a taken name is refused.

    `kind` is "texts" or "pairs"; `read` is called when the dataset is used and gives `LabelledTexts` or `TextPairs`.
    A package calls this from a function that it names under the entry point group `textgauge.datasets`.
    """
    if kind not in ("texts", "pairs"):
        raise InputError(f"a dataset holds texts or pairs, not {kind!r}")
    if not name or set(name) & set("/:"):
        raise InputError(f"a dataset cannot be called {name!r}: its name has no slash and no colon")
    if name in _registered or any(entry.dataset == name for entry in entries()):
        raise InputError(f"a dataset named {name!r} is registered already")
    sides = ("text",) if kind == "texts" else ("left", "right")
    card = DatasetCard(name, kind, size, licence, source, about, ("all", *sides))
    _registered[name] = Published(card, ("all",), sides, lambda: _items(name, kind, read()))


def list_published() -> tuple[DatasetCard, ...]:
    """The cards of all published datasets."""
    return tuple(dataset.card for dataset in _known().values())


def fetch_dataset(dataset: str) -> list[Path]:
    """Make every file of a dataset available and give their paths; one of a plug-in has no files of ours."""
    return [] if dataset in _registered else fetch(dataset)


def is_here(dataset: str) -> bool:
    """Whether all files of a dataset are on this machine; reads no content and no network."""
    return dataset in _registered or is_complete(dataset)


def published_texts(spec: str) -> LabelledTexts:
    """The texts of a published dataset; of a dataset of pairs one side, the first if none is named."""
    dataset, splits, side = _parse(spec)
    items = [item for item in dataset.read() if item.split in splits]
    texts = tuple(item.left if side == dataset.sides[0] else item.right or "" for item in items)
    labels = tuple(item.label or item.split for item in items)
    card = dataset.card
    return LabelledTexts(texts, labels, spec, card.licence, card.source)


def published_pairs(spec: str) -> TextPairs:
    """The pairs of a published dataset, with the mean rating as grade where there are ratings."""
    dataset, splits, _ = _parse(spec)
    if dataset.card.kind != "pairs":
        raise InputError(f"dataset {dataset.card.name!r} holds single texts, not pairs")
    items = [item for item in dataset.read() if item.split in splits]
    return TextPairs(
        tuple(item.left for item in items),
        tuple(item.right or "" for item in items),
        spec,
        tuple(item.grade for item in items if item.grade is not None) or None,
        tuple(item.raters for item in items if item.raters is not None) or None,
        tuple(item.split for item in items),
        dataset.card.licence,
        dataset.card.source,
    )


def _known() -> dict[str, Published]:
    _load_plugins()
    return {**_built_in(), **_registered}


@cache
def _built_in() -> dict[str, Published]:
    return {dataset.card.name: dataset for dataset in catalogue_datasets()}


@cache
def _load_plugins() -> None:
    load_plugins(GROUP, lambda _, register: register())


def _items(name: str, kind: str, found: LabelledTexts | TextPairs) -> Iterator[Item]:
    if isinstance(found, LabelledTexts) and kind == "texts":
        for text, label in zip(found.texts, found.labels or itertools.repeat(None), strict=False):
            yield Item("all", text, label)
    elif isinstance(found, TextPairs) and kind == "pairs":
        grades, raters = found.grade or itertools.repeat(None), found.raters or itertools.repeat(None)
        for left, right, grade, rated in zip(found.left, found.right, grades, raters, strict=False):
            yield Item("all", left, right=right, grade=grade, raters=rated)
    else:
        raise InputError(f"dataset {name!r} is registered as {kind}, but reads as {type(found).__name__}")


def _parse(spec: str) -> tuple[Published, tuple[str, ...], str]:
    name, *parts = spec.split("/")
    known = _known()
    if name not in known:
        raise UnknownName.among("dataset", name, known)
    dataset = known[name]
    splits, side = dataset.splits, dataset.sides[0]
    for part in parts:
        if part in dataset.sides:
            side = part
        elif part in (*dataset.splits, *dataset.extra):
            splits = (part,)
        else:
            raise UnknownName.among(f"part of {name}", part, dataset.card.parts)
    return dataset, splits, side
