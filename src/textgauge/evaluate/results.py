"""Verdicts from what a store holds: pure functions of observations, made anew whenever they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.errors import InputError
from textgauge.evaluate.plan import Cell
from textgauge.evaluate.protocols import PROTOCOLS
from textgauge.evaluate.protocols.base import Observations, Protocol, Verdict
from textgauge.evaluate.protocols.task import Task
from textgauge.evaluate.store import Store
from textgauge.metrics import Metric, get_metric
from textgauge.metrics.pair_metric import similarity_of


@dataclass(frozen=True)
class Judged:
    """The verdicts of one metric under one protocol on one data set."""

    data: str
    protocol: Protocol
    seed: int
    metric: str
    verdicts: tuple[Verdict, ...]
    missing: int = 0
    fingerprint: str = ""

    def verdict(self, measure: str) -> Verdict:
        """One measure."""
        return next(verdict for verdict in self.verdicts if verdict.measure == measure)


@dataclass(frozen=True, eq=False)
class Read:
    """What a store holds of one protocol on one data set: observations of every metric, and how many cells it lacks."""

    data: str
    fingerprint: str
    protocol: Protocol
    seed: int
    observed: Mapping[str, Observations]
    missing: Mapping[str, int]

    @property
    def complete(self) -> dict[str, Observations]:
        """The metrics of which no cell is missing."""
        return {metric: found for metric, found in self.observed.items() if not self.missing[metric]}


def judge(
    store: Store, options: Mapping[str, Any] | None = None, *, on_step: Callable[[str], None] = lambda _: None
) -> list[Judged]:
    """All verdicts of a store, the latest where runs asked for the same one under other versions.

    `options` are parameters of protocols that decide how trials are judged; what they leave open is as the run has it.
    Tasks of pair metrics are also judged for the mean over embedders and for ensembles of the metrics.
    """
    from textgauge.evaluate.ensembles import ensembles

    read = read_all(store, options)
    return [*(item for group in read for item in _judged(group)), *ensembles(store, read, on_step=on_step).judged]


def read_all(store: Store, options: Mapping[str, Any] | None = None) -> list[Read]:
    """What a store holds, protocol by protocol and data set by data set; metrics of several runs together."""
    found: dict[tuple[str, Protocol, int], dict[str, list[Cell]]] = {}
    for manifest in store.manifests():
        protocol = protocol_of(manifest["protocol"], options or {})
        for metric, cells in cells_by_metric(manifest["cells"]).items():
            found.setdefault((cells[0].fingerprint, protocol, cells[0].seed), {})[metric] = cells
    # Manifests of one run may be equally old: protocols have an order of their own.
    order = list(PROTOCOLS)
    ranked = sorted(found.items(), key=lambda item: order.index(item[0][1].name))
    return [_read(store, protocol, cells) for (_, protocol, _), cells in ranked]


def observations(
    store: Store, cells: list[Cell], protocol: type[Protocol] | Protocol = Protocol
) -> tuple[Observations, int]:
    """What one metric gave, as the protocol wants it, and how many cells are missing.

    Distances (farther is larger) unless the protocol judges similarities, or times.
    """
    frames = [(cell.batch, store.read(cell)) for cell in cells]
    there = [(batch, frame) for batch, frame in frames if frame is not None]
    if not there:
        return Observations(np.empty(0), np.empty(0, np.int64)), len(frames)
    metric: Metric = get_metric(cells[0].metric)
    values = np.concatenate([frame["value"].to_numpy() for _, frame in there])
    names = [name for name in there[0][1].columns if name not in {"value", "failed", "seconds"}]
    return Observations(
        _wanted(metric, values, protocol),
        np.concatenate([np.full(len(frame), batch) for batch, frame in there]),
        {name: np.concatenate([frame[name].to_numpy() for _, frame in there]) for name in names},
    ), len(frames) - len(there)


def _wanted(metric: Any, values: NDArray[np.float64], protocol: type[Protocol] | Protocol) -> NDArray[np.float64]:
    if protocol.timed:
        return values
    return np.asarray(similarity_of(metric, values) if protocol.similarities else metric.orient(values))


def protocol_of(declared: Mapping[str, Any], options: Mapping[str, Any]) -> Protocol:
    """The protocol a manifest names, with options that change how it judges."""
    kind = PROTOCOLS.get(str(declared["name"]))
    if kind is None:
        raise InputError(f"this version knows no protocol {declared['name']!r}")
    known = {item.name for item in fields(kind)}
    given = {name: value for name, value in declared["parameters"].items() if name in known}
    return kind(**given | {name: value for name, value in options.items() if name in known})


def _read(store: Store, protocol: Protocol, cells: dict[str, list[Cell]]) -> Read:
    read = {metric: observations(store, of, protocol) for metric, of in cells.items()}
    first = next(iter(cells.values()))[0]
    return Read(
        first.data,
        first.fingerprint,
        protocol,
        first.seed,
        {metric: found for metric, (found, _) in read.items()},
        {metric: missing for metric, (_, missing) in read.items()},
    )


def _judged(group: Read) -> Iterator[Judged]:
    from textgauge.evaluate.ensembles import mean_verdicts, means_over_embedders

    there = {metric: found for metric, found in group.observed.items() if len(found.value)}
    verdicts = group.protocol.judge_all(there)
    if isinstance(group.protocol, Task):
        for name, metrics in means_over_embedders(list(verdicts)).items():
            verdicts[name] = mean_verdicts([verdicts[metric] for metric in metrics], group.protocol)
    for metric in dict.fromkeys([*group.observed, *verdicts]):
        said, missing = tuple(verdicts.get(metric, ())), group.missing.get(metric, 0)
        yield Judged(group.data, group.protocol, group.seed, metric, said, missing, group.fingerprint)


def cells_by_metric(rows: list[dict[str, Any]]) -> dict[str, list[Cell]]:
    """The cells of a manifest, metric by metric."""
    names = [item.name for item in fields(Cell)]
    found: dict[str, list[Cell]] = {}
    for row in rows:
        cell = Cell(**{name: row[name] for name in names})
        found.setdefault(cell.metric, []).append(cell)
    return found
