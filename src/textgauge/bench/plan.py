"""What a run consists of: plans of protocols on data with metrics, and their cells, one metric on one batch each.

Suites are named bundles of plans; packages add theirs by the entry point `textgauge.suites`.
"""

from __future__ import annotations

import hashlib
import json
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from textgauge.bench.inputs import load_data, read_paraphrases, read_rated, read_two
from textgauge.bench.protocols.agreement import Agreement
from textgauge.bench.protocols.base import CORPUS_METRICS, Protocol, find_protocols, list_protocols
from textgauge.bench.protocols.distributionality import Distributionality
from textgauge.bench.protocols.ksc import Ksc
from textgauge.bench.protocols.size import Size
from textgauge.bench.protocols.task import Task, list_tasks
from textgauge.bench.sources import Batch, Data, sign_metric
from textgauge.core.errors import ArgumentError, InputError, UnknownName
from textgauge.core.registry import Registry
from textgauge.core.show import Row
from textgauge.metrics import Metric, get_metrics
from textgauge.metrics.base import list_versions
from textgauge.metrics.pair.models import list_column_names

Metrics = str | Sequence[Any] | None
Made = TypeVar("Made", bound=Callable[..., Any])

_TWO = ("sample:banking", "sample:travel")
_FIRST_METRICS = "energy,mmd,fid,pr,dc,irpr,ahd,mauve,classifier,cbdf,jsd,zipf"
_FIRST_PAIR_METRICS = "cosine@minilm|wordllama,bertscore,chrf,bleu,rouge1,meteor,jaccard,levenshtein,wmd"
_SMALL: dict[str, dict[str, Any]] = {
    "robustness": {"documents_drawn": 60},
    "sensitivity": {"documents_drawn": 20},
    "clustering": {"n": 60, "folds": 4},
    "retrieval": {"folds": 4},
}


@dataclass(frozen=True)
class Cell:
    """One metric on one batch: everything that decides its numbers, and the name it is stored under."""

    protocol: str
    data: str
    fingerprint: str
    seed: int
    batch: int
    metric: str
    signature: str

    @cached_property
    def name(self) -> str:
        """A hash of what decides the numbers; what the data is called does not."""
        decides = [self.protocol, self.fingerprint, self.seed, self.batch, self.signature]
        return hashlib.blake2b(json.dumps(decides).encode(), digest_size=16).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary, for the manifest."""
        return asdict(self) | {"name": self.name}


@dataclass(frozen=True, eq=False)
class Plan:
    """A protocol on sources with metrics under a seed."""

    protocol: Protocol
    sources: Data
    metrics: Sequence[Metric]
    seed: int = 0

    def __post_init__(self) -> None:
        self.protocol.check(self.sources)

    def batches(self) -> Iterator[Batch]:
        """Draw the batches of trials."""
        return self.protocol.trials(self.sources, self.seed)

    def cell(self, batch: int, metric: Metric) -> Cell:
        """Return the cell of one metric on one batch."""
        return Cell(
            self.protocol.key,
            self.sources.name,
            self.sources.fingerprint,
            self.seed,
            batch,
            metric.key,
            sign_metric(metric, self.sources),
        )

    def cells(self) -> list[Cell]:
        """Return all cells."""
        numbers = self.protocol.batch_numbers(self.sources, self.seed)
        return [self.cell(number, metric) for number in numbers for metric in self.metrics]

    def to_dict(self) -> dict[str, Any]:
        """Return what a manifest says of the plan."""
        return {
            "protocol": {"name": self.protocol.name, "parameters": asdict(self.protocol)},
            "data": {
                "name": self.sources.name,
                "fingerprint": self.sources.fingerprint,
                "pool_share": self.protocol.pool_share(self.sources),
            },
            "seed": self.seed,
            "versions": list(list_versions("textgauge", "numpy", "scipy", "scikit-learn", "polars")),
        }


def make_plans(
    protocols: Sequence[Protocol], sources: Sequence[Data], metrics: str | Sequence[Any], seed: int
) -> list[Plan]:
    """Return every protocol on every data set; metrics that a protocol judges all others by are added to its own."""
    plans = []
    for data, protocol in product(sources, protocols):
        chosen = protocol.metrics_for(metrics, data)
        if not chosen:
            raise ArgumentError("name at least one metric with `metrics`")
        every = get_metrics([*chosen, *protocol.also(metric.key for metric in chosen)])
        plans.append(Plan(protocol, data, every, seed))
    return plans


def make_protocols(kind: type[Protocol], given: Mapping[str, Any]) -> list[Protocol]:
    """Return one protocol for every combination of values."""
    kinds = _list_parameters(kind, kind.name, given)
    values = []
    for name, several in given.items():
        typed = several.split(",") if isinstance(several, str) else several
        values.append([_convert(kinds[name], one) for one in (typed if isinstance(typed, Sequence) else [typed])])
    return [kind(**dict(zip(given, chosen, strict=True))) for chosen in product(*values)]


def _list_parameters(kind: Any, name: str, given: Mapping[str, Any]) -> dict[str, type[Any]]:
    """Return the types of the parameters of a protocol or a program; refuse values for others."""
    kinds = {item.name: type(item.default) for item in fields(kind)}
    unknown = [key for key in given if key not in kinds]
    if unknown:
        raise UnknownName(f"{name} has no parameter {unknown[0]!r}; its parameters: {', '.join(kinds) or 'none'}")
    return kinds


def _convert(kind: type[Any], value: Any) -> Any:
    """Return a value as its protocol keeps it, so that 1, 1.0 and "1" of a fraction name the same cells."""
    if kind is bool and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    if kind is int and not isinstance(value, str | np.integer):
        return value
    try:
        return kind(value)
    except (TypeError, ValueError):
        return value  # the protocol says what it takes instead


class Program(typing.Protocol):
    """A suite that has no cells: a dataclass whose fields are its parameters, and which runs itself."""

    def run_rows(self, folder: Path, *, seed: int) -> list[Row]:
        """Run into a folder, resuming what is there, and give the table to print."""


def make_program(name: str, given: Mapping[str, Any]) -> Program:
    """Return the program of a suite, with parameters as they are typed."""
    kind = SUITES[name]
    kinds, values = _list_parameters(kind, name, given), {}
    for key, value in given.items():
        try:
            values[key] = kinds[key](value)
        except ValueError:
            raise InputError(f"{key} is a whole number, not {value!r}") from None
    return cast(Program, kind(**values))


# Functions that make plans from metrics and a seed, and dataclasses of programs.
SUITES: Registry[Callable[..., Any]] = Registry("suite", group="textgauge.suites")


def register_suite(name: str) -> Callable[[Made], Made]:
    """Add a suite: a function that makes plans, or the dataclass of a program; used as a decorator.

    The first line of its docstring says what it runs. A package names it under the entry point `textgauge.suites`.
    """
    return partial(SUITES.register, name=name)


def list_suites() -> dict[str, str]:
    """Return what each suite runs, by name, those of other packages included."""
    return {name: (made.__doc__ or "").splitlines()[0] for name, made in SUITES.items()}


def has_program(name: str) -> bool:
    """Return whether a suite runs itself; packages load only for names that no protocol has."""
    return name not in list_protocols() and isinstance(SUITES.get(name), type)


def make_suite_or_protocol_plans(
    what: str, metrics: Metrics, parameters: Mapping[str, Any], seed: int, given: Mapping[str, Any]
) -> list[Plan]:
    """Return the plans of a suite, or of a protocol or a family of them on the data that `given` names.

    A value that names data of other protocols may be a parameter of this one: then it is the parameter.
    """
    kinds = find_protocols(what)
    if what not in list_protocols() and what in SUITES:
        if has_program(what):
            raise InputError(f"the suite {what} has no results of single metrics: run it by `textgauge run {what}`")
        if parameters or given:
            raise InputError(f"the suite {what} sets its own data and parameters; name a protocol to set them yourself")
        return cast("list[Plan]", SUITES[what](metrics, seed))
    if not kinds:
        families = {kind.family for kind in list_protocols().values() if kind.family}
        raise UnknownName.among("suite or protocol", what, [*SUITES, *list_protocols(), *families])
    own = {item.name for kind in kinds for item in fields(kind)}
    parameters = {**parameters, **{key: value for key, value in given.items() if key in own}}
    made = [make_protocols(kind, parameters) for kind in kinds]
    scores = list_column_names(metrics)
    if scores and any("scores" in kind.data.takes for kind in kinds):
        given = {**given, "scores": scores}
    named = {key: value for key, value in given.items() if key not in own}
    found = load_data(what, [kind.data for kind in kinds], named, seed)
    return [
        plan
        for kind, protocols, data in zip(kinds, made, found, strict=True)
        if data is not None
        for plan in make_plans(protocols, [data], kind.default_metrics if metrics is None else metrics, seed)
    ]


def make_task_plans(
    data: Mapping[type[Task], Sequence[str]],
    metrics: str | Sequence[Any],
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Plan]:
    """Return every task on its data sets, with `options` of tasks by name."""
    return [
        plan
        for kind, specs in data.items()
        for plan in make_plans(
            [kind(**(options or {}).get(kind.name, {}))], [kind.data.read(spec) for spec in specs], metrics, seed
        )
    ]


@register_suite("quick")
def quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """First look at everything on built-in data: mixtures, size, paraphrases, ratings, the five tasks."""
    if metrics is not None:
        raise InputError("the suite quick runs metrics of corpora and of pairs and names its own; name a protocol")
    size = Size(smallest=50, step=100, total=400, large=450, draws=3, repetitions=5)
    return [
        *make_plans([Ksc(), size], [read_two(*_TWO)], _FIRST_METRICS, seed),
        *make_plans([Distributionality()], [read_paraphrases("sample:banking")], _FIRST_METRICS, seed),
        *make_plans([Agreement()], [read_rated("sample:graded", limit=300)], _FIRST_PAIR_METRICS, seed),
        *usmb_quick(None, seed),
    ]


@register_suite("ksc-quick")
def ksc_quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Known-similarity corpora of two built-in corpora: about a minute."""
    return make_plans([Ksc()], [read_two(*_TWO)], metrics or CORPUS_METRICS, seed)


@register_suite("distributionality-quick")
def distributionality_quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Distributionality on built-in paraphrases: about a minute."""
    data = [read_paraphrases("sample:banking")]
    return make_plans([Distributionality()], data, metrics or f"{CORPUS_METRICS},ahd", seed)


@register_suite("usmb-quick")
def usmb_quick(metrics: Metrics = None, seed: int = 0) -> list[Plan]:
    """Five tasks of metrics of pairs on built-in data, with ensembles: about a minute."""
    return make_task_plans(
        {kind: kind.data.samples for kind in list_tasks()}, metrics or Task.default_metrics, seed, _SMALL
    )
