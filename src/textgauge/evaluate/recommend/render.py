"""A recommendation as Markdown and as HTML; everything that comes from data is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from textgauge.tabular import STATIC_PAGE_POLICY, html_table, markdown_table, printable

if TYPE_CHECKING:
    from textgauge.evaluate.recommend.answer import Recommendation

Rows = list[dict[str, Any]]

_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .6rem;text-align:right;"
    "border-bottom:1px solid #8884}"
)


def markdown(answer: Recommendation) -> str:
    """Title, sentences, warnings, tables, and how it was found."""
    parts = [f"# {_md(_title(answer))}", *map(_md, answer.sentences), *_md_items("Warnings", answer.warnings)]
    for title, rows in tables(answer):
        parts += [f"## {title}", _md_table(rows)]
    parts += _md_items("How this was found", answer.notes)
    return "\n\n".join(parts) + "\n"


def html_page(answer: Recommendation) -> str:
    """A page that needs nothing else."""
    title = html.escape(printable(_title(answer)))
    head = f'<meta charset="utf-8"><title>{title}</title><meta name="viewport" content="width=device-width">'
    return (
        f'<!doctype html><html lang="en"><head>{STATIC_PAGE_POLICY}{head}<style>{_STYLE}</style></head>'
        f"<body><main><h1>{title}</h1>{html_body(answer)}</main></body></html>\n"
    )


def html_body(answer: Recommendation) -> str:
    """The same without the frame of a page."""
    said = "".join(f"<p>{html.escape(printable(text))}</p>" for text in answer.sentences)
    found = "".join(f"<h2>{title}</h2>{html_table(rows)}" for title, rows in tables(answer))
    return f"{said}{_items('Warnings', answer.warnings)}{found}{_items('How this was found', answer.notes)}"


def tables(answer: Recommendation) -> Iterator[tuple[str, Rows]]:
    """A table for each purpose, in the order of its answer, and the cost; each with its title."""
    first, *_ = answer.answers
    yield f"To {first.purpose}, best first", first.board.readable()
    if answer.power:
        fewest = "texts needed a side, fewest first"
        purposes = [f"To {one.purpose}: {fewest}" for one in answer.answers[1:]]
        yield (purposes or ["Rated pairs needed"])[0], [row.to_dict() for row in answer.power]
    if answer.costs:
        yield "Cost, CPU seconds", [row.to_dict() for row in answer.costs]


def _title(answer: Recommendation) -> str:
    return f"Which metric for {' and '.join(answer.data)}"


def _items(title: str, items: Sequence[str]) -> str:
    inside = "".join(f"<li>{html.escape(printable(item))}</li>" for item in items)
    return f"<h2>{title}</h2><ul>{inside}</ul>" if items else ""


def _md_items(title: str, items: Sequence[str]) -> list[str]:
    return [f"## {title}", "\n".join(f"- {_md(item)}" for item in items)] if items else []


def _md_table(rows: Rows) -> str:
    plain = [{name: _md(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in rows]
    return markdown_table(plain, list(dict.fromkeys(name for row in rows for name in row)))


def _md(text: str) -> str:
    """Plain text: what Markdown and HTML would take for marks is escaped."""
    plain = " ".join(printable(text).split())
    return re.sub(r"([\\`*<>\[\]#])", r"\\\1", plain)
