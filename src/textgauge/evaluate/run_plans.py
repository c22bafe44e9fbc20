"""Plans of a suite, or of a protocol on data that are named or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np

from textgauge.data import Comparison
from textgauge.errors import InputError, UnknownName
from textgauge.evaluate import Plan, suites
from textgauge.evaluate.protocols import PROTOCOLS, Axis, Comparisons, Perturbation, Protocol, Sources, Task
from textgauge.evaluate.protocols.base import Data
from textgauge.evaluate.protocols.perturbation import POINT_METRICS, POINTS, on_points
from textgauge.evaluate.run_data import DataOptions, data_of, task_data
from textgauge.evaluate.tasks import LOADERS, QUICK_TASK_METRICS
from textgauge.metrics import get_corpus_metrics

ALIGNMENT = "alignment"  # two protocols under one name: rated summaries, and comparisons of two


def plans_of(
    what: str, metrics: str | Sequence[Any] | None, parameters: Mapping[str, Any], seed: int, options: DataOptions
) -> list[Plan]:
    """The plans of a suite, or of a protocol on the data that were named."""
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
        names = [metric.key for metric in on_points(POINT_METRICS if metrics is None else metrics)]
        return suites.plans_of(protocols_of(kind, parameters), [POINTS], names, seed)
    if metrics is None:
        metrics = suites.QUICK_PAIR_METRICS if kind.of == "pairs" else suites.QUICK_METRICS
    protocols, data = protocols_of(kind, parameters), data_of(kind, options, seed)
    return suites.plans_of(protocols, [data], _on_given(metrics, data), seed)


def _task_plans(
    what: str, metrics: str | Sequence[Any] | None, parameters: Mapping[str, Any], seed: int, options: DataOptions
) -> list[Plan]:
    kinds = [Axis, Comparisons] if what == ALIGNMENT else [kind for kind in LOADERS if kind.name == what]
    named = [(kind, options.tasks[LOADERS[kind][0]]) for kind in kinds if LOADERS[kind][0] in options.tasks]
    if not named or options.corpora or options.pairs:
        wanted = " or ".join(f"--{LOADERS[kind][0]}" for kind in kinds)
        raise InputError(f"{what} reads its data from {wanted}")
    return [
        plan
        for kind, given in named
        for plan in suites.plans_of(
            protocols_of(kind, parameters),
            [task_data(kind, given, options.columns)],
            QUICK_TASK_METRICS if metrics is None else metrics,
            seed,
        )
    ]


def protocols_of(kind: type[Protocol], given: Mapping[str, Any]) -> list[Protocol]:
    """One protocol for every combination of values."""
    kinds: dict[str, type[Any]] = {item.name: type(item.default) for item in fields(kind)}
    unknown = [name for name in given if name not in kinds]
    if unknown:
        has = ", ".join(kinds) or "none"
        raise UnknownName(f"{kind.name} has no parameter {unknown[0]!r}; its parameters: {has}")
    axes = [[_read(kinds[name], value) for value in _values(values)] for name, values in given.items()]
    return [kind(**dict(zip(given, values, strict=True))) for values in product(*axes)]


def _values(given: Any) -> Sequence[Any]:
    """One value or several, as they are or as they are typed."""
    if isinstance(given, str):
        return given.split(",")
    return given if isinstance(given, Sequence) else [given]


def _read(kind: type[Any], value: Any) -> Any:
    """A value as its protocol keeps it, so that 1, 1.0 and "1" of a fraction name the same cells."""
    if kind is int and not isinstance(value, str | np.integer):
        return value
    try:
        return kind(value)
    except (TypeError, ValueError):
        return value  # the protocol says what it takes instead


def _on_given(metrics: str | Sequence[Any], data: Data) -> str | Sequence[Any]:
    """The metrics, moved to the ready-made embeddings of two corpora that bring them."""
    if not isinstance(data, Sources) or not data.joint.pool.has_given:
        return metrics
    comparison = Comparison(data.joint, data.joint)
    chosen = [metric.on_given(comparison) for metric in get_corpus_metrics(metrics)]
    blind = [metric.key for metric in chosen if metric.reads_texts and not data.joint.pool.has_texts]
    if blind:
        raise InputError(f"{blind[0]} needs texts, but the corpora were given as embeddings")
    return chosen
