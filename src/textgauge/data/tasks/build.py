"""Turn a table into the data of a task: rows that cannot be used are left out with a note, or refused."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from textgauge.core.errors import InputError
from textgauge.data.card import take
from textgauge.data.formats import find_table, is_table, read_table
from textgauge.data.tables import TextTable, parse_number
from textgauge.data.tasks.card import (
    ClusteringTexts,
    ComparedSummaries,
    Documents,
    RatedSummaries,
    RetrievalSet,
    content_order,
)

_CHOICES = {"0": 0, "1": 1, "first": 0, "second": 1, "a": 0, "b": 1}
_TWICE = "the text of an earlier one"
_SHOWN = 5
# The columns of a file of judgements, by the names that are in use.
_QUERY = ("query-id", "query_id")
_DOCUMENT = ("corpus-id", "corpus_id", "doc_id", "document_id")
_RELEVANCE = ("score", "relevance")

_Judgement = tuple[str, str, object]


def rated_summaries(
    table: TextTable, *, document: str | None, text: str, summary: str, ratings: Mapping[str, str]
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
    rows, notes = drop_invalid(table.name, table.unit, table.rows, faults)
    kept = {aspect: tuple(column[row] for row in rows) for aspect, column in scores.items()}
    if "overall" not in kept:
        notes = (*notes, f"'overall' is the mean of {', '.join(kept)}")
        kept = {"overall": tuple(map(fmean, zip(*kept.values(), strict=True))), **kept}
    return RatedSummaries(table.name, take(ids, rows), take(texts, rows), take(summaries, rows), kept, notes)


def compared_summaries(
    table: TextTable, *, document: str | None, text: str, first: str, second: str, chosen: str
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
    rows, notes = drop_invalid(table.name, table.unit, table.rows, faults)
    picked = tuple(choices[row] for row in rows)
    return ComparedSummaries(
        table.name, take(ids, rows), take(texts, rows), take(left, rows), take(right, rows), picked, notes
    )


def documents(
    table: TextTable,
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
    rows, notes = drop_invalid(table.name, table.unit, table.rows if places is None else places, faults)
    refuse_twice(table.name, "document", take(ids, rows))
    return Documents(
        table.name, take(ids, rows), take(texts, rows), None if summaries is None else take(summaries, rows), notes
    )


def clustering_texts(table: TextTable, *, text: str, label: str) -> ClusteringTexts:
    """The labelled texts of a table; a label that occurs once is left out, fewer than two labels are refused."""
    texts = texts_of(table, text)
    labels = names_of(table, label)
    faults = {"an empty text": _blank(texts), "an empty label": _blank(labels)}
    usable = [not any(flags) for flags in zip(*faults.values(), strict=True)]
    counts = Counter(label for label, good in zip(labels, usable, strict=True) if good)
    faults["a label that occurs once"] = [counts[label] == 1 for label in labels]
    rows, notes = drop_invalid(table.name, table.unit, table.rows, faults)
    kept = take(labels, rows)
    if len(set(kept)) < 2:
        hint = f" ({'; '.join(notes)})" if notes else ""
        raise InputError(f"{table.name}: clustering needs two labels that occur twice, there is only {kept[0]!r}{hint}")
    return ClusteringTexts(table.name, take(texts, rows), kept, notes)


def read_beir(folder: str | os.PathLike[str], *, split: str | None = "test", name: str | None = None) -> RetrievalSet:
    """The retrieval set of a folder in the layout of BEIR: `corpus.jsonl`, `queries.jsonl`, `qrels`.

    The judgements are one file `qrels.csv` or a folder `qrels/SPLIT.tsv`, with the id of the query, the id of the
    document and the relevance; a file or a column `split` chooses among them, None takes all. A document reads as its
    title and its text. Each file may be packed (`.gz`).

    Relevance above 0 is relevant. Of documents with equal text the first is kept and inherits the judgements of the
    others. Duplicate ids are refused; empty documents and queries, judgements of things that are not there and queries
    without a relevant document are left out, with notes.
    """
    root = Path(folder)
    called = name or os.fspath(folder)
    texts, same, notes = _corpus(read_table(_file(root, "corpus")), called)
    queries, more = _queries(read_table(_file(root, "queries")), called)
    judged = _judgements(root, split)
    relevant, dropped = _relevant(judged, same, queries, called)
    asked, without = _answerable(queries, judged, relevant, called)
    return RetrievalSet(
        called,
        tuple(texts),
        tuple(texts.values()),
        tuple(asked),
        tuple(queries[query] for query in asked),
        {query: frozenset(relevant[query]) for query in asked},
        (*notes, *more, *dropped, *without),
    )


def _file(root: Path, stem: str) -> Path:
    found = find_table(root, stem)
    if found is None:
        raise InputError(
            f"{root}: no {stem}.jsonl or {stem}.jsonl.gz; a retrieval set is a folder in the layout of BEIR"
        )
    return found


def _corpus(table: TextTable, name: str) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """Texts by id, the id under which each document is kept, and notes."""
    ids = names_of(table, "_id")
    refuse_twice(table.name, "document", ids)
    titles = texts_of(table, "title") if "title" in table.columns else [""] * len(ids)
    texts = [f"{title} {text}".strip() for title, text in zip(titles, texts_of(table, "text"), strict=True)]
    empty = [not text for text in texts]
    twice = seen_before(texts, [bool(text) for text in texts])
    rows, notes = drop_invalid(name, "document", ids, {"no text": empty, "the text of an earlier document": twice})
    kept = {texts[row]: ids[row] for row in rows}
    same = {key: kept[text] for key, text in zip(ids, texts, strict=True) if text}
    return {ids[row]: texts[row] for row in rows}, same, notes


def _queries(table: TextTable, name: str) -> tuple[dict[str, str], tuple[str, ...]]:
    ids = names_of(table, "_id")
    refuse_twice(table.name, "query", ids)
    texts = [text.strip() for text in texts_of(table, "text")]
    rows, notes = drop_invalid(name, "query", ids, {"no text": [not text for text in texts]})
    return {ids[row]: texts[row] for row in rows}, notes


def _judgements(root: Path, split: str | None) -> list[_Judgement]:
    tables = [read_table(path) for path in _judgement_files(root, split)]
    return [row for table in tables for row in _rows(table, split)]


def _judgement_files(root: Path, split: str | None) -> list[Path]:
    single = find_table(root, "qrels")
    parts = [path for path in sorted((root / "qrels").glob(f"{split or '*'}.*")) if is_table(path)]
    if single is None and not parts:
        raise InputError(
            f"{root}: no qrels.csv, qrels.tsv or qrels/{split or 'SPLIT'}.tsv with judgements of relevance"
        )
    return parts if single is None else [single]


def _rows(table: TextTable, split: str | None) -> list[_Judgement]:
    columns = [_column(table, names) for names in (_QUERY, _DOCUMENT, _RELEVANCE)]
    query, document = (names_of(table, column) for column in columns[:2])
    rows = list(zip(query, document, table.columns[columns[2]], strict=True))
    if split is None or "split" not in table.columns:
        return rows
    splits = names_of(table, "split")
    if split not in splits:
        raise InputError(
            f"{table.name}: no judgement is in split {split!r}; there are {', '.join(sorted(set(splits)))}"
        )
    return [row for row, part in zip(rows, splits, strict=True) if part == split]


def _column(table: TextTable, names: tuple[str, ...]) -> str:
    found = [name for name in names if name in table.columns]
    return found[0] if found else table.find_column(names[0])


def _relevant(
    judged: list[_Judgement], same: dict[str, str], queries: dict[str, str], name: str
) -> tuple[dict[str, set[str]], tuple[str, ...]]:
    """The relevant documents of each query, and notes on judgements that cannot be used."""
    values = [parse_number(cell) for *_, cell in judged]
    grades = [value if value is not None else math.nan for value in values]
    faults = {
        "a relevance that is not a number": [math.isnan(grade) for grade in grades],
        "a document that is missing or empty": [document not in same for _, document, _ in judged],
        "a query that is missing or empty": [query not in queries for query, *_ in judged],
    }
    places = [f"{query}/{document}" for query, document, _ in judged]
    rows, notes = drop_invalid(name, "judgement", places, faults)
    relevant: dict[str, set[str]] = {}
    for row in rows:
        if grades[row] > 0:
            relevant.setdefault(judged[row][0], set()).add(same[judged[row][1]])
    return relevant, notes


def _answerable(
    queries: dict[str, str], judged: list[_Judgement], relevant: dict[str, set[str]], name: str
) -> tuple[list[str], tuple[str, ...]]:
    ids = list(queries)
    known = {query for query, *_ in judged}
    faults = {
        "no judgement in this split": [query not in known for query in ids],
        "no relevant document left": [query not in relevant for query in ids],
    }
    rows, notes = drop_invalid(name, "query", ids, faults)
    return [ids[row] for row in rows], notes


def texts_of(table: TextTable, column: str) -> list[str]:
    """The texts of a column; a missing one is empty."""
    return [cell or "" for cell in table.get_texts(table.find_column(column))]


def names_of(table: TextTable, column: str) -> list[str]:
    """The ids or labels of a column, numbers as they are written; a missing one is empty."""
    return ["" if cell is None else str(cell).strip() for cell in table.columns[table.find_column(column)]]


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


def _ids(table: TextTable, column: str | None, texts: list[str]) -> list[str]:
    """The ids of a column, else a number for each different text, in an order that files cannot change."""
    if column is not None:
        return names_of(table, column)
    different = list(dict.fromkeys(texts))
    numbered = {different[row]: str(n) for n, row in enumerate(content_order(0, different, ids=different), 1)}
    return [numbered[text] for text in texts]


def _numbers(table: TextTable, column: str) -> list[float]:
    """The numbers of a column, NaN where there is none."""
    values = [parse_number(cell) for cell in table.columns[table.find_column(column)]]
    return [value if value is not None and math.isfinite(value) else math.nan for value in values]


def _choices(table: TextTable, column: str, first: str, second: str) -> list[int]:
    known = _CHOICES | {first.casefold(): 0, second.casefold(): 1}
    choices = []
    for row, cell in zip(table.rows, table.columns[table.find_column(column)], strict=True):
        value = parse_number(cell)
        word = f"{value:g}" if value is not None else str(cell).strip().casefold()
        if word not in known:
            accepted = f"0 or 1, first or second, a or b, {first} or {second}"
            raise InputError(f"{table.name}: {table.unit} {row}: column {column!r} holds {cell!r}, not {accepted}")
        choices.append(known[word])
    return choices


def _blank(texts: Sequence[str]) -> list[bool]:
    return [not text.strip() for text in texts]


def drop_invalid(
    name: str, unit: str, places: Sequence[object], faults: Mapping[str, Sequence[bool]]
) -> tuple[list[int], tuple[str, ...]]:
    """The rows without fault, and a note for each kind of fault; a row counts under its first fault alone.

    >>> drop_invalid("a.csv", "row", [2, 3, 4], {"an empty summary": [False, True, False]})
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
