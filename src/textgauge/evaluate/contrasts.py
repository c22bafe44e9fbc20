"""Metrics against each other on measures that were resampled for all of them alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from textgauge.errors import InputError
from textgauge.evaluate.protocols.base import Measure
from textgauge.evaluate.results import Judged
from textgauge.stats.resampling import percentile_interval
from textgauge.tabular import plain_row

Row = dict[str, Any]

SHOWN = ("metric", "other", "measure", "value", "other_value", "difference", "low", "high", "ahead")  # in tables
_LEVEL = 0.95


def paired_rows(judged: Iterable[Judged]) -> list[Row]:
    """One row for every two metrics of a run and every measure that has draws: difference, and its 95 % interval.

    Draws are of the same resamples, so their differences are paired. `ahead` is the metric at the better end of the
    measure (for a rise, the sooner one) where the interval leaves 0 out. A metric without a value has a `reason`, and
    no difference; metrics of which cells are missing are left out.
    """
    groups: dict[Any, list[Judged]] = {}
    for item in judged:
        if not item.missing:
            groups.setdefault((item.data, item.fingerprint, item.protocol, item.seed), []).append(item)
    rows = [row for items in groups.values() for row in _contrasts(items)]
    if not rows:
        raise InputError("no run of agreement, and no two metrics of which a measure was resampled alike")
    return rows


def _contrasts(items: list[Judged]) -> Iterator[Row]:
    there = {verdict.measure for item in items for verdict in item.verdicts if verdict.draws}
    for measure in items[0].protocol.measures:
        if measure.name in there:
            yield from (_contrast(measure, first, second) for first, second in combinations(items, 2))


def _contrast(measure: Measure, first: Judged, second: Judged) -> Row:
    a, b = first.verdict(measure.name), second.verdict(measure.name)
    units = min(a.units, b.units)
    low = high = float("nan")
    if a.draws and b.draws:
        low, high = percentile_interval(np.subtract(a.draws, b.draws), units, _LEVEL)
    side = (low > 0) - (high < 0)
    ahead = {1: first.metric, -1: second.metric}.get(side if measure.best == "larger" else -side)
    reasons = [f"{item.metric}: {of.reason}" for item, of in ((first, a), (second, b)) if of.reason]
    return plain_row(
        {
            "data": first.data,
            "protocol": first.protocol.key,
            "seed": first.seed,
            "metric": first.metric,
            "other": second.metric,
            "measure": measure.name,
            "value": a.value,
            "other_value": b.value,
            "difference": a.value - b.value,
            "low": low,
            "high": high,
            "ahead": ahead,
            "n": units,
            "reason": "; ".join(reasons) or None,
        }
    )
