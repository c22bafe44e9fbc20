"""Tables of a page: what a reader sees in a cell, the number behind it, the interval beneath it; and leaderboards.

Leaderboards come with what they say in plain sentences.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from textgauge.bench.leaderboard import Leaderboard, RankedMetric
from textgauge.bench.results import NUMBERS, list_verdicts
from textgauge.core import show
from textgauge.core.errors import TextgaugeError
from textgauge.core.show import Row, format_decimals
from textgauge.metrics import Metric, get_metric

_FEW = 2  # measures that a table shows at first, besides overall
_LARGEST = 1e300  # that can be drawn
_EDGE = 3  # per cent kept free at each end, so that a dot is never cut
_ENDS = ("overall_low", "overall_high", "rank_low", "rank_high")
MOST_ROWS = 300
_MOST_CHARACTERS = 1_000

Order = Literal["ascending", "descending"]


@dataclass(frozen=True)
class Span:
    """What is drawn of a value: its interval, strokes at values to compare it with, a band behind it, a rule at zero.

    `bars` are left end, right end and height of a histogram. None and NaN stand for what there is not.
    """

    at: float | None
    low: float | None = None
    high: float | None = None
    tick: float | None = None
    other: float | None = None
    band_low: float | None = None
    band_high: float | None = None
    zero: float | None = None
    bars: tuple[tuple[float, float, float], ...] = ()

    @property
    def known(self) -> dict[str, float]:
        """The numbers that exist, by name."""
        numbers = {name: value for name, value in vars(self).items() if name != "bars"}
        return {name: value for name, value in numbers.items() if value is not None and math.isfinite(value)}

    def place(self, start: float, stop: float) -> Span | None:
        """Return the span in per cent of an axis, missing ends at the value; None without a value."""

        def put(value: float) -> float:
            share = 0.5 if stop <= start else min(max((value - start) / (stop - start), 0.0), 1.0)
            return round(_EDGE + share * (100 - 2 * _EDGE), 1)

        placed = {name: put(value) for name, value in self.known.items()}
        if "at" not in placed:
            return None
        bars = tuple((put(left), round(put(right) - put(left), 2), top) for left, right, top in self.bars)
        return Span(**{"low": placed["at"], "high": placed["at"], **placed}, bars=bars)


def find_axis(spans: Sequence[Span], *, from_zero: bool = False) -> tuple[float, float]:
    """Return the ends of an axis for spans; if asked, with 0 in it, in the middle where spans have a rule there.

    Values up to 1 that nothing is drawn beside get the whole scale, to 1, and from −1 where some are below 0.
    """
    known = [value for span in spans for value in span.known.values()]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if not from_zero:
        return low, high
    if any(span.zero is not None for span in spans):
        return -max(-low, high), max(-low, high)
    if low >= -1 and high <= 1 and all(span.known.keys() <= {"at", "low", "high"} for span in spans):
        return min(math.floor(low), 0.0), 1.0
    return min(low, 0.0), max(high, 0.0)


@dataclass(frozen=True)
class PageCell:
    """One cell: the value a CSV has, what a reader sees, a smaller note after it, what is drawn, and where it leads.

    `by` is the number whose texts the value leads to, `of` what they are filtered by (JSON: values by column), `best`
    that it is the first of its column.
    """

    value: Any
    shown: str
    mark: Span | None = None
    link: str = ""
    note: str = ""
    by: str = ""
    of: str = ""
    best: bool = False

    @property
    def exact(self) -> str | None:
        """What a CSV has where it is not all that is shown."""
        exact = "" if self.value is None else float(self.value) if isinstance(self.value, float) else self.value
        text = str(exact)
        return None if text == self.shown and not self.note else text

    @property
    def numeric(self) -> bool:
        """Whether the cell holds a number."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)


@dataclass(frozen=True)
class PageColumn:
    """A column and its cells: `hidden` ones are in the CSV alone, `extra` ones are shown on demand.

    `about` defines it; `better` is an arrow to the better end, where there is one; the figure of `wide` ones stands
    next to the number. A first click sorts by `first`: numbers the largest first.
    """

    name: str
    cells: Sequence[PageCell]
    about: str = ""
    hidden: bool = False
    extra: bool = False
    first: Order | None = None
    better: str = ""
    heading: str = ""
    wide: bool = False

    @property
    def label(self) -> str:
        """What stands above the column: the name in words."""
        return self.heading or self.name.replace("_", " ")

    @cached_property
    def numeric(self) -> bool:
        """Whether the column holds numbers."""
        return any(cell.numeric for cell in self.cells)


@dataclass(frozen=True)
class PageTable:
    """A table with a caption; `starts` are the rows that begin a new tier, `sorted_by` the column in order.

    `flagged` rows are coloured.
    """

    title: str
    columns: Sequence[PageColumn]
    about: str = ""
    starts: Collection[int] = ()
    sorted_by: str = ""
    flagged: Collection[int] = ()

    @property
    def rows(self) -> list[tuple[PageCell, ...]]:
        """The cells row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))


def make_column(name: str, values: Iterable[Any], **look: Any) -> PageColumn:
    """Return a column of cells, or of values as they are."""
    return PageColumn(name, [one if isinstance(one, PageCell) else make_cell(one) for one in values], **look)


def make_table(title: str, rows: Sequence[Row], *, about: str = "", most: int = MOST_ROWS) -> PageTable:
    """Return a table of flat rows as they are; beyond so many rows it is cut, and says so."""
    kept = rows[:most]
    cut = f"The first {len(kept)} of {len(rows):,} rows." if len(kept) < len(rows) else ""
    columns = [make_column(name, [row.get(name) for row in kept]) for name in show.list_columns(rows)]
    return PageTable(title, columns, " ".join(filter(None, (about, cut))))


def make_cell(value: Any, *, mark: Span | None = None, link: str = "") -> PageCell:
    """Return a cell of any plain value: three digits of a number, a dash for nothing, the start of a very long text.

    >>> make_cell(0.123456).shown, make_cell(0.123456).exact, make_cell(None).shown
    ('0.123', '0.123456', '–')
    """
    kept = show.drop_nonfinite(value)
    if isinstance(kept, list | tuple):
        kept = ", ".join(map(str, kept))
    if isinstance(kept, str) and len(kept) > _MOST_CHARACTERS:
        kept = f"{kept[:_MOST_CHARACTERS]} … ({len(kept) - _MOST_CHARACTERS:,} characters more)"
    return PageCell(kept, show.format_cell(kept), mark, link)


def is_number(value: Any) -> bool:
    """Return whether a value is a number that can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def find_metric(name: str) -> Metric | None:
    """Return the metric of a name; None for ensembles of a run, which have names of their own, and for unknown ones."""
    try:
        metric: Metric = get_metric(name)
    except TextgaugeError:
        return None
    return metric


def make_board_table(board: Leaderboard) -> PageTable:
    """Return a leaderboard with rank ranges and the intervals of measures drawn.

    The numbers are those of the ranking.
    """
    rows, names = board.rows, sorted(board.by_column, key=lambda name: name not in list_averaged_columns(board))
    first = _FEW if len(names) > _FEW + 1 else len(names)
    overall = find_axis([Span(row.overall, row.low, row.high) for row in rows])
    columns = [
        make_column("metric", [make_cell(row.metric, link=make_anchor(row.metric)) for row in rows]),
        make_column(
            "rank",
            [_make_rank_cell(row, len(rows)) for row in rows],
            about="The ranks that the metric may have; all ranges hold together at 95 %.",
            first="ascending",
        ),
        make_column(
            "overall",
            [_make_overall_cell(row, overall) for row in rows],
            about=f"{_describe_overall(board)} Beneath: its 95 % interval for {board.scope}.",
            better="↑",
            wide=True,
        ),
    ]
    if any(not math.isnan(row.new_data_low) for row in rows):
        ends = [show.format_interval(row.new_data_low, row.new_data_high) for row in rows]
        columns.append(make_column("new data sets", ends, about="The 95 % interval of overall for new data sets."))
    about, tied = "The metrics that are shown to be neither better nor worse.", [row.tied_with or "" for row in rows]
    columns.append(make_column("tied_with", tied, about=about, first="ascending"))
    columns += [_make_measure_column(board, name, extra=place >= first) for place, name in enumerate(names)]
    for name in (*_ENDS, "tier"):
        columns.append(make_column(name, [getattr(row, name.removeprefix("overall_")) for row in rows], hidden=True))
    starts = {n for n in range(1, len(rows)) if rows[n].tier != rows[n - 1].tier}
    return PageTable(f"{board.title}: metrics by overall score", columns, _explain_table(board), starts, "rank")


def list_averaged_columns(board: Leaderboard) -> list[str]:
    """Return the columns that the overall score is a mean of: with two ends, and about how good a metric is."""
    ended = {n: of for n, of in board.by_column.items() if any(not math.isnan(m.share(m.low)) for m in of)}
    return [name for name, of in ended.items() if any(m.quality for m in of)] or list(ended)


def make_verdict_table(board: Leaderboard) -> PageTable:
    """Return every measure of every metric with its intervals: the numbers of `leaderboard --detail`."""
    names = ("data", "protocol", "metric", "measure", *NUMBERS, "scope", "repetitions", "reason")
    rows = [{name: row[name] for name in names} for row in list_verdicts(board.groups)]
    return make_table(f"{board.title}: all numbers", rows, most=len(rows))


def make_anchor(metric: str) -> str:
    """Return the address of a metric's card in the page."""
    return "metric-" + "".join(c if c.isalnum() else f"-{ord(c):x}-" for c in metric)


def _make_measure_column(board: Leaderboard, name: str, *, extra: bool) -> PageColumn:
    """Return the column of a measure; an interval is drawn where the number is that of one verdict."""
    measures, counted = board.by_column[name], {measure.name for measure in board.by_column[name]}
    spans = [_find_span(board, row.metric, counted) for row in board]
    axis = find_axis([span for span in spans if span])
    cells = [
        _make_decimal_cell(row.measures[name], span.place(*axis) if span else None)
        for row, span in zip(board, spans, strict=True)
    ]
    larger = measures[0].best == "larger"
    about = measures[0].about if len(measures) == 1 else f"mean of {', '.join(m.name for m in measures)}"
    sentence = f"{capitalise(about)}. " if about else ""
    best = "Larger is better." if larger else "Smaller is better."
    order: Order = "descending" if larger else "ascending"
    return PageColumn(name, cells, f"{sentence}{best}", extra=extra, first=order, better="↑" if larger else "↓")


def _make_overall_cell(row: RankedMetric, axis: tuple[float, float]) -> PageCell:
    mark = Span(row.overall, row.low, row.high).place(*axis) if not math.isnan(row.low) else None
    ends = "" if mark is None else f"{format_decimals(row.low)}–{format_decimals(row.high)}"
    return replace(_make_decimal_cell(row.overall, mark), note=ends)


def _make_rank_cell(row: RankedMetric, count: int) -> PageCell:
    if row.rank is None or row.rank_low is None or row.rank_high is None:
        return PageCell(None, "unranked")
    mark = Span(row.rank, row.rank_low, row.rank_high).place(1, count)
    ends = "" if row.rank_low == row.rank_high else f" ({row.rank_low}–{row.rank_high})"
    return PageCell(row.rank, f"{row.rank}{ends}", mark)


def _make_decimal_cell(value: float, mark: Span | None = None) -> PageCell:
    known = show.drop_nonfinite(value)
    return PageCell(known, format_decimals(known), mark)


def _find_span(board: Leaderboard, metric: str, counted: Collection[str]) -> Span | None:
    own = [group.verdicts.get(metric, {}) for group in board.groups]
    found = [of[name] for of in own for name in of if name in counted]
    return Span(found[0].value, found[0].low, found[0].high) if len(found) == 1 else None


def _describe_overall(board: Leaderboard) -> str:
    if not board.top:
        return "These measures have no best end in common: they are shown, not averaged."
    return next(text for text in _format_notes(board) if text.startswith("Overall is "))


def _format_notes(board: Leaderboard) -> list[str]:
    """Format the notes of the ranking: what overall is made of, what chance gives, what ranks are about."""
    return [f"{capitalise(text)}.".replace("_", " ") for text in board.notes]


def _explain_table(board: Leaderboard) -> str:
    made_of = [] if board.top else [_describe_overall(board)]
    about = show.join_words(dict.fromkeys(row["scope"] for row in list_verdicts(board.groups)))
    lines = f"Lines of measures are 95 % intervals for {about}; a rule stands where all above beat all below."
    return " ".join([*made_of, *_format_notes(board), lines])


def format_board(board: Leaderboard) -> list[str]:
    """Return the best metrics of a board, the metrics that it cannot rank, and what it rests on."""
    missing = [row.metric for row in board if math.isnan(row.overall)]
    have = "has" if len(missing) == 1 else "have"
    unranked = [f"{_join_codes(missing)} {have} no overall score here."] if missing and board.top else []
    return [board.answer, *unranked, _format_basis(board)]


def _format_basis(board: Leaderboard) -> str:
    data = _join_codes(dict.fromkeys(group.data for group in board.groups))
    verdicts = [v for group in board.groups for of in group.verdicts.values() for v in of.values()]
    repetitions = {len(verdict.values) for verdict in verdicts if not verdict.draws}
    resampled = {verdict.units for verdict in verdicts if verdict.draws}
    few, many = (end(repetitions, default=0) for end in (min, max))
    repeated = show.format_count(many, "repetition") if few == many else f"{few} to {many} repetitions"
    if not resampled:
        return f"This rests on {repeated} with {data}."
    units = " to ".join(f"{n:,}" for n in dict.fromkeys((min(resampled), max(resampled))))
    return f"This rests on {units} resampled units{f' and {repeated}' if repetitions else ''} of {data}."


def capitalise(text: str) -> str:
    """Return the text with a capital first letter; the others stay."""
    return text[:1].upper() + text[1:]


def _join_codes(names: Iterable[str]) -> str:
    return show.join_words(f"`{name}`" for name in names)
