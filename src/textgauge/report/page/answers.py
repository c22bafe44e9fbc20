"""What a reader sees first: which metric is best for what, what is wrong with a corpus, whether corpora differ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from textgauge.bench.leaderboard import Board
from textgauge.core.errors import TextgaugeError
from textgauge.core.show import format_decimals
from textgauge.measure.findings import WorseThanReal
from textgauge.metrics import get_metric
from textgauge.report.page.result_files import ResultFile, texts_anchor
from textgauge.stats.decisions import leader, split_answer


@dataclass(frozen=True)
class AnswerCard:
    """A card: what it is about, the answer in a few letters, sentences behind it, and where the numbers stand.

    `kind` is its colour: a `concern` must not be overlooked.
    """

    kind: Literal["best", "concern", "plain"]
    heading: str
    shown: str
    sentences: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()


def board_answer(board: Board, target: str) -> AnswerCard:
    """The first metric of a board with those tied with it, and the first one that nobody has to train."""
    top = [row.metric for row in board.first()]
    sentences = [board.ranking.answer]
    ready = next((row for row in board.ranking if row.rank and _is_metric(row.metric)), None)
    if ready is not None and not any(_is_metric(name) for name in top):
        sentences.append(f"First without training: `{ready.metric}`, overall {format_decimals(ready.overall)}.")
    heading = f"First for {board.purpose[:1].lower()}{board.purpose[1:]}"
    return AnswerCard("best", heading, leader(top), tuple(sentences), ((target, "Leaderboard"),))


def result_answer(result: ResultFile, target: str, texts: Collection[str]) -> AnswerCard:
    """What a file of results says; `texts` are the addresses that tables of single texts have."""
    if result.findings:
        return _concern(result, target, texts)
    first, *rest = result.sentences
    shown, more = split_answer(first)
    said = (f"{more[:1].upper()}{more[1:]}", *rest)
    return AnswerCard("plain", result.heading, shown, said, ((target, "Numbers"),))


def _concern(result: ResultFile, target: str, texts: Collection[str]) -> AnswerCard:
    worst: WorseThanReal = result.findings[0]
    links = [(target, "Numbers")]
    if texts_anchor(worst.property) in texts:
        links.append((texts_anchor(worst.property), "Texts"))
    shown = f"{worst.shown} {worst.property.replace('_', ' ')}"
    sentences = tuple(one.sentence for one in result.findings)
    return AnswerCard("concern", result.heading, shown, sentences, tuple(links))


def _is_metric(name: str) -> bool:
    """Whether a name stands for a metric; ensembles of a run have names of their own."""
    try:
        get_metric(name)
    except TextgaugeError:
        return False
    return True
