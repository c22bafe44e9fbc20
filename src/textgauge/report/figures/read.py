"""What figures are drawn from: the observations of a store, gathered by data set, protocol and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textgauge.errors import InputError
from textgauge.evaluate.ensembles import Contribution, ensembles
from textgauge.evaluate.plan import Cell
from textgauge.evaluate.protocols.base import Observations, Protocol
from textgauge.evaluate.protocols.task import Task
from textgauge.evaluate.results import Judged, cells_by_metric, judge, observations, protocol_of, read_all
from textgauge.evaluate.store import Store
from textgauge.metrics import get_metric, get_metrics

Key = tuple[str, str, str, int]


@dataclass(frozen=True, eq=False)
class Run:
    """A store and what is judged of it, ensembles among it; made when it is first asked for, and once."""

    store: Store

    @cached_property
    def judged(self) -> list[Judged]:
        """All verdicts."""
        return judge(self.store)

    @property
    def tasks(self) -> list[Judged]:
        """The verdicts of tasks."""
        return [item for item in self.judged if isinstance(item.protocol, Task)]

    @cached_property
    def made(self) -> set[str]:
        """What is judged beside the metrics of the store: means over embedders, ensembles."""
        asked = {cell["metric"] for manifest in self.store.manifests() for cell in manifest["cells"]}
        return {item.metric for item in self.tasks} - asked

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """What metrics contribute to ensembles."""
        return ensembles(self.store, read_all(self.store)).contributions


@dataclass(frozen=True, eq=False)
class Group:
    """All metrics under one protocol, on one data set, with one seed; `observed` is oriented so that farther is larger.

    Tasks have similarities instead. `fingerprint` tells data sets of one name apart, `missing` counts the cells that
    the store lacks; `run` is what the group was read from.
    """

    data: str
    protocol: Protocol
    seed: int
    fingerprint: str = ""
    observed: dict[str, Observations] = field(default_factory=dict)
    missing: int = 0
    run: Run | None = None


def groups(of: Store | Run) -> list[Group]:
    """The groups of a store and their metrics, both in the order of their names; later runs go before earlier ones."""
    run = of if isinstance(of, Run) else Run(of)
    protocols: dict[Key, Protocol] = {}
    cells: dict[Key, dict[str, list[Cell]]] = {}
    for manifest in run.store.manifests():
        protocol = protocol_of(manifest["protocol"], {})
        data = manifest["data"]
        key = (data["name"], protocol.key, data["fingerprint"], int(manifest["seed"]))
        protocols[key] = protocol
        cells.setdefault(key, {}).update(cells_by_metric(manifest["cells"]))
    return [_group(run, key, protocols[key], cells[key]) for key in sorted(cells)]


def chosen_metrics(found: Sequence[Group], metrics: str | Sequence[str] | None) -> set[str] | None:
    """The keys of the metrics that are asked for; None where all are."""
    if not metrics:
        return None
    there = {metric for group in found for metric in group.observed}
    asked = [metric.key for metric in get_metrics(metrics)]
    absent = [name for name in asked if name not in there]
    if absent:
        raise InputError(f"the run has no metric {absent[0]!r}; it has {', '.join(sorted(there))}")
    return set(asked)


def own_values(metric: str, observed: Observations) -> NDArray[np.float64]:
    """The values as the metric itself gives them; NaN for those that are not finite."""
    return np.asarray(get_metric(metric).orient(finite(observed.value)))


def finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values, with NaN for infinite ones: they have no place in a picture."""
    return np.where(np.isfinite(values), values, np.nan)


def _group(run: Run, key: Key, protocol: Protocol, cells: dict[str, list[Cell]]) -> Group:
    read = {metric: observations(run.store, of, protocol) for metric, of in sorted(cells.items())}
    there = {metric: observed for metric, (observed, _) in read.items() if len(observed.value)}
    return Group(key[0], protocol, key[3], key[2], there, sum(missing for _, missing in read.values()), run)
