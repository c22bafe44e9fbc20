"""Kinds of data that protocols declare: which values name them, and how they are loaded."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from textgauge import data as data_room
from textgauge.bench.inputs.pair_sources import GROUPS, make_pairs, read_paraphrases, read_rated
from textgauge.bench.inputs.sources import Data, PairSources, Sources, TaskSources, read_steps, read_two
from textgauge.core.errors import ArgumentError, InputError

Given = Mapping[str, Any]


def drop_none(values: Given) -> dict[str, Any]:
    """Return the values that are given."""
    return {name: value for name, value in values.items() if value is not None}


class DataKind(ABC):
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

    @abstractmethod
    def load(self, given: Given, seed: int) -> Data:
        """The data that the values name or are."""


@dataclass(frozen=True)
class TwoCorpora(DataKind):
    """Two corpora, as `compare` takes them."""

    needs = ("source_a", "source_b")
    takes = ("column",)
    about = "two corpora: {source_a} and {source_b}"

    def load(self, given: Given, seed: int) -> Sources:
        """Return both corpora."""
        return read_two(given["source_a"], given["source_b"], column=given.get("column"))


@dataclass(frozen=True)
class StepsAndReference(DataKind):
    """Corpora in order, one for each step, and the corpus that they should approach."""

    needs = ("steps", "reference")
    takes = ("column",)
    about = "{steps}, a folder of corpora in order, and {reference}"

    def load(self, given: Given, seed: int) -> Sources:
        """Return the reference and all steps."""
        return read_steps(given["steps"], given["reference"], column=given.get("column"))


@dataclass(frozen=True)
class _PairData(DataKind):
    """Pairs by name, or as texts in `left` and `right`."""

    needs = ("pairs",)
    reads: ClassVar[tuple[str, ...]]  # values that say how a table is read, in addition to its columns of texts

    def fits(self, given: Given) -> bool:
        """Return whether pairs are named, or texts are given."""
        return "pairs" in given or _has_texts(given)

    def load(self, given: Given, seed: int) -> PairSources:
        """Return the pairs; how a table is read does not fit pairs that are there already."""
        ready = _get_ready_pairs(given)
        if ready is None:
            return self.read(given, seed)
        others = [name for name in self.reads if name in given and not (name == "rating" and _has_texts(given))]
        if others:
            names = ", ".join(f"{{{name}}}" for name in others)
            raise ArgumentError(f"{names}: for tables and datasets of pairs; these pairs are taken as they are")
        return ready

    @abstractmethod
    def read(self, given: Given, seed: int) -> PairSources:
        """Pairs of a table, a sample or a dataset."""


@dataclass(frozen=True)
class RatedPairs(_PairData):
    """Pairs of texts that people rated."""

    takes = ("left", "right", "rating", "groups", "limit", "scores", "rated_only")
    reads = ("rating", "groups", "limit")
    about = "rated pairs: {pairs} with {left}, {right}, {rating}, or a dataset"

    def read(self, given: Given, seed: int) -> PairSources:
        """Return pairs with a column of ratings, or several, and the columns of groups."""
        rating, groups = given.get("rating", []), given.get("groups", {})
        ratings = [rating] if isinstance(rating, str) else list(rating)
        if not all(isinstance(column, str) for column in ratings):
            raise ArgumentError("{rating} names columns of {pairs}, or has numbers for the texts {left} and {right}")
        unknown = [name for name in groups if name not in GROUPS]
        if unknown:
            raise InputError(f"no group {unknown[0]!r}; the groups are {', '.join(GROUPS)}")
        return read_rated(
            os.fspath(given["pairs"]),
            left=given.get("left", "left"),
            right=given.get("right", "right"),
            ratings=ratings,
            groups=groups,
            scores=given.get("scores", ()),
            rated_only=given.get("rated_only", False),
            limit=given.get("limit"),
            seed=seed,
        )


@dataclass(frozen=True)
class Paraphrases(_PairData):
    """Pairs of texts that mean the same."""

    takes = ("left", "right", "only", "limit")
    reads = ("only", "limit")
    about = "paraphrases: {pairs} with {left} and {right} and rows chosen by {only}, or a dataset"

    def read(self, given: Given, seed: int) -> PairSources:
        """Return pairs of texts, of some rows where `only` chooses them."""
        sides = {side: given.get(side, side) for side in ("left", "right")}
        spec = os.fspath(given["pairs"])
        return read_paraphrases(spec, **sides, only=given.get("only"), limit=given.get("limit"), seed=seed)


@dataclass(frozen=True)
class TaskTable(DataKind):
    """The table, folder or dataset of a task: the value that names it, its loader in `textgauge.data`, and its columns.

    `defaults` are columns that are read unless others are named; `samples` are the built-in sets on which
    `usmb-quick` runs the task.
    """

    value: str
    loader: str
    columns: tuple[str, ...]
    defaults: Mapping[str, str] = field(default_factory=dict, hash=False)
    samples: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The value that names the data."""
        return (self.value,)

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Columns of a table."""
        return ("columns",)

    @property
    def about(self) -> str:  # type: ignore[override]
        """The value that names the data."""
        return f"{{{self.value}}}"

    def load(self, given: Given, seed: int) -> TaskSources:
        """Return the data, by path or name unless they are there already."""
        data = given[self.value]
        if isinstance(data, TaskSources):
            return data
        columns = _parse_task_columns(given.get("columns", {}))
        return self.read(os.fspath(data), **{name: columns[name] for name in columns if name in self.columns})

    def read(self, spec: str, **columns: Any) -> TaskSources:
        """Return the data of a path, a built-in sample or a published set; `columns` name the columns of a table."""
        return TaskSources(spec, getattr(data_room, self.loader)(spec, **{**self.defaults, **columns}))


@dataclass(frozen=True)
class OwnPoints(DataKind):
    """Nothing: the protocol draws its points itself."""

    points: Sources
    about = "no data: it draws its own points"

    def load(self, given: Given, seed: int) -> Sources:
        """Return the name of the points."""
        return self.points


def load_data(what: str, kinds: Sequence[DataKind], given: Given, seed: int) -> list[Data | None]:
    """Return the data of each kind that the values name, None for kinds whose values are missing.

    Values that no kind reads are refused, and so is having none of the data.
    """
    about = " or ".join(kind.about for kind in kinds)
    unread = [name for name in given if not any(name in (*kind.needs, *kind.takes) for kind in kinds)]
    if unread:
        names = ", ".join(f"{{{name}}}" for name in unread)
        raise ArgumentError(f"{{protocol}} does not read {names}; it needs {about}", protocol=what)
    if not any(kind.fits(given) for kind in kinds):
        raise ArgumentError(f"{{protocol}} needs {about}", protocol=what)
    columns = list(dict.fromkeys(name for kind in kinds for name in kind.columns))
    unknown = [name for name in given.get("columns", {}) if name.partition(".")[0] not in columns]
    if unknown:
        raise InputError(f"{what} has no column {unknown[0]}; it has {', '.join(columns)}")
    return [kind.load(given, seed) if kind.fits(given) else None for kind in kinds]


def _has_texts(given: Given) -> bool:
    return any(not isinstance(given.get(side, ""), str) for side in ("left", "right"))


def _get_ready_pairs(given: Given) -> PairSources | None:
    if _has_texts(given):
        sides = [given.get("left", ""), given.get("right", "")]
        if "pairs" in given or any(isinstance(side, str) for side in sides):
            raise ArgumentError("{left} and {right} are columns of {pairs}, or both are texts and there are no {pairs}")
        return make_pairs(sides[0], sides[1], given.get("rating"))
    return given["pairs"] if isinstance(given["pairs"], PairSources) else None


def _parse_task_columns(named: Given) -> dict[str, Any]:
    """Return columns of a task's table; `ratings` is one column, or `ratings.coverage` that of an aspect.

    >>> _parse_task_columns({"text": "body", "ratings": "score", "ratings.coverage": "facts"})
    {'text': 'body', 'ratings': {'overall': 'score', 'coverage': 'facts'}}
    """
    found: dict[str, Any] = {}
    for name, value in named.items():
        group, dot, aspect = name.partition(".")
        if group == "ratings" and isinstance(value, str):
            found.setdefault("ratings", {})[aspect if dot else "overall"] = value
        else:
            found[name] = value
    return found
