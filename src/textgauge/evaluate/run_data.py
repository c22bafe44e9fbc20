"""What a run works on: data from the options that name them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from textgauge.data import Corpus
from textgauge.errors import InputError
from textgauge.evaluate.ifc_sources import ifc_sources
from textgauge.evaluate.paraphrases import paraphrase_sources
from textgauge.evaluate.protocols import Axis, Comparisons, Ifc, PairSources, Protocol, Sources, Task, TaskSources
from textgauge.evaluate.protocols.base import Data
from textgauge.evaluate.rated import rated_sources
from textgauge.evaluate.suites import sources_of
from textgauge.evaluate.tasks import task_sources

# The columns of each task's table; for alignment, those of the other table are not meant.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "axis": ("document", "text", "summary", "ratings"),
    "comparisons": ("document", "text", "first", "second", "chosen"),
    "robustness": ("document", "text", "summary"),
    "sensitivity": ("document", "text"),
    "clustering": ("text", "label"),
    "retrieval": ("split",),
}
Spec = str | os.PathLike[str] | PairSources


@dataclass(frozen=True)
class DataOptions:
    """What names data or is data: corpora, pairs, or the data of tasks; with the columns of tables."""

    corpora: Mapping[str, Any] = field(default_factory=dict)
    pairs: Mapping[str, Any] = field(default_factory=dict)
    sides: tuple[str, str] = ("left", "right")
    tasks: Mapping[str, str | TaskSources] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.corpora or self.pairs or self.tasks or self.columns)


def data_of(kind: type[Protocol], options: DataOptions, seed: int) -> Data:
    """The data of a protocol that is no task."""
    if kind.paraphrases:
        return _paraphrases(kind, options, seed)
    if "only" in options.pairs:
        raise InputError(f"--only chooses paraphrases, which {kind.name} does not read")
    if kind.of == "pairs":
        return _rated_pairs(kind, options, seed)
    return _corpora(kind, options)


def _paraphrases(kind: type[Protocol], options: DataOptions, seed: int) -> PairSources:
    pairs, (left, right) = options.pairs, options.sides
    if "spec" not in pairs:
        raise InputError(f"{kind.name} needs paraphrases: --pairs with --left and --right, or a dataset")
    if pairs.keys() & {"ratings", "groups"}:
        raise InputError(f"{kind.name} looks at no ratings, sets, systems or items; choose rows with --only")
    return _ready(pairs) or paraphrase_sources(**pairs, left=left, right=right, seed=seed)


def _rated_pairs(kind: type[Protocol], options: DataOptions, seed: int) -> PairSources:
    pairs, (left, right) = options.pairs, options.sides
    if "spec" not in pairs:
        raise InputError(f"{kind.name} needs rated pairs: --pairs with --left, --right, --rating, or a dataset")
    return _ready(pairs) or rated_sources(**pairs, left=left, right=right, seed=seed)


def _corpora(kind: type[Protocol], options: DataOptions) -> Sources:
    given = options.corpora.keys() - {"column"}
    if kind is Ifc:
        if given != {"steps", "reference"}:
            raise InputError("ifc needs --steps, a folder of corpora in order, and --reference, and no other corpora")
        return ifc_sources(**options.corpora)
    if given & {"steps", "reference"}:
        raise InputError(f"--steps and --reference are for ifc, not for {kind.name}")
    if not options.corpora.keys() >= {"a", "b"}:
        raise InputError(f"{kind.name} needs two corpora: --source-a and --source-b")
    return sources_of(**options.corpora)


def _ready(pairs: Mapping[str, Any]) -> PairSources | None:
    """Pairs that are there already; how a table is read does not fit them."""
    ready = pairs["spec"]
    if not isinstance(ready, PairSources):
        return None
    others = [name for name in pairs if name != "spec"]
    if others:
        raise InputError(f"{', '.join(others)}: for tables and datasets of pairs; these pairs are taken as they are")
    return ready


def task_data(kind: type[Task], given: str | TaskSources, columns: Mapping[str, Any]) -> TaskSources:
    """The data of a task, by path or name unless they are there already."""
    return given if isinstance(given, TaskSources) else task_sources(kind, given, **_columns(kind, columns))


def _columns(kind: type[Task], given: Mapping[str, Any]) -> dict[str, Any]:
    both = set(_COLUMNS["axis"] + _COLUMNS["comparisons"]) if kind in (Axis, Comparisons) else set()
    unknown = [name for name in given if name not in {*both, *_COLUMNS[kind.name]}]
    if unknown:
        raise InputError(f"{kind.name} has no column {unknown[0]}; it has {', '.join(_COLUMNS[kind.name])}")
    return {name: value for name, value in given.items() if name in _COLUMNS[kind.name]}


def task_columns(named: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a task's table; `ratings` is one column, or `ratings.coverage` that of an aspect.

    >>> task_columns({"text": "body", "ratings": "score", "ratings.coverage": "facts"})
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


def said(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def pairs_of(
    pairs: Spec | None,
    left: str | Sequence[str],
    right: str | Sequence[str],
    rating: str | Sequence[str] | Sequence[float] | None,
    others: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[str, str]]:
    """The options of pairs, of which `spec` names them or is them, and the columns of both sides."""
    if isinstance(left, str) and isinstance(right, str):
        return {**_named(pairs, rating), **others}, (left, right)
    if pairs is not None or isinstance(left, str) or isinstance(right, str):
        raise InputError("--left and --right are columns of --pairs, or both are texts and there are no --pairs")
    return {"spec": given_pairs(left, right, rating), **others}, ("left", "right")


def _named(pairs: Spec | None, rating: str | Sequence[str] | Sequence[float] | None) -> dict[str, Any]:
    ratings = [rating] if isinstance(rating, str) else list(rating or [])
    if not all(isinstance(column, str) for column in ratings):
        raise InputError("--rating names columns of --pairs, or has numbers beside texts as --left and --right")
    spec = pairs if pairs is None or isinstance(pairs, PairSources) else os.fspath(pairs)
    return {name: value for name, value in (("spec", spec), ("ratings", ratings)) if value}


def given_pairs(left: Sequence[str], right: Sequence[str], rating: Any = None) -> PairSources:
    """Pairs of texts, with a rating of each where there are some.

    >>> given_pairs(["a cat", "a dog"], ["one cat", "a cow"], [3, 1]).columns["rating"].tolist()
    [3.0, 1.0]
    """
    sides = Corpus.of(left), Corpus.of(right)
    if len(sides[0]) != len(sides[1]):
        raise InputError(f"pairs need as many left texts as right ones, not {len(sides[0])} and {len(sides[1])}")
    return PairSources("pairs", *sides, {} if rating is None else {"rating": _numbers(rating, len(sides[0]))})


def _numbers(rating: Any, count: int) -> Any:
    try:
        numbers = np.array(rating, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("ratings of texts that are given are numbers, one for each pair") from None
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InputError(f"{count} pairs need {count} finite ratings")
    return numbers
