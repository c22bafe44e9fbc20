"""What every metric keeps: its declaration, its names, its being a value; and what all checks share."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np

from textgauge.metrics import Metric, get_metric
from textgauge.metrics.base import get_parameters

ContractCheck = Callable[[Any], None]

ODD_TEXTS = [
    "",
    "   ",
    "😀 👍🏽",
    "नमस्ते दुनिया",
    "你好世界",
    "مرحبا بالعالم",
    "e\u0301tude",
    "lone \ud800 surrogate",
    "a" * 5_000,
]


def list_checks(module: Mapping[str, Any]) -> tuple[ContractCheck, ...]:
    """Return the checks that a module defines, in its order."""
    return tuple(check for name, check in module.items() if name.startswith("check_"))


def get_global_state() -> str:
    """Numpy's global random state, which no metric may touch."""
    return repr(np.random.get_state())  # noqa: NPY002, this is what is tested


def check_declaration(metric: Metric) -> None:
    """Name, label, source and docstring are there, bounds are in order, the value at identity lies within."""
    assert metric.label, "a metric needs a label"
    assert metric.source, "a metric needs a source"
    assert (type(metric).__doc__ or "").strip(), "a metric needs a docstring"
    assert metric.bounds[0] < metric.bounds[1], f"bounds {metric.bounds} are empty"
    assert metric.part is not None or metric.bounds[0] <= metric.value_at_identity <= metric.bounds[1], (
        "the value at identity is out of bounds"
    )
    assert len({part.name for part in metric.parts}) == len(metric.parts), "two parts have one name"


def check_name(metric: Metric) -> None:
    """Check that the key parses back to an equal metric, and the parts have keys of their own."""
    for variant in [metric, *(replace(metric, part=part.name) for part in metric.parts)]:
        assert get_metric(variant.key) == variant, f"{variant.key} does not parse back"
    assert all(f"{name}=" in metric.signature for name in get_parameters(type(metric))), (
        "the signature misses parameters"
    )


def check_value_object(metric: Metric) -> None:
    """Check that a metric is frozen, hashable, and pickles to an equal one."""
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301, our own bytes
    assert hash(replace(metric)) == hash(metric)
    try:
        metric.on = "other"  # type: ignore[misc]
    except FrozenInstanceError:
        return
    raise AssertionError("a metric must be frozen")


DECLARED_CHECKS = list_checks(globals())
