"""What is wrong with a generated corpus: properties that are worse than those of real texts, in sentences."""

from __future__ import annotations

import math
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
class Finding:
    """A property whose whole interval is worse than its value on real texts: in a few letters, and as a sentence."""

    corpus: str
    property: str
    shown: str
    sentence: str


def findings(rows: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What rows of `describe` show to be worse than test texts, or than train where test has no such property."""
    declared = {known.name: known for known in list_properties()}
    found = [_finding(declared[str(row["property"])], row) for row in rows if row.get("property") in _SAID]
    return sorted((one for one in found if one), key=lambda one: list(_SAID).index(one.property))


def findings_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """The answer of a description: what is worse than in real texts, the gravest first."""
    found = findings(rows)
    if not found:
        return "Nothing found that is worse than in real texts (95 %)."
    several = len({str(row.get("corpus")) for row in rows}) > 1
    return " ".join(f"{one.corpus}: {one.sentence}" if several else one.sentence for one in found)


def _finding(known: CorpusProperty, row: Mapping[str, Any]) -> Finding | None:
    value, low, high, test, train = (_number(row.get(name)) for name in ("value", "low", "high", "test", "train"))
    beside, real = ("train", train) if math.isnan(test) else ("test", test)
    if not (low > real if known.better == "lower" else high < real):
        return None
    show = _percent if known.bounds == (0.0, 1.0) else format_cell
    said = _SAID[known.name].format(show(value))
    sentence = f"{said[:1].upper()}{said[1:]} ({show(low)} to {show(high)}); {beside} texts: {show(real)}."
    return Finding(str(row.get("corpus") or ""), known.name, show(value), sentence)


def _percent(share: float) -> str:
    return format_percent(round(share, 2))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
