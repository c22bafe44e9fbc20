"""Turn a table into the data of a task: rows that cannot be used are left out with a note, or refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from textgauge.data.tables import Table, number
from textgauge.data.tasks.card import ComparedSummaries, Documents, LabelledTexts, RatedSummaries, content_order
from textgauge.errors import InputError

_CHOICES = {"0": 0, "1": 1, "first": 0, "second": 1, "a": 0, "b": 1}
_TWICE = "the text of an earlier one"
_SHOWN = 5


def rated_summaries(
    table: Table, *, document: str | None, text: str, summary: str, ratings: Mapping[str, str]
) -> RatedSummaries:
    """Rated summaries of a table; `ratings` names the column of each aspect.

    Without `overall` among the aspects it is the mean of all of them, and a note says so.
    """
    if not ratings:
        raise InputError(f"{table.name}: name at least one column of ratings")
    texts, summaries = texts_of(table, text), texts_of(table, summary)
    ids = _ids(table, document, texts)
    scores = {aspect: _numbers(table, column) for aspect, column in ratings.items()}
    faults = {"an empty text": _blank(texts), "an empty summary": _blank(summaries), "no document id": _blank(ids)}
    for aspect, column in scores.items():
        faults[f"a rating {ratings[aspect]!r} that is not a number"] = [math.isnan(value) for value in column]
    rows, notes = sieve(table.name, table.unit, table.rows, faults)
    kept = {aspect: tuple(column[row] for row in rows) for aspect, column in scores.items()}
    if "overall" not in kept:
        notes = (*notes, f"'overall' is the mean of {', '.join(kept)}")
        kept = {"overall": tuple(map(fmean, zip(*kept.values(), strict=True))), **kept}
    return RatedSummaries(table.name, _at(ids, rows), _at(texts, rows), _at(summaries, rows), kept, notes)


def compared_summaries(
    table: Table, *, document: str | None, text: str, first: str, second: str, chosen: str
) -> ComparedSummaries:
    """Comparisons of a table; a choice that is none is refused, since a guess would be scored as an answer."""
    texts, left, right = (texts_of(table, column) for column in (text, first, second))
    ids = _ids(table, document, texts)
    choices = _choices(table, chosen, first, second)
    faults = {
        "an empty text": _blank(texts),
        "an empty summary": [a or b for a, b in zip(_blank(left), _blank(right), strict=True)],
        "no document id": _blank(ids),
        "two equal summaries": [a == b for a, b in zip(left, right, strict=True)],
    }
    rows, notes = sieve(table.name, table.unit, table.rows, faults)
    picked = tuple(choices[row] for row in rows)
    return ComparedSummaries(
        table.name, _at(ids, rows), _at(texts, rows), _at(left, rows), _at(right, rows), picked, notes
    )


def documents(
    table: Table,
    *,
    document: str | None,
    text: str,
    summary: str | None,
    places: Sequence[object] | None = None,
) -> Documents:
    """The different documents of a table; of equal texts the first is kept."""
    texts = texts_of(table, text)
    summaries = None if summary is None else texts_of(table, summary)
    ids = _ids(table, document, texts)
    faults = {"an empty text": _blank(texts), "no document id": _blank(ids)}
    if summaries is not None:
        faults["an empty summary"] = _blank(summaries)
    usable = [not any(flags) for flags in zip(*faults.values(), strict=True)]
    faults[_TWICE] = seen_before(texts, usable)
    rows, notes = sieve(table.name, table.unit, table.rows if places is None else places, faults)
    refuse_twice(table.name, "document", _at(ids, rows))
    return Documents(
        table.name, _at(ids, rows), _at(texts, rows), None if summaries is None else _at(summaries, rows), notes
    )


def labelled_texts(table: Table, *, text: str, label: str) -> LabelledTexts:
    """The labelled texts of a table; a label that occurs once is left out, fewer than two labels are refused."""
    texts = texts_of(table, text)
    labels = names_of(table, label)
    faults = {"an empty text": _blank(texts), "an empty label": _blank(labels)}
    usable = [not any(flags) for flags in zip(*faults.values(), strict=True)]
    counts = Counter(label for label, good in zip(labels, usable, strict=True) if good)
    faults["a label that occurs once"] = [counts[label] == 1 for label in labels]
    rows, notes = sieve(table.name, table.unit, table.rows, faults)
    kept = _at(labels, rows)
    if len(set(kept)) < 2:
        hint = f" ({'; '.join(notes)})" if notes else ""
        raise InputError(f"{table.name}: clustering needs two labels that occur twice, there is only {kept[0]!r}{hint}")
    return LabelledTexts(table.name, _at(texts, rows), kept, notes)


def texts_of(table: Table, column: str) -> list[str]:
    """The texts of a column; a missing one is empty."""
    return [cell or "" for cell in table.texts(table.column(column))]


def names_of(table: Table, column: str) -> list[str]:
    """The ids or labels of a column, numbers as they are written; a missing one is empty."""
    return ["" if cell is None else str(cell).strip() for cell in table.columns[table.column(column)]]


def seen_before(texts: Sequence[str], usable: Sequence[bool]) -> list[bool]:
    """Whether an earlier usable row has the same text."""
    seen: set[str] = set()
    before = []
    for text, good in zip(texts, usable, strict=True):
        before.append(good and text in seen)
        if good:
            seen.add(text)
    return before


def refuse_twice(name: str, what: str, ids: Sequence[str]) -> None:
    """Refuse ids that occur more than once."""
    twice = [key for key, count in Counter(ids).items() if count > 1]
    if twice:
        raise InputError(f"{name}: {len(twice)} {what} ids occur more than once ({', '.join(twice[:5])})")


def _ids(table: Table, column: str | None, texts: list[str]) -> list[str]:
    """The ids of a column, else a number for each different text, in an order that files cannot change."""
    if column is not None:
        return names_of(table, column)
    different = list(dict.fromkeys(texts))
    numbered = {different[row]: str(n) for n, row in enumerate(content_order(0, different, ids=different), 1)}
    return [numbered[text] for text in texts]


def _numbers(table: Table, column: str) -> list[float]:
    """The numbers of a column, NaN where there is none."""
    values = [number(cell) for cell in table.columns[table.column(column)]]
    return [value if value is not None and math.isfinite(value) else math.nan for value in values]


def _choices(table: Table, column: str, first: str, second: str) -> list[int]:
    known = _CHOICES | {first.casefold(): 0, second.casefold(): 1}
    choices = []
    for row, cell in zip(table.rows, table.columns[table.column(column)], strict=True):
        value = number(cell)
        word = f"{value:g}" if value is not None else str(cell).strip().casefold()
        if word not in known:
            accepted = f"0 or 1, first or second, a or b, {first} or {second}"
            raise InputError(f"{table.name}: {table.unit} {row}: column {column!r} holds {cell!r}, not {accepted}")
        choices.append(known[word])
    return choices


def _blank(texts: Sequence[str]) -> list[bool]:
    return [not text.strip() for text in texts]


def _at(values: Sequence[str], rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(values[row] for row in rows)


def sieve(
    name: str, unit: str, places: Sequence[object], faults: Mapping[str, Sequence[bool]]
) -> tuple[list[int], tuple[str, ...]]:
    """The rows without fault, and a note for each kind of fault; a row counts under its first fault alone.

    >>> sieve("a.csv", "row", [2, 3, 4], {"an empty summary": [False, True, False]})
    ([0, 2], ('1 of 3 rows has an empty summary: skipped (row 3)',))
    """
    left = list(range(len(places)))
    notes = []
    for fault, present in faults.items():
        bad = [row for row in left if present[row]]
        left = [row for row in left if not present[row]]
        if bad:
            notes.append(_note(unit, fault, [str(places[row]) for row in bad], len(places)))
    if not left:
        raise InputError(f"{name}: nothing is left to score; {'; '.join(notes) or f'there are no {plural(unit)}'}")
    return left, tuple(notes)


def plural(unit: str) -> str:
    """More than one of a unit.

    >>> plural("row"), plural("query")
    ('rows', 'queries')
    """
    return f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"


def _note(unit: str, fault: str, places: list[str], total: int) -> str:
    verb, units = ("has", unit) if len(places) == 1 else ("have", plural(unit))
    shown = ", ".join(places[:_SHOWN]) + (", ..." if len(places) > _SHOWN else "")
    return f"{len(places)} of {total} {plural(unit)} {verb} {fault}: skipped ({units} {shown})"
