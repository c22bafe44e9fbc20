"""Cards of a page: the answers in a few letters, and one card per metric.

An answer says which metric is best for what, what is wrong with a corpus, or whether corpora differ; the card of a
metric what it declares about itself, what it cost, and what the run measured of it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textgauge.bench.leaderboard import Leaderboard, RankedMetric
from textgauge.bench.results import MetricTime
from textgauge.core.show import format_decimals, format_duration
from textgauge.metrics import CorpusMetric, Metric
from textgauge.metrics.base import get_parameters
from textgauge.report.page.result_files import ResultFile
from textgauge.report.page.tables import capitalise, find_metric, make_anchor
from textgauge.stats.decisions import format_leader, split_answer

_INFINITE = {math.inf: "∞", -math.inf: "−∞"}


@dataclass(frozen=True)
class AnswerCard:
    """A card: what it is about, the answer in a few letters, and where the rest stands.

    `kind` is its colour: a `concern` must not be overlooked.
    """

    kind: Literal["best", "concern", "plain"]
    heading: str
    shown: str
    target: str


def make_board_card(board: Leaderboard, target: str) -> AnswerCard:
    """Return the first metric of a board, and how many are tied with it."""
    heading = f"First for {board.purpose[:1].lower()}{board.purpose[1:]}"
    return AnswerCard("best", heading, format_leader(board.top), target)


def make_result_card(result: ResultFile, target: str) -> AnswerCard:
    """Return what a file of results says, in a few letters."""
    shown, rest = split_verdict(result)
    return AnswerCard("concern" if result.findings else "plain", result.heading, shown or rest[0], target)


def split_verdict(result: ResultFile) -> tuple[str, list[str]]:
    """Return the outcome of a result in a few letters, empty where it has none, and the sentences behind it."""
    if result.findings:
        worst = result.findings[0]
        return f"{worst.shown} {worst.property.replace('_', ' ')}", list(result.sentences)
    first, *rest = result.sentences or ("",)
    shown, more = split_answer(first)
    return shown, [capitalise(more), *rest]


def list_untrained(board: Leaderboard) -> list[str]:
    """Return a sentence that names the first metric that nobody has to train, where the first ones are trained."""
    ready = next((row for row in board if row.rank and find_metric(row.metric)), None)
    if ready is None or any(find_metric(name) for name in board.top):
        return []
    return [f"First without training: `{ready.metric}`, overall {format_decimals(ready.overall)}."]


@dataclass(frozen=True)
class MetricCard:
    """One metric: `what` it measures, its `definition` in paragraphs, its `places` here, `facts` and `measured`."""

    key: str
    anchor: str
    label: str
    what: str
    definition: tuple[str, ...]
    places: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    measured: tuple[tuple[str, str], ...]


def make_cards(keys: Sequence[str], found: Sequence[Leaderboard], spent: Sequence[MetricTime]) -> list[MetricCard]:
    """Return the cards of metrics that this version knows, by name."""
    return [made for key in sorted(dict.fromkeys(keys)) if (made := _make_card(key, found, spent))]


def _make_card(key: str, found: Sequence[Leaderboard], spent: Sequence[MetricTime]) -> MetricCard | None:
    metric = find_metric(key)
    if metric is None:
        return None
    what, definition = split_docstring(type(metric).__doc__ or "")
    label = "" if what.startswith(metric.label) else f"{metric.label}."
    rows = [(board, row) for board in found for row in board if row.metric == key]
    places = tuple((board.heading, _format_place(row, len(board))) for board, row in rows)
    measured = tuple((board.heading, _format_measures(row)) for board, row in rows)
    return MetricCard(key, make_anchor(key), label, what, definition, places, _list_facts(metric, spent), measured)


def split_docstring(doc: str) -> tuple[str, tuple[str, ...]]:
    """Return the first sentence of a docstring and the paragraphs after it, without examples and the source.

    >>> split_docstring("One line.\\n\\n    A formula, and\\n    more. Source: Lin 1991.\\n\\n    >>> 1")
    ('One line.', ('A formula, and more.',))
    """
    head, *rest = inspect.cleandoc(doc).split("\n\n")
    parts = [" ".join(part.split()) for part in rest if not part.startswith(">>>")]
    bare = [part.partition("Source: ")[0].strip() for part in parts]
    return " ".join(head.split()), tuple(part for part in bare if part)


def _list_facts(metric: Metric, spent: Sequence[MetricTime]) -> tuple[tuple[str, str], ...]:
    low, high = (_INFINITE.get(end, f"{end:g}") for end in metric.bounds)
    given = ", ".join(f"{name}={getattr(metric, name)}" for name in get_parameters(type(metric)))
    facts = [
        ("Compares", "two corpora" if isinstance(metric, CorpusMetric) else "two texts"),
        ("Values", f"{low} to {high}; {metric.closer} is closer"),
        ("Symmetric", "yes" if metric.symmetric else "no"),
        ("Input", metric.on),
        ("Parameters", given),
        ("Parts", ", ".join(part.name for part in metric.parts)),
        ("Cost", "; ".join(_format_cost(cost) for cost in spent if cost.metric == metric.key)),
        ("Source", metric.source),
    ]
    return tuple((term, text) for term, text in facts if text)


def _format_cost(cost: MetricTime) -> str:
    failed = f", {cost.failed:,} failed" if cost.failed else ""
    return f"{format_duration(cost.each)} a trial ({cost.protocol}, mean of {cost.trials:,}{failed})"


def _format_place(row: RankedMetric, count: int) -> str:
    if math.isnan(row.overall):
        return "not ranked"
    return f"rank {row.rank} of {count}, overall {format_decimals(row.overall)}"


def _format_measures(row: RankedMetric) -> str:
    known = {name.replace("_", " "): value for name, value in row.measures.items() if not math.isnan(value)}
    return ", ".join(f"{name} {format_decimals(value)}" for name, value in known.items())
