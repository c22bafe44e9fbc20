"""Folders in the layouts that benchmarks publish: retrieval as BEIR, systems and their scores as WMT's metrics tasks.

A folder of the metrics tasks, in the layout of mt-metrics-eval, has one segment a line:

    references/LP.NAME.txt                       LP is a pair of languages, as zh-en
    system-outputs/LP/SYSTEM.txt
    human-scores/LP.NAME.seg.score               SYSTEM and score a line, segments in order, None where missing
    metric-scores/LP/METRIC-REFERENCE.seg.score

`FOLDER:LP` names one pair of languages, `FOLDER` the only one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from textgauge.core.errors import InputError, UnknownName
from textgauge.data.formats import find_table, is_table, read_table, split_lines
from textgauge.data.packing import format_path, read_text
from textgauge.data.samples import FOLDER
from textgauge.data.tables import TextTable, format_column_names, parse_number, take
from textgauge.data.tasks import (
    check_unique,
    drop_invalid,
    find_reader,
    find_repeats,
    get_names,
    get_texts,
    order_by_content,
    register_task_data,
)

LIBRARY = "sample:library"
# The columns of a file of judgements, by the names that are in use.
_QUERY = ("query-id", "query_id")
_DOCUMENT = ("corpus-id", "corpus_id", "doc_id", "document_id")
_RELEVANCE = ("score", "relevance")

_OUTPUTS, _SCORES = "system-outputs", ".seg.score"
_USUAL = "mqm"  # the human scores that are taken where there are several
_NO_REFERENCE = "src"  # what metrics without a reference have in its place

_Judgement = tuple[str, str, object]


@dataclass(frozen=True)
class RetrievalSet:
    """Documents, queries, and for the id of each query the ids of the documents that answer it, one at least."""

    name: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    query_ids: tuple[str, ...]
    queries: tuple[str, ...]
    relevant: Mapping[str, frozenset[str]]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.documents) != len(self.texts) or len(self.query_ids) != len(self.queries):
            raise InputError(f"{self.name}: each document and each query needs one id and one text")
        known = set(self.documents)
        for query in self.query_ids:
            wanted = self.relevant.get(query, frozenset())
            if not wanted or not wanted <= known:
                raise InputError(f"{self.name}: query {query!r} has no relevant document, or one that is not there")

    def __len__(self) -> int:
        return len(self.texts)

    def draw(self, n_documents: int, seed: int = 0, queries: int | None = None) -> RetrievalSet:
        """Draw at most `queries` of the queries with all documents relevant to them, and others up to `n_documents`.

        A query whose relevant documents no longer fit is left out, with a note.
        """
        count = len(self.queries) if queries is None else queries
        drawn = order_by_content(seed, self.queries, ids=self.query_ids, n=count)
        order = order_by_content(seed, self.texts, ids=self.documents)
        asked: list[int] = []
        wanted: set[str] = set()
        for row in drawn:
            more = wanted | self.relevant[self.query_ids[row]]
            if len(more) <= n_documents:
                asked.append(row)
                wanted = more
        if not asked:
            raise InputError(f"{self.name}: {n_documents} documents cannot hold those relevant to a single query")
        others = [row for row in order if self.documents[row] not in wanted][: n_documents - len(wanted)]
        inside = wanted.union(self.documents[row] for row in others)
        rows = [row for row in order if self.documents[row] in inside]
        notes = self.notes
        if left_out := len(drawn) - len(asked):
            reason = f"their relevant documents do not fit into {n_documents}"
            notes = (*notes, f"{left_out} of {len(drawn)} queries left out: {reason}")
        return replace(
            self,
            documents=take(self.documents, rows),
            texts=take(self.texts, rows),
            query_ids=take(self.query_ids, asked),
            queries=take(self.queries, asked),
            relevant={query: self.relevant[query] for query in take(self.query_ids, asked)},
            notes=notes,
        )


def load_retrieval(folder: str | os.PathLike[str], *, split: str | None = "test") -> RetrievalSet:
    """Load a folder in the layout of BEIR (`corpus.jsonl`, `queries.jsonl`, `qrels`), `sample:library` or a named set.

    The judgements are one file `qrels.csv` or a folder `qrels/SPLIT.tsv`, with the id of the query, the id of the
    document and the relevance; a file or a column `split` chooses among them, None takes all. A document reads as its
    title and its text. Each file may be packed (`.gz`).

    Relevance above 0 is relevant. Of documents with equal text the first is kept and inherits the judgements of the
    others. Duplicate ids are refused; empty documents and queries, judgements of things that are not there and queries
    without a relevant document are left out, with notes.
    """
    name = os.fspath(folder)
    if (reader := find_reader(folder, "beir")) is not None:
        return reader(split)  # type: ignore[no-any-return]
    if not os.path.isdir(folder):
        place = format_path(folder)
        raise InputError(f"{place}: a retrieval set is a folder with corpus.jsonl, queries.jsonl and qrels")
    root = Path(folder)
    texts, kept_ids, notes = _read_corpus(_read_part(root, "corpus"), name)
    queries, query_notes = _read_queries(_read_part(root, "queries"), name)
    judgements = _read_judgements(root, split)
    relevant, judgement_notes = _find_relevant(judgements, kept_ids, queries, name)
    judged = {query for query, *_ in judgements}
    faults = {
        "no judgement in this split": [query not in judged for query in queries],
        "no relevant document left": [query not in relevant for query in queries],
    }
    rows, answer_notes = drop_invalid(name, "query", list(queries), faults)
    asked = take(list(queries), rows)
    return RetrievalSet(
        name,
        tuple(texts),
        tuple(texts.values()),
        asked,
        tuple(queries[query] for query in asked),
        {query: frozenset(relevant[query]) for query in asked},
        (*notes, *query_notes, *judgement_notes, *answer_notes),
    )


register_task_data(LIBRARY, beir=lambda _: replace(load_retrieval(FOLDER / "library", split=None), name=LIBRARY))


def _read_part(root: Path, stem: str) -> TextTable:
    path = find_table(root, stem)
    if path is None:
        raise InputError(
            f"{root}: no {stem}.jsonl or {stem}.jsonl.gz; a retrieval set is a folder in the layout of BEIR"
        )
    return read_table(path)


def _read_corpus(table: TextTable, name: str) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """Return texts by id, the id under which each document is kept, and notes."""
    ids = get_names(table, "_id")
    check_unique(table.name, "document", ids)
    titles = get_texts(table, "title") if "title" in table.columns else [""] * len(ids)
    texts = [f"{title} {text}".strip() for title, text in zip(titles, get_texts(table, "text"), strict=True)]
    has_text = [bool(text) for text in texts]
    faults = {"no text": [not text for text in texts], "the text of an earlier document": find_repeats(texts, has_text)}
    rows, notes = drop_invalid(name, "document", ids, faults)
    first = {texts[row]: ids[row] for row in rows}
    kept_ids = {key: first[text] for key, text in zip(ids, texts, strict=True) if text}
    return {ids[row]: texts[row] for row in rows}, kept_ids, notes


def _read_queries(table: TextTable, name: str) -> tuple[dict[str, str], tuple[str, ...]]:
    ids = get_names(table, "_id")
    check_unique(table.name, "query", ids)
    texts = [text.strip() for text in get_texts(table, "text")]
    rows, notes = drop_invalid(name, "query", ids, {"no text": [not text for text in texts]})
    return {ids[row]: texts[row] for row in rows}, notes


def _read_judgements(root: Path, split: str | None) -> list[_Judgement]:
    single = find_table(root, "qrels")
    parts = [path for path in sorted((root / "qrels").glob(f"{split or '*'}.*")) if is_table(path)]
    if single is None and not parts:
        raise InputError(
            f"{root}: no qrels.csv, qrels.tsv or qrels/{split or 'SPLIT'}.tsv with judgements of relevance"
        )
    tables = map(read_table, parts if single is None else [single])
    return [row for table in tables for row in _get_judgements(table, split)]


def _get_judgements(table: TextTable, split: str | None) -> list[_Judgement]:
    query, document, relevance = (
        next((name for name in names if name in table.columns), None) or table.find_column(names[0])
        for names in (_QUERY, _DOCUMENT, _RELEVANCE)
    )
    rows = list(zip(get_names(table, query), get_names(table, document), table.columns[relevance], strict=True))
    if split is None or "split" not in table.columns:
        return rows
    splits = get_names(table, "split")
    if split not in splits:
        known = ", ".join(sorted(set(splits)))
        raise InputError(f"{table.name}: no judgement is in split {split!r}; there are {known}")
    return [row for row, part in zip(rows, splits, strict=True) if part == split]


def _find_relevant(
    judgements: Sequence[_Judgement], kept_ids: Mapping[str, str], queries: Mapping[str, str], name: str
) -> tuple[dict[str, set[str]], tuple[str, ...]]:
    """Return the relevant documents of each query, and notes on judgements that cannot be used."""
    values = [parse_number(cell) for *_, cell in judgements]
    grades = [math.nan if value is None else value for value in values]
    faults = {
        "a relevance that is not a number": [math.isnan(grade) for grade in grades],
        "a document that is missing or empty": [document not in kept_ids for _, document, _ in judgements],
        "a query that is missing or empty": [query not in queries for query, *_ in judgements],
    }
    places = [f"{query}/{document}" for query, document, _ in judgements]
    rows, notes = drop_invalid(name, "judgement", places, faults)
    relevant: dict[str, set[str]] = {}
    for row in rows:
        query, document, _ = judgements[row]
        if grades[row] > 0:
            relevant.setdefault(query, set()).add(kept_ids[document])
    return relevant, notes


def is_metric_folder(spec: str) -> bool:
    """Return True if this names a folder with systems, human scores and metric scores."""
    return os.path.isdir(os.path.join(_split_pair(spec)[0], _OUTPUTS))


def load_metric_folder(
    spec: str, *, human: str | None = None, reference: str | None = None, scores: Sequence[str] = ()
) -> TextTable:
    """Load the rated segments of all systems: columns left, right, system, item, rating, and one for each of `scores`.

    `human` names the human scores (mqm, or the only ones), `reference` the reference (the first by name), `scores` are
    metrics whose scores the folder has. References are no systems; segments without a human score are left out.
    """
    folder, pair = _split_pair(spec)
    root = Path(folder)
    pair = _choose("pair of languages", pair, sorted(path.name for path in (root / _OUTPUTS).iterdir()), folder)
    references = _list_files(root / "references", f"{pair}.", ".txt")
    people = _list_files(root / "human-scores", f"{pair}.", _SCORES)
    if not references or not people:
        raise InputError(f"{folder}: there are no references, or no human scores of segments, of {pair}")
    reference = _choose("reference", reference or next(iter(references)), list(references), folder)
    right = _read_lines(references[reference])
    count = len(right)
    human = human or (_USUAL if _USUAL in people else None)
    ratings = _read_scores(people[_choose("human scores", human, list(people), folder)], count)
    outputs = _list_files(root / _OUTPUTS / pair, "", ".txt")
    texts = {name: _read_lines(outputs[name], count) for name in outputs if name in ratings and name not in references}
    if not texts:
        raise InputError(f"{folder}: no system of {pair} has human scores")
    rows = [(name, item) for name in texts for item, cell in enumerate(ratings[name]) if cell is not None]
    columns: dict[str, list[object]] = {
        "left": [texts[name][item] for name, item in rows],
        "right": [right[item] for _, item in rows],
        "system": [name for name, _ in rows],
        "item": [item for _, item in rows],
        "rating": [ratings[name][item] for name, item in rows],
    }
    for metric in scores:
        values = _read_metric_scores(root / "metric-scores" / pair, metric, reference, count)
        columns[metric] = [values.get(name, [None] * count)[item] for name, item in rows]
    return TextTable(spec, columns, range(1, len(rows) + 1), "row")


def _split_pair(spec: str) -> tuple[str, str | None]:
    folder, colon, pair = spec.rpartition(":")
    return (folder, pair) if colon and not os.path.isdir(spec) else (spec, None)


def _choose(what: str, name: str | None, known: Sequence[str], folder: str) -> str:
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        raise InputError(f"{folder} has several: name the {what}, one of {format_column_names(known)}")
    if name not in known:
        raise UnknownName.among(what, name, known)
    return name


def _list_files(folder: Path, start: str, end: str) -> dict[str, Path]:
    """Return files by the part of their names between start and end."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    chosen = [path for path in paths if path.name.startswith(start) and path.name.endswith(end)]
    return {path.name[len(start) : -len(end)]: path for path in chosen}


def _read_lines(path: Path, count: int | None = None) -> list[str]:
    lines = split_lines(read_text(path))
    if count is not None and len(lines) != count:
        raise InputError(f"{path}: {len(lines)} lines, but the reference has {count}")
    return lines


def _read_scores(path: Path, count: int) -> dict[str, list[float | None]]:
    """Return the scores of every segment, by system."""
    scores: dict[str, list[float | None]] = {}
    for place, line in enumerate(_read_lines(path), start=1):
        system, _, cell = line.strip().replace("\t", " ").rpartition(" ")
        value = None if cell == "None" else parse_number(cell)
        if not system or (value is None and cell != "None"):
            raise InputError(f"{path}: line {place} is no system and score")
        scores.setdefault(system.strip(), []).append(value)
    for system, cells in scores.items():
        if len(cells) != count:
            raise InputError(f"{path}: {system} has {len(cells)} scores for {count} segments")
    return scores


def _read_metric_scores(folder: Path, name: str, reference: str, count: int) -> dict[str, list[float | None]]:
    """Return the scores of a metric, named with or without its reference."""
    known = _list_files(folder, "", _SCORES)
    names = (name, f"{name}-{reference}", f"{name}-{_NO_REFERENCE}")
    path = next((known[one] for one in names if one in known), None)
    if path is None:
        raise UnknownName.among("metric with scores", name, list(known) or ["(none)"])
    return _read_scores(path, count)
