"""What a run consists of: plans of protocols on data with metrics, and their cells, one metric on one batch each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from textgauge.bench.inputs import load_data
from textgauge.bench.protocols import Batch, Protocol, find_protocols
from textgauge.bench.sources import Data, PairSources
from textgauge.core.errors import ArgumentError, UnknownName
from textgauge.metrics import Metric, get_metrics
from textgauge.metrics.base import list_versions
from textgauge.metrics.pair.models import list_column_names


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

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the batches."""
        return tuple(self.protocol.batch_numbers(self.sources, self.seed))

    def cell(self, batch: int, metric: Metric) -> Cell:
        """Return the cell of one metric on one batch."""
        return Cell(
            self.protocol.key,
            self.sources.name,
            self.sources.fingerprint,
            self.seed,
            batch,
            metric.key,
            self.sources.signature(metric) if isinstance(self.sources, PairSources) else metric.signature,
        )

    def cells(self) -> list[Cell]:
        """Return all cells."""
        return [self.cell(number, metric) for number in self.numbers for metric in self.metrics]

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
            raise ArgumentError("name at least one metric with {metrics}")
        every = get_metrics([*chosen, *protocol.also(metric.key for metric in chosen)])
        plans.append(Plan(protocol, data, every, seed))
    return plans


def make_protocol_plans(
    name: str, metrics: str | Sequence[Any] | None, parameters: Mapping[str, Any], seed: int, given: Mapping[str, Any]
) -> list[Plan]:
    """Return the plans of a protocol, or of a family of them, on the data that `given` names.

    A value that names data of other protocols may be a parameter of this one: then it is the parameter.
    """
    kinds = find_protocols(name)
    own = {item.name for kind in kinds for item in fields(kind)}
    parameters = {**parameters, **{key: value for key, value in given.items() if key in own}}
    made = [make_protocols(kind, parameters) for kind in kinds]
    scores = list_column_names(metrics)
    if scores and any("scores" in kind.data.takes for kind in kinds):
        given = {**given, "scores": scores}
    found = load_data(
        name, [kind.data for kind in kinds], {key: value for key, value in given.items() if key not in own}, seed
    )
    return [
        plan
        for kind, protocols, data in zip(kinds, made, found, strict=True)
        if data is not None
        for plan in make_plans(protocols, [data], kind.default_metrics if metrics is None else metrics, seed)
    ]


def make_protocols(kind: type[Protocol], given: Mapping[str, Any]) -> list[Protocol]:
    """Return one protocol for every combination of values."""
    kinds: dict[str, type[Any]] = {item.name: type(item.default) for item in fields(kind)}
    unknown = [name for name in given if name not in kinds]
    if unknown:
        has = ", ".join(kinds) or "none"
        raise UnknownName(f"{kind.name} has no parameter {unknown[0]!r}; its parameters: {has}")
    values = []
    for name, several in given.items():
        typed = several.split(",") if isinstance(several, str) else several
        values.append([_convert(kinds[name], one) for one in (typed if isinstance(typed, Sequence) else [typed])])
    return [kind(**dict(zip(given, chosen, strict=True))) for chosen in product(*values)]


def _convert(kind: type[Any], value: Any) -> Any:
    """Return a value as its protocol keeps it, so that 1, 1.0 and "1" of a fraction name the same cells."""
    if kind is int and not isinstance(value, str | np.integer):
        return value
    try:
        return kind(value)
    except (TypeError, ValueError):
        return value  # the protocol says what it takes instead
