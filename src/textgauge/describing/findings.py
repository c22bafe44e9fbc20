"""What is wrong with a generated corpus: properties that are worse than those of real texts, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textgauge.metrics.properties.base import CorpusProperty, list_properties
from textgauge.tabular import format_cell, format_percent

# The properties that are spoken of, the gravest first; the others say the same in other numbers.
_SAID = {
    "near_copies": "{} of the texts are near copies of training texts",
    "unique": "{} of the texts occur once and are not training texts",
    "distinct": "{} of the texts are new and different from each other",
    "covered": "{} of the test texts have a generated text near them",
    "grammar": "{} grammar errors per word",
    "plausibility": "perplexity {}, where smaller is more plausible",
}


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
