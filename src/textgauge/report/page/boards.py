"""Leaderboards of a page: their tables, and what they say in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from textgauge.bench.leaderboard import Board, RankedMetric
from textgauge.bench.protocols.base import Measure
from textgauge.bench.results import NUMBERS, Judged, Results, detailed
from textgauge.core.show import count_of, format_decimals, format_interval, listed, plain
from textgauge.report.page.tables import Mark, Order, PageCell, PageColumn, PageTable, Span, axis_of, cell

_FEW = 2  # measures that a table shows at first, besides overall


def board_table(board: Board) -> PageTable:
    """A leaderboard with rank ranges and the intervals of measures drawn; the numbers are those of the ranking."""
    rows, names = board.ranking.rows, sorted(board.columns, key=lambda name: name not in board.averaged)
    drawn = {name: _cells(board, name) for name in names}
    first = _FEW if len(names) > _FEW + 1 else len(names)
    overall = axis_of([Span(row.overall, row.low, row.high) for row in rows])
    several = any(not math.isnan(row.new_data_low) for row in rows)
    columns = (
        PageColumn("metric"),
        PageColumn("rank", "The ranks that the metric may have; all ranges hold together at 95 %."),
        PageColumn(
            "overall",
            f"{_made_of(board)} Beneath: its 95 % interval for {board.ranking.scope}.",
            first="descending",
            better="↑",
        ),
        *([PageColumn("new data sets", "The 95 % interval of overall for new data sets.")] if several else []),
        *(_column(name, board.columns[name], extra=place >= first) for place, name in enumerate(names)),
        PageColumn("tier", "A tier ends only where every metric above is better than every metric below."),
        *(PageColumn(name, hidden=True) for name in ("overall_low", "overall_high", "rank_low", "rank_high")),
    )
    cells = tuple(
        (
            cell(row.metric, link=anchor(row.metric)),
            _rank(row, len(rows)),
            _overall(row, overall),
            *([cell(format_interval(row.new_data_low, row.new_data_high))] if several else []),
            *(drawn[name][place] for name in names),
            cell(row.tier),
            *map(cell, (row.low, row.high, row.rank_low, row.rank_high)),
        )
        for place, row in enumerate(rows)
    )
    starts = frozenset(n for n in range(1, len(rows)) if rows[n].tier != rows[n - 1].tier)
    return PageTable(f"{board.title}: metrics by overall score", columns, cells, _reading(board), starts, "rank")


def verdict_table(board: Board) -> PageTable:
    """Every measure of every metric with its intervals: the numbers of `leaderboard --detail`."""
    names = ("data", "protocol", "metric", "measure", *NUMBERS, "scope", "repetitions", "reason")
    rows = tuple(tuple(cell(row[name]) for name in names) for row in detailed(board.judged))
    columns = tuple(PageColumn(name, first="descending" if name in NUMBERS else "ascending") for name in names)
    return PageTable(f"{board.title}: all numbers", columns, rows)


def anchor(metric: str) -> str:
    """The address of a metric's card in the page."""
    return "metric-" + "".join(c if c.isalnum() else f"-{ord(c):x}-" for c in metric)


def _column(name: str, measures: Sequence[Measure], *, extra: bool) -> PageColumn:
    larger = measures[0].best == "larger"
    about = measures[0].about if len(measures) == 1 else f"mean of {', '.join(m.name for m in measures)}"
    sentence = f"{about[:1].upper()}{about[1:]}. " if about else ""
    best = "Larger is better." if larger else "Smaller is better."
    order: Order = "descending" if larger else "ascending"
    return PageColumn(name, f"{sentence}{best}", extra=extra, first=order, better="↑" if larger else "↓")


def _overall(row: RankedMetric, axis: tuple[float, float]) -> PageCell:
    mark = Span(row.overall, row.low, row.high).drawn(*axis) if row.low == row.low else None
    ends = "" if mark is None else f"{format_decimals(row.low)}–{format_decimals(row.high)}"
    return replace(_decimals(row.overall, mark), note=ends)


def _rank(row: RankedMetric, count: int) -> PageCell:
    if row.rank is None or row.rank_low is None or row.rank_high is None:
        return PageCell(None, "unranked")
    mark = Span(row.rank, row.rank_low, row.rank_high).drawn(1, count)
    ends = "" if row.rank_low == row.rank_high else f" ({row.rank_low}–{row.rank_high})"
    return PageCell(row.rank, f"{row.rank}{ends}", mark)


def _cells(board: Board, name: str) -> list[PageCell]:
    """The cells of a column; an interval is drawn where the number is that of one verdict."""
    counted = {measure.name for measure in board.columns[name]}
    spans = [_span(board, row.metric, counted) for row in board.ranking]
    start, stop = axis_of([span for span in spans if span])
    return [
        _decimals(row.measures[name], span.drawn(start, stop) if span else None)
        for row, span in zip(board.ranking, spans, strict=True)
    ]


def _decimals(value: float, mark: Mark | None = None) -> PageCell:
    known = plain(value)
    return PageCell(known, format_decimals(known), mark)


def _span(board: Board, metric: str, counted: Collection[str]) -> Span | None:
    found = [v for item in board.judged if item.metric == metric for v in item.verdicts if v.measure in counted]
    return Span(found[0].value, found[0].low, found[0].high) if len(found) == 1 else None


def _made_of(board: Board) -> str:
    if not board.first():
        return "These measures have no best end in common: they are shown, not averaged."
    return next(text for text in _notes(board) if text.startswith("Overall is "))


def _notes(board: Board) -> list[str]:
    """The notes of the ranking as sentences: what overall is made of, what chance gives, what ranks are about."""
    return [f"{text[:1].upper()}{text[1:]}.".replace("_", " ") for text in board.ranking.notes]


def _reading(board: Board) -> str:
    made_of = [] if board.first() else [_made_of(board)]
    about = listed(dict.fromkeys(row["scope"] for row in detailed(board.judged)))
    lines = f"Lines of measures are 95 % intervals for {about}; a rule separates tiers."
    return " ".join([*made_of, *_notes(board), lines])


def board_sentences(board: Board) -> list[str]:
    """The best metrics of a board, the metrics that it cannot rank, and what it rests on."""
    missing = [row.metric for row in board.ranking if math.isnan(row.overall)]
    unranked = [f"{_code(missing)} {_have(missing)} no overall score here."] if missing and board.first() else []
    return [board.ranking.answer, *unranked, _rests_on(board)]


def _rests_on(board: Board) -> str:
    data = _code(board.data)
    if board.units:
        things = f"{' to '.join(f'{n:,}' for n in _ends(board.units))} resampled units"
        also = f" and {_repeated(board)}" if board.repetitions else ""
        return f"This rests on {things}{also} of {data}."
    return f"This rests on {_repeated(board)} with {data}."


def _repeated(board: Board) -> str:
    few, many = _ends(board.repetitions)[0], _ends(board.repetitions)[-1]
    return count_of(many, "repetition") if few == many else f"{few} to {many} repetitions"


def _ends(numbers: Sequence[int]) -> list[int]:
    return list(dict.fromkeys((min(numbers), max(numbers)))) if numbers else [0]


def warnings(results: Sequence[Results], judged: Sequence[Judged]) -> list[str]:
    """What a reader must know before trusting the numbers: what is missing, and every reason a verdict carries."""
    missing = sum(item.missing for item in judged)
    total = sum(one.count for one in results)
    said = [
        f"{text[:1].upper()}{text[1:]}." for text in dict.fromkeys(text for one in results for text in one.warnings)
    ]
    if missing:
        verb = "is" if missing == 1 else "are"
        said.append(
            f"{missing} of {count_of(total, 'result')} {verb} missing; the same `textgauge run` command computes them."
        )
    found: dict[tuple[str, str, str], list[str]] = {}
    for item in judged:
        for verdict in item.verdicts:
            if verdict.reason:
                found.setdefault((item.metric, item.data, verdict.reason), []).append(verdict.measure)
    for (metric, data, reason), measures in found.items():
        names = ", ".join(name.replace("_", " ") for name in measures[:3])
        more = f" and {len(measures) - 3} more" if len(measures) > 3 else ""
        said.append(f"`{metric}`, {names}{more} ({data}): {reason}.")
    return said


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _code(names: Iterable[str]) -> str:
    return listed(f"`{name}`" for name in names)
