"""Read published datasets by name: `NAME`, `NAME/SPLIT`, `NAME/SIDE` or `NAME/SPLIT/SIDE`."""

from __future__ import annotations

from functools import cache

from textgauge.data.card import Card, LabelledTexts, TextPairs
from textgauge.data.catalogue.readers import Item, Published, intent_datasets, pair_datasets
from textgauge.errors import InputError, UnknownName


@cache
def _table() -> dict[str, Published]:
    return {dataset.card.name: dataset for dataset in (*intent_datasets(), *pair_datasets())}


def list_published() -> tuple[Card, ...]:
    """The cards of all published datasets."""
    return tuple(dataset.card for dataset in _table().values())


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
        _grades(items),
        _raters(items),
        tuple(item.split for item in items),
        dataset.card.licence,
        dataset.card.source,
    )


def _parse(spec: str) -> tuple[Published, tuple[str, ...], str]:
    name, *parts = spec.split("/")
    if name not in _table():
        raise UnknownName.among("dataset", name, _table())
    dataset = _table()[name]
    splits, side = dataset.splits, dataset.sides[0]
    for part in parts:
        if part in dataset.sides:
            side = part
        elif part in (*dataset.splits, *dataset.extra):
            splits = (part,)
        else:
            raise UnknownName.among(f"part of {name}", part, dataset.card.parts)
    return dataset, splits, side


def _grades(items: list[Item]) -> tuple[float, ...] | None:
    found = tuple(item.grade for item in items if item.grade is not None)
    return found if found else None


def _raters(items: list[Item]) -> tuple[tuple[float, ...], ...] | None:
    found = tuple(item.raters for item in items if item.raters is not None)
    return found if found else None
