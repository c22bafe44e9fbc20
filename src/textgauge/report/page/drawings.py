"""Figures of a page: specifications packed small, with words for those who do not see them."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from textgauge.bench.leaderboard import Board
from textgauge.bench.results import Group
from textgauge.core.show import format_decimals
from textgauge.report.figures import KINDS, Figure, FigureKind, draw_figures

_DIGITS = 6  # of data: as many as tooltips show
_PANELS = 40  # that words list at most


@dataclass(frozen=True)
class Drawing:
    """One figure: the name of its files, its title and first line, words that stand for it, and what is drawn."""

    name: str
    title: str
    about: str
    words: str
    packed: str


@dataclass(frozen=True)
class DrawingGroup:
    """All figures of one kind: a reader chooses among them. `finding` says what they show, `open` ones are seen."""

    title: str
    drawings: tuple[Drawing, ...]
    finding: str = ""
    open: bool = False

    def choices(self) -> list[str]:
        """What a reader chooses by: titles, with what is drawn where several have the same."""
        titles = [drawing.title for drawing in self.drawings]
        return [f"{d.title} ({d.about or d.name})" if titles.count(d.title) > 1 else d.title for d in self.drawings]


def drawn(found: Sequence[Group], boards: Sequence[Sequence[Board]]) -> Iterator[DrawingGroup]:
    """All figures that groups give, kind by kind; `boards` are those of the protocols, by what they are for.

    Of each purpose the first kind of a protocol that tells good metrics from bad ones is seen at once.
    """
    single = [board for of in boards for board in of]
    ranking = [[board.judged[0].protocol for board in of] for of in boards]
    first = {next((k for p in of if any(m.quality for m in p.measures) for k in p.figures), "") for of in ranking}
    for name, kind in KINDS.items():
        made = drawings(draw_figures(found, kinds=[name]))
        if made:
            yield DrawingGroup(kind.title, made, _finding(kind, single) or made[0].title, name in first)


def _finding(kind: FigureKind, boards: Sequence[Board]) -> str:
    """The ends of the measure that a kind of figure shows; whether they differ, the leaderboard says."""
    board = next((b for b in boards if kind.measure in b.columns and kind.name in b.judged[0].protocol.figures), None)
    if board is None:
        return ""
    (measure, *_) = board.columns[kind.measure]
    values = {row.metric: row.measures[kind.measure] for row in board.ranking}
    known = sorted((m for m in values if not math.isnan(values[m])), key=lambda m: measure.share(values[m]))
    if len(known) < 2:
        return ""
    first, last = (f"{format_decimals(values[metric])} ({metric})" for metric in (known[-1], known[0]))
    name = measure.name.replace("_", " ")
    return f"{name[:1].upper()}{name[1:]}: from {first} to {last}"


def drawings(made: Iterable[Figure]) -> tuple[Drawing, ...]:
    """Charts, made ready for a page."""
    return tuple(_drawing(figure.name, figure.chart.to_dict(validate=False)) for figure in made)


def _drawing(name: str, spec: dict[str, Any]) -> Drawing:
    title, *lines = _texts(spec.get("title"))
    words = " ".join([*_sentences(lines), _panels(spec)]).strip()
    return Drawing(name, title or name, lines[0] if lines else "", words, packed(_compact(spec)))


def packed(value: Any) -> str:
    """A value as compressed JSON in base 64: a fifth of the size, and no character of it can end an element."""
    return base64.b64encode(zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 9)).decode()


def _compact(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification with its data by columns and without digits that nobody sees."""
    rows = spec.pop("datasets", {})
    return {"spec": spec, "data": {name: _columns(table) for name, table in rows.items()}}


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_short(row.get(name)) for row in rows] for name in names}


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _panels(spec: dict[str, Any]) -> str:
    """The titles of the panels, which name metrics and often their numbers."""
    parts = [", ".join(filter(None, _texts(panel.get("title")))) for panel in spec.get("concat", ())]
    named = [part for part in parts if part]
    more = f"; and {len(named) - _PANELS} more" if len(named) > _PANELS else ""
    return f"Panels: {'; '.join(named[:_PANELS])}{more}." if named else ""


def _texts(title: Any) -> list[str]:
    """Title and subtitles of a chart, the title first; empty where it has none."""
    if not isinstance(title, dict):
        return [title if isinstance(title, str) else ""]
    return [*(_lines(title.get("text")) or [""]), *_lines(title.get("subtitle"))]


def _lines(text: Any) -> list[str]:
    return [text] if isinstance(text, str) else list(text) if text else []


def _sentences(lines: list[str]) -> list[str]:
    return [line if line.endswith(".") else f"{line}." for line in lines if line]
