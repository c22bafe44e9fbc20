"""Data for the tasks of a benchmark of pair metrics: summaries with judgements, documents, texts with labels.

Each is read from a path, a table in memory, `sample:NAME`, or the name of a set that a package registered. Rows that
cannot be used are left out with a note, or refused. Every `draw` takes rows in the order of a hash of their content and
the seed, so the order of a file, and what else is in it, cannot change which of two rows comes first.

The sentences of the samples are written for this package (CC0), and read like any table. The articles are news, with
summaries that state the gist in other words. The rated ones are: good; wrong, with one of four facts changed; thin,
which says too little; jumbled, with its words in disorder; and one of an article on another topic. Sets for retrieval
are in `textgauge.data.folders`.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any, Self, TypeVar

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.registry import Registry
from textgauge.data.datasets import DATASETS
from textgauge.data.formats import read_table
from textgauge.data.samples import FOLDER, PREFIX, sample
from textgauge.data.source import is_path
from textgauge.data.tables import AlignedColumns, TextTable, parse_number

Spec = str | os.PathLike[str] | TextTable
Read = Callable[..., Any]
D = TypeVar("D", bound=AlignedColumns)

ARTICLES, INTENTS = "sample:articles", "sample:intents"
_ASPECTS = ("overall", "accuracy", "coverage", "coherence")
_CHOICES = {"0": 0, "1": 1, "first": 0, "second": 1, "a": 0, "b": 1}
_MOST_PLACES = 5  # that a note names


@dataclass(frozen=True)
class RatedSummaries(AlignedColumns):
    """Summaries of texts with ratings by people, larger is better; `overall` is always among the ratings."""

    name: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    summaries: tuple[str, ...]
    ratings: Mapping[str, tuple[float, ...]]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if "overall" not in self.ratings:
            raise InputError(f"{self.name}: no rating is called 'overall'; there are {', '.join(self.ratings)}")

    def draw(self, n: int, seed: int = 0) -> Self:
        """Draw at most `n` of the rated summaries without replacement."""
        scores = [repr(row) for row in zip(*self.ratings.values(), strict=True)]
        return self.take(order_by_content(seed, self.texts, self.summaries, scores, ids=self.documents, n=n))


@dataclass(frozen=True)
class ComparedSummaries(AlignedColumns):
    """Two summaries of a text; `chosen` is 0 where people preferred the first, 1 where they preferred the second."""

    name: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    chosen: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def draw(self, n: int, seed: int = 0) -> Self:
        """Draw at most `n` of the comparisons without replacement."""
        choices = list(map(str, self.chosen))
        return self.take(order_by_content(seed, self.texts, self.first, self.second, choices, ids=self.documents, n=n))


@dataclass(frozen=True)
class Documents(AlignedColumns):
    """Different texts, each with its own id; `summaries`, where there are any, has one summary for each."""

    name: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    summaries: tuple[str, ...] | None
    notes: tuple[str, ...] = ()

    def draw(self, n: int, seed: int = 0) -> Self:
        """Draw at most `n` of the documents without replacement.

        >>> Documents("letters", ("1", "2", "3"), ("a", "b", "c"), None).draw(2, seed=1).texts
        ('c', 'b')
        """
        return self.take(order_by_content(seed, self.texts, ids=self.documents, n=n))


@dataclass(frozen=True)
class ClusteringTexts(AlignedColumns):
    """Texts with one label each; every label occurs twice or more."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def draw(self, n: int, seed: int = 0) -> Self:
        """Draw at most `n` of the texts without replacement: `n`, or one fewer, since no label may occur once."""
        counts: Counter[str] = Counter()
        rows, size = [], 0
        for row in order_by_content(seed, self.texts, ids=self.labels):
            label = self.labels[row]
            size += {0: 0, 1: 2}.get(counts[label], 1)
            if size > n:
                break
            counts[label] += 1
            rows.append(row)
        rows = [row for row in rows if counts[self.labels[row]] > 1]
        labels = {self.labels[row] for row in rows}
        if len(labels) < 2:
            raise InputError(f"{self.name}: {n} texts hold {len(labels)} labels that occur twice; ask for more texts")
        return self.take(rows)


def order_by_content(seed: int, *columns: Sequence[str], ids: Sequence[str], n: int | None = None) -> list[int]:
    """Return the rows, or the first `n`, in the order of a hash of seed and content, which no order of rows can change.

    Ids decide between rows of equal content only, since they may have been given by the order of a file.
    """
    if n is not None and n < 1:
        raise InputError(f"at least one must be drawn, not {n}")
    rows = zip(*columns, strict=True)
    keys = [hashlib.blake2b("\0".join((str(seed), *row)).encode("utf-8", "surrogatepass")).digest() for row in rows]
    return sorted(range(len(keys)), key=lambda row: (keys[row], ids[row]))[:n]


def load_rated_summaries(
    spec: Spec,
    *,
    document: str | None = None,
    text: str = "text",
    summary: str = "summary",
    ratings: Sequence[str] | Mapping[str, str] = ("overall",),
) -> RatedSummaries:
    """Load summaries with ratings, one a row; `ratings` names columns, or gives the column of each aspect.

    Without a column of document ids, equal texts are one document; without `overall` among the aspects it is the mean
    of all of them. Rows with an empty text or summary, or a rating that is not a number, are left out with a note.

    >>> len(load_rated_summaries("sample:articles"))
    400
    """
    if (reader := find_reader(spec, "rated")) is not None:
        return reader()  # type: ignore[no-any-return]
    rows = _Rows(spec)
    columns = dict(ratings) if isinstance(ratings, Mapping) else {name: name for name in ratings}
    if not columns:
        raise InputError(f"{rows.table.name}: name at least one column of ratings")
    texts, summaries = rows.get_texts(text, "an empty text"), rows.get_texts(summary, "an empty summary")
    ids = rows.get_ids(document, texts)
    scores = {aspect: rows.get_numbers(column) for aspect, column in columns.items()}
    notes: tuple[str, ...] = ()
    if "overall" not in scores:
        notes = (f"'overall' is the mean of {', '.join(scores)}",)
        scores = {"overall": tuple(map(fmean, zip(*scores.values(), strict=True))), **scores}
    return rows.drop_faults(RatedSummaries(rows.table.name, ids, texts, summaries, scores, notes))


def load_compared_summaries(
    spec: Spec,
    *,
    document: str | None = None,
    text: str = "text",
    first: str = "first",
    second: str = "second",
    chosen: str = "chosen",
) -> ComparedSummaries:
    """Load two summaries of a text and which people chose: 0 or 1, first or second, a or b, or the column's name.

    Any other choice is refused, since a guess would be scored as an answer; rows with an empty text, or with equal
    summaries, are left out with a note.
    """
    if (reader := find_reader(spec, "comparisons")) is not None:
        return reader()  # type: ignore[no-any-return]
    rows = _Rows(spec)
    texts = rows.get_texts(text, "an empty text")
    left, right = (get_texts(rows.table, column) for column in (first, second))
    rows.faults["an empty summary"] = [not (a.strip() and b.strip()) for a, b in zip(left, right, strict=True)]
    ids = rows.get_ids(document, texts)
    choices = _get_choices(rows.table, chosen, first, second)
    rows.faults["two equal summaries"] = [a == b for a, b in zip(left, right, strict=True)]
    return rows.drop_faults(ComparedSummaries(rows.table.name, ids, texts, left, right, choices))


def load_documents(
    spec: Spec, *, document: str | None = None, text: str = "text", summary: str | None = None
) -> Documents:
    """Load documents of a table, a TXT file (one a line) or a folder of TXT files, with summaries if a column is named.

    Samples and published sets bring the summaries they have. Empty texts and summaries, and all but the first of
    equal texts, are left out with a note.
    """
    if (reader := find_reader(spec, "documents")) is not None:
        data: Documents = reader()
        if summary is not None and data.summaries is None:
            raise InputError(f"{data.name} has no summaries")
        return data
    rows = _Rows(spec)
    if rows.table.unit == "file":
        if summary is not None:
            advice = "give a table with a column of summaries"
            raise InputError(f"{rows.table.name}: a folder of texts has no summaries; {advice}")
        document, text, rows.places = "name", "text", rows.table.columns["name"]
    texts = rows.get_texts(text, "an empty text")
    ids = rows.get_ids(document, texts)
    summaries = None if summary is None else rows.get_texts(summary, "an empty summary")
    rows.faults["the text of an earlier one"] = find_repeats(texts, rows.find_usable())
    data = rows.drop_faults(Documents(rows.table.name, ids, texts, summaries))
    check_unique(data.name, "document", data.documents)
    return data


def load_labelled(spec: Spec, *, text: str = "text", label: str = "label") -> ClusteringTexts:
    """Load texts with a label each; a label that occurs once is left out with a note, fewer than two are refused."""
    if (reader := find_reader(spec, "labelled")) is not None:
        return reader()  # type: ignore[no-any-return]
    rows = _Rows(spec)
    texts, labels = rows.get_texts(text, "an empty text"), get_names(rows.table, label)
    rows.faults["an empty label"] = [not label for label in labels]
    counts = Counter(label for label, is_usable in zip(labels, rows.find_usable(), strict=True) if is_usable)
    rows.faults["a label that occurs once"] = [counts[label] == 1 for label in labels]
    data = rows.drop_faults(ClusteringTexts(rows.table.name, texts, labels))
    if len(set(data.labels)) < 2:
        hint = f" ({'; '.join(data.notes)})" if data.notes else ""
        only = data.labels[0]
        raise InputError(f"{data.name}: clustering needs two labels that occur twice, there is only {only!r}{hint}")
    return data


def register_task_data(name: str, **readers: Read) -> None:
    """Make a set known by its name to `run` and to the loaders of task data; a taken name is refused.

    Each of `readers` is named after the argument of `run` that it serves (rated, comparisons, documents, labelled,
    beir) and returns what the loader returns; that of `beir` takes the split. A package calls this from the function
    that it names under the entry point group `textgauge.datasets`.
    """
    for kind, read in readers.items():
        if kind not in _READERS:
            raise UnknownName.among("kind of task data", kind, _READERS)
        _READERS[kind].register(read, name)


def find_reader(spec: Spec, kind: str) -> Read | None:
    """Return the reader of a sample or a registered set, None for a path or table; a file wins over a set."""
    if isinstance(spec, TextTable):
        return None
    name, readers = os.fspath(spec), _READERS[kind]
    if kind == "labelled" and name.startswith(PREFIX) and name not in readers:
        return partial(_load_sample, name)
    if not name.startswith(PREFIX):
        DATASETS.load()
        if os.path.isfile(name) or (name not in readers and is_path(name)):
            return None
    return readers[name]


def _read_sample(name: str, file: str) -> TextTable:
    return replace(read_table(FOLDER / f"{file}.csv.gz"), name=name)


def _load_sample(name: str) -> ClusteringTexts:
    corpus = sample(name)
    return load_labelled(TextTable.of(corpus.name, {"text": corpus.texts, "label": corpus.labels or ()}))


_SAMPLES: dict[str, dict[str, Read]] = {
    "rated": {
        ARTICLES: lambda: load_rated_summaries(
            _read_sample(ARTICLES, "articles-rated"), document="document", ratings=_ASPECTS
        )
    },
    "comparisons": {
        ARTICLES: lambda: load_compared_summaries(_read_sample(ARTICLES, "articles-compared"), document="document")
    },
    "documents": {
        ARTICLES: lambda: load_documents(_read_sample(ARTICLES, "articles"), document="document", summary="summary")
    },
    "labelled": {INTENTS: lambda: load_labelled(_read_sample(INTENTS, "intents"))},
    "beir": {},
}
_READERS = {kind: Registry("file or dataset for this task", samples) for kind, samples in _SAMPLES.items()}


def get_texts(table: TextTable, column: str) -> tuple[str, ...]:
    """Return the texts of a column; a missing one is empty."""
    return tuple(cell or "" for cell in table.get_texts(table.find_column(column)))


def get_names(table: TextTable, column: str) -> tuple[str, ...]:
    """Return the ids or labels of a column, numbers as they are written; a missing one is empty."""
    return tuple("" if cell is None else str(cell).strip() for cell in table.columns[table.find_column(column)])


def find_repeats(texts: Sequence[str], usable: Sequence[bool]) -> list[bool]:
    """Return for each row whether it is usable and an earlier usable row has the same text."""
    first: dict[str, int] = {}
    rows = enumerate(zip(texts, usable, strict=True))
    return [is_usable and first.setdefault(text, row) != row for row, (text, is_usable) in rows]


def check_unique(name: str, what: str, ids: Sequence[str]) -> None:
    """Refuse ids that occur more than once."""
    twice = [key for key, count in Counter(ids).items() if count > 1]
    if twice:
        raise InputError(f"{name}: {len(twice)} {what} ids occur more than once ({', '.join(twice[:5])})")


class _Rows:
    """The rows of a table and their faults, in the order in which they count: rows that have one are left out."""

    def __init__(self, spec: Spec) -> None:
        self.table = spec if isinstance(spec, TextTable) else read_table(spec)
        self.places: Sequence[object] = self.table.rows
        self.faults: dict[str, list[bool]] = {}

    def get_texts(self, column: str, fault: str) -> tuple[str, ...]:
        texts = get_texts(self.table, column)
        self.faults[fault] = [not text.strip() for text in texts]
        return texts

    def get_ids(self, column: str | None, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of a column, else a number for each different text, in an order that files cannot change."""
        if column is not None:
            ids = get_names(self.table, column)
        else:
            different = list(dict.fromkeys(texts))
            order = order_by_content(0, different, ids=different)
            numbers = {different[row]: str(n) for n, row in enumerate(order, 1)}
            ids = tuple(numbers[text] for text in texts)
        self.faults["no document id"] = [not key for key in ids]
        return ids

    def get_numbers(self, column: str) -> tuple[float, ...]:
        """Return the numbers of a column, NaN where there is none."""
        values = [parse_number(cell) for cell in self.table.columns[self.table.find_column(column)]]
        numbers = tuple(value if value is not None and math.isfinite(value) else math.nan for value in values)
        self.faults[f"a rating {column!r} that is not a number"] = list(map(math.isnan, numbers))
        return numbers

    def find_usable(self) -> list[bool]:
        return [not any(flags) for flags in zip(*self.faults.values(), strict=True)]

    def drop_faults(self, data: D) -> D:
        rows, notes = drop_invalid(self.table.name, self.table.unit, self.places, self.faults)
        return replace(data.take(rows), notes=(*notes, *data.notes))  # type: ignore[attr-defined, type-var]


def _get_choices(table: TextTable, column: str, first: str, second: str) -> tuple[int, ...]:
    known = _CHOICES | {first.casefold(): 0, second.casefold(): 1}
    choices = []
    for row, cell in zip(table.rows, table.columns[table.find_column(column)], strict=True):
        value = parse_number(cell)
        word = f"{value:g}" if value is not None else str(cell).strip().casefold()
        if word not in known:
            accepted = f"0 or 1, first or second, a or b, {first} or {second}"
            raise InputError(f"{table.name}: {table.unit} {row}: column {column!r} holds {cell!r}, not {accepted}")
        choices.append(known[word])
    return tuple(choices)


def drop_invalid(
    name: str, unit: str, places: Sequence[object], faults: Mapping[str, Sequence[bool]]
) -> tuple[list[int], tuple[str, ...]]:
    """Return the rows without fault, and a note for each kind of fault; a row counts under its first fault alone.

    >>> drop_invalid("a.csv", "row", [2, 3, 4], {"an empty summary": [False, True, False]})
    ([0, 2], ('1 of 3 rows has an empty summary: skipped (row 3)',))
    """
    rows, notes = list(range(len(places))), []
    units = f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"
    for fault, present in faults.items():
        bad = [str(places[row]) for row in rows if present[row]]
        rows = [row for row in rows if not present[row]]
        if bad:
            verb, noun = ("has", unit) if len(bad) == 1 else ("have", units)
            shown = ", ".join(bad[:_MOST_PLACES]) + (", ..." if len(bad) > _MOST_PLACES else "")
            notes.append(f"{len(bad)} of {len(places)} {units} {verb} {fault}: skipped ({noun} {shown})")
    if not rows:
        raise InputError(f"{name}: nothing is left to score; {'; '.join(notes) or f'there are no {units}'}")
    return rows, tuple(notes)
