"""Figures of a page: specifications packed small, with words for those who do not see them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from textgauge.evaluate.results import Group
from textgauge.report.figures import KINDS, Figure, figures

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
    """All figures of one kind: a reader chooses among them."""

    title: str
    drawings: tuple[Drawing, ...]

    def choices(self) -> list[str]:
        """What a reader chooses by: titles, with what is drawn where several have the same."""
        titles = [drawing.title for drawing in self.drawings]
        return [f"{d.title} ({d.about or d.name})" if titles.count(d.title) > 1 else d.title for d in self.drawings]


def drawn(found: Sequence[Group]) -> Iterator[DrawingGroup]:
    """All figures that groups give, kind by kind, as the registry of figures lists them."""
    for name, kind in KINDS.items():
        made = drawings(figures(found, kinds=[name]))
        if made:
            yield DrawingGroup(kind.title, made)


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
