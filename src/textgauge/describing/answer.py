"""What a description says first: copies of train, and what is worse than in real texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from textgauge.metrics.properties.base import list_properties
from textgauge.stats.decisions import better, properties_sentence
from textgauge.tabular import Row, count_of, format_cell

_YARDSTICKS = ("test", "train")
_PARTS = ("_precision", "_recall", "syntactic_f1")  # what F1 and near_copies say in short


def description_sentence(rows: Sequence[Row], sizes: dict[str, int]) -> str:
    """The answer of `describe`, from its rows and the number of texts of each corpus.

    A property is worse where its whole interval is on the worse side of test, or of train where test has no value.

    >>> row = dict.fromkeys(("low", "high", "test", "train")) | {"corpus": "generated", "property": "near_copies"}
    >>> row |= {"value": 0.55, "low": 0.48, "high": 0.62, "test": 0.115}
    >>> print(description_sentence([row], {"generated": 200}))
    110 of 200 texts are near copies of train texts (55 %; test 11.5 %). Nothing else is worse than in real texts.
    """
    named = len(sizes) > 1
    return " ".join(
        (f"{name}: " if named else "") + " ".join(_said([row for row in rows if row["corpus"] == name], size))
        for name, size in sizes.items()
    )


def _said(rows: Sequence[Row], size: int) -> Iterator[str]:
    copies = next((row for row in rows if row["property"] == "near_copies" and row["value"] is not None), None)
    if copies is not None:
        number, usual = round(copies["value"] * size), copies["test"]
        beside = "" if usual is None else f"; test {100 * usual:.3g} %"
        are = f"{number or 'None'} of {count_of(size, 'text')} {'is a near copy' if number == 1 else 'are near copies'}"
        yield f"{are} of {'a train text' if number == 1 else 'train texts'} ({100 * copies['value']:.3g} %{beside})."
    worse = [said for row in rows if row is not copies and (said := _worse(row))]
    if worse or any(row["low"] is not None for row in rows):
        yield properties_sentence(worse, copies_said=copies is not None)


def _worse(row: Row) -> str | None:
    against = None if row["property"].endswith(_PARTS) else worse_than(row)
    if against is None:
        return None
    return f"{row['property']} {format_cell(row['value'])} ({against} {format_cell(row[against])})"


def worse_than(row: Mapping[str, Any]) -> str | None:
    """The texts, `test` or `train`, that the whole interval of a property is worse than; None where it is not."""
    wanted = {known.name: known.better for known in list_properties()}.get(row["property"])
    against = next((name for name in _YARDSTICKS if _known(row.get(name))), None)
    if against is None or wanted is None or not all(_known(row.get(name)) for name in ("value", "low", "high")):
        return None
    low, high = row["low"] - row[against], row["high"] - row[against]
    return against if better((low, high) if wanted == "lower" else (-high, -low)) else None


def _known(value: object) -> bool:
    return isinstance(value, int | float)
