"""How results are written: numbers, durations and lists in words; flat rows as JSON, frames and tables of all kinds."""

from __future__ import annotations

import html
import io
import json
import math
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from textgauge.core.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.table import Table

Row = dict[str, Any]
# Control characters act on terminals, marks of direction reorder what follows, lone surrogates cannot be encoded.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_MARKS = {"|": "\\|", "<": "&lt;", "](": "]\\("}
_MARKED = re.compile(r"\||(?<!\\)<|\]\(")
# Signs that act in LaTeX, or that pdflatex knows no glyph for; brackets and stars, because they act after a line's end.
_TEX = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", "<": r"\textless{}", ">": r"\textgreater{}"}
_TEX |= {"|": r"\textbar{}", '"': "''", "[": "{[}", "*": "{*}", "–": "--", "…": r"\ldots{}"}
_TEX |= {sign: f"\\{sign}" for sign in "{}&%$#_"}
_MATH = (
    r"- \downarrow \uparrow \rightarrow \le \ge \times \cdot \pm \infty ^2 \alpha \beta \kappa \lambda \rho \tau \chi"
)
_TEX |= dict(zip("−↓↑→≤≥×·±∞²αβκλρτχ", (f"${sign}$" for sign in _MATH.split()), strict=True))
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")  # that pdflatex knows
_NUMBER = re.compile(r"(?:< )?[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?= ?[%↓↑(]|$| …|–)")
_DIGITS: ContextVar[int | None] = ContextVar("digits", default=None)
_MOST_DIGITS = 15
_ROWS_SHOWN = 200
_REPR_LINES = 20
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#777777"  # of charts: Okabe and Ito's palette, safe for colour blindness
ARROWS = {"smaller": "↓", "larger": "↑"}  # which way is closer
_LARGE = 100.0  # from here on whole units, or four digits, say more than decimals
_SMALLEST_P = 0.001  # smaller ones are said to be that
TEXT_WIDTH = 160  # of tables that no terminal bounds
_NARROWEST = 60  # of tables on a terminal
_GAP = 2  # characters between columns
_COLUMNS_KEPT = 2  # in the narrowest table
_TEXT_LEAST = 16  # characters of a column of texts
_NAME_LONGEST = 32  # longer cells are broken into lines
_DIGITS_SHOWN = 3  # of numbers, where no other count is asked for
_EXPONENT_FROM = 1e9  # smaller numbers are written out
# A cell that is aligned: up to the decimal point of its first number, the rest of the number, what follows.
_ALIGNED = re.compile(r"([ <]*[-−]?\d[\d,]*)((?:\.\d+)?(?:e[-+]\d+)?)((?:[ ↓↑%–][-−\d.,e+ ↓↑%–…()]*)?)")
_TO = " … "  # between the ends of an interval
_NONE = ("", "–", "undefined")
_PROSE = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+[,:;]? [^\W\d_]{2}")  # two words, one after the other
# The content policy of a page without scripts: nothing but its own style and pictures is loaded.
STATIC_PAGE_POLICY = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file: data:\">"
)


@contextmanager
def use_digits(count: int | None) -> Iterator[None]:
    """Write the numbers of tables with so many digits.

    >>> with use_digits(2):
    ...     format_cell(0.12345)
    '0.12'
    """
    if count is not None and not 1 <= count <= _MOST_DIGITS:
        raise InputError(f"numbers have 1 to {_MOST_DIGITS} digits, not {count}")
    before = _DIGITS.set(count)
    try:
        yield
    finally:
        _DIGITS.reset(before)


class FlatRow:
    """What a row of a result can do; rows are dataclasses of plain fields."""

    def to_dict(self) -> Row:
        """Return a flat dictionary; NaN becomes None, and a mapping `parts` becomes `part.NAME`."""
        flat = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        parts = {f"part.{name}": value for name, value in flat.pop("parts", {}).items()}
        return {name: drop_nonfinite(value) for name, value in (flat | parts).items()}


class Tabular:
    """What a result of flat rows can do; subclasses give `to_dicts`."""

    def to_dicts(self) -> list[Row]:
        """Return one flat dictionary per row."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return an array of flat objects."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False, allow_nan=False)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a stream of Arrow, which DuckDB, pandas, polars and others read."""
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        import polars as pl

        return pl.DataFrame(self.to_dicts(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame; needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra.named("to_pandas()", "pandas") from None

        return pd.DataFrame(self.to_dicts())

    def __repr__(self) -> str:
        """Return what it says of itself in a few lines, or its first rows."""
        if type(self).__str__ is not object.__str__:
            return take_first_lines(str(self))
        rows = self.to_dicts()
        return take_first_lines(
            render_text(rows[:_REPR_LINES]) if rows else f"{type(self).__name__} without rows", len(rows)
        )

    def _repr_html_(self) -> str:
        return render_html(self.to_dicts())


def render_html(rows: Sequence[Row]) -> str:
    """Return rows as an HTML table, every name and value escaped; of many rows the first, and how many there are.

    >>> render_html([{"text": "<b>", "value": 0.51239}]).count("&lt;b&gt;")
    1
    """
    names = list_columns(rows)
    head = "".join(f'<th scope="col">{escape_html(name)}</th>' for name in names)
    body = "".join(
        f"<tr>{''.join(_render_html_cell(row.get(name)) for name in names)}</tr>" for row in rows[:_ROWS_SHOWN]
    )
    left = len(rows) - _ROWS_SHOWN
    more = f"<p>… and {left:,} more rows</p>" if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def render_text(rows: Sequence[Row]) -> str:
    """Return rows as a table for people.

    >>> print(render_text([{"metric": "jsd", "value": 0.51239}]))
    metric  value
    ─────────────
    jsd     0.512
    """
    from rich.console import Console

    written, width = io.StringIO(), get_table_width()
    table, hidden = build_table(rows, width)
    Console(file=written, width=width, color_system=None, force_jupyter=False).print(table)
    lines = [line.rstrip() for line in written.getvalue().splitlines() if line.strip()]
    return "\n".join([*lines, *([format_hidden_columns(hidden)] if hidden else [])])


def list_columns(rows: Iterable[Row]) -> list[str]:
    """Return the names of all columns that some row has, in order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def get_table_width() -> int:
    """Return how wide a table may be: as the terminal that it is printed to, or 160 characters elsewhere."""
    return max(shutil.get_terminal_size().columns, _NARROWEST) if sys.stdout.isatty() else TEXT_WIDTH


def format_hidden_columns(names: Sequence[str]) -> str:
    """Return what stands below a table that lacks columns.

    >>> format_hidden_columns(["linearity"])
    '(1 more column in a wider terminal: linearity)'
    """
    return f"({format_count(len(names), 'more column')} in a wider terminal: {', '.join(names)})"


def take_first_lines(text: str, rows: int = 0) -> str:
    """Return the first lines of a text, and how many lines or rows follow.

    >>> print(take_first_lines("\\n".join("abcdefghijklmnopqrstuvwxyz"))[-14:])
    t
    … and 6 more
    """
    lines = text.splitlines()
    left = max(len(lines), rows) - _REPR_LINES
    return "\n".join([*lines[:_REPR_LINES], f"… and {left:,} more"]) if left > 0 else text


def build_table(rows: Sequence[Row], width: int) -> tuple[Table, list[str]]:
    """Return rows as a table with the columns that fit into a width, and the names of those that do not.

    Numbers stand with their decimal points below each other. No word of a header and no number is cut: the last columns
    go first. Where the width asks for it, texts and headers are broken into lines.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    names, columns, end = list_columns(rows), list[tuple[str, list[str], int, bool, bool]](), -_GAP
    for name in names:
        values = [row.get(name) for row in rows]
        header, cells = make_printable(name.replace("_", " ")), [format_cell(value) for value in values]
        aligned = _align_numbers(cells)
        cells = aligned or cells
        is_prose = not aligned and any(_PROSE.search(cell) or len(cell) > _NAME_LONGEST for cell in cells)
        widest = max(map(len, cells), default=0)
        # Prose of the last column takes about two lines.
        text = max(min(widest, _TEXT_LEAST), (widest + 1) // 2 if name == names[-1] else 0)
        least = max(text if is_prose else widest, *map(len, header.split()), 1)
        end += _GAP + least
        if end > width and len(columns) >= _COLUMNS_KEPT:
            break
        is_number = any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        columns.append((header, cells, least, is_prose, is_number or bool(aligned)))
    is_narrow = sum(max(len(header), *map(len, cells), 0) + _GAP for header, cells, *_ in columns) - _GAP > width
    shown = []
    for header, cells, least, is_prose, is_number in columns:
        side: Literal["right", "left"] = "right" if is_number else "left"
        lines = wrap(header, least, break_long_words=False) if is_narrow else [header]
        head = Text("\n".join(lines), justify=side)
        table.add_column(head, overflow="fold", no_wrap=not is_prose, min_width=least)
        widest = max(map(len, (*lines, *cells)))  # blanks to the right would be stripped if rich moved the cells
        shown.append([cell.rjust(widest) for cell in cells] if is_number else cells)
    for line in zip(*shown, strict=True):
        table.add_row(*map(Text, line))
    return table, names[len(columns) :]


def _align_numbers(cells: Sequence[str]) -> list[str]:
    """Return cells, equally long, with the decimal points of their first numbers below each other.

    Of intervals both ends are aligned. None where cells hold words, or no number at all.

    >>> _align_numbers(["0.325 ↓", "12 ↓", "–", "< 0.001 ↑"]), _align_numbers(["1 … 2.5", "10 … 20"])
    (['  0.325 ↓', ' 12     ↓', '  –      ', '< 0.001 ↑'], [' 1 …  2.5', '10 … 20  '])
    """
    known = [n for n, cell in enumerate(cells) if cell not in _NONE]
    if not known:
        return []
    ends = [[cells[n]] if "(" in cells[n] else cells[n].split(_TO) for n in known]
    written, before, longest = [""] * len(cells), 0, 0
    for place in range(max(map(len, ends))):
        there = [n for n, of in zip(known, ends, strict=True) if len(of) > place]
        found = [_ALIGNED.fullmatch(of[place]) for of in ends if len(of) > place]
        pieces = [one.groups() for one in found if one]
        if len(pieces) < len(there):
            return []
        head, number, _ = (max(map(len, column)) for column in zip(*pieces, strict=True))
        before = before or head
        for n, piece in zip(there, pieces, strict=True):
            to = _TO if place else ""
            written[n] += to + piece[0].rjust(head) + (piece[1].ljust(number) + piece[2])
        longest = max(map(len, written))
        written = [text and text.ljust(longest) for text in written]
    return [text or cell.rjust(before).ljust(longest) for text, cell in zip(written, cells, strict=True)]


def format_cell(value: Any) -> str:
    """Return a value for people: three digits of a number, or all before its point, and a dash for nothing.

    >>> format_cell(0.0034567), format_cell(12345.6), format_cell(None), format_cell(True), format_cell("two\\nlines")
    ('0.00346', '12,346', '–', 'yes', 'two lines')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return make_printable(" ".join(str(value).splitlines()))
    digits = _DIGITS.get() or _DIGITS_SHOWN
    return f"{value:,.0f}" if 10.0**digits - 0.5 <= abs(value) < _EXPONENT_FROM else f"{value:.{digits}g}"


def format_decimals(value: float | None) -> str:
    """Return a number with three decimals, so that a column lines up; a large one as in a cell.

    >>> format_decimals(0.5), format_decimals(12345.678), format_decimals(None)
    ('0.500', '12,346', '–')
    """
    return format_cell(value) if value is None or abs(value) >= _LARGE else f"{value:.{_DIGITS.get() or 3}f}"


def format_interval(low: float | None, high: float | None) -> str:
    """Return the ends of an interval; one dash where there is none.

    >>> format_interval(0.25, 1 / 3), format_interval(None, None)
    ('0.25 … 0.333', '–')
    """
    if drop_nonfinite(low) is None and drop_nonfinite(high) is None:
        return format_cell(None)
    return f"{format_cell(low)} … {format_cell(high)}"


def format_p(p: float | None) -> str:
    """Write a p-value: three digits, and no more than that it is small below 0.001.

    >>> format_p(0.0351234), format_p(0.00002), format_p(None)
    ('0.0351', '< 0.001', '–')
    """
    if p is None or not math.isfinite(p):
        return format_cell(None)
    return format_cell(float(p)) if p >= _SMALLEST_P else f"< {_SMALLEST_P:g}"


def format_value(value: float | None, closer: str) -> str:
    """Write the value of a metric with an arrow to the closer side.

    >>> format_value(0.51239, "smaller")
    '0.512 ↓'
    """
    return f"{format_cell(value)} {ARROWS[closer]}"


def format_ranks(low: int | None, high: int | None) -> str:
    """Return a range of ranks, or the one rank it is.

    >>> format_ranks(1, 3), format_ranks(2, 2), format_ranks(None, None)
    ('1–3', '2', '–')
    """
    return f"{low}–{high}" if low != high else format_cell(low)


def format_duration(seconds: float) -> str:
    """Return seconds in a unit that needs few digits.

    >>> format_duration(0.00123), format_duration(2.5), format_duration(4e-6), format_duration(1234.5)
    ('1.23 ms', '2.5 s', '4 µs', '1,234 s')
    """
    if seconds >= _LARGE:
        return f"{seconds:,.0f} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def format_count(number: int, thing: str) -> str:
    """Return a number of things.

    >>> format_count(1, "metric"), format_count(1200, "pair")
    ('1 metric', '1,200 pairs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def join_words(items: Iterable[str]) -> str:
    """Return items with commas and a last "and".

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = [*items] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def format_percent(share: float) -> str:
    """Return a share in percent.

    >>> format_percent(0.1)
    '10 %'
    """
    return f"{100 * share:.3g} %"


def format_about(count: float) -> str:
    """Return a count to two digits from a hundred on.

    >>> format_about(47), format_about(241), format_about(12345)
    ('47', '240', '12,000')
    """
    digits = 10 ** max(int(math.log10(max(count, 1.0))) - 1, 0)
    return f"{round(count / digits) * digits:,}"


def render_markdown(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table.

    >>> print(render_markdown([{"metric": "jsd", "value": 0.51239}]))
    | metric | value |
    | --- | --- |
    | jsd | 0.512 |
    """
    if not rows:
        return ""
    names = list_columns(rows)
    lines = [
        [make_printable(name) for name in names],
        *([format_cell(row.get(name)) for name in names] for row in rows),
    ]
    head, *body = (f"| {' | '.join(map(_escape_markdown, line))} |" for line in lines)
    return "\n".join([head, f"| {' | '.join(['---'] * len(names))} |", *body])


def render_latex(rows: Sequence[Row]) -> str:
    """Return rows as a LaTeX tabular that pdflatex sets with the package booktabs.

    Numbers stand to the right. Where an arrow says which way is better, or the column is `overall`, the best value is
    bold: of a column, or of the rows of each metric. Letters that pdflatex does not know become question marks.
    """
    if not rows:
        return ""
    columns, sides, metrics = [], "", [row.get("metric") for row in rows]
    for name in list_columns(rows):
        cells = [format_cell(row.get(name)) for row in rows]
        best = _find_best(name, cells, metrics)
        written = map(_escape_tex, cells)
        columns.append(
            [
                _escape_tex(make_printable(name)),
                *(f"\\textbf{{{c}}}" if n in best else c for n, c in enumerate(written)),
            ]
        )
        known = [cell for cell in cells if cell.strip("–- ")]
        sides += "r" if known and all(_NUMBER.match(cell) for cell in known) else "l"
    head, *body = (" & ".join(line) + r" \\" for line in zip(*columns, strict=True))
    lines = [f"\\begin{{tabular}}{{{sides}}}", r"\toprule", rf"{head} \midrule", *body, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}"])


def _find_best(name: str, cells: Sequence[str], metrics: Sequence[Any]) -> set[int]:
    """Return the places of the best numbers of a column: of all rows, or of those of each metric."""
    arrow = "↑" if name == "overall" else name[-1:]
    groups: dict[Any, list[tuple[float, int]]] = {}
    for place, cell in enumerate(cells):
        sign = arrow if arrow in "↑↓" else cell[-1:]
        if sign and sign in "↑↓" and (found := re.match(r"[-−]?[\d.,]+(?:e[-+]?\d+)?", cell)):
            value = float(found[0].replace("−", "-").replace(",", ""))
            groups.setdefault(None if sign == arrow else metrics[place], []).append(
                (value if sign == "↑" else -value, place)
            )
    several = [of for of in groups.values() if len(of) > 1]
    return {place for of in several for value, place in of if value == max(of)[0]}


def _escape_markdown(text: str) -> str:
    """Return a text for a cell: what would end the cell, begin a tag or make a link is escaped."""
    return _MARKED.sub(lambda found: _MARKS[found[0]], " ".join(text.splitlines()))


def _escape_tex(text: str) -> str:
    minus = re.sub(r"(?<![\w.])-(?=\d)", "−", " ".join(text.splitlines()))  # an empty line ends a cell
    return "".join(_TEX.get(sign) or (sign if sign.isascii() else _write_letter(sign)) for sign in minus)


def _write_letter(sign: str) -> str:
    """Return a letter as pdflatex knows it, else without its accent, or a question mark."""
    split = unicodedata.normalize("NFD", sign)
    if sign in "æÆøØßœŒłŁ" or (split[0].isascii() and set(split[1:]) <= _ACCENTS):
        return sign
    return "".join(c for c in unicodedata.normalize("NFKD", sign) if c.isascii() and c.isalnum()) or "?"


def make_printable(text: str) -> str:
    """Return the text with a sign in place of each character that acts rather than shows; line ends and tabs stay.

    >>> make_printable("a\\x1b[31mb")
    'a\\ufffd[31mb'
    """
    return _ACTING.sub("\ufffd", text)


def shorten_line(text: str, width: int) -> str:
    """Return the text on one line, printable, cut to a width.

    >>> shorten_line("two\\n lines", 7)
    'two li…'
    """
    line = make_printable(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def _render_html_cell(value: Any) -> str:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        return f'<td style="text-align:left">{escape_html(str(value))}</td>'
    return f"<td>{format_cell(value)}</td>"


def escape_html(text: str) -> str:
    """Return a text that shows itself on a page."""
    return html.escape(make_printable(text))


def hide_user(text: str) -> str:
    """Return a text in which no address has a user, password or query.

    >>> hide_user("judge@https://user:password@host/v1?key=1#model")
    'judge@https://…@host/v1?…#model'
    """
    return re.sub(r"//[^/\s]*@", "//…@", re.sub(r"(//[^\s?#]*\?)[^\s#]+", r"\1…", text))


def drop_nonfinite(value: Any) -> Any:
    """Return the value, or None for a number that does not exist or is not finite.

    >>> drop_nonfinite(0.5), drop_nonfinite(float("nan")), drop_nonfinite("text")
    (0.5, None, 'text')
    """
    return None if isinstance(value, float) and not math.isfinite(value) else value


def drop_nonfinite_values(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with all its values plain."""
    return {name: drop_nonfinite(value) for name, value in row.items()}
