"""What a reader of a published dataset declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from textgauge.datasets.card import Card


@dataclass(frozen=True)
class Item:
    """One text with its label, or (where `right` is set) one pair; `split` is the part it belongs to."""

    split: str
    left: str
    label: str | None = None
    right: str | None = None
    grade: float | None = None
    raters: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Published:
    """A dataset: its card, its splits, the names of its columns of texts, and how its files are read.

    `sides` is `("text",)` for texts and two names for pairs. Splits in `extra` are read only when named.
    """

    card: Card
    splits: tuple[str, ...]
    sides: tuple[str, ...]
    read: Callable[[], Iterator[Item]]
    extra: tuple[str, ...] = ()


def published(
    name: str,
    *,
    size: int,
    about: str,
    splits: tuple[str, ...],
    read: Callable[[], Iterator[Item]],
    sides: tuple[str, ...] = ("text",),
    extra: tuple[str, ...] = (),
) -> Published:
    """Declare a dataset; licence and source are those of its files in the registry."""
    from textgauge.datasets.catalog.registry import entries_of

    first = entries_of(name)[0]
    source = "/".join(first.url.split("/")[3:5])
    kind = "texts" if sides == ("text",) else "pairs"
    parts = tuple(dict.fromkeys((*splits, *extra, *sides)))
    return Published(Card(name, kind, size, first.licence, source, about, parts), splits, sides, read, extra)
