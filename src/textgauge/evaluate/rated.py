"""Rated pairs for agreement with people: from a table of the user's, a built-in sample or a published dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus, load_pairs
from textgauge.data.card import TextPairs
from textgauge.data.formats import load_table
from textgauge.data.source import brings_columns
from textgauge.data.tables import TextTable
from textgauge.errors import InputError
from textgauge.evaluate.protocols.base import PairSources

GROUPS = ("set", "system", "item")
# What the parts of a published dataset or sample are; the parts of others are splits, which mean nothing here.
_PARTS_ARE = {"yamshchikov14": "set"}
_MQM, _MQM_REFERENCES, _MQM_REFERENCE = "wmt21_mqm_ted_zhen", ("ref-A", "ref-B"), "ref-B"


def rated_sources(
    spec: str,
    *,
    left: str = "left",
    right: str = "right",
    ratings: Sequence[str] = (),
    groups: Mapping[str, str] | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> PairSources:
    """Rated pairs by path or name.

    Of a table, `left` and `right` name the columns of texts, `ratings` one or more columns of ratings (larger is
    nearer), and `groups` the columns that tell `set`, `system` and `item`. Samples and published datasets bring theirs.
    """
    if brings_columns(spec):
        if ratings or groups:
            raise InputError(f"{spec} brings its own ratings and groups; columns are named for tables alone")
        return _known(spec, limit, seed)
    return _of_table(load_table(spec), left, right, ratings, groups or {}, limit, seed)


def _known(spec: str, limit: int | None, seed: int) -> PairSources:
    pairs = load_pairs(spec, seed=seed)
    if pairs.grade is None:
        raise InputError(f"{spec} has no ratings")
    name = spec.partition("/")[0]
    columns: dict[str, Any] = {"rating": np.array(pairs.grade)}
    if pairs.raters is not None:
        columns |= {f"rating_{i + 1}": np.array(column) for i, column in enumerate(zip(*pairs.raters, strict=True))}
    if name in _PARTS_ARE and pairs.group is not None:
        columns[_PARTS_ARE[name]] = np.array(pairs.group)
    if name == _MQM:
        return _drawn(spec, *_against_reference(pairs), limit, seed)
    return _drawn(spec, pairs.left, pairs.right, columns, limit, seed)


def _against_reference(pairs: TextPairs) -> tuple[Sequence[str], Sequence[str], dict[str, Any]]:
    """Translations beside the better one of the two people's, which is the system of its own no more.

    Every system has the same segments in the same order, so that a place within a system tells the segment.
    """
    systems = np.array(pairs.group)
    place = np.empty(len(systems), dtype=np.int64)
    for system in np.unique(systems):
        here = np.flatnonzero(systems == system)
        place[here] = np.arange(len(here))
    reference = [pairs.right[row] for row in np.flatnonzero(systems == _MQM_REFERENCE)]
    rows = np.flatnonzero(~np.isin(systems, _MQM_REFERENCES))
    columns = {"rating": np.array(pairs.grade)[rows], "system": systems[rows], "item": place[rows]}
    return [pairs.right[row] for row in rows], [reference[at] for at in place[rows]], columns


def _of_table(
    table: TextTable,
    left: str,
    right: str,
    ratings: Sequence[str],
    groups: Mapping[str, str],
    limit: int | None,
    seed: int,
) -> PairSources:
    if not ratings:
        raise InputError(f"{table.name}: name the column of ratings with --rating")
    named = [table.column(name) for name in dict.fromkeys(ratings)]
    columns: dict[str, Any] = dict(_rating_columns(table, named))
    for role, name in groups.items():
        columns[role] = np.array([str(cell) for cell in table.columns[table.column(name)]])
    texts, references = table.filled(left), _references(table, table.column(right))
    return _drawn(table.name, texts, references, columns, limit, seed)


def _references(table: TextTable, column: str) -> Sequence[str] | Sequence[list[str]]:
    """One reference for each row, or a list of them where the column holds lists (of JSONL and Parquet)."""
    cells = table.columns[column]
    if not any(isinstance(cell, list) for cell in cells):
        return table.filled(column)
    for row, cell in zip(table.rows, cells, strict=True):
        if not isinstance(cell, list) or not cell or not all(isinstance(text, str) for text in cell):
            raise InputError(f"{table.name}: {table.unit} {row}: column {column!r} is no list of at least one text")
    return cells  # type: ignore[return-value]


def _rating_columns(table: TextTable, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """`rating`, the mean of each pair's ratings, and the single ones where there are several columns.

    A cell may be blank where another rater judged the pair.
    """
    single = np.array([table.numbers(name, blank=True) for name in names])
    blank = np.isnan(single)
    nobody = np.flatnonzero(blank.all(axis=0))
    if len(nobody):
        raise InputError(f"{table.name}: {table.unit} {table.rows[nobody[0]]}: column {names[0]!r} holds no rating")
    mean = np.where(blank, 0.0, single).sum(axis=0) / (~blank).sum(axis=0)
    several = {f"rating_{i + 1}": column for i, column in enumerate(single)} if len(names) > 1 else {}
    return {"rating": mean, **several}


def _drawn(
    name: str,
    left: Sequence[str],
    right: Sequence[str] | Sequence[list[str]],
    columns: dict[str, Any],
    limit: int | None,
    seed: int,
) -> PairSources:
    rows = np.arange(len(left))
    if limit is not None and limit < len(left):
        rows = np.sort(np.random.default_rng([seed, 9]).permutation(len(left))[:limit])
    first, references = Corpus.of([left[row] for row in rows.tolist()]), [right[row] for row in rows.tolist()]
    known = {key: column[rows] for key, column in columns.items()}
    if references and isinstance(references[0], list):
        items = np.repeat(np.arange(len(references)), [len(texts) for texts in references])
        flat = [text for texts in references for text in texts]
        return PairSources(name, first, Corpus.of(flat), known, items)
    return PairSources(name, first, Corpus.of(references), known)  # type: ignore[arg-type]
