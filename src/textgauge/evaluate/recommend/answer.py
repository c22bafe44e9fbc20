"""What `recommend` gives back: the metrics to use, what they need and cost, and what to beware of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from textgauge.evaluate.leaderboard import Leaderboard
from textgauge.evaluate.recommend.needed import Needed
from textgauge.evaluate.recommend.pair_power import PairsNeeded
from textgauge.tabular import Tabular, plain, plain_row

Kind = Literal["corpora", "pairs", "task"]


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a comparison of `size` texts a side, or of `size` pairs, embedding apart.

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

    `choice` is the top cluster of the leaderboard, the metric to take first; the others are `runners_up`, which the
    data cannot tell from the best one. `power` tells how many texts (or rated pairs) are needed, `costs` how long a
    comparison takes, `left_out` which metrics there was no time for, `warnings` what to beware of, `notes` how all this
    was found. `about` holds the settings.
    """

    kind: Kind
    data: tuple[str, ...]
    choice: tuple[str, ...]
    board: Leaderboard
    power: tuple[Needed, ...] | tuple[PairsNeeded, ...] = ()
    costs: tuple[Cost, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def runners_up(self) -> tuple[str, ...]:
        """The metrics that cannot be told from the best one, but for the one named first."""
        return self.choice[1:]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer in words."""
        from textgauge.evaluate.recommend.sentences import sentences

        return tuple(sentences(self))

    def cost(self, metric: str) -> Cost | None:
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
