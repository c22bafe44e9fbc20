"""What `recommend` gives back: the metrics to use, what they need and cost, and warnings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from textgauge.evaluate.leaderboard import Leaderboard
from textgauge.evaluate.recommend.power import PairsNeeded
from textgauge.evaluate.recommend.texts_needed import TextsNeeded
from textgauge.tabular import Tabular, plain, plain_row

Kind = Literal["corpora", "pairs", "task"]
Span = tuple[float, float]

_AS_ROBUST = 0.02  # robustness that differs by less than twice this shares a place
_AS_QUICK = 1.25  # times that differ by less than the square of this share a place


@dataclass(frozen=True)
class MetricCost:
    """CPU seconds of a comparison of `size` texts a side, or of `size` pairs, without embedding.

    `growth` is the power of the size by which the time of a comparison grows; NaN for pairs, where it is 1.
    """

    metric: str
    seconds: float
    size: int
    growth: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        return plain_row({name: getattr(self, name) for name in ("metric", "seconds", "size", "growth")})


@dataclass(frozen=True)
class LeftOut:
    """A metric that the budget had no room for; `seconds` is about the budget that would have, NaN where unknown."""

    metric: str
    seconds: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        return plain_row({name: getattr(self, name) for name in ("metric", "seconds")})


@dataclass(frozen=True)
class Recommendation(Tabular):
    """The answer to "which metric should I use on these data?", with the numbers it rests on.

    `choice` is the top tier of the leaderboard, the metric to use first; the others, `runners_up`, are statistically
    tied with it. `power` is how many texts (or rated pairs) are needed, `costs` how long a comparison takes, `left_out`
    the metrics there was no time for, `notes` how all this was found. `about` holds the settings.
    """

    kind: Kind
    data: tuple[str, ...]
    choice: tuple[str, ...]
    board: Leaderboard
    power: tuple[TextsNeeded, ...] | tuple[PairsNeeded, ...] = ()
    costs: tuple[MetricCost, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def runners_up(self) -> tuple[str, ...]:
        """The other metrics of the top tier."""
        return self.choice[1:]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer as sentences."""
        from textgauge.evaluate.recommend.sentences import sentences

        return tuple(sentences(self))

    def cost(self, metric: str) -> MetricCost | None:
        """The cost of one metric, where it is known."""
        return next((cost for cost in self.costs if cost.metric == metric), None)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat row per metric: its place, what it needs, what it costs."""
        needed = {row.metric: row.to_dict() for row in self.power}
        costs = {row.metric: row.to_dict() for row in self.costs}
        return [
            {
                **row.to_dict(),
                **{f"needed.{name}": needed.get(row.metric, {}).get(name) for name in ("count", "low", "high")},
                "seconds": costs.get(row.metric, {}).get("seconds"),
            }
            for row in self.board
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {
            "kind": self.kind,
            "data": list(self.data),
            "choice": list(self.choice),
            "runners_up": list(self.runners_up),
            "sentences": list(self.sentences),
            "left_out": [item.to_dict() for item in self.left_out],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "leaderboard": self.board.to_dicts(),
            "power": [row.to_dict() for row in self.power],
            "costs": [row.to_dict() for row in self.costs],
            "about": {name: plain(value) for name, value in self.about.items()},
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def markdown(self) -> str:
        """The answer as a Markdown page."""
        from textgauge.evaluate.recommend.render import markdown

        return markdown(self)

    def html(self) -> str:
        """The answer as an HTML page of its own."""
        from textgauge.evaluate.recommend.render import html_page

        return html_page(self)

    def _repr_html_(self) -> str:
        from textgauge.evaluate.recommend.render import html_body

        return html_body(self)

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *(f"warning: {text}" for text in self.warnings)])


def order_tied(
    tied: Sequence[str], robustness: Mapping[str, float], costs: Sequence[MetricCost], needed: Sequence[TextsNeeded]
) -> tuple[list[str], tuple[str, ...]]:
    """Tied metrics by their mean place in robustness to size, cost and texts needed; and which of these were known.

    Values that hardly differ share a place; where the mean is equal, the given order stays.
    """
    by: dict[str, dict[str, Span]] = {
        "robustness to size": {name: (-value - _AS_ROBUST, -value + _AS_ROBUST) for name, value in robustness.items()},
        "cost": {cost.metric: (cost.seconds / _AS_QUICK, cost.seconds * _AS_QUICK) for cost in costs},
        "texts needed": {row.metric: (row.low, np.inf if np.isnan(row.high) else row.high) for row in needed},
    }
    used = {name: known for name, spans in by.items() if (known := _known(spans, tied))}
    if len(tied) < 2 or not used:
        return list(tied), ()
    unknown = (np.inf, np.inf)
    means = np.mean([_places([spans.get(metric, unknown) for metric in tied]) for spans in used.values()], axis=0)
    return [tied[place] for place in np.argsort(means, kind="stable")], tuple(used)


def _known(spans: Mapping[str, Span], tied: Sequence[str]) -> dict[str, Span]:
    return {metric: span for metric, span in spans.items() if metric in tied and not np.isnan(span).any()}


def _places(spans: Sequence[Span]) -> list[int]:
    """One more than the number of those that lie wholly below; spans that overlap share a place.

    >>> _places([(1.0, 2.0), (1.5, 3.0), (4.0, 5.0)])
    [1, 1, 3]
    """
    return [1 + sum(high < low for _, high in spans) for low, _ in spans]
