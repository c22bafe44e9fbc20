"""What `recommend` gives back: for each purpose the metrics to use, with what they need and cost."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textgauge.bench.boards.leaderboard import Leaderboard
from textgauge.core.result import Result
from textgauge.core.tabular import STATIC_PAGE_POLICY, FlatRow, Row, html_table, markdown_table, plain, printable

if TYPE_CHECKING:
    from textgauge.bench.recommend.detection import TextsNeeded
    from textgauge.bench.recommend.power import PairsNeeded

Kind = Literal["corpora", "pairs", "task"]

_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .6rem;text-align:right;"
    "border-bottom:1px solid #8884}"
)


@dataclass(frozen=True)
class MetricCost(FlatRow):
    """CPU seconds of a comparison of `size` texts a side, or of `size` pairs.

    `seconds` are without embedding the texts, `embedding_seconds` are for embedding them where they are not cached.
    """

    metric: str
    seconds: float
    size: int
    embedding_seconds: float = 0.0
    embedder: str | None = None


@dataclass(frozen=True)
class LeftOut(FlatRow):
    """A metric that the budget had no room for; `seconds` is about the budget that would have, NaN where unknown."""

    metric: str
    seconds: float = float("nan")


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
        from textgauge.bench.recommend.sentences import sentences

        return tuple(sentences(self))

    def cost(self, metric: str) -> MetricCost | None:
        """The cost of one metric, where it is known."""
        return next((cost for cost in self.costs if cost.metric == metric), None)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return self.to_dicts()

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

    def tables(self) -> list[tuple[str, list[Row]]]:
        """A table for each purpose, in the order of its answer, and the cost; each with its title."""
        first, *others = self.answers
        found = [(f"To {first.purpose}, best first", first.board.readable())]
        if self.power:
            purposes = [f"To {one.purpose}: texts needed a side, fewest first" for one in others]
            found.append(((purposes or ["Rated pairs needed"])[0], [row.to_dict() for row in self.power]))
        if self.costs:
            found.append(("Cost, CPU seconds", [row.to_dict() for row in self.costs]))
        return found

    @property
    def _title(self) -> str:
        return f"Which metric for {' and '.join(self.data)}"

    def _lists(self) -> list[tuple[str, tuple[str, ...]]]:
        """What stands before and after the tables."""
        return [("Warnings", self.warnings), ("How this was found", self.notes)]

    def markdown(self) -> str:
        """The answer as a Markdown page: sentences, warnings, tables, and how it was found."""
        warned, found = (
            [f"## {title}", "\n".join(f"- {_markdown(item)}" for item in items)] if items else []
            for title, items in self._lists()
        )
        tables = [part for title, rows in self.tables() for part in (f"## {title}", _markdown_table(rows))]
        said = [f"# {_markdown(self._title)}", *map(_markdown, self.sentences)]
        return "\n\n".join([*said, *warned, *tables, *found]) + "\n"

    def html(self) -> str:
        """The answer as an HTML page of its own."""
        title = html.escape(printable(self._title))
        head = f'<meta charset="utf-8"><title>{title}</title><meta name="viewport" content="width=device-width">'
        return (
            f'<!doctype html><html lang="en"><head>{STATIC_PAGE_POLICY}{head}<style>{_STYLE}</style></head>'
            f"<body><main><h1>{title}</h1>{self._repr_html_()}</main></body></html>\n"
        )

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(printable(text))}</p>" for text in self.sentences)
        warned, found = (_html_list(title, items) for title, items in self._lists())
        tables = "".join(f"<h2>{title}</h2>{html_table(rows)}" for title, rows in self.tables())
        return f"{said}{warned}{tables}{found}"

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *(f"warning: {text}" for text in self.warnings)])


def _html_list(title: str, items: Sequence[str]) -> str:
    inside = "".join(f"<li>{html.escape(printable(item))}</li>" for item in items)
    return f"<h2>{title}</h2><ul>{inside}</ul>" if items else ""


def _markdown_table(rows: Sequence[Row]) -> str:
    cells = [{name: _markdown(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in rows]
    return markdown_table(cells, list(dict.fromkeys(name for row in rows for name in row)))


def _markdown(text: str) -> str:
    """Plain text: what Markdown and HTML would take for marks is escaped."""
    return re.sub(r"([\\`*<>\[\]#])", r"\\\1", " ".join(printable(text).split()))
