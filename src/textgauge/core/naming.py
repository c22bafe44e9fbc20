"""Names that are values: `name[.part][(param=value,...)][@on]`, with `|` for grids.

A column of scores that a table has is a metric too: `column:NAME`, where smaller is closer
`column(closer=smaller):NAME`.

>>> parse("pr.recall(k=3)@minilm:cosine")
Name(name='pr', part='recall', params=(('k', '3'),), on='minilm:cosine')
>>> str(parse(" pr( k = 3 ) "))
'pr(k=3)'
>>> expand("pr(k=3|5)@minilm|wordllama")
['pr(k=3)@minilm', 'pr(k=3)@wordllama', 'pr(k=5)@minilm', 'pr(k=5)@wordllama']
>>> parse("column:judge score"), str(parse("column(closer=smaller):ter"))
(Name(name='column', part=None, params=(), on='judge score'), 'column(closer=smaller):ter')
>>> split_names("fid, pr(k=3,ties=open),dc")
['fid', 'pr(k=3,ties=open)', 'dc']
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import product

from textgauge.core.errors import UnknownName

_FORM = re.compile(
    r"\s*(?P<name>[A-Za-z_][\w/-]*)(?:\.(?P<part>\w+))?\s*(?:\((?P<params>[^()]*)\))?\s*(?:@(?P<on>[^@\s].*?))?\s*"
)
COLUMN = "column"
_MOST = 1_000  # names that a grid may stand for; three of 400 choices each would be 64 million
_COLUMN = re.compile(rf"\s*(?P<name>{COLUMN})(?P<part>)\s*(?:\((?P<params>[^()]*)\))?\s*:\s*(?P<on>\S.*?)\s*")


@dataclass(frozen=True)
class Name:
    """A parsed name; `str` gives it back in its shortest regular form."""

    name: str
    part: str | None = None
    params: tuple[tuple[str, str], ...] = ()
    on: str | None = None

    def __str__(self) -> str:
        part = f".{self.part}" if self.part else ""
        params = ",".join(f"{key}={value}" for key, value in self.params)
        sign = ":" if self.name == COLUMN else "@"
        return f"{self.name}{part}{f'({params})' if params else ''}{f'{sign}{self.on}' if self.on else ''}"


def parse(text: str) -> Name:
    """Parse one name without grids."""
    match = _COLUMN.fullmatch(text) or _FORM.fullmatch(text)
    if match is None:
        raise UnknownName(f"cannot read {text!r} as name[.part][(param=value,...)][@on]")
    params = tuple(_parse_parameter(item, text) for item in (match["params"] or "").split(",") if item.strip())
    doubled = [key for key, _ in params if sum(key == other for other, _ in params) > 1]
    if doubled:
        raise UnknownName(f"parameter {doubled[0]!r} is given twice in {text!r}")
    return Name(match["name"], match["part"] or None, params, match["on"])


def expand(text: str) -> list[str]:
    """Return all names a grid stands for, in reading order; a plain name stands for itself."""
    name = parse(text)
    keys = [key for key, _ in name.params]
    axes = [value.split("|") for _, value in name.params]
    places: list[str | None] = [*name.on.split("|")] if name.on else [None]
    if "" in places or any("" in axis for axis in axes):
        raise UnknownName(f"a choice between '|' is empty in {text!r}")
    count = math.prod(map(len, axes)) * len(places)
    if count > _MOST:
        raise UnknownName(f"this grid of {name.name} stands for {count:,} names; the limit is {_MOST:,}")
    return [
        str(Name(name.name, name.part, tuple(zip(keys, values, strict=True)), on))
        for values in product(*axes)
        for on in places
    ]


def split_names(text: str) -> list[str]:
    """Split a comma-separated list of names, leaving commas inside brackets alone."""
    return [piece.strip() for piece in re.split(r",(?![^()]*\))", text) if piece.strip()]


def _parse_parameter(item: str, text: str) -> tuple[str, str]:
    key, equals, value = item.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise UnknownName(f"parameters are written name=value: {item.strip()!r} in {text!r}")
    return key.strip(), value.strip()
