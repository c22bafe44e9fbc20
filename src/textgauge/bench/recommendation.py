"""What `recommend` gives back: for each purpose the metrics to use, with what they need and cost, in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from textgauge.bench.leaderboard import Leaderboard
from textgauge.bench.power import PairsNeeded, TextsNeeded
from textgauge.core.result import Column, Result, show_rows
from textgauge.core.show import (
    Row,
    drop_nonfinite,
    format_about,
    format_cell,
    format_count,
    format_interval,
    format_percent,
    join_words,
    make_printable,
)
from textgauge.stats.decisions import format_standing, join_codes

_NAMED = 5  # tied metrics in a sentence; the table has all


@dataclass(frozen=True)
class Answer:
    """The answer for one purpose: the best metric of the board and those statistically tied with it.

    They are in the order of the board; but if the first was chosen among them by its `record` elsewhere, it comes
    before. `purpose` completes "To …".
    """

    purpose: str
    choice: tuple[str, ...]
    board: Leaderboard
    record: str = ""


def _format_needed(count: float | None, low: float | None, high: float | None) -> str | None:
    """Return a number with its interval, or the number that it is above."""
    if count is not None:
        return f"{count:,.0f} ({format_interval(low, high)})"
    return None if low is None else f"more than {format_about(low)}"


@dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """The answer to "which metric should I use on these data?", by purpose, with the numbers it rests on.

    `power` is how many texts (or rated pairs) are needed, fewest first; `notes` say how all this was found, and `about`
    holds the settings. `costs` are CPU seconds of a comparison of `size` texts a side, or of so many pairs: without
    embedding the texts, and for embedding them where they are not cached.
    """

    command: ClassVar[str] = "recommend"
    columns: ClassVar[Sequence[Column]] = (
        Column("needed", "needed.count needed.low needed.high", _format_needed, when="needed.low"),
        Column("tested together", "needed.together", format_cell, when="needed.together"),
        Column("CPU seconds", "seconds", format_cell, when="seconds"),
        Column("to embed", "embedding_seconds", format_cell, when="embedding_seconds"),
    )

    kind: Literal["corpora", "pairs", "task"]
    data: tuple[str, ...]
    answers: tuple[Answer, ...]
    power: tuple[TextsNeeded, ...] | tuple[PairsNeeded, ...] = ()
    costs: tuple[Row, ...] = ()
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
    def title(self) -> str:
        """What is asked."""
        return f"Which metric for {' and '.join(self.data)}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer as sentences."""
        first, *others = self.answers
        texts = {row.metric: row for row in self.power if isinstance(row, TextsNeeded)}
        parts = [f"{_name_best(first)}.", *(part for one in others for part in _write_texts_needed(one, texts, self))]
        if first.choice:
            pairs = [_write_pairs_needed(row, self) for row in self.power if isinstance(row, PairsNeeded)]
            parts += pairs[:1]
            if self.costs:
                size = self.costs[0]["size"]
                what = f"compare {size:,} texts a side" if self.kind == "corpora" else f"score {size:,} pairs"
                parts.append(f"CPU seconds are to {what}, and to embed the texts where they are not in the cache.")
        return tuple(parts)

    @property
    def answer(self) -> str:
        """The sentences that say which metric to use, one for each purpose."""
        return " ".join(self.sentences[: len(self.answers)])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row per metric, in the order of the first answer: its place, what it needs, what it costs."""
        needed = {row.metric: row.to_dict() for row in self.power}
        costs = {row["metric"]: row for row in self.costs}
        rows = []
        for row in self.board:
            own, cost = needed.get(row.metric, {}), costs.get(row.metric, {})
            more = {f"needed.{name}": own.get(name) for name in ("count", "low", "high", "together")}
            more |= {name: cost.get(name) for name in ("seconds", "embedding_seconds")}
            rows.append(row.to_dict() | more)
        return rows

    @property
    def details(self) -> dict[str, Any]:
        """All that the answer rests on."""
        return {
            "kind": self.kind,
            "data": list(self.data),
            "answers": [
                {"purpose": answer.purpose, "choice": list(answer.choice), "record": answer.record or None}
                for answer in self.answers
            ],
            "choice": list(self.choice),
            "runners_up": list(self.choice[1:]),
            "sentences": list(self.sentences),
            "notes": list(self.notes),
            "leaderboard": self.board.to_dicts(),
            "power": [row.to_dict() for row in self.power],
            "costs": list(self.costs),
            "about": {name: drop_nonfinite(value) for name, value in self.about.items()},
        }

    @property
    def footnote(self) -> str:
        """What the answer rests on: the sentences after those that say which metric to use."""
        return " ".join(self.sentences[len(self.answers) :])

    def readable(self) -> list[Row]:
        """Return the table of the first purpose, with what each metric needs and costs before its measures."""
        rows = zip(self.board.readable(), show_rows(self.rows, self.columns), strict=True)
        first = [name for name in self.board.readable()[0] if name not in self.board.measures]
        return [{name: row[name] for name in first} | more | row for row, more in rows]

    def to_markdown(self) -> str:
        """Return the answer as a page in Markdown: sentences, warnings, the table, and how it was found."""
        parts = [f"# {_escape_markdown(self.title)}", *map(_escape_markdown, self.sentences)]
        table = super().to_markdown()
        for title, items in (("Warnings", self.warnings), ("Metrics", ()), ("How this was found", self.notes)):
            listed = "\n".join(f"- {_escape_markdown(item)}" for item in items)
            parts += [f"## {title}", listed or table] if items or title == "Metrics" else []
        return "\n\n".join(parts) + "\n"


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*<>\[\]#])", r"\\\1", " ".join(make_printable(text).split()))


def _name_best(answer: Answer) -> str:
    if not answer.choice:
        return "No metric has a value on these data"
    first = answer.choice[0]
    ranked = [row for row in answer.board if row.rank is not None]
    if len(ranked) == 1:
        return f"Only {first} was ranked: there is nothing to compare it with"
    worse = [row.metric for row in ranked if row.metric not in answer.choice]
    rest = f". Worse than {answer.board.top[0]} here: {join_codes(worse)}" if worse and answer.board.tied else ""
    return f"To {answer.purpose}, use {first}{_write_standing(answer, len(ranked) - 1)}{rest}"


def _write_standing(answer: Answer, others: int) -> str:
    """Say what the metric to use is tied with, and whether it was chosen by its record."""
    first, *rest = answer.choice
    if not answer.record:
        return f"{';' if rest else ':'} {format_standing(rest, others)}"
    leader, *tied = answer.board.top
    why = f"{first} has the best record elsewhere ({answer.record})"
    if leader == first:
        return f"; {format_standing(rest, others)}, and {why}"
    tied.sort(key=lambda metric: metric != first)
    return f": {leader} comes first here, {format_standing(tied, others)}, and {why}"


def _write_texts_needed(answer: Answer, rows: dict[str, TextsNeeded], whole: Recommendation) -> Iterator[str]:
    goal = f"To {answer.purpose} with {format_percent(whole.about['power'])} power"
    if not answer.choice:
        least = min(rows.values(), key=lambda row: row.low)
        yield f"{goal}, {_format_texts(replace(least, count=np.nan))} are needed with every metric tried."
        return
    first, *others = answer.choice
    best = rows[first]
    needs = f"; it needs {_format_texts(best)}" if others else f": it needs {_format_texts(best)}"
    yield f"{goal}, use {first}{_write_standing(answer, len(others)) if others else ''}{needs}."
    unclear = [row.metric for row in rows.values() if not row.known and row.low < best.count]
    if unclear:
        named = [*unclear[:_NAMED], *([format_count(len(unclear) - _NAMED, "other")] if len(unclear) > _NAMED else [])]
        yield f"Too few tests were simulated to rule out fewer texts for {join_words(named)}: a higher effort decides."
    tested = len({metric for one in whole.answers for metric in one.choice})
    if tested > 1:
        together = f"Tested together with the other recommended metrics, {format_count(tested, 'metric')} in all,"
        yield f"{together} {first} needs at most about {format_about(best.together)}: p-values are adjusted then."


def _format_texts(row: TextsNeeded) -> str:
    size = row.group_size
    kind = "texts a side" if size is None else f"groups of {size:.2g} texts a side"
    if np.isnan(row.count):
        return f"more than {format_about(row.low)} {kind}"
    beyond = f" (extrapolated from {row.largest:,})" if row.extrapolated else ""
    return f"about {format_about(row.count)} {kind}, at most {format_about(row.high)}{beyond}"


def _write_pairs_needed(row: PairsNeeded, whole: Recommendation) -> str:
    if np.isnan(row.count):
        return f"Spearman's ρ of {row.best} is not above that of {row.metric} on these pairs."
    used = whole.about["pairs"]
    if row.count > used:
        alike = f"{row.best} and {row.metric} agree with the ratings alike: their Spearman's ρ differ by"
        needed = f"and about {format_about(row.count)} rated pairs would tell which is better; {used:,} were used here"
        return f"{alike} {format_cell(row.difference)}, {needed}."
    goal = f"To separate {row.best} from {row.metric}, tested alone, by Spearman's ρ"
    needed = f"you need about {format_about(row.count)} rated pairs; {used:,} were used here"
    return f"{goal} with {format_percent(whole.about['power'])} power {needed}."
