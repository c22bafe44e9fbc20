"""What `textgauge run` works on: plans from the options that name data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Any

from textgauge.bench import Plan
from textgauge.errors import InputError, UnknownName
from textgauge.protocols import PROTOCOLS, Axis, Comparisons, Ifc, Perturbation, Protocol, Task
from textgauge.protocols.base import Data
from textgauge.protocols.perturbation import POINT_METRICS, POINTS, on_points

ALIGNMENT = "alignment"  # two protocols under one name: rated summaries, and comparisons of two


@dataclass(frozen=True)
class DataOptions:
    """The options that name data: two corpora, pairs, or the data of tasks; with the columns of tables."""

    corpora: Mapping[str, Any] = field(default_factory=dict)
    pairs: Mapping[str, Any] = field(default_factory=dict)
    sides: tuple[str, str] = ("left", "right")
    tasks: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.corpora or self.pairs or self.tasks or self.columns)


def plans_of(
    what: str, metrics: list[str] | None, parameters: Mapping[str, Any], seed: int, options: DataOptions
) -> list[Plan]:
    """The plans of a suite, or of a protocol on the data that were named."""
    from textgauge.bench import suites

    if what in suites.SUITES:
        if parameters or options:
            raise InputError(f"the suite {what} sets its own data and parameters; name a protocol to set them yourself")
        return suites.suite(what, metrics=metrics, seed=seed)
    if what not in PROTOCOLS and what != ALIGNMENT:
        raise UnknownName.among("suite or protocol", what, [*suites.SUITES, *PROTOCOLS, ALIGNMENT])
    if what == ALIGNMENT or issubclass(PROTOCOLS[what], Task):
        return _task_plans(what, metrics, parameters, seed, options)
    kind = PROTOCOLS[what]
    if options.tasks or options.columns:
        raise InputError(f"{what} is no task: it takes none of {', '.join([*options.tasks, *options.columns])}")
    if kind is Perturbation:
        if options:
            raise InputError(f"{what} draws its own points: it takes no corpora and no pairs")
        names = [metric.key for metric in on_points(metrics or POINT_METRICS)]
        return suites.plans_of(protocols_of(kind, parameters), [POINTS], names, seed)
    usual = suites.QUICK_PAIR_METRICS if kind.of == "pairs" else suites.QUICK_METRICS
    return suites.plans_of(protocols_of(kind, parameters), [_data(kind, options, seed)], metrics or usual, seed)


def _task_plans(
    what: str, metrics: list[str] | None, parameters: Mapping[str, Any], seed: int, options: DataOptions
) -> list[Plan]:
    from textgauge.bench.suites import plans_of as every
    from textgauge.bench.tasks import LOADERS, QUICK_TASK_METRICS, task_sources

    kinds = [Axis, Comparisons] if what == ALIGNMENT else [kind for kind in LOADERS if kind.name == what]
    named = [(kind, options.tasks[LOADERS[kind][0]]) for kind in kinds if LOADERS[kind][0] in options.tasks]
    if not named or options.corpora or options.pairs:
        wanted = " or ".join(f"--{LOADERS[kind][0]}" for kind in kinds)
        raise InputError(f"{what} reads its data from {wanted}")
    return [
        plan
        for kind, spec in named
        for plan in every(
            protocols_of(kind, parameters),
            [task_sources(kind, spec, **_columns(kind, options.columns))],
            metrics or QUICK_TASK_METRICS,
            seed,
        )
    ]


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


def _data(kind: type[Protocol], options: DataOptions, seed: int) -> Data:
    from textgauge.bench.ifc_sources import ifc_sources
    from textgauge.bench.paraphrases import paraphrase_sources
    from textgauge.bench.rated import rated_sources
    from textgauge.bench.suites import sources_of

    pairs, (left, right) = options.pairs, options.sides
    if kind.paraphrases:
        if "spec" not in pairs:
            raise InputError(f"{kind.name} needs paraphrases: --pairs with --left and --right, or a dataset")
        if pairs.keys() & {"ratings", "groups"}:
            raise InputError(f"{kind.name} looks at no ratings, sets, systems or items; choose rows with --only")
        return paraphrase_sources(**pairs, left=left, right=right, seed=seed)
    if "only" in pairs:
        raise InputError(f"--only chooses paraphrases, which {kind.name} does not read")
    if kind.of == "pairs":
        if "spec" not in pairs:
            raise InputError(f"{kind.name} needs rated pairs: --pairs with --left, --right, --rating, or a dataset")
        return rated_sources(**pairs, left=left, right=right, seed=seed)
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


def protocols_of(kind: type[Protocol], given: Mapping[str, Any]) -> list[Protocol]:
    """One protocol for every combination of values."""
    kinds: dict[str, Callable[[str], Any]] = {item.name: type(item.default) for item in fields(kind)}
    unknown = [name for name in given if name not in kinds]
    if unknown:
        has = ", ".join(kinds) or "none"
        raise UnknownName(f"{kind.name} has no parameter {unknown[0]!r}; its parameters: {has}")
    axes = [[_read(kinds[name], value) for value in str(text).split(",")] for name, text in given.items()]
    return [kind(**dict(zip(given, values, strict=True))) for values in product(*axes)]


def _read(kind: Callable[[str], Any], text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        return text  # the protocol says what it takes instead
