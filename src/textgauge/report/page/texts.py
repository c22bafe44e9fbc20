"""Single texts on a page: columns of texts side by side, what they are filtered and sorted by, and their map.

A script draws the table from packed data, so that ten thousand texts are searched at once; texts are data throughout.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textgauge.core.result import MOST_TEXTS
from textgauge.core.show import format_cell, format_count, make_printable
from textgauge.measure.single_texts import ADDS, TEXT, sort_items
from textgauge.report.page.tables import find_metric, is_number

_TELLING = 2.0  # standard errors of the log-odds from which a word is marked
_CHARACTERS, _LONGEST = 6_000_000, 1_000  # of all texts of a page, and of one
_FEW_LABELS, _SHORT = 60, 40  # of a column that texts are filtered by
_DIGITS = 5
_HEADINGS = {"nearest": "nearest in the other corpus", "nearest_train": "nearest in train"}
_HEADINGS |= {"nearest_test": "nearest in test"}
_AXES = {"x": "first principal component", "semantic": "nearness to test in meaning"}
_AXES |= {"y": "second principal component", "syntactic": "nearness to train in wording"}
_PLACES = (("x", "y"), ("semantic", "syntactic"))
_SIDES = ("source", "candidate", "slice")  # whose texts they are
_UNSEEN = frozenset({"index", "nearest_index", "passage", "passage_index", "x", "y", "kind"})

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class PageTexts:
    """The texts behind a result: packed data for the script, and what the page says of them in words.

    `choices` are the numbers that texts can be sorted by, `axes` the axes of the map, empty without one.
    """

    title: str
    about: str
    content: str
    choices: tuple[str, ...]
    axes: tuple[str, ...] = ()
    directed: bool = False


def _is_known(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def make_texts(
    title: str, columns: Columns, total: int = 0, terms: Sequence[Mapping[str, Any]] = ()
) -> PageTexts | None:
    """Return the texts of a table, by column; None where it has none. `terms` are words that separate two corpora."""
    count = min(len(next(iter(columns.values()), ())), MOST_TEXTS)
    columns = {name: list(values[:count]) for name, values in columns.items()}
    columns = {name: values for name, values in columns.items() if any(map(_is_known, values))}
    systems, metrics = sort_items(columns)
    if systems:
        shown = {name: name.removeprefix(TEXT) for name in ("reference", *(f"{TEXT}{one}" for one in systems))}
        choices = _list_item_choices(columns, systems, metrics)
    else:
        texts = [name for name, values in columns.items() if name not in _UNSEEN and _is_prose(name, values)]
        texts.sort(key=lambda name: name != "text")
        shown, choices = {name: _HEADINGS.get(name, name) for name in texts}, _list_choices(columns)
    shown = {name: heading for name, heading in shown.items() if name in columns}
    if not shown or not count:
        return None
    longest = min(_LONGEST, _CHARACTERS // (count * len(shown)))
    pool: dict[str, int] = {}

    def place(text: Any) -> int | None:
        return None if text is None else pool.setdefault(_shorten(str(text), longest), len(pool))

    sides = {"reference": _list_telling(terms, -1), "candidate": _list_telling(terms, 1)}
    axes = next((pair for pair in _PLACES if all(name in columns for name in pair)), ())
    tags = [name for name in columns if name not in shown and name not in _UNSEEN and _is_tag(name, columns[name])]
    content = {
        "texts": [{"heading": heading, "at": list(map(place, columns[name]))} for name, heading in shown.items()],
        "tags": [{"heading": name.replace("_", " "), "values": list(map(_print, columns[name]))} for name in tags],
        "choices": choices,
        "index": list(columns.get("index", range(count))),
        "passage": list(map(place, columns["passage"])) if "passage" in columns else None,
        "telling": sides if any(sides.values()) else None,
        "map": [list(map(_round, columns[name])) for name in axes] or None,
        "pool": list(pool),
    }
    what = format_count(count, "item" if systems else "text")
    more = [f"{what} of {total:,}, those that contribute most; `--atlas` writes all."] if total > count else []
    if len(shown) > 1 or any(sides.values()):
        marked = "typical of a text's corpus" if any(sides.values()) else "that the first text of a row does not have"
        copied = ", or a copied passage" if "passage" in columns else ""
        more.append(f"Marked: words {marked}{copied}.")
    return PageTexts(
        title,
        " ".join(more),
        json.dumps(content, ensure_ascii=False, separators=(",", ":")),
        tuple(str(choice["name"]) for choice in choices),
        tuple(_AXES[name] for name in axes),
        _is_directed(systems),
    )


def _list_choices(columns: Columns) -> list[dict[str, Any]]:
    """Return the numbers of single texts: what they add to metrics first, the largest ones first."""
    names = sorted(
        (name for name in columns if _is_numeric(columns[name])),
        key=lambda name: not name.startswith((ADDS, "syntactic")),
    )
    heading = {
        name: f"adds to {name.removeprefix(ADDS)}" if name.startswith(ADDS) else _AXES.get(name, name.replace("_", " "))
        for name in names
    }
    return [
        {
            "name": name.removeprefix(ADDS),
            "heading": heading[name],
            "first": "descending",
            "sort": list(map(_round, columns[name])),
        }
        for name in names
        if name not in _UNSEEN
    ]


def _list_item_choices(
    columns: Columns, systems: Sequence[str], metrics: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """Return the values of items: the change from a baseline, how far systems are apart, or those of the only one."""
    choices, nothing = [], [None] * len(next(iter(columns.values())))
    for metric, of in metrics.items():
        values = [list(map(_round, columns[of[name]])) if name in of else nothing for name in systems]
        known_metric = find_metric(metric)
        sign = 1 if known_metric is None or known_metric.closer == "larger" else -1
        known = [[value for value in line if value is not None] for line in zip(*values, strict=True)]
        choice: dict[str, Any] = {"name": metric, "heading": metric, "first": "ascending" if sign > 0 else "descending"}
        if _is_directed(systems):
            place = systems.index("candidate")
            change = [sign * (line[place] - line[1 - place]) if len(line) > 1 else None for line in known]
            choice |= {"heading": f"better by {metric}", "first": "ascending", "sort": list(map(_round, change))}
        elif len([name for name in systems if name in of]) > 1:
            spread = [_round(max(line) - min(line)) if line else None for line in known]
            choice |= {"heading": f"apart by {metric}", "first": "descending", "sort": spread}
        else:
            choice["sort"] = next(line for name, line in zip(systems, values, strict=True) if name in of)
        under = [None if name not in of else line for name, line in zip(systems, values, strict=True)]
        choices.append(choice | {"under": [None] * ("reference" in columns) + under if len(of) > 1 else None})
    return choices


def _is_directed(systems: Sequence[str]) -> bool:
    return set(systems) == {"candidate", "baseline"}


def _list_telling(terms: Sequence[Mapping[str, Any]], sign: int) -> list[str]:
    known: list[tuple[str, Any]] = [
        (str(row.get("term")).lower(), row.get("z")) for row in terms if isinstance(row, Mapping)
    ]
    return [term for term, z in known if is_number(z) and sign * z >= _TELLING and any(map(str.isalnum, term))]


def _is_prose(name: str, values: Sequence[Any]) -> bool:
    known = {value for value in values if isinstance(value, str)}
    return name in ("text", *_HEADINGS) or (len(known) > 1 and not _is_tag(name, values) and not _is_numeric(values))


def _is_tag(name: str, values: Sequence[Any]) -> bool:
    known = {value for value in values if value is not None}
    return name in _SIDES or (
        1 < len(known) <= min(_FEW_LABELS, max(len(values) // 2, 2))
        and all(isinstance(value, str | bool) for value in known)
        and max(len(str(value)) for value in known) <= _SHORT
    )


def _is_numeric(values: Sequence[Any]) -> bool:
    return any(map(is_number, values)) and all(value is None or is_number(value) for value in values)


def _round(value: Any) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if is_number(value) and math.isfinite(value) else None


def _print(value: Any) -> str | None:
    return None if value is None else format_cell(value)


def _shorten(text: str, longest: int) -> str:
    text = make_printable(text)
    return text if len(text) <= longest else f"{text[:longest]} … ({len(text) - longest:,} characters more)"
