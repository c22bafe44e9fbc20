"""All known metrics by name: built-in families, plug-ins by entry point, and what users register."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import TypeVar

from textgauge.errors import UnknownName
from textgauge.metrics.base import CorpusMetric, from_name
from textgauge.naming import expand, parse, split_names

_FAMILIES = (
    "classifiers", "frequency", "kernels", "language_model", "mauve", "moments", "neighbours", "self_bleu",
    "sliced", "spread", "vocabulary",
)  # fmt: skip
_registry: dict[str, type[CorpusMetric]] = {}
_Kind = TypeVar("_Kind", bound=type[CorpusMetric])


def register(kind: _Kind) -> _Kind:
    """Make a metric class known by its name; used as a decorator. A taken name is refused."""
    if _registry.get(kind.name, kind).__qualname__ != kind.__qualname__:
        raise UnknownName(f"a metric named {kind.name!r} is registered already")
    _registry[kind.name] = kind
    return kind


def get_metric(name: str | CorpusMetric) -> CorpusMetric:
    """The metric a name stands for, such as `pr.recall(k=3)@minilm:cosine`."""
    if isinstance(name, CorpusMetric):
        return name
    parsed = parse(name)
    known = known_metrics()
    if parsed.name not in known:
        raise UnknownName.among("metric", parsed.name, known)
    return from_name(known[parsed.name], parsed)


def get_metrics(names: str | Iterable[str | CorpusMetric]) -> list[CorpusMetric]:
    """All metrics that names, comma-separated lists and grids stand for, each once, in order."""
    items = [names] if isinstance(names, str) else names
    metrics: list[CorpusMetric] = []
    for item in items:
        if isinstance(item, CorpusMetric):
            metrics.append(item)
        else:
            metrics += [get_metric(name) for piece in split_names(item) for name in expand(piece)]
    return list(dict.fromkeys(metrics))


def list_metrics(*, needs: str | None = None, symmetric: bool | None = None) -> list[CorpusMetric]:
    """One metric of every kind, with its default parameters, by name; filtered by what it declares.

    >>> "fid" in [metric.name for metric in list_metrics(needs="embeddings")]
    True
    """
    found = [known_metrics()[name]() for name in sorted(known_metrics())]
    return [
        metric
        for metric in found
        if (needs is None or metric.needs == needs) and (symmetric is None or metric.symmetric == symmetric)
    ]


def known_metrics() -> dict[str, type[CorpusMetric]]:
    """Metric classes by name."""
    _load()
    return _registry


@cache
def _load() -> None:
    from importlib.metadata import entry_points

    for family in _FAMILIES:
        import_module(f"textgauge.metrics.corpus.{family}")
    for plugin in entry_points(group="textgauge.metrics"):
        register(plugin.load())
