"""Verdicts from what a store holds: pure functions of observations, made anew whenever they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from textgauge.bench.plan import Cell
from textgauge.bench.store import Store
from textgauge.errors import InputError
from textgauge.metrics import Metric, get_metric
from textgauge.protocols import PROTOCOLS
from textgauge.protocols.base import Observations, Protocol, Verdict


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


def judge(store: Store, options: Mapping[str, Any] | None = None) -> list[Judged]:
    """All verdicts of a store, the latest where runs asked for the same one under other versions.

    `options` are parameters of protocols that decide how trials are judged; what they leave open is as the run has it.
    """
    found: dict[tuple[str, Protocol, int, str], Judged] = {}
    for manifest in store.manifests():
        protocol = protocol_of(manifest["protocol"], options or {})
        for item in _judged(store, protocol, cells_by_metric(manifest["cells"])):
            found[item.fingerprint, protocol, item.seed, item.metric] = item
    return list(found.values())


def observations(store: Store, cells: list[Cell], *, timed: bool = False) -> tuple[Observations, int]:
    """What one metric gave, oriented so that farther is larger (times as they are), and how many cells are missing."""
    frames = [(cell.batch, store.read(cell)) for cell in cells]
    there = [(batch, frame) for batch, frame in frames if frame is not None]
    if not there:
        return Observations(np.empty(0), np.empty(0, np.int64)), len(frames)
    metric: Metric = get_metric(cells[0].metric)
    values = np.concatenate([frame["value"].to_numpy() for _, frame in there])
    names = [name for name in there[0][1].columns if name not in {"value", "failed", "seconds"}]
    return Observations(
        values if timed else metric.orient(values),
        np.concatenate([np.full(len(frame), batch) for batch, frame in there]),
        {name: np.concatenate([frame[name].to_numpy() for _, frame in there]) for name in names},
    ), len(frames) - len(there)


def protocol_of(declared: Mapping[str, Any], options: Mapping[str, Any]) -> Protocol:
    """The protocol a manifest names, with options that change how it judges."""
    kind = PROTOCOLS.get(str(declared["name"]))
    if kind is None:
        raise InputError(f"this version knows no protocol {declared['name']!r}")
    known = {item.name for item in fields(kind)}
    given = {name: value for name, value in declared["parameters"].items() if name in known}
    return kind(**given | {name: value for name, value in options.items() if name in known})


def _judged(store: Store, protocol: Protocol, cells: dict[str, list[Cell]]) -> Iterator[Judged]:
    read = {metric: observations(store, of, timed=protocol.timed) for metric, of in cells.items()}
    verdicts = protocol.judge_all({metric: found for metric, (found, _) in read.items() if len(found.value)})
    for metric, of in cells.items():
        yield Judged(
            of[0].data,
            protocol,
            of[0].seed,
            metric,
            tuple(verdicts.get(metric, ())),
            read[metric][1],
            of[0].fingerprint,
        )


def cells_by_metric(rows: list[dict[str, Any]]) -> dict[str, list[Cell]]:
    """The cells of a manifest, metric by metric."""
    names = [item.name for item in fields(Cell)]
    found: dict[str, list[Cell]] = {}
    for row in rows:
        cell = Cell(**{name: row[name] for name in names})
        found.setdefault(cell.metric, []).append(cell)
    return found
