"""What a kind of figure declares, and how one is drawn from the groups of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from textgauge.bench.results import Group
from textgauge.core.errors import InputError

Drawn = tuple[list[str], "alt.ConcatChart"]
"""The words of a file name, and a chart."""
Draw = Callable[[Sequence[Group], int], Iterator[Drawn]]
"""Charts of groups; figures of a single repetition show the one given."""


_USUAL = "definition"


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure: its name, which protocols list among their figures, how it is drawn, the measure it shows."""

    name: str
    draw: Draw
    measure: str = ""

    @property
    def title(self) -> str:
        """The name as a heading."""
        return self.name.replace("_", " ").capitalize()


def one_per_group(figure: Callable[[Group], alt.ConcatChart | None]) -> Draw:
    """A chart for each group that gives one."""

    def draw(groups: Sequence[Group], _: int) -> Iterator[Drawn]:
        for group in groups:
            chart = figure(group)
            if chart is not None:
                yield group_words(group), chart

    return draw


def group_words(group: Group) -> list[str]:
    """What distinguishes the files of groups: the data, the protocol, and its order where that is not the usual one."""
    order = getattr(group.protocol, "order", _USUAL)
    return [group.data, group.protocol.title, *([f"order {order}"] if order != _USUAL else [])]


def protocol_with(group: Group, name: str) -> Any:
    """The group's protocol, which must have what the figure draws."""
    if not hasattr(group.protocol, name):
        raise InputError(f"the figure needs a protocol with {name}, which {group.protocol.name} does not have")
    return group.protocol
