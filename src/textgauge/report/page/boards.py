"""Leaderboards of a page: their tables, and what they say in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from textgauge.evaluate.boards import Board
from textgauge.evaluate.leaderboard import RankedMetric
from textgauge.evaluate.protocols.base import Measure
from textgauge.evaluate.results import Judged, Results
from textgauge.evaluate.verdicts import NUMBERS, detailed
from textgauge.report.page.tables import Mark, PageCell, PageColumn, PageTable, Span, axis_of, cell
from textgauge.stats.decisions import standing
from textgauge.tabular import count_of, format_decimals, listed, plain

_FEW = 8  # measures that a table shows at first


def board_table(board: Board) -> PageTable:
    """A leaderboard with rank ranges and the intervals of measures drawn; the numbers are those of the ranking."""
    rows, names = board.ranking.rows, list(board.columns)
    drawn = {name: _cells(board, name) for name in names}
    columns = (
        PageColumn("rank", "The line spans the ranks that the metric may have; all ranges hold together at 95 %."),
        PageColumn("metric"),
        PageColumn(
            "overall",
            f"Mean of the measures, each as a share of its range, with its 95 % interval for {board.ranking.scope}.",
            first="descending",
        ),
        *(_column(name, board.columns[name], extra=place >= _FEW) for place, name in enumerate(names)),
        PageColumn("tier", "A tier ends only where every metric above is better than every metric below."),
        PageColumn("rank_low", hidden=True),
        PageColumn("rank_high", hidden=True),
    )
    cells = tuple(
        (
            _rank(row, len(rows)),
            cell(row.metric, link=anchor(row.metric)),
            _decimals(
                row.overall, Span(row.overall, row.low, row.high).drawn(0.0, 1.0) if row.low == row.low else None
            ),
            *(drawn[name][place] for name in names),
            cell(row.tier),
            cell(row.rank_low),
            cell(row.rank_high),
        )
        for place, row in enumerate(rows)
    )
    starts = frozenset(n for n in range(1, len(rows)) if rows[n].tier != rows[n - 1].tier)
    return PageTable(f"Leaderboard: {board.title}", columns, cells, _reading(board), starts, "rank")


def verdict_table(board: Board) -> PageTable:
    """Every measure of every metric with its intervals: the numbers of `leaderboard --detail`."""
    names = ("data", "protocol", "metric", "measure", *NUMBERS, "repetitions", "reason")
    rows = tuple(tuple(cell(row[name]) for name in names) for row in detailed(board.judged))
    columns = tuple(PageColumn(name, first="descending" if name in NUMBERS else "ascending") for name in names)
    return PageTable(f"All verdicts: {board.title}", columns, rows)


def anchor(metric: str) -> str:
    """The address of a metric's card in the page."""
    return "metric-" + "".join(c if c.isalnum() else f"-{ord(c):x}-" for c in metric)


def _column(name: str, measures: Sequence[Measure], *, extra: bool) -> PageColumn:
    larger = measures[0].best == "larger"
    about = measures[0].about if len(measures) == 1 else f"mean of {', '.join(m.name for m in measures)}"
    sentence = f"{about[:1].upper()}{about[1:]}. " if about else ""
    best = "Larger is better." if larger else "Smaller is better."
    return PageColumn(name, f"{sentence}{best}", extra=extra, first="descending" if larger else "ascending")


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


def _reading(board: Board) -> str:
    drawn = "A line beneath a number is its 95 % interval, each column on its own scale; a rule separates tiers."
    if not board.first():
        return "These measures have no best end in common: they are shown, not averaged."
    return f"Overall is the mean of {', '.join(name.replace('_', ' ') for name in board.averaged)}. {drawn}"


def board_sentences(board: Board) -> list[str]:
    """The best metrics of a board, those tied with them, and what it rests on."""
    top = board.first()
    if not top:
        return [f"The measures of {board.title} have no common scale, so nothing is ranked: see the table."]
    ranked = [row for row in board.ranking if not math.isnan(row.overall)]
    best = top[0]
    count = len({row.tier for row in ranked})
    fall = f", which fall into {count_of(count, 'tier')}" if count > 1 else ""
    said = [f"`{best.metric}` comes first of {count_of(len(ranked), 'metric')}{fall}: overall {best.overall:.3f} of 1."]
    if len(ranked) > 1:
        found = standing([f"`{row.metric}`" for row in top[1:]], len(ranked) - 1, named=len(ranked))
        said.append(f"{found[0].upper()}{found[1:]} (95 % for all together, {board.ranking.scope}).")
    missing = [row.metric for row in board.ranking if math.isnan(row.overall)]
    if missing:
        said.append(f"{_code(missing)} {_have(missing)} no overall score here.")
    return [*said, _rests_on(board)]


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
    asked = sum(one.count for one in results)
    said = [
        f"{text[:1].upper()}{text[1:]}." for text in dict.fromkeys(text for one in results for text in one.warnings)
    ]
    if missing:
        verb = "is" if missing == 1 else "are"
        said.append(
            f"{missing} of {count_of(asked, 'result')} {verb} missing; the same `textgauge run` command computes them."
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
