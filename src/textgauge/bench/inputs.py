"""Kinds of data that protocols declare: which values name them, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from textgauge import data as data_room
from textgauge.bench.rated_features import find_sources
from textgauge.bench.sources import Data, PairSources, Sources, TaskSources
from textgauge.core.errors import ArgumentError, InputError, ResourceError
from textgauge.core.files import check_table_path
from textgauge.data import Corpus, load_pairs
from textgauge.data.datasets import list_data_folders
from textgauge.data.folders import is_metric_folder, load_metric_folder
from textgauge.data.formats import is_table, read_table
from textgauge.data.source import Source, get_source_name, has_builtin_columns, load_corpus
from textgauge.data.tables import TextPairs, TextTable, parse_number

Given = Mapping[str, Any]
References: TypeAlias = "Sequence[str] | Sequence[list[str]]"

GROUPS = ("set", "system", "item")
# What the parts of a published dataset or sample are; the parts of others are splits, which mean nothing here.
_PARTS_ARE = {"yamshchikov14": "set"}
_MQM, _MQM_REFERENCES, _MQM_REFERENCE = "wmt21_mqm_ted_zhen", ("ref-A", "ref-B"), "ref-B"
# Sets with paraphrases labelled 1 that have no address to fetch them from: both columns of texts, and that of labels.
_LABELLED = {
    "qqp": ("question1", "question2", "is_duplicate"),
    "paws_wiki": ("sentence1", "sentence2", "label"),
    "mrpc": ("sentence1", "sentence2", "label"),
}


class DataKind:
    """Data of one kind: values without which they cannot be read, other values, and both in one phrase.

    Names in braces in `about` stand for values: each caller writes them its own way.
    """

    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    about: str = ""
    columns: tuple[str, ...] = ()  # of the table that `columns` names, for tasks

    def fits(self, given: Given) -> bool:
        """Return whether all values are there that these data need."""
        return all(name in given for name in self.needs)

    def load(self, given: Given, seed: int) -> Data:
        """Return the data that the values name or are."""
        raise NotImplementedError


class TwoCorpora(DataKind):
    """Two corpora, as `compare` takes them."""

    needs = ("source_a", "source_b")
    takes: tuple[str, ...] = ("column",)
    about = "two corpora: `source_a` and `source_b`"

    def load(self, given: Given, seed: int) -> Sources:
        return read_two(given["source_a"], given["source_b"], column=given.get("column"))


class PlantedCorpora(TwoCorpora):
    """Two corpora, and a file of the copies that are planted, to which other detectors add columns."""

    takes = ("column", "planted", "scores")

    def load(self, given: Given, seed: int) -> Sources:
        sources, columns = super().load(given, seed), given.get("scores", ())
        if "planted" not in given:
            if columns:
                raise ArgumentError(f"column:{columns[0]} is a column of `planted`, which is not named")
            return sources
        path = Path(given["planted"])
        check_table_path(path)
        if not path.exists():
            if columns:
                raise InputError(f"{path} is not there: a run without column:{columns[0]} writes it")
            return replace(sources, planted=path)
        table, flags = read_table(path), {"true": 1, "false": 0}
        named = {name: table.columns[table.find_column(name)] for name in columns}
        table = table.with_columns(
            **{name: [flags.get(str(cell).lower(), cell) for cell in cells] for name, cells in named.items()}
        )
        scores = {name: np.array(cells) for name, cells in table.get_scores(columns).items()}
        return replace(sources, planted=path, texts=[text or "" for text in table.get_texts("text")], scores=scores)


class Paraphrases(DataKind):
    """Pairs of texts that mean the same, by name or as texts in `left` and `right`."""

    needs = ("pairs",)
    takes: tuple[str, ...] = ("left", "right", "only", "limit")
    about = "paraphrases: `pairs` with `left` and `right` and rows chosen by `only`, or a dataset"

    def fits(self, given: Given) -> bool:
        return "pairs" in given or _has_texts(given)

    def load(self, given: Given, seed: int) -> PairSources:
        """Return the pairs; how a table is read does not fit pairs that are there already."""
        ready = given.get("pairs")
        others = [name for name in ("only", "rating", "groups", "limit") if name in given]
        if _has_texts(given):
            left, right = given.get("left", ""), given.get("right", "")
            if ready is not None or isinstance(left, str) or isinstance(right, str):
                raise ArgumentError(
                    "`left` and `right` are columns of `pairs`, or both are texts and there are no `pairs`"
                )
            ready = _pair_texts(left, right, given.get("rating"))
            others = [name for name in others if name != "rating"]
        if not isinstance(ready, PairSources):
            return self.read(given, seed)
        if others:
            names = ", ".join(f"`{name}`" for name in others)
            raise ArgumentError(f"{names}: for tables and datasets of pairs; these pairs are taken as they are")
        return ready

    def read(self, given: Given, seed: int) -> PairSources:
        """Return the pairs of a table, a sample or a dataset."""
        names = {name: given[name] for name in ("left", "right", "only", "limit") if name in given}
        return read_paraphrases(os.fspath(given["pairs"]), **names, seed=seed)


class RatedPairs(Paraphrases):
    """Pairs of texts that people rated."""

    takes = ("left", "right", "rating", "groups", "limit", "scores", "rated_only")
    about = "rated pairs: `pairs` with `left`, `right`, `rating`, or a dataset"

    def read(self, given: Given, seed: int) -> PairSources:
        rating = given.get("rating", [])
        ratings = [rating] if isinstance(rating, str) else list(rating)
        if not all(isinstance(column, str) for column in ratings):
            raise ArgumentError("`rating` names columns of `pairs`, or has numbers for the texts `left` and `right`")
        unknown = [name for name in given.get("groups", {}) if name not in (*GROUPS, "group")]
        if unknown:
            raise InputError(f"no group {unknown[0]!r}; the groups are {', '.join(GROUPS)}")
        names = {name: given[name] for name in self.takes if name in given and name != "rating"}
        return read_rated(os.fspath(given["pairs"]), ratings=ratings, **names, seed=seed)


@dataclass
class TaskTable(DataKind):
    """The table, folder or dataset of a task: the value that names it, its loader in `textgauge.data`, and its columns.

    `defaults` are columns that are read unless others are named; `samples` are the built-in sets on which
    `usmb-quick` runs the task.
    """

    value: str
    loader: str
    columns: tuple[str, ...]
    defaults: Mapping[str, str] = field(default_factory=dict)
    samples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.needs, self.takes, self.about = (self.value,), ("columns",), f"`{self.value}`"

    def load(self, given: Given, seed: int) -> TaskSources:
        """Return the data, by path or name unless they are there already; `ratings.coverage` is that of an aspect."""
        data = given[self.value]
        if isinstance(data, TaskSources):
            return data
        columns: dict[str, Any] = {}
        for name, value in given.get("columns", {}).items():
            group, dot, aspect = name.partition(".")
            if group == "ratings" and isinstance(value, str):
                columns.setdefault("ratings", {})[aspect if dot else "overall"] = value
            else:
                columns[name] = value
        return self.read(os.fspath(data), **{name: columns[name] for name in columns if name in self.columns})

    def read(self, spec: str, **columns: Any) -> TaskSources:
        """Return the data of a path, a built-in sample or a published set; `columns` name the columns of a table."""
        return TaskSources(spec, getattr(data_room, self.loader)(spec, **{**self.defaults, **columns}))


def load_data(what: str, kinds: Sequence[DataKind], given: Given, seed: int) -> list[Data | None]:
    """Return the data of each kind that the values name, None for kinds whose values are missing.

    Values that no kind reads are refused, and so is having none of the data.
    """
    about = " or ".join(kind.about for kind in kinds)
    unread = [name for name in given if not any(name in (*kind.needs, *kind.takes) for kind in kinds)]
    if unread:
        names = ", ".join(f"`{name}`" for name in unread)
        raise ArgumentError(f"{what} does not read {names}; it needs {about}")
    if not any(kind.fits(given) for kind in kinds):
        raise ArgumentError(f"{what} needs {about}")
    columns = list(dict.fromkeys(name for kind in kinds for name in kind.columns))
    unknown = [name for name in given.get("columns", {}) if name.partition(".")[0] not in columns]
    if unknown:
        raise InputError(f"{what} has no column {unknown[0]}; it has {', '.join(columns)}")
    return [kind.load(given, seed) if kind.fits(given) else None for kind in kinds]


def drop_none(values: Given) -> dict[str, Any]:
    """Return the values that are given."""
    return {name: value for name, value in values.items() if value is not None}


def _has_texts(given: Given) -> bool:
    return any(not isinstance(given.get(side, ""), str) for side in ("left", "right"))


def _pair_texts(left: Sequence[str], right: Sequence[str], rating: Any) -> PairSources:
    sides = Corpus.of(left), Corpus.of(right)
    count = len(sides[0])
    if count != len(sides[1]):
        raise InputError(f"pairs need as many left texts as right ones, not {count} and {len(sides[1])}")
    if rating is None:
        return PairSources("pairs", *sides)
    try:
        numbers = np.array(rating, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("ratings of texts that are given are numbers, one for each pair") from None
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InputError(f"{count} pairs need {count} finite ratings")
    return PairSources("pairs", *sides, {"rating": numbers})


def get_pair_groups(columns: Mapping[str, Any]) -> Any | None:
    """Return what pairs are resampled by, their groups or else their items; None where neither was named."""
    return columns.get("group", columns.get("item"))


def read_two(a: Source, b: Source, *, column: str | None = None) -> Sources:
    """Return two corpora, by path, sample or dataset name, or as texts."""
    given = {"a": a, "b": b}
    corpora = {role: load_corpus(source, role=f"source {role}", column=column) for role, source in given.items()}
    return Sources(",".join(get_source_name(source, role) for role, source in given.items()), corpora)


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
    """Return rated pairs by path or name.

    Of a table, `left` and `right` name the columns of texts, `ratings` one or more columns of ratings (larger is
    nearer), `groups` the columns of `set`, `system` and `item`, and `scores` those that `column:NAME` metrics read.
    Samples and published datasets bring theirs. Of a folder in the layout of mt-metrics-eval, `ratings` names the human
    scores, `right` the reference, and `scores` are the folder's own. A row without any rating is refused, or left out
    with `rated_only`. `with_sources` adds the column `source`, the sets that share texts, unless it is there or there
    are no sets: a few pairs drawn by `limit` share too few texts to tell.
    """
    if has_builtin_columns(spec):
        if ratings or groups or scores:
            raise InputError(f"{spec} brings its own ratings and groups; columns are named for tables alone")
        name, texts, references, columns, values = spec, *_read_known(spec, seed), {}
    else:
        if is_metric_folder(spec):
            if groups or len(ratings) > 1:
                raise InputError(f"{spec} brings its own systems and items; name one of its human scores at most")
            chosen = {"human": next(iter(ratings), None), "reference": None if right == "right" else right}
            table = load_metric_folder(spec, **chosen, scores=scores)
            left, right, ratings, groups = "left", "right", ["rating"], {"system": "system", "item": "item"}
        else:
            table = read_table(spec)
        if not ratings:
            raise ArgumentError(f"{table.name}: rated pairs need a column of ratings: `rating`")
        table, columns = _take_ratings(table, list(dict.fromkeys(ratings)), rated_only)
        for role, column in (groups or {}).items():
            columns[role] = np.array([str(cell) for cell in table.columns[table.find_column(column)]])
        texts, references = table.get_filled(left), _get_references(table, table.find_column(right))
        name, values = table.name, table.get_scores(scores)
    has_lists = any(isinstance(cell, list) for cell in references)
    lists = [cell if isinstance(cell, list) else [cell] for cell in references]
    sources = PairSources(
        name,
        Corpus.of(list(texts)),
        Corpus.of([text for several in lists for text in several]),
        columns,
        np.repeat(np.arange(len(lists)), [len(several) for several in lists]) if has_lists else None,
        {key: np.array(column) for key, column in values.items()},
    )
    if with_sources and "set" in columns and "source" not in columns and not has_lists:
        sets = np.unique(columns["set"], return_inverse=True)[1].astype(np.int64)
        columns["source"] = find_sources(sources.left.keys, sources.right.keys, sets)
    return sources if limit is None else sources.draw(limit, seed)


def _read_known(spec: str, seed: int) -> tuple[Sequence[str], References, dict[str, Any]]:
    """Return the texts and columns of a sample or a published dataset."""
    pairs = load_pairs(spec, seed=seed)
    if pairs.grade is None:
        raise InputError(f"{spec} has no ratings")
    name = spec.partition("/")[0]
    if name == _MQM:
        return _pair_with_reference(pairs)
    columns: dict[str, Any] = {"rating": np.array(pairs.grade)}
    if pairs.raters is not None:
        columns |= {f"rating_{i + 1}": np.array(column) for i, column in enumerate(zip(*pairs.raters, strict=True))}
    if name in _PARTS_ARE and pairs.group is not None:
        columns[_PARTS_ARE[name]] = np.array(pairs.group)
    return pairs.left, pairs.right, columns


def _pair_with_reference(pairs: TextPairs) -> tuple[Sequence[str], Sequence[str], dict[str, Any]]:
    """Return translations with the better one of the two human references, which is no longer a system of its own.

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


def _take_ratings(table: TextTable, names: Sequence[str], rated_only: bool) -> tuple[TextTable, dict[str, Any]]:
    """Return the table, and `rating`, the mean of each pair's ratings, with the single ones where there are several.

    A cell may be blank where another rater judged the pair; `rated_only` leaves out the rows that nobody judged.
    """
    single = np.array([table.get_numbers(name, blank=True) for name in names])
    rated = np.isfinite(single).any(axis=0)
    if not rated.all():
        if not rated_only:
            row = table.rows[int(np.argmin(rated))]
            raise InputError(f"{table.name}: {table.unit} {row}: column {names[0]!r} holds no rating")
        table, single = table.take(np.flatnonzero(rated).tolist()), single[:, rated]
    several = {f"rating_{i + 1}": column for i, column in enumerate(single)} if len(names) > 1 else {}
    blank = np.isnan(single)
    return table, {"rating": np.where(blank, 0.0, single).sum(axis=0) / (~blank).sum(axis=0), **several}


def _get_references(table: TextTable, column: str) -> References:
    """Return one reference for each row, or a list of them where the column holds lists (of JSONL and Parquet)."""
    cells = table.columns[column]
    if not any(isinstance(cell, list) for cell in cells):
        return table.get_filled(column)
    for row, cell in zip(table.rows, cells, strict=True):
        if not isinstance(cell, list) or not cell or not all(isinstance(text, str) for text in cell):
            raise InputError(f"{table.name}: {table.unit} {row}: column {column!r} is not a list of at least one text")
    return cells


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
    if spec in _LABELLED and not Path(spec).is_file():
        left, right, label = _LABELLED[spec]
        folders = [folder / spec for folder in list_data_folders()]
        files = [path for place in folders for path in sorted(place.glob("*")) if path.is_file() and is_table(path)]
        if not files:
            wanted = f"put a table with columns {left}, {right}, {label} into a folder named by TEXTGAUGE_DATA"
            raise ResourceError(f"{spec} is not on this machine and has no free address; {wanted} as {spec}/FILE")
        parts = [_select_rows(read_table(path), label, "1") for path in files]
        pairs = _get_text_pairs(spec, parts, left, right)
    elif only is not None:
        column, equals, value = only.partition("=")
        if not equals:
            raise InputError(f"rows are chosen with column=value, not {only!r}")
        table = _select_rows(read_table(spec), column, value)
        pairs = _get_text_pairs(table.name, [table], left, right)
    else:
        pairs = load_pairs(spec, left=left, right=right, seed=seed)
    drawn = pairs if limit is None else pairs.draw(limit, seed)
    return PairSources(spec, Corpus.of(drawn.left), Corpus.of(drawn.right))


def _select_rows(table: TextTable, column: str, value: str) -> TextTable:
    """Return the rows that hold a value in a column; a number is the same however it is written."""
    wanted = parse_number(value)
    cells = table.columns[table.find_column(column)]
    rows = [row for row, cell in enumerate(cells) if str(cell) == value or parse_number(cell) == wanted is not None]
    if not rows:
        raise InputError(f"{table.name}: no {table.unit} has {value!r} in column {column!r}")
    return table.take(rows)


def _get_text_pairs(name: str, tables: Sequence[TextTable], left: str, right: str) -> TextPairs:
    first, second = (tuple(text for table in tables for text in table.get_filled(side)) for side in (left, right))
    return TextPairs(first, second, name)
