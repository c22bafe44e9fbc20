"""Results as tables: JSON, frames, text, and HTML for notebooks, all made of the same flat rows."""

from __future__ import annotations

import html
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from textgauge.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.table import Table

Row = dict[str, Any]
# Control characters act on terminals, marks of direction reorder what follows, lone surrogates cannot be encoded.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_ROWS_SHOWN = 200
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#777777"  # of charts: Okabe and Ito's palette, safe for colour blindness
TEXT_WIDTH = 160  # of tables that no terminal bounds


class Tabular:
    """What a result of flat rows can do; subclasses give `to_dicts`."""

    def to_dicts(self) -> list[Row]:
        """One flat dictionary per row."""
        raise NotImplementedError

    def to_json(self) -> str:
        """An array of flat objects."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False)

    def to_polars(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        import polars as pl

        return pl.DataFrame(self.to_dicts(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame; needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra.named("to_pandas()", "pandas") from None

        return pd.DataFrame(self.to_dicts())

    def _repr_html_(self) -> str:
        return html_table(self.to_dicts())


def html_table(rows: Sequence[Row]) -> str:
    """Rows as an HTML table, every name and value escaped; of many rows the first, and how many there are.

    >>> html_table([{"text": "<b>", "value": 0.51239}]).count("&lt;b&gt;")
    1
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f'<th scope="col">{_escaped(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in names)}</tr>" for row in rows[:_ROWS_SHOWN])
    left = len(rows) - _ROWS_SHOWN
    more = f"<p>… and {left:,} more rows</p>" if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def text_table(rows: Sequence[Row]) -> str:
    """Rows as a table for people.

    >>> print(text_table([{"metric": "jsd", "value": 0.51239}]))
    metric    value
    ───────────────
    jsd      0.5124
    """
    from rich.console import Console

    told = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    Console(file=told, width=TEXT_WIDTH, color_system=None, force_jupyter=False).print(rich_table(rows, names))
    return dedent("\n".join(line.rstrip() for line in told.getvalue().splitlines() if line.strip()))


def rich_table(rows: Sequence[Row], names: Sequence[str]) -> Table:
    """These columns of rows as a table that fits itself to the width it is printed at."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        numeric = any(isinstance(row.get(name), int | float) and not isinstance(row.get(name), bool) for row in rows)
        table.add_column(
            name, justify="right" if numeric else "left", overflow="fold", no_wrap=name in ("name", "metric")
        )
    for row in rows:
        table.add_row(*(Text(shown(row.get(name))) for name in names))
    return table


def shown(value: Any) -> str:
    """A cell for people: four digits, a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def printable(text: str) -> str:
    """The text with a sign in place of each character that acts rather than shows; line ends and tabs stay.

    >>> printable("a\\x1b[31mb")
    'a\\ufffd[31mb'
    """
    return _ACTING.sub("\ufffd", text)


def one_line(text: str, width: int) -> str:
    """The text on one line, printable, cut to a width.

    >>> one_line("two\\n lines", 7)
    'two li…'
    """
    line = printable(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def _cell(value: Any) -> str:
    if value is None:
        return "<td>–</td>"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f'<td style="text-align:left">{_escaped(str(value))}</td>'
    return f"<td>{value:.4g}</td>" if isinstance(value, float) else f"<td>{value}</td>"


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def plain(value: Any) -> Any:
    """The value, or None for a number that does not exist or is not finite.

    >>> plain(0.5), plain(float("nan")), plain("text")
    (0.5, None, 'text')
    """
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with all its values plain."""
    return {name: plain(value) for name, value in row.items()}
