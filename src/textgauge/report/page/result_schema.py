"""What a row of `compare` and of `score --summary` must hold before sentences are made of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from textgauge.core.errors import InputError, TextgaugeError
from textgauge.core.tabular import one_line
from textgauge.metrics import get_metric

_NUMBERS = frozenset(
    {"value", "mean", "std", "low", "high", "p_value", "null", "null_low", "null_high", "p_adjusted", "seconds"}
)
_COUNTS = frozenset({"n", "n_reference", "n_candidate", "undefined"})
_TEXTS = frozenset({"metric", "reason", "warning", "signature", "interval", "test"})
_LARGEST = 1e300
_ROUNDING = 1e-6
_UNBOUNDED = (-math.inf, math.inf)
_PLAIN = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)?", re.IGNORECASE)
_SHOWN = 60


def is_comparison(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of `compare`."""
    return "metric" in row and "value" in row and "n_reference" in row


def is_summary(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of `score --summary`."""
    return "metric" in row and "mean" in row and "n" in row


def is_property(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of `describe`."""
    return isinstance(row.get("property"), str) and "value" in row


def check_row(row: Mapping[str, Any], place: str) -> None:
    """Refuse a row of a known kind with a member that is missing, of another kind, or impossible."""
    if not is_comparison(row) and not is_summary(row):
        return
    for name, value in row.items():
        if not _fits(name, value):
            raise InputError(f"{place}: {name} is {one_line(repr(value), _SHOWN)}, not {_kind(name)}")
    if row["metric"] is None:
        raise InputError(f"{place}: the row names no metric")
    if (row.get("low") is None) != (row.get("high") is None):
        raise InputError(f"{place}: an interval needs both low and high")
    if row.get("low") is not None and row["low"] > row["high"]:
        raise InputError(f"{place}: the interval ends ({row['high']:g}) before it begins ({row['low']:g})")
    for name in ("p_value", "p_adjusted"):
        if row.get(name) is not None and not 0 < row[name] <= 1:
            raise InputError(f"{place}: {name} is {row[name]:g}, outside (0, 1]")
    low, high = _bounds(row["metric"])
    for name in {"value", "mean"} & row.keys():
        if row[name] is not None and not low - _ROUNDING <= row[name] <= high + _ROUNDING:
            raise InputError(f"{place}: {name} is {row[name]:g}, outside {low:g}…{high:g}")


def _bounds(key: str) -> tuple[float, float]:
    """The bounds of a metric; its input and parameters, which may name files, are not looked at."""
    name = key.partition("@")[0].partition("(")[0]
    try:
        return get_metric(name).bounds if _PLAIN.fullmatch(name) else _UNBOUNDED
    except TextgaugeError:
        return _UNBOUNDED


def is_number(value: Any) -> bool:
    """Whether a value is a number that can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _fits(name: str, value: Any) -> bool:
    if name in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
    if name in _NUMBERS:
        return value is None or is_number(value)
    return value is None or isinstance(value, str) or name not in _TEXTS


def _kind(name: str) -> str:
    return "a whole number" if name in _COUNTS else "a number or null" if name in _NUMBERS else "a text"
