"""Figures of runs: all kinds, and how those that a run gives are drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import altair as alt

from textgauge.bench.results import Group
from textgauge.core.charts import FORMATS, render_chart
from textgauge.core.errors import InputError
from textgauge.core.registry import Registry
from textgauge.metrics import get_metrics
from textgauge.report.figures import distances, measures, pairs, style
from textgauge.report.figures.style import Draw, draw_each_group

__all__ = [
    "FORMATS", "KINDS", "Figure", "choose_metrics", "draw_figures", "render_chart", "select_latest_groups", "style",
]  # fmt: skip


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
    taken: Counter[str] = Counter()
    chosen = [
        group for group in (_select_metrics(group, metrics) for group in select_latest_groups(found)) if group.observed
    ]
    for name in KINDS if kinds is None else kinds:
        if name not in KINDS:
            raise InputError(f"no figure {name!r}; the figures are {', '.join(KINDS)}")
        for words, chart in KINDS[name]([group for group in chosen if name in group.protocol.figures], repetition):
            file = _make_slug(name, *words)
            taken[file] += 1
            yield Figure(file if taken[file] == 1 else f"{file}-{taken[file]}", chart)


def select_latest_groups(found: Sequence[Group]) -> list[Group]:
    """Return the groups and their finished metrics by name.

    Trials that were judged in several ways once, in the last way.
    """
    latest: dict[tuple[object, ...], Group] = {}
    for group in found:
        key = (id(group.results), *group.trials)
        before = latest.get(key, group)
        there = {name: seen for name, seen in {**before.observed, **group.observed}.items() if len(seen.value)}
        missing = {**before.missing, **group.missing}
        latest[key] = replace(group, observed=dict(sorted(there.items())), missing=missing)
    return sorted(latest.values(), key=lambda group: group.trials)


def choose_metrics(found: Sequence[Group], metrics: str | Sequence[str] | None) -> set[str] | None:
    """Return the keys of the metrics that are named; None for all."""
    if not metrics:
        return None
    there = {metric for group in found for metric, seen in group.observed.items() if len(seen.value)}
    wanted = [metric.key for metric in get_metrics(metrics)]
    absent = [name for name in wanted if name not in there]
    if absent:
        raise InputError(f"the run has no metric {absent[0]!r}; it has {', '.join(sorted(there))}")
    return set(wanted)


def _select_metrics(group: Group, metrics: Collection[str] | None) -> Group:
    if metrics is None:
        return group
    kept = {name: seen for name, seen in group.observed.items() if name in metrics}
    needed = group.protocol.also(kept)
    return replace(group, observed=kept and {n: s for n, s in group.observed.items() if n in kept or n in needed})


def _make_slug(*words: str) -> str:
    """Return words as a file name: letters, digits and hyphens alone.

    >>> _make_slug("tree", "../a.txt,b.txt", "pr(k=3)")
    'tree-a-txt-b-txt-pr-k-3'
    """
    return "-".join(re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:60] or "x" for word in words)


_KINDS: dict[str, Draw] = {
    "order": draw_each_group(pairs.draw_orders),
    "scatter": draw_each_group(pairs.draw_scatter),
    "trajectory": draw_each_group(distances.draw_trajectory),
    "density": distances.draw_densities,
    "distance": draw_each_group(distances.draw_distance),
    "tree": distances.draw_trees,
    "radar": measures.draw_radars,
    "box": draw_each_group(measures.draw_box),
    "size": draw_each_group(partial(distances.draw_convergence, sweep="size")),
    "imbalance": draw_each_group(partial(distances.draw_convergence, sweep="imbalance")),
    "tasks": pairs.draw_task_scores,
    "sensitivity": pairs.draw_sensitivities,
    "contributions": pairs.draw_contributions,
}
KINDS = Registry("figure", _KINDS, group="textgauge.figures")
"""All kinds; other packages bring theirs by entry points."""
