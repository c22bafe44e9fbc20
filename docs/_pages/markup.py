"""Markdown out of plain strings: tables, code, and docstrings as paragraphs."""

from __future__ import annotations

import html
import inspect
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field
from typing import Any, Literal, get_args, get_origin

_CODE = re.compile(r"(`[^`]*`)")
_FORMULA = re.compile(r" = |[Σ√‖∩^×]|·|\w/\w.*[+−]")
_PARAMETERS = "Parameters\n----------\n"
_KINDS = {int: "whole number", float: "number", bool: "true or false", str: "text"}


def plain(text: str) -> str:
    """Text that means itself: outside of code, nothing is read as HTML, emphasis or a link."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    return re.sub(r"([*_\[\]])", r"\\\1", html.escape(text, quote=False))


def formulas(text: str) -> str:
    """Text that means itself, with its formulas set as such: in another type, exponents raised, indices lowered.

    A formula is a clause with a sign that prose does not have.
    """
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _set_clauses(part) for part in parts)


def _set_clauses(text: str) -> str:
    clauses = re.split(r"(?<=[;.:]) ", text)
    return " ".join(_set_formula(one) if _FORMULA.search(one) else _escaped(one) for one in clauses)


def _set_formula(text: str) -> str:
    made = re.sub(
        r"\^\(([^()]*)\)|\^(½|\w+)", lambda found: f"<sup>{found[1] or found[2]}</sup>", html.escape(text, quote=False)
    )
    made = re.sub(r"(?<=[^\W\d])_(\w)\b", r"<sub>\1</sub>", made)
    made = re.sub(r"([*_\[\]])", r"\\\1", made)
    return f'<span class="formula">{made}</span>'


def code(text: object) -> str:
    """Return a name as code; nothing for nothing."""
    return f"`{text}`" if str(text) else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars inside cells are kept apart from those of the table, where they are no code."""

    def escape(cell: str) -> str:
        return "".join(part if _CODE.match(part) else part.replace("|", "\\|") for part in _CODE.split(cell))

    lines = [head, ["---"] * len(head), *([escape(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def listing(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    """Return a table of some columns of rows, each under a title; names are code."""
    cells = [[code(row[key]) if key == "name" else plain(shown(row[key])) for key in names] for row in rows]
    return table(list(names.values()), cells)


def shown(value: Any) -> str:
    """Return a value for people: infinities as signs, booleans as in metric names."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, f"{value:g}").replace("-", "−")
    return str(value)


def paragraphs(doc: str | None) -> list[str]:
    """Return a docstring's paragraphs, each on lines of its own; lists stay lists, examples are left out."""
    return [_paragraph(part) for part in split_paragraphs(doc) if not part.startswith(">>>")]


def split_paragraphs(doc: str | None) -> list[str]:
    """Return a docstring's paragraphs as they are written, examples without their heading."""
    parts = inspect.cleandoc(doc or "").split("\n\n")
    return [part.removeprefix("Examples\n--------\n") for part in parts]


def _paragraph(part: str) -> str:
    if part.startswith(_PARAMETERS):
        named = re.findall(r"^(\S.*)\n((?: .*\n?)+)", part.removeprefix(_PARAMETERS), re.M)
        return "\n".join(
            f"- {', '.join(map(code, names.split(', ')))}: {plain(_join(about))}" for names, about in named
        )
    if part.startswith("- "):
        items = re.split(r"\n(?=- )", part)
        return "\n".join(f"- {formulas(_join(item[2:]))}" for item in items)
    return formulas(_join(part))


def _join(lines: str) -> str:
    return " ".join(lines.split())


def parameter_row(name: str, kind: Any, default: Any) -> list[str]:
    """One parameter: name, default, and what it may be."""
    choices = ", ".join(code(choice) for choice in get_args(kind)) if get_origin(kind) is Literal else ""
    return [code(name), code(str(default).lower() if isinstance(default, bool) else default), choices or _kind(kind)]


def default_of(item: Field[Any]) -> Any:
    """Return the default of a dataclass field; nothing where it has none."""
    return "" if item.default is MISSING else item.default


def page(title: str, *parts: str) -> str:
    """Return a page: its title and what follows, empty parts left out."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"


def _kind(kind: Any) -> str:
    return _KINDS.get(kind, getattr(kind, "__name__", str(kind)))
