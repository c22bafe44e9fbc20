"""Pairs of texts, rated or paraphrases: from a table, a built-in sample or a published dataset, or as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs.sources import PairSources
from textgauge.core.errors import ArgumentError, InputError, ResourceError
from textgauge.data import Corpus, load_pairs
from textgauge.data.datasets import list_data_folders
from textgauge.data.folders import is_metric_folder, load_metric_folder
from textgauge.data.formats import is_table, read_table
from textgauge.data.source import has_builtin_columns
from textgauge.data.tables import TextPairs, TextTable, parse_number

GROUPS = ("set", "system", "item")
# What the parts of a published dataset or sample are; the parts of others are splits, which mean nothing here.
_PARTS_ARE = {"yamshchikov14": "set"}
_MQM, _MQM_REFERENCES, _MQM_REFERENCE = "wmt21_mqm_ted_zhen", ("ref-A", "ref-B"), "ref-B"
# Sets with paraphrases labelled 1 that have no address to fetch them from: both columns of texts, and that of labels.
LABELLED = {
    "qqp": ("question1", "question2", "is_duplicate"),
    "paws_wiki": ("sentence1", "sentence2", "label"),
    "mrpc": ("sentence1", "sentence2", "label"),
}


def read_rated(
    spec: str,
    *,
    left: str = "left",
    right: str = "right",
    ratings: Sequence[str] = (),
    groups: Mapping[str, str] | None = None,
    scores: Sequence[str] = (),
    rated_only: bool = False,
    limit: int | None = None,
    seed: int = 0,
    with_sources: bool = False,
) -> PairSources:
    """Rated pairs by path or name.

    Of a table, `left` and `right` name the columns of texts, `ratings` one or more columns of ratings (larger is
    nearer), `groups` the columns of `set`, `system` and `item`, and `scores` those that `column:NAME` metrics read.
    Samples and published datasets bring theirs. Of a folder in the layout of mt-metrics-eval, `ratings` names the human
    scores, `right` the reference, and `scores` are the folder's own. A row without any rating is refused, or left out
    with `rated_only`. `with_sources` adds the column `source`, the sets that share texts: a few pairs drawn by `limit`
    share too few of them to tell.
    """
    if has_builtin_columns(spec):
        if ratings or groups or scores:
            raise InputError(f"{spec} brings its own ratings and groups; columns are named for tables alone")
        return _read_known(spec, limit, seed, with_sources)
    if is_metric_folder(spec):
        if groups or len(ratings) > 1:
            raise InputError(f"{spec} brings its own systems and items; name one of its human scores at most")
        chosen = {"human": next(iter(ratings), None), "reference": None if right == "right" else right}
        table = load_metric_folder(spec, **chosen, scores=scores)
        known = {name: name for name in ("system", "item")}
        return _read_rated_table(table, "left", "right", ["rating"], known, scores, limit, seed)
    table = read_table(spec)
    chosen_rows = _select_rated_rows(table, ratings) if rated_only else table
    return _read_rated_table(chosen_rows, left, right, ratings, groups or {}, scores, limit, seed, with_sources)


def _read_known(spec: str, limit: int | None, seed: int, with_sources: bool) -> PairSources:
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
        return _draw_pairs(spec, *_pair_with_reference(pairs), limit, seed)
    if with_sources:
        columns |= _find_pair_sources(pairs.left, pairs.right, columns)
    return _draw_pairs(spec, pairs.left, pairs.right, columns, limit, seed)


def _pair_with_reference(pairs: TextPairs) -> tuple[Sequence[str], Sequence[str], dict[str, Any]]:
    """Translations with the better one of the two human references, which is no longer a system of its own.

    Every system has the same segments in the same order, so the place within a system is the segment.
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


def _read_rated_table(
    table: TextTable,
    left: str,
    right: str,
    ratings: Sequence[str],
    groups: Mapping[str, str],
    scores: Sequence[str],
    limit: int | None,
    seed: int,
    with_sources: bool = False,
) -> PairSources:
    if not ratings:
        raise ArgumentError("{table}: rated pairs need a column of ratings: {rating}", table=table.name)
    named = [table.find_column(name) for name in dict.fromkeys(ratings)]
    columns: dict[str, Any] = dict(_get_rating_columns(table, named))
    for role, name in groups.items():
        columns[role] = np.array([str(cell) for cell in table.columns[table.find_column(name)]])
    texts, references = table.get_filled(left), _get_references(table, table.find_column(right))
    if with_sources:
        columns |= _find_pair_sources(texts, references, columns)
    return _draw_pairs(table.name, texts, references, columns, limit, seed, table.get_scores(scores))


def _find_pair_sources(
    left: Sequence[str], right: Sequence[str] | Sequence[list[str]], columns: Mapping[str, Any]
) -> dict[str, NDArray[np.int64]]:
    """The source of each pair by the texts that sets share; nothing where there are no sets, or sources are given."""
    from textgauge.bench.learned.features import find_sources

    texts = [text for text in right if isinstance(text, str)]
    if "set" not in columns or "source" in columns or len(texts) < len(right):
        return {}
    sets = np.unique(columns["set"], return_inverse=True)[1].astype(np.int64)
    return {"source": find_sources(Corpus.of(list(left)).keys, Corpus.of(texts).keys, sets)}


def _select_rated_rows(table: TextTable, ratings: Sequence[str]) -> TextTable:
    """Return the rows that somebody rated."""
    known = np.isfinite([table.get_numbers(name, blank=True) for name in ratings]).any(axis=0)
    return table.take(np.flatnonzero(known).tolist())


def _get_references(table: TextTable, column: str) -> Sequence[str] | Sequence[list[str]]:
    """Return one reference for each row, or a list of them where the column holds lists (of JSONL and Parquet)."""
    cells = table.columns[column]
    if not any(isinstance(cell, list) for cell in cells):
        return table.get_filled(column)
    for row, cell in zip(table.rows, cells, strict=True):
        if not isinstance(cell, list) or not cell or not all(isinstance(text, str) for text in cell):
            raise InputError(f"{table.name}: {table.unit} {row}: column {column!r} is not a list of at least one text")
    return cells


def _get_rating_columns(table: TextTable, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """`rating`, the mean of each pair's ratings, and the single ones where there are several columns.

    A cell may be blank where another rater judged the pair.
    """
    single = np.array([table.get_numbers(name, blank=True) for name in names])
    blank = np.isnan(single)
    nobody = np.flatnonzero(blank.all(axis=0))
    if len(nobody):
        raise InputError(f"{table.name}: {table.unit} {table.rows[nobody[0]]}: column {names[0]!r} holds no rating")
    mean = np.where(blank, 0.0, single).sum(axis=0) / (~blank).sum(axis=0)
    several = {f"rating_{i + 1}": column for i, column in enumerate(single)} if len(names) > 1 else {}
    return {"rating": mean, **several}


def _draw_pairs(
    name: str,
    left: Sequence[str],
    right: Sequence[str] | Sequence[list[str]],
    columns: dict[str, Any],
    limit: int | None,
    seed: int,
    scores: Mapping[str, Sequence[float]] | None = None,
) -> PairSources:
    rows = np.arange(len(left))
    if limit is not None and limit < len(left):
        rows = np.sort(np.random.default_rng([seed, 9]).permutation(len(left))[:limit])
    first, references = Corpus.of([left[row] for row in rows.tolist()]), [right[row] for row in rows.tolist()]
    known = {key: column[rows] for key, column in columns.items()}
    values = {key: np.array(column)[rows] for key, column in (scores or {}).items()}
    if references and isinstance(references[0], list):
        items = np.repeat(np.arange(len(references)), [len(texts) for texts in references])
        flat = [text for texts in references for text in texts]
        return PairSources(name, first, Corpus.of(flat), known, items, values)
    return PairSources(name, first, Corpus.of(references), known, None, values)  # type: ignore[arg-type]


def read_paraphrases(
    spec: str,
    *,
    left: str = "left",
    right: str = "right",
    only: str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> PairSources:
    """Return pairs of texts that mean the same, by path or name.

    Of a table, `left` and `right` name the columns of texts, and `only`, as `label=1`, the rows to take. `qqp`,
    `paws_wiki` and `mrpc` are read from the tables in the folder of that name in `TEXTGAUGE_DATA`.
    """
    if spec in LABELLED and not Path(spec).is_file():
        pairs = _read_labelled(spec)
    elif only is not None:
        pairs = _get_text_pairs(_select_rows(read_table(spec), *_parse_condition(only)), left, right)
    else:
        pairs = load_pairs(spec, left=left, right=right, seed=seed)
    drawn = pairs if limit is None else pairs.draw(limit, seed)
    return PairSources(spec, Corpus.of(drawn.left), Corpus.of(drawn.right))


def _read_labelled(name: str) -> TextPairs:
    """Return the pairs labelled 1 in all tables of a dataset."""
    left, right, label = LABELLED[name]
    files = [
        path
        for folder in list_data_folders()
        for path in sorted((folder / name).glob("*"))
        if path.is_file() and is_table(path)
    ]
    if not files:
        wanted = f"put a table with columns {left}, {right}, {label} into a folder named by TEXTGAUGE_DATA"
        raise ResourceError(f"{name} is not on this machine and has no free address; {wanted} as {name}/FILE")
    parts = [_get_text_pairs(_select_rows(read_table(path), label, "1"), left, right) for path in files]
    first, second = (tuple(chain.from_iterable(getattr(part, side) for part in parts)) for side in ("left", "right"))
    return TextPairs(first, second, name)


def _parse_condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"rows are chosen with column=value, not {text!r}")
    return column, value


def _select_rows(table: TextTable, column: str, value: str) -> TextTable:
    """Return the rows that hold a value in a column; a number is the same however it is written."""
    wanted = parse_number(value)
    cells = table.columns[table.find_column(column)]
    rows = [row for row, cell in enumerate(cells) if str(cell) == value or parse_number(cell) == wanted is not None]
    if not rows:
        raise InputError(f"{table.name}: no {table.unit} has {value!r} in column {column!r}")
    return table.take(rows)


def _get_text_pairs(table: TextTable, left: str, right: str) -> TextPairs:
    first, second = (tuple(table.get_filled(side)) for side in (left, right))
    return TextPairs(first, second, table.name)


def make_pairs(left: Sequence[str], right: Sequence[str], rating: Any = None) -> PairSources:
    """Return pairs of texts as they are, with a rating of each where there are some.

    >>> make_pairs(["a cat", "a dog"], ["one cat", "a cow"], [3, 1]).columns["rating"].tolist()
    [3.0, 1.0]
    """
    sides = Corpus.of(left), Corpus.of(right)
    if len(sides[0]) != len(sides[1]):
        raise InputError(f"pairs need as many left texts as right ones, not {len(sides[0])} and {len(sides[1])}")
    return PairSources("pairs", *sides, {} if rating is None else {"rating": _parse_ratings(rating, len(sides[0]))})


def _parse_ratings(rating: Any, count: int) -> NDArray[np.float64]:
    try:
        numbers = np.array(rating, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("ratings of texts that are given are numbers, one for each pair") from None
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InputError(f"{count} pairs need {count} finite ratings")
    return numbers
