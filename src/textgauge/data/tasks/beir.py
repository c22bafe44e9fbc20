"""Read a folder in the layout of BEIR: `corpus.jsonl`, `queries.jsonl`, and `qrels` as one file or a folder of splits.

Each may be packed (`.gz`). `qrels.csv`, `qrels.tsv` or `qrels/SPLIT.tsv` have a header with the id of the query, the id
of the document and the relevance; a column `split` chooses rows. A document reads as its title and its text.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

from textgauge.data.tables import Table, load_table, number
from textgauge.data.tasks.build import names_of, refuse_twice, seen_before, sieve, texts_of
from textgauge.data.tasks.card import Retrieval
from textgauge.errors import InputError

_QUERY = ("query-id", "query_id")
_DOCUMENT = ("corpus-id", "corpus_id", "doc_id", "document_id")
_RELEVANCE = ("score", "relevance")
_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")

_Judgement = tuple[str, str, object]


def read_beir(folder: str | os.PathLike[str], *, split: str | None = "test", name: str | None = None) -> Retrieval:
    """The retrieval set of a folder; `split` chooses among the judgements where they have splits, None takes all.

    Relevance above 0 is relevant. Of documents with equal text the first is kept and inherits the judgements of the
    others. Duplicate ids are refused; empty documents and queries, judgements of things that are not there and queries
    without a relevant document are left out, with notes.
    """
    root = Path(folder)
    called = name or os.fspath(folder)
    texts, same, notes = _corpus(load_table(_file(root, "corpus")), called)
    queries, more = _queries(load_table(_file(root, "queries")), called)
    judged = _judgements(root, split)
    relevant, dropped = _relevant(judged, same, queries, called)
    asked, without = _answerable(queries, judged, relevant, called)
    return Retrieval(
        called,
        tuple(texts),
        tuple(texts.values()),
        tuple(asked),
        tuple(queries[query] for query in asked),
        {query: frozenset(relevant[query]) for query in asked},
        (*notes, *more, *dropped, *without),
    )


def has_corpus(folder: Path) -> bool:
    """Whether a folder holds the documents of a retrieval set."""
    return any((folder / f"corpus{ending}").is_file() for ending in (".jsonl", ".jsonl.gz"))


def _file(root: Path, stem: str) -> Path:
    for ending in (".jsonl", ".jsonl.gz"):
        if (root / f"{stem}{ending}").is_file():
            return root / f"{stem}{ending}"
    raise InputError(f"{root}: no {stem}.jsonl or {stem}.jsonl.gz; a retrieval set is a folder in the layout of BEIR")


def _corpus(table: Table, name: str) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """Texts by id, the id under which each document is kept, and notes."""
    ids = names_of(table, "_id")
    refuse_twice(table.name, "document", ids)
    titles = texts_of(table, "title") if "title" in table.columns else [""] * len(ids)
    texts = [f"{title} {text}".strip() for title, text in zip(titles, texts_of(table, "text"), strict=True)]
    empty = [not text for text in texts]
    twice = seen_before(texts, [bool(text) for text in texts])
    rows, notes = sieve(name, "document", ids, {"no text": empty, "the text of an earlier document": twice})
    kept = {texts[row]: ids[row] for row in rows}
    same = {key: kept[text] for key, text in zip(ids, texts, strict=True) if text}
    return {ids[row]: texts[row] for row in rows}, same, notes


def _queries(table: Table, name: str) -> tuple[dict[str, str], tuple[str, ...]]:
    ids = names_of(table, "_id")
    refuse_twice(table.name, "query", ids)
    texts = [text.strip() for text in texts_of(table, "text")]
    rows, notes = sieve(name, "query", ids, {"no text": [not text for text in texts]})
    return {ids[row]: texts[row] for row in rows}, notes


def _judgements(root: Path, split: str | None) -> list[_Judgement]:
    tables = [load_table(path) for path in _judgement_files(root, split)]
    return [row for table in tables for row in _rows(table, split)]


def _judgement_files(root: Path, split: str | None) -> list[Path]:
    single = [path for ending in _ENDINGS if (path := root / f"qrels{ending}").is_file()]
    parts = [path for ending in _ENDINGS for path in sorted((root / "qrels").glob(f"{split or '*'}{ending}"))]
    found = single[:1] or parts
    if not found:
        raise InputError(
            f"{root}: no qrels.csv, qrels.tsv or qrels/{split or 'SPLIT'}.tsv with judgements of relevance"
        )
    return found


def _rows(table: Table, split: str | None) -> list[_Judgement]:
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


def _column(table: Table, names: tuple[str, ...]) -> str:
    found = [name for name in names if name in table.columns]
    return found[0] if found else table.column(names[0])


def _relevant(
    judged: list[_Judgement], same: dict[str, str], queries: dict[str, str], name: str
) -> tuple[dict[str, set[str]], tuple[str, ...]]:
    """The relevant documents of each query, and notes on judgements that cannot be used."""
    values = [number(cell) for *_, cell in judged]
    grades = [value if value is not None else math.nan for value in values]
    faults = {
        "a relevance that is not a number": [math.isnan(grade) for grade in grades],
        "a document that is missing or empty": [document not in same for _, document, _ in judged],
        "a query that is missing or empty": [query not in queries for query, *_ in judged],
    }
    places = [f"{query}/{document}" for query, document, _ in judged]
    rows, notes = sieve(name, "judgement", places, faults)
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
    rows, notes = sieve(name, "query", ids, faults)
    return [ids[row] for row in rows], notes
