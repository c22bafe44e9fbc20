"""What a run works on: data from the options that name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from textgauge.bench.ifc_sources import ifc_sources
from textgauge.bench.paraphrases import paraphrase_sources
from textgauge.bench.rated import rated_sources
from textgauge.bench.suites import sources_of
from textgauge.bench.tasks import task_sources
from textgauge.errors import InputError
from textgauge.protocols import Axis, Comparisons, Ifc, PairSources, Protocol, Sources, Task, TaskSources
from textgauge.protocols.base import Data


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


# The columns of each task's table; for alignment, those of the other table are not meant.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "axis": ("document", "text", "summary", "ratings"),
    "comparisons": ("document", "text", "first", "second", "chosen"),
    "robustness": ("document", "text", "summary"),
    "sensitivity": ("document", "text"),
    "clustering": ("text", "label"),
    "retrieval": ("split",),
}


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
