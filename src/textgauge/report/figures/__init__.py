"""Figures of runs, drawn from what a store holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textgauge.errors import InputError
from textgauge.evaluate.protocols import Agreement, Distributionality, Ifc, Ksc, Perturbation, Sensitivity, Size, Task
from textgauge.report.figures.boxes import box_figure
from textgauge.report.figures.bump import bump_figure
from textgauge.report.figures.components import component_figure
from textgauge.report.figures.contributions import CONTRIBUTIONS, contribution_figure
from textgauge.report.figures.convergence import convergence_figure
from textgauge.report.figures.distance import distance_figure
from textgauge.report.figures.ifc import ifc_figure
from textgauge.report.figures.order_matrix import order_figure
from textgauge.report.figures.perturbation import OVERS, perturbation_figure, sample_figure
from textgauge.report.figures.radar import radar_figure
from textgauge.report.figures.read import Group, Run, chosen_metrics, groups
from textgauge.report.figures.render import FORMATS, rendered
from textgauge.report.figures.scatter import scatter_figure
from textgauge.report.figures.sensitivity_curve import sensitivity_figure
from textgauge.report.figures.tasks import task_figure
from textgauge.report.figures.trajectories import density_figure, prototypes, trajectory_figure
from textgauge.report.figures.tree import LARGEST, tree_figure

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "FORMATS",
    "KINDS",
    "Figure",
    "Group",
    "Run",
    "box_figure",
    "bump_figure",
    "chosen_metrics",
    "component_figure",
    "contribution_figure",
    "convergence_figure",
    "density_figure",
    "distance_figure",
    "figures",
    "groups",
    "ifc_figure",
    "order_figure",
    "perturbation_figure",
    "radar_figure",
    "rendered",
    "sample_figure",
    "scatter_figure",
    "sensitivity_figure",
    "task_figure",
    "trajectory_figure",
    "tree_figure",
]


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart and the name of its files, without their ending."""

    name: str
    chart: alt.ConcatChart


def figures(
    found: Sequence[Group],
    *,
    kinds: Iterable[str] | None = None,
    metrics: Collection[str] | None = None,
    repetition: int = 0,
) -> Iterator[Figure]:
    """All figures that groups give: of some kinds, of some metrics, trees of one repetition.

    A tree is left out where a metric lacks the repetition or corpora are too many to tell apart.
    """
    taken: dict[str, int] = {}
    chosen = [group for group in (_only(group, metrics) for group in found) if group.observed]
    for kind in KINDS if kinds is None else kinds:
        if kind not in KINDS:
            raise InputError(f"no figure {kind!r}; the figures are {', '.join(KINDS)}")
        for words, chart in KINDS[kind](chosen, repetition):
            name = _slug(kind, *words)
            taken[name] = taken.get(name, 0) + 1
            yield Figure(name if taken[name] == 1 else f"{name}-{taken[name]}", chart)


Drawn = Iterator[tuple[list[str], "alt.ConcatChart"]]


def _distances(found: list[Group], _: int) -> Drawn:
    for group in found:
        if isinstance(group.protocol, Ksc):
            yield _words(group), distance_figure(group)


def _sizes(found: list[Group], _: int) -> Drawn:
    for group in found:
        if isinstance(group.protocol, Size):
            yield _words(group), convergence_figure(group, "size")


def _imbalances(found: list[Group], _: int) -> Drawn:
    for group in found:
        if isinstance(group.protocol, Size):
            yield _words(group), convergence_figure(group, "imbalance")


def _trees(found: list[Group], repetition: int) -> Drawn:
    for group in found:
        if isinstance(group.protocol, Ksc) and group.protocol.k <= LARGEST:
            for metric, observed in group.observed.items():
                if repetition in observed.batch:
                    yield [*_words(group), metric], tree_figure(group, metric, repetition=repetition)


def _radars(found: list[Group], _: int) -> Drawn:
    alike: dict[tuple[str, str, int], list[Group]] = {}
    for group in _repeated(found):
        alike.setdefault((group.data, group.fingerprint, group.seed), []).append(group)
    for members in alike.values():
        chart = radar_figure(members)
        if chart is not None:
            yield [members[0].data], chart


def _boxes(found: list[Group], _: int) -> Drawn:
    for group in _repeated(found):
        yield _words(group), box_figure(group)


def _repeated(found: list[Group]) -> list[Group]:
    """Groups whose measures have values in single repetitions; those of the others belong to all of them together."""
    whole = Agreement | Distributionality | Perturbation | Task
    return [group for group in found if not isinstance(group.protocol, whole)]


def _orders(found: list[Group], _: int) -> Drawn:
    for group in _of_sets(found):
        yield _words(group), order_figure(group)


def _bumps(found: list[Group], _: int) -> Drawn:
    for group in _of_sets(found):
        yield _words(group), bump_figure(group)


def _scatters(found: list[Group], _: int) -> Drawn:
    for group in found:
        if isinstance(group.protocol, Agreement):
            yield _words(group), scatter_figure(group)


def _perturbations(found: list[Group], repetition: int) -> Drawn:
    for group in found:
        if isinstance(group.protocol, Perturbation):
            for over in OVERS:
                yield [over, *_words(group)], perturbation_figure(group, over)
            if group.protocol.q == 2 and repetition < group.protocol.repetitions:
                yield ["points", *_words(group)], sample_figure(group, repetition=repetition)


def _trajectories(found: list[Group], _: int) -> Drawn:
    for group in _of_prototypes(found):
        yield _words(group), trajectory_figure(group)


def _densities(found: list[Group], _: int) -> Drawn:
    for group in _of_prototypes(found):
        for metric in group.observed:
            if metric not in prototypes(group, metric).values():
                yield [*_words(group), metric], density_figure(group, metric)


def _steps(found: list[Group], _: int) -> Drawn:
    for group in found:
        if isinstance(group.protocol, Ifc):
            yield _words(group), ifc_figure(group)


def _components(found: list[Group], _: int) -> Drawn:
    for group in _of_prototypes(found):
        chart = component_figure(group)
        if chart is not None:
            yield _words(group), chart


def _tasks(found: list[Group], _: int) -> Drawn:
    for run, metrics in _of_tasks(found):
        yield [], task_figure(run, metrics)


def _sensitivities(found: list[Group], _: int) -> Drawn:
    for group in found:
        if isinstance(group.protocol, Sensitivity):
            yield [group.data], sensitivity_figure(group)


def _contributions(found: list[Group], _: int) -> Drawn:
    for run, metrics in _of_tasks(found):
        for ensemble in dict.fromkeys(item.ensemble for item in run.contributions):
            for of in CONTRIBUTIONS:
                chart = contribution_figure(run.contributions, ensemble, of, metrics)
                if chart is not None:
                    yield [ensemble, of], chart


def _of_tasks(found: list[Group]) -> Iterator[tuple[Run, set[str]]]:
    """Every run that has tasks, and its rows: the metrics that are wanted, and what is made from metrics."""
    chosen: dict[int, tuple[Run, set[str]]] = {}
    for group in found:
        if isinstance(group.protocol, Task) and group.run is not None:
            chosen.setdefault(id(group.run), (group.run, set()))[1].update(group.observed)
    for run, metrics in chosen.values():
        yield run, metrics | run.made


def _of_prototypes(found: list[Group]) -> Iterator[Group]:
    return (group for group in found if isinstance(group.protocol, Distributionality))


def _of_sets(found: list[Group]) -> Iterator[Group]:
    for group in found:
        if isinstance(group.protocol, Agreement) and "set" in next(iter(group.observed.values())).columns:
            yield group


KINDS: dict[str, Callable[[list[Group], int], Drawn]] = {
    "distance": _distances,
    "size": _sizes,
    "imbalance": _imbalances,
    "tree": _trees,
    "radar": _radars,
    "box": _boxes,
    "order": _orders,
    "bump": _bumps,
    "scatter": _scatters,
    "perturbation": _perturbations,
    "trajectory": _trajectories,
    "density": _densities,
    "component": _components,
    "steps": _steps,
    "tasks": _tasks,
    "sensitivity": _sensitivities,
    "contributions": _contributions,
}


def _only(group: Group, metrics: Collection[str] | None) -> Group:
    if metrics is None:
        return group
    kept = {name: seen for name, seen in group.observed.items() if name in metrics}
    beside = group.protocol.also(kept)
    return replace(group, observed=kept and {n: s for n, s in group.observed.items() if n in kept or n in beside})


def _words(group: Group) -> list[str]:
    protocol = group.protocol
    return [group.data, f"k{protocol.k}" if isinstance(protocol, Ksc) else protocol.name]


def _slug(*words: str) -> str:
    """Words as a file name: letters, digits and hyphens alone.

    >>> _slug("tree", "../a.txt,b.txt", "pr(k=3)")
    'tree-a-txt-b-txt-pr-k-3'
    """
    return "-".join(re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:60] or "x" for word in words)
