"""What a description says first: copies of train, and what is worse than in real texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from textgauge.core.tabular import Row, count_of, format_cell, format_percent
from textgauge.metrics.properties.base import CorpusProperty, PropertyValue, list_properties
from textgauge.metrics.uncertainty import normal_reach
from textgauge.stats.decisions import ALPHA, better, properties_sentence
from textgauge.stats.simultaneous import difference_interval

# The properties that are spoken of, the gravest first; the others say the same in other numbers.
_SAID = {
    "near_copies": "{} of the texts are near copies of training texts",
    "unique": "{} of the texts occur once and are not training texts",
    "distinct": "{} of the texts are new and different from each other",
    "covered": "{} of the test texts have a generated text near them",
    "grammar": "{} grammar errors per word",
    "plausibility": "perplexity {}, where smaller is more plausible",
}
_PARTS = ("_precision", "_recall", "syntactic_f1")  # what F1 and near_copies say in short


def description_sentence(rows: Sequence[Row], sizes: dict[str, int]) -> str:
    """The answer of `describe`, from its rows and the number of texts of each corpus.

    >>> row = dict.fromkeys(("low", "high", "test", "train")) | {"corpus": "generated", "property": "near_copies"}
    >>> row |= {"value": 0.55, "low": 0.48, "high": 0.62, "test": 0.115}
    >>> said = description_sentence([row], {"generated": 200})
    >>> said.partition(" No other property is found to be worse")[0]
    '110 of 200 texts are near copies of train texts (55 %; test 11.5 %).'
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
        of_test = "" if usual is None else f"; test {100 * usual:.3g} %"
        are = f"{number or 'None'} of {count_of(size, 'text')} {'is a near copy' if number == 1 else 'are near copies'}"
        yield f"{are} of {'a train text' if number == 1 else 'train texts'} ({100 * copies['value']:.3g} %{of_test})."
    worse = [said for row in rows if row is not copies and (said := _worse(row))]
    if worse or any(row["low"] is not None for row in rows):
        yield properties_sentence(worse, copies_said=copies is not None)


def _worse(row: Row) -> str | None:
    against = None if row["property"].endswith(_PARTS) else row.get("worse_than")
    if against is None:
        return None
    return f"{row['property']} {format_cell(row['value'])} ({against} {format_cell(row[against])})"


def worse_than_real(
    found: Mapping[str, PropertyValue], real: Mapping[str, Mapping[str, PropertyValue]], level: float, corpora: int = 1
) -> dict[str, str]:
    """The properties that are worse than in real texts, and which ones: `test`, or `train` where test has no value.

    `real` are test and train. A property is worse where the interval of its difference lies on the worse side of 0; the
    intervals, given at `level`, are widened so that those of all properties of all `corpora` hold together at 95 %.
    """
    wanted = {known.name: known.better for known in list_properties()}
    pairs = {name: pair for name in found if wanted.get(name) and (pair := _yardstick(name, real)) is not None}
    times = normal_reach(1.0 - ALPHA / max(len(pairs) * corpora, 1)) / normal_reach(level)
    worse = {}
    for name, (against, yardstick) in pairs.items():
        low, high = difference_interval(astuple(found[name]), astuple(yardstick), times)
        if better((low, high) if wanted[name] == "lower" else (-high, -low)):
            worse[name] = against
    return worse


def _yardstick(name: str, real: Mapping[str, Mapping[str, PropertyValue]]) -> tuple[str, PropertyValue] | None:
    known = ((against, values[name]) for against, values in real.items() if name in values)
    return next((pair for pair in known if not math.isnan(pair[1].value)), None)


@dataclass(frozen=True)
class WorseThanReal:
    """A property that is worse than in real texts: in a few letters, and as a sentence."""

    corpus: str
    property: str
    shown: str
    sentence: str


def findings(rows: Sequence[Mapping[str, Any]]) -> list[WorseThanReal]:
    """What rows of `describe` show to be worse than test texts, or than train where test has no such property."""
    declared = {known.name: known for known in list_properties()}
    found = [_finding(declared[str(row["property"])], row) for row in rows if row.get("property") in _SAID]
    return sorted((one for one in found if one), key=lambda one: list(_SAID).index(one.property))


def _finding(known: CorpusProperty, row: Mapping[str, Any]) -> WorseThanReal | None:
    against = row.get("worse_than")
    if against is None:
        return None
    show = _percent if known.bounds == (0.0, 1.0) else format_cell
    value, low, high, real = (show(row[name]) for name in ("value", "low", "high", against))
    said = _SAID[known.name].format(value)
    sentence = f"{said[:1].upper()}{said[1:]} ({low} to {high}); {against} texts: {real}."
    return WorseThanReal(str(row.get("corpus") or ""), known.name, value, sentence)


def _percent(share: float) -> str:
    return format_percent(round(share, 2))
