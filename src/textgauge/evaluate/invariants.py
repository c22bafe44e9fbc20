"""What must hold of stored results whatever the data: values within bounds, F1 the mean of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textgauge.errors import TextgaugeError
from textgauge.evaluate.plan import Cell
from textgauge.evaluate.protocols import protocols_named
from textgauge.metrics import Metric, get_metric
from textgauge.metrics.neighbours import harmonic_mean

if TYPE_CHECKING:
    import polars as pl

_ROUNDING = 1e-6
_OF_F1 = {"pr": lambda f1: 1.0 - f1, "irpr": lambda f1: f1}  # metrics whose value is F1 of precision and recall


def broken_invariant(cell: Cell, frame: pl.DataFrame) -> str | None:
    """What cannot be in the results of a cell, in words; None where all may be so."""
    kinds = protocols_named(cell.protocol.partition("(")[0])
    if any(kind.timed for kind in kinds):  # values are seconds
        return None
    try:
        metric = get_metric(cell.metric)
    except TextgaugeError:  # of a plug-in that is not here
        return None
    return _outside(metric, frame) or _not_f1(metric, frame)


def _outside(metric: Metric, frame: pl.DataFrame) -> str | None:
    bounds = {"value": metric.bounds, **{f"part.{part.name}": part.bounds for part in metric.parts}}
    for name, (low, high) in bounds.items():
        if name in frame.columns:
            values = frame[name].to_numpy()
            wrong = values[(values < low - _ROUNDING) | (values > high + _ROUNDING)]
            if len(wrong):
                return f"{name} {wrong[0]:g} is outside {low:g}…{high:g}"
    return None


def _not_f1(metric: Metric, frame: pl.DataFrame) -> str | None:
    parts = ["part.precision", "part.recall"]
    if metric.name not in _OF_F1 or metric.part is not None or not set(parts) <= set(frame.columns):
        return None
    precision, recall, values = (frame[name].to_numpy() for name in (*parts, "value"))
    expected = _OF_F1[metric.name](harmonic_mean(precision, recall))
    wrong = np.abs(values - expected) > _ROUNDING
    return f"value {values[wrong][0]:g} is not made of its precision and recall" if wrong.any() else None
