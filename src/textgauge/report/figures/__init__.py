"""Figures of runs. Each module declares its kinds of figures in `FIGURES`; they are enumerated here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules

import altair as alt

from textgauge.bench.results import Group
from textgauge.core.charts import FORMATS, rendered
from textgauge.core.errors import InputError
from textgauge.metrics import get_metrics
from textgauge.report.figures.kind import FigureKind

__all__ = ["FORMATS", "KINDS", "Figure", "FigureKind", "chosen_metrics", "draw_figures", "latest_groups", "rendered"]


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart and the name of its files, without their ending."""

    name: str
    chart: alt.ConcatChart


def draw_figures(
    found: Sequence[Group],
    *,
    kinds: Iterable[str] | None = None,
    metrics: Collection[str] | None = None,
    repetition: int = 0,
) -> Iterator[Figure]:
    """Draw the figures that groups give: of some kinds, of some metrics, trees of one repetition.

    A tree is left out where a metric lacks the repetition or corpora are too many to draw.
    """
    taken: dict[str, int] = {}
    chosen = [group for group in (_only(group, metrics) for group in latest_groups(found)) if group.observed]
    for name in KINDS if kinds is None else kinds:
        if name not in KINDS:
            raise InputError(f"no figure {name!r}; the figures are {', '.join(KINDS)}")
        kind = KINDS[name]
        for words, chart in kind.draw([group for group in chosen if name in group.protocol.figures], repetition):
            file = _slug(name, *words)
            taken[file] = taken.get(file, 0) + 1
            yield Figure(file if taken[file] == 1 else f"{file}-{taken[file]}", chart)


def latest_groups(found: Sequence[Group]) -> list[Group]:
    """Groups and their finished metrics by name; trials that were judged in several ways once, in the last way."""
    latest: dict[tuple[object, ...], Group] = {}
    for group in found:
        key = (id(group.results), *group.trials)
        before = latest.get(key, group)
        there = {name: seen for name, seen in {**before.observed, **group.observed}.items() if len(seen.value)}
        missing = {**before.missing, **group.missing}
        latest[key] = replace(group, observed=dict(sorted(there.items())), missing=missing)
    return sorted(latest.values(), key=lambda group: group.trials)


def chosen_metrics(found: Sequence[Group], metrics: str | Sequence[str] | None) -> set[str] | None:
    """The keys of the metrics that are named; None for all."""
    if not metrics:
        return None
    there = {metric for group in found for metric, seen in group.observed.items() if len(seen.value)}
    wanted = [metric.key for metric in get_metrics(metrics)]
    absent = [name for name in wanted if name not in there]
    if absent:
        raise InputError(f"the run has no metric {absent[0]!r}; it has {', '.join(sorted(there))}")
    return set(wanted)


def _only(group: Group, metrics: Collection[str] | None) -> Group:
    if metrics is None:
        return group
    kept = {name: seen for name, seen in group.observed.items() if name in metrics}
    needed = group.protocol.also(kept)
    return replace(group, observed=kept and {n: s for n, s in group.observed.items() if n in kept or n in needed})


def _slug(*words: str) -> str:
    """Words as a file name: letters, digits and hyphens alone.

    >>> _slug("tree", "../a.txt,b.txt", "pr(k=3)")
    'tree-a-txt-b-txt-pr-k-3'
    """
    return "-".join(re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:60] or "x" for word in words)


def _kinds() -> dict[str, FigureKind]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    return {kind.name: kind for module in modules for kind in getattr(module, "FIGURES", ())}


KINDS = _kinds()
