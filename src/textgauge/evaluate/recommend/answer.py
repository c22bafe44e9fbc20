"""What `recommend` gives back: for each purpose the metrics to use, with what they need and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textgauge.evaluate.boards.leaderboard import Leaderboard
from textgauge.result import Result
from textgauge.tabular import plain, plain_row

if TYPE_CHECKING:
    from textgauge.evaluate.recommend.detection import TextsNeeded
    from textgauge.evaluate.recommend.power import PairsNeeded

Kind = Literal["corpora", "pairs", "task"]


@dataclass(frozen=True)
class MetricCost:
    """CPU seconds of a comparison of `size` texts a side, or of `size` pairs.

    `seconds` are without embedding the texts, `embedding_seconds` are for embedding them where they are not cached.
    """

    metric: str
    seconds: float
    size: int
    embedding_seconds: float = 0.0
    embedder: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        return plain_row({name: getattr(self, name) for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class LeftOut:
    """A metric that the budget had no room for; `seconds` is about the budget that would have, NaN where unknown."""

    metric: str
    seconds: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """A flat row."""
        return plain_row({name: getattr(self, name) for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class Answer:
    """The answer for one purpose: the best metric and those statistically tied with it, in the order of the board.

    `purpose` completes "To …".
    """

    purpose: str
    choice: tuple[str, ...]
    board: Leaderboard


@dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """The answer to "which metric should I use on these data?", by purpose, with the numbers it rests on.

    `power` is how many texts (or rated pairs) are needed, fewest first, `costs` how long a comparison takes, `left_out`
    the metrics there was no time for, `notes` how all this was found. `about` holds the settings.
    """

    command: ClassVar[str] = "recommend"

    kind: Kind
    data: tuple[str, ...]
    answers: tuple[Answer, ...]
    power: tuple[TextsNeeded, ...] | tuple[PairsNeeded, ...] = ()
    costs: tuple[MetricCost, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def board(self) -> Leaderboard:
        """The leaderboard of the first purpose."""
        return self.answers[0].board

    @property
    def choice(self) -> tuple[str, ...]:
        """The best metric for the first purpose, and those statistically tied with it."""
        return self.answers[0].choice

    @property
    def runners_up(self) -> tuple[str, ...]:
        """Those tied with the best."""
        return self.choice[1:]

    @property
    def recommended(self) -> tuple[str, ...]:
        """The metrics that are chosen for any purpose."""
        return tuple(dict.fromkeys(metric for answer in self.answers for metric in answer.choice))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer as sentences."""
        from textgauge.evaluate.recommend.sentences import sentences

        return tuple(sentences(self))

    def cost(self, metric: str) -> MetricCost | None:
        """The cost of one metric, where it is known."""
        return next((cost for cost in self.costs if cost.metric == metric), None)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat row per metric, in the order of the first answer: its place, what it needs, what it costs."""
        needed = {row.metric: row.to_dict() for row in self.power}
        costs = {row.metric: row.to_dict() for row in self.costs}
        return [
            {
                **row.to_dict(),
                **{f"needed.{name}": needed.get(row.metric, {}).get(name) for name in ("count", "low", "high")},
                **{name: costs.get(row.metric, {}).get(name) for name in ("seconds", "embedding_seconds")},
            }
            for row in self.board
        ]

    @property
    def answer(self) -> str:
        """The sentences that say which metric to use, one for each purpose."""
        return " ".join(self.sentences[: len(self.answers)])

    @property
    def details(self) -> dict[str, Any]:
        """All that the answer rests on."""
        return {
            "kind": self.kind,
            "data": list(self.data),
            "answers": [{"purpose": answer.purpose, "choice": list(answer.choice)} for answer in self.answers],
            "choice": list(self.choice),
            "runners_up": list(self.runners_up),
            "sentences": list(self.sentences),
            "left_out": [item.to_dict() for item in self.left_out],
            "notes": list(self.notes),
            "leaderboard": self.board.to_dicts(),
            "power": [row.to_dict() for row in self.power],
            "costs": [row.to_dict() for row in self.costs],
            "about": {name: plain(value) for name, value in self.about.items()},
        }

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
