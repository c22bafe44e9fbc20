"""Leaderboards of a page: one per protocol, and one over all protocols that the same metrics went through."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from textgauge.evaluate.leaderboard import Leaderboard, Row, leaderboard
from textgauge.evaluate.protocols.base import Measure, Verdict
from textgauge.evaluate.results import Judged
from textgauge.report.page.tables import Cell, Column, Mark, Span, Table, axis_of, cell
from textgauge.tabular import plain, shown

_LARGE = 100.0  # from here on four digits say more than three decimals
_FEW = 8  # measures that a table shows at first
_NUMBERS = ("value", "std", "low", "high", "boot_low", "boot_high", "error")


@dataclass(frozen=True, eq=False)
class Board:
    """The metrics of one protocol, or of several together, best first."""

    protocols: tuple[str, ...]
    judged: tuple[Judged, ...]
    ranking: Leaderboard

    @property
    def title(self) -> str:
        """What is ranked, in words."""
        *first, last = self.protocols
        return f"{', '.join(first)} and {last} together" if first else last

    @property
    def about(self) -> list[str]:
        """The paragraphs of the protocol's own description; of several, how they are joined."""
        if len(self.protocols) > 1:
            return ["The mean of the measures named below, each as a share of the way from its worst to its best."]
        return inspect.cleandoc(type(self.judged[0].protocol).__doc__ or "").split("\n\n")

    @cached_property
    def columns(self) -> dict[str, list[Measure]]:
        """The columns of the ranking that have a value, each with the measures that count for it."""
        known = {m.name: m for item in self.judged for m in item.protocol.measures}
        shown = [n for n in self.ranking.measures if any(not math.isnan(row.measures[n]) for row in self.ranking)]
        return {name: [m for m in known.values() if (m.column or m.name) == name] for name in shown}

    @property
    def measures(self) -> list[tuple[str, str]]:
        """The measures that say how they are computed, with what they say."""
        return [(m.name.replace("_", " "), m.about) for of in self.columns.values() for m in of if m.about]

    @property
    def data(self) -> tuple[str, ...]:
        """The names of the data."""
        return tuple(dict.fromkeys(item.data for item in self.judged))

    @property
    def repetitions(self) -> tuple[int, ...]:
        """The different numbers of repetitions that verdicts rest on."""
        return tuple(sorted({len(v.values) for item in self.judged for v in item.verdicts if not v.draws}))

    @property
    def units(self) -> tuple[int, ...]:
        """The different numbers of things that were resampled, for measures without repetitions."""
        return tuple(sorted({v.units for item in self.judged for v in item.verdicts if v.draws}))

    @property
    def averaged(self) -> tuple[str, ...]:
        """The columns that the overall score is a mean of: with two ends, and about how good a metric is."""
        ended = {name: of for name, of in self.columns.items() if any(not math.isnan(m.share(m.low)) for m in of)}
        return tuple([name for name, of in ended.items() if any(m.quality for m in of)] or ended)

    def first(self) -> list[Row]:
        """The rows that cannot be told from the first; none where nothing has an overall score."""
        return [row for row in self.ranking if row.cluster == 1 and not math.isnan(row.overall)]


def boards(judged: Sequence[Judged]) -> list[Board]:
    """A board per protocol, after those over several; protocols without a finished cell are left out."""
    names = dict.fromkeys(item.protocol.name for item in judged if item.verdicts)
    single = [_board((name,), judged) for name in names]
    joint = [_board(tuple(names), judged) for names in _alike(single) if len(names) > 1]
    return [*joint, *single]


def apart(judged: Sequence[Judged]) -> list[Board]:
    """A board for all protocols that rank mostly the same metrics; every protocol is in one.

    One that ranks nothing (speed) goes with the others that its metrics went through.
    """
    names = list(dict.fromkeys(item.protocol.name for item in judged if item.verdicts))
    groups = _alike([_board((name,), judged) for name in names])
    went = {name: {item.metric for item in judged if item.protocol.name == name} for name in names}
    for name in [name for name in names if not any(name in group for group in groups)]:
        with_it = [group for group in groups if went[name] & set().union(*(went[other] for other in group))]
        if with_it:
            with_it[0].append(name)
        else:
            groups.append([name])
    return [_board(tuple(group), judged) for group in groups]


def _alike(single: Sequence[Board]) -> list[list[str]]:
    """The names of protocols that rank mostly the same metrics: at least half of all are ranked by each."""
    groups: list[tuple[list[str], frozenset[str], frozenset[str]]] = []
    for board in single:
        ranked = frozenset(row.metric for row in board.ranking if not math.isnan(row.overall))
        for place, (names, common, either) in enumerate(groups):
            if 2 * len(common & ranked) >= len(either | ranked):
                groups[place] = ([*names, *board.protocols], common & ranked, either | ranked)
                break
        else:
            groups.append((list(board.protocols), ranked, ranked))
    return [names for names, common, _ in groups if common]


def _board(protocols: tuple[str, ...], judged: Sequence[Judged]) -> Board:
    mine = tuple(item for item in judged if item.protocol.name in protocols)
    return Board(protocols, mine, leaderboard(mine))


def board_table(board: Board) -> Table:
    """A leaderboard with rank intervals and the intervals of measures drawn; the numbers are those of the ranking."""
    rows, names = board.ranking.rows, list(board.columns)
    drawn = {name: _cells(board, name) for name in names}
    columns = (
        Column("rank", "The line spans the ranks that the metric may have."),
        Column("metric"),
        Column("overall", "Mean of the measures, each as a share of its range.", first="descending"),
        *(_column(name, board.columns[name], extra=place >= _FEW) for place, name in enumerate(names)),
        Column("cluster", "Metrics of one cluster cannot be told from its first."),
        Column("rank_low", hidden=True),
        Column("rank_high", hidden=True),
    )
    cells = tuple(
        (
            _rank(row, len(rows)),
            cell(row.metric, link=anchor(row.metric)),
            _decimals(row.overall),
            *(drawn[name][place] for name in names),
            cell(row.cluster),
            cell(row.rank_low),
            cell(row.rank_high),
        )
        for place, row in enumerate(rows)
    )
    starts = frozenset(n for n in range(1, len(rows)) if rows[n].cluster != rows[n - 1].cluster)
    return Table(f"Leaderboard: {board.title}", columns, cells, _reading(board), starts, "rank")


def verdict_table(board: Board) -> Table:
    """Every measure of every metric with its intervals: the numbers of `leaderboard --detail`."""
    names = ("data", "protocol", "metric", "measure", *_NUMBERS, "repetitions", "reason")
    rows = tuple(
        tuple(map(cell, (item.data, item.protocol.key, item.metric, verdict.measure, *_numbers(verdict))))
        for item in board.judged
        for verdict in item.verdicts
    )
    columns = tuple(Column(name, first="descending" if name in _NUMBERS else "ascending") for name in names)
    return Table(f"All verdicts: {board.title}", columns, rows)


def anchor(metric: str) -> str:
    """The address of a metric's card in the page."""
    return "metric-" + "".join(c if c.isalnum() else f"-{ord(c):x}-" for c in metric)


def _numbers(verdict: Verdict) -> tuple[object, ...]:
    return (*(plain(getattr(verdict, name)) for name in _NUMBERS), len(verdict.values), verdict.reason)


def _column(name: str, measures: Sequence[Measure], *, extra: bool) -> Column:
    larger = measures[0].best == "larger"
    about = measures[0].about if len(measures) == 1 else f"mean of {', '.join(m.name for m in measures)}"
    said = f"{about[:1].upper()}{about[1:]}. " if about else ""
    best = "Larger is better." if larger else "Smaller is better."
    return Column(name, f"{said}{best}", extra=extra, first="descending" if larger else "ascending")


def _rank(row: Row, count: int) -> Cell:
    if math.isnan(row.overall):
        return Cell(row.rank, str(row.rank))
    mark = Span(row.rank, row.rank_low, row.rank_high).drawn(1, count)
    ends = "" if row.rank_low == row.rank_high else f" ({row.rank_low}–{row.rank_high})"
    return Cell(row.rank, f"{row.rank}{ends}", mark)


def _cells(board: Board, name: str) -> list[Cell]:
    """The cells of a column; an interval is drawn where the number is that of one verdict."""
    counted = {measure.name for measure in board.columns[name]}
    spans = [_span(board, row.metric, counted) for row in board.ranking]
    start, stop = axis_of([span for span in spans if span])
    return [
        _decimals(row.measures[name], span.drawn(start, stop) if span else None)
        for row, span in zip(board.ranking, spans, strict=True)
    ]


def _decimals(value: float, mark: Mark | None = None) -> Cell:
    """A cell with three decimals, so that a column lines up."""
    known = plain(value)
    return Cell(known, shown(known) if known is None or abs(known) >= _LARGE else f"{known:.3f}", mark)


def _span(board: Board, metric: str, counted: Collection[str]) -> Span | None:
    found = [v for item in board.judged if item.metric == metric for v in item.verdicts if v.measure in counted]
    return Span(found[0].value, found[0].low, found[0].high) if len(found) == 1 else None


def _reading(board: Board) -> str:
    drawn = "A line beneath a number is its 95 % interval, each column on its own scale; a rule parts clusters."
    if not board.first():
        return "These measures have no best end in common: they are shown, not averaged."
    return f"Overall is the mean of {', '.join(name.replace('_', ' ') for name in board.averaged)}. {drawn}"
