"""Which metric is best, which ones are tied, and on what grounds; and which protocols share a leaderboard.

Ranks follow from overall scores, weighted means of measures, and from the errors of all differences between metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from textgauge.bench.gaps import (
    Gaps,
    MeasureTable,
    average_column,
    estimate_gaps,
    has_alike_data_sets,
    read_tables,
    weigh_tables,
)
from textgauge.bench.protocols.base import Measure, Protocol
from textgauge.bench.results import SCOPES, Group, Scope, check_measures
from textgauge.core.charts import draw_without_network
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.result import Column, Result, show_rows
from textgauge.core.show import (
    Row,
    drop_nonfinite,
    drop_nonfinite_values,
    format_cell,
    format_interval,
    join_words,
    render_text,
)
from textgauge.stats.decisions import TIED_WITH, format_ranking, join_codes
from textgauge.stats.rankings import (
    compute_smallest_gap,
    compute_student_interval,
    find_better,
    rank_ranges,
    split_into_tiers,
)

if TYPE_CHECKING:
    import altair as alt

_LEVEL = 0.95
_NAMED_TIES = 2  # in a cell
_COLUMNS = (  # before those of the measures
    Column(
        "rank", "rank rank_low rank_high", lambda rank, *ends: f"{rank} ({ends[0]}–{ends[1]})" if rank else "unranked"
    ),
    Column("metric"),
    Column("overall", form=format_cell),
    Column("interval", "overall_low overall_high", format_interval),
    Column("new data sets", "new_data_low new_data_high", format_interval, when="new_data_low"),
    Column(TIED_WITH, "tied_with", form=lambda names: names or ""),
)


@dataclass(frozen=True)
class RankedMetric:
    """One metric: its measures, its overall score with an interval, the ranks it may have, and its tier.

    `new_data_low` and `new_data_high` are the interval for new data sets, where there are enough of them. A metric
    without an overall score has no rank and no tier.
    """

    metric: str
    measures: Mapping[str, float]
    overall: float
    low: float = math.nan
    high: float = math.nan
    new_data_low: float = math.nan
    new_data_high: float = math.nan
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    tier: int | None = None
    tied_with: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return a flat dictionary; NaN becomes None."""
        flat: dict[str, Any] = {"metric": self.metric, **self.measures, "overall": self.overall}
        flat |= {"overall_low": self.low, "overall_high": self.high}
        if not math.isnan(self.new_data_low):
            flat |= {"new_data_low": self.new_data_low, "new_data_high": self.new_data_high}
        names = ("rank", "rank_low", "rank_high", "tier", "tied_with")
        return drop_nonfinite_values(flat | {name: getattr(self, name) for name in names})


@dataclass(frozen=True, repr=False)
class Leaderboard(Result):
    """Rows, best first. Rank ranges and tiers hold for all metrics together with probability 95 %.

    A tier ends only where every metric above is better than every metric below. `tied` are the metrics that the first
    one is not better than, and `smallest` is the difference of overall from which tied metrics would have been called
    different; `scope` says what the statements are about, and `groups` hold the verdicts behind them.
    """

    command: ClassVar[str] = "leaderboard"

    rows: tuple[RankedMetric, ...]
    measures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()
    scope: str = SCOPES["texts"]
    smallest: float = math.nan
    groups: tuple[Group, ...] = field(default=(), compare=False)

    @property
    def answer(self) -> str:
        """The best metric and what it is tied with, in one sentence."""
        ranked = [row for row in self.rows if row.rank is not None]
        return format_ranking([row.metric for row in ranked], self.tied, self.scope, self.smallest)

    @property
    def details(self) -> dict[str, Any]:
        """What ranks and tiers are about, which metrics are tied with the first, and what overall is made of."""
        said = {"scope": self.scope, "tied": list(self.tied), "smallest_difference": drop_nonfinite(self.smallest)}
        return said | {"notes": list(self.notes)}

    @property
    def top(self) -> tuple[str, ...]:
        """The first metric and those tied with it, in order; none where nothing has an overall score."""
        return tuple(row.metric for row in self.rows if row.rank == 1 or row.metric in self.tied)

    @property
    def protocols(self) -> list[Protocol]:
        """The protocols that are judged."""
        return list(dict.fromkeys(group.protocol for group in self.groups))

    @property
    def purpose(self) -> str:
        """What the metrics are wanted for."""
        return " and ".join(dict.fromkeys(protocol.purpose for protocol in self.protocols))

    @property
    def title(self) -> str:
        """What is ranked: the protocol as people call it, or what several are for, and which they are."""
        one, *more = dict.fromkeys(protocol.heading or protocol.name for protocol in self.protocols)
        return f"{self.purpose} ({join_words(name[:1].lower() + name[1:] for name in (one, *more))})" if more else one

    @property
    def heading(self) -> str:
        """The same in short."""
        return self.purpose if len({protocol.name for protocol in self.protocols}) > 1 else self.title

    @cached_property
    def by_column(self) -> dict[str, list[Measure]]:
        """The columns of measures that have a value, each with the measures that count for it."""
        known = {m.name: m for group in self.groups for m in group.protocol.measures}
        valued = [n for n in self.measures if any(not math.isnan(row.measures[n]) for row in self.rows)]
        return {name: [m for m in known.values() if m.column == name] for name in valued}

    def readable(self) -> list[dict[str, Any]]:
        """Return the rows formatted for display."""
        return show_rows(self.to_dicts(), [*_COLUMNS, *(Column(name, form=format_cell) for name in self.measures)])

    def plot(self) -> alt.LayerChart:
        """Return the rank of every metric with the ranks it may have, coloured by tier."""
        return draw_without_network(draw_ranks(self.to_dicts()))

    def __str__(self) -> str:
        return "\n".join([self.answer, "", render_text(self.readable()), *(f"note: {line}" for line in self.notes)])


def rank_metrics(
    groups: Sequence[Group], weights: Mapping[str, float] | None = None, *, scope: Scope | None = None
) -> Leaderboard:
    """Order metrics by the weighted mean of their measures, each as a share of the way from its worst to its best.

    All metrics see the same draws, so differences are paired. One metric is better than another where the difference
    is significant by Student's t, with the variances of all pairs moderated (Smyth 2004), after Holm's correction over
    all pairs of metrics (5 % for all statements together):
    `rank_low` counts the metrics that are better, `rank_high` those that are not worse. `scope` is what the statements
    are about: `texts` (these texts), `sources` (new texts from these sources) or `data` (new data sets); by default
    the wider one of the first two that the run supports. A measure without two ends (throughput) is shown, not
    averaged, and so is one that says what a metric is like, not how good it is (distributionality), unless it is named
    in `weights` or there is nothing else. `weights` by name; measures not named weigh 1.
    """
    board = _rank_groups(groups, weights, scope)
    if not board.measures:
        raise InputError("there is nothing to rank: the run holds no results")
    return board


def _rank_groups(
    groups: Sequence[Group], weights: Mapping[str, float] | None = None, scope: Scope | None = None
) -> Leaderboard:
    weights = weights or {}
    metrics, tables, notes = read_tables(groups)
    by_column: dict[str, list[MeasureTable]] = {}
    for table in tables:
        by_column.setdefault(table.measure.column, []).append(table)
    check_measures(weights, list(by_column))
    if any(not (weight >= 0 and math.isfinite(weight)) for weight in weights.values()):
        raise InputError("weights are finite numbers, zero or more")
    # What is shown and not averaged: nothing where nothing else could be averaged.
    counting = [table.measure for table in tables if table.measure.best == "larger" and np.isfinite(table.measure.high)]
    found = {measure.column for measure in counting if not measure.quality and measure.column not in weights}
    shown_only = sorted(found) if {measure.column for measure in counting} - found else []
    counted = weigh_tables(tables, {**dict.fromkeys(shown_only, 0.0), **weights})
    chosen = _choose_scope(counted, scope)
    unknown = np.full((len(metrics) + 1, len(metrics) + 1), np.nan)
    gaps = estimate_gaps(counted, chosen) if counted else Gaps(unknown, unknown, unknown)
    new_data = estimate_gaps(counted, "data") if has_alike_data_sets(counted) else None
    overall = gaps.gap[:-1, -1]
    order = sorted(range(len(metrics)), key=lambda m: (math.isnan(overall[m]), -overall[m], metrics[m]))
    ranked = [m for m in order if not math.isnan(overall[m])]
    here = np.ix_(ranked, ranked)
    better = find_better(gaps.gap[here], gaps.error[here], gaps.freedom[here])
    firsts, lasts = rank_ranges(better)
    tier = split_into_tiers(range(len(ranked)), better)
    shown = {name: average_column(own) for name, own in by_column.items()}
    rows = []
    for place, m in enumerate(order):
        values = {name: float(column[m]) for name, column in shown.items()}
        ends = (*_estimate_interval(gaps, m), *_estimate_interval(new_data, m))
        row = RankedMetric(metrics[m], values, float(overall[m]), *ends)
        if place < len(ranked):
            equal = np.flatnonzero(~(better[place] | better[:, place]) & (np.arange(len(ranked)) != place))
            ties = join_codes([metrics[ranked[other]] for other in equal.tolist()], _NAMED_TIES)
            low, high = int(firsts[place]), int(lasts[place])
            row = replace(row, rank=place + 1, rank_low=low, rank_high=high, tier=tier[place], tied_with=ties)
        rows.append(row)
    behind = better[0, 1:].tolist() if ranked else []
    return Leaderboard(
        tuple(rows),
        tuple(by_column),
        (*notes, *_list_notes(counted, shown_only, chosen)),
        tuple(metrics[m] for m, ahead in zip(ranked[1:], behind, strict=True) if not ahead),
        SCOPES[chosen],
        compute_smallest_gap(better, gaps.error[here], gaps.freedom[here]),
        tuple(groups),
    )


def _estimate_interval(gaps: Gaps | None, m: int) -> tuple[float, float]:
    """Return the interval of one overall score, which is its gap to 0; a score lies between 0 and 1."""
    if gaps is None:
        return math.nan, math.nan
    low, high = compute_student_interval(gaps.gap[m, -1], gaps.error[m, -1], gaps.freedom[m, -1], _LEVEL)
    return max(low, 0.0), min(high, 1.0)


def _choose_scope(tables: Sequence[MeasureTable], wanted: Scope | None) -> Scope:
    widest: Scope = "sources" if {table.scope for table in tables} == {"sources"} else "texts"
    if wanted is None:
        return widest
    if wanted not in SCOPES:
        raise ArgumentError(f"`scope` is one of {', '.join(SCOPES)}, not {wanted!r}")
    if wanted == "sources" and widest != "sources":
        raise InputError("this run does not support statements about new texts: repetitions share all their texts")
    if wanted == "data" and not has_alike_data_sets(tables):
        raise InputError("statements about new data sets need three or more data sets with the same measures")
    return wanted


def _list_notes(tables: Sequence[MeasureTable], shown_only: list[str], scope: Scope) -> Iterator[str]:
    """Say what overall is made of, what chance gives, what measures have in common, what ranks are about."""
    used = list(dict.fromkeys(table.measure for table in tables))
    if used:
        formulas: dict[str, list[str]] = {}
        for measure in used:
            formulas.setdefault(measure.column, []).append(measure.formula)
        weights = {round(sum(t.weight for t in tables if t.measure.column == column), 12) for column in formulas}
        parts = [
            of[0] if len(of) == 1 else f"{column} (itself the mean of {join_words(of)})"
            for column, of in formulas.items()
        ]
        kind = f"the {'' if len(weights) == 1 else 'weighted '}mean of " if len(parts) > 1 else ""
        yield f"overall is {kind}{join_words(parts)}"
        chance = [f"{m.name} {format_cell(m.chance)}" for m in used if m.chance is not None]
        if chance:
            others = [m.name for m in used if m.chance is None]
            rest = f"; for {join_words(others)} that depends on the data" if others else ""
            yield f"a metric that knows nothing has {join_words(chance)}{rest}"
        yield f"intervals, ranks and ties are for {SCOPES[scope]}; ranks and ties hold together at 95 %"
    yield from dict.fromkeys(common for table in tables if (common := table.group.protocol.common))
    yield from (f"{name} says what a metric is like, not how good it is: overall leaves it out" for name in shown_only)


def group_boards(groups: Sequence[Group]) -> list[tuple[Leaderboard, tuple[Leaderboard, ...]]]:
    """Return a board for all protocols that rank mostly the same metrics, with those of its protocols one by one.

    Mostly the same: at least half of all metrics are ranked by each. Every protocol with a result is in one; a protocol
    that ranks nothing (speed) goes with the others that its metrics went through.
    """

    def make_board(*chosen: str) -> Leaderboard:
        return _rank_groups([group for group in groups if group.protocol.name in chosen])

    single = {
        name: make_board(name) for name in dict.fromkeys(g.protocol.name for g in groups if any(g.verdicts.values()))
    }
    ranked = {name: {row.metric for row in board if row.rank is not None} for name, board in single.items()}
    went = {name: {row.metric for row in board} for name, board in single.items()}
    together: list[list[str]] = []
    for name in sorted(single, key=lambda name: not ranked[name]):
        for board in together:
            common, either = (of(*(ranked[one] for one in [*board, name])) for of in (set.intersection, set.union))
            share_metrics = any(went[name] & went[one] for one in board)
            if 2 * len(common) >= len(either) if ranked[name] else share_metrics:
                board.append(name)
                break
        else:
            together.append([name])
    return [
        (single[board[0]] if len(board) == 1 else make_board(*board), tuple(single[name] for name in board))
        for board in together
    ]


def rank_by_kind(
    groups: Sequence[Group], weights: Mapping[str, float] | None = None, *, scope: Scope | None = None
) -> dict[str, Leaderboard]:
    """Return leaderboards by their titles: of all protocols that rank mostly the same metrics; one where all do.

    A weight counts on every board that has the measure.
    """
    boards = [board for board, _ in group_boards(groups)]
    if len(boards) <= 1:
        return {"": rank_metrics(groups, weights, scope=scope)}
    given = weights or {}
    check_measures(given, list(dict.fromkeys(name for board in boards for name in board.measures)))
    return {
        board.title: rank_metrics(board.groups, {n: given[n] for n in given if n in board.measures}, scope=scope)
        for board in boards
    }


class BoardsResult(Result):
    """What the leaderboards of a run say: by title, or without one where they are all on one."""

    command: ClassVar[str] = "leaderboard"

    if TYPE_CHECKING:  # a field or a property of the subclass

        @property
        def leaderboards(self) -> Mapping[str, Leaderboard]:
            """The leaderboards by title."""

    @property
    def answer(self) -> str:
        """The best metric of each leaderboard and what it is tied with."""
        return " ".join(format_titled(title, board.answer) for title, board in self.leaderboards.items())

    @property
    def details(self) -> Row:
        """What each leaderboard is about, and what its overall score is made of."""
        return {"boards": self._join(lambda board: [board.details])}

    @property
    def rows(self) -> list[Row]:
        """The rows of the leaderboards; `board` is the title where there are several."""
        return self._join(Leaderboard.to_dicts)

    def readable(self) -> list[Row]:
        """Return the rows of the leaderboards as tables for people have them."""
        return self._join(Leaderboard.readable)

    def plot(self) -> alt.LayerChart | alt.VConcatChart:
        """Draw the rank of every metric with the ranks it may have, by tier, a panel for each leaderboard."""
        return draw_without_network(draw_boards(self.rows))

    def _join(self, rows: Callable[[Leaderboard], list[Row]]) -> list[Row]:
        boards = self.leaderboards.items()
        return [({"board": title} if title else {}) | row for title, board in boards for row in rows(board)]

    def __str__(self) -> str:
        boards = [format_titled(title, str(board)) for title, board in self.leaderboards.items()]
        return "\n".join(["\n\n".join(boards), *(f"warning: {text}" for text in self.warnings)])


@dataclass(frozen=True, repr=False)
class Leaderboards(BoardsResult):
    """The leaderboards that `textgauge leaderboard` prints."""

    leaderboards: Mapping[str, Leaderboard]
    warnings: tuple[str, ...] = ()


def format_titled(title: str, text: str) -> str:
    """Return a text after a title, if there is one."""
    return f"{title}: {text}" if title else text


def draw_boards(rows: Sequence[dict[str, Any]]) -> alt.LayerChart | alt.VConcatChart:
    """Return a chart of the board that rows are of, or of each board that they name."""
    import altair as alt

    boards = dict.fromkeys(row.get("board") for row in rows)
    if len(boards) < 2:
        return draw_ranks(rows)
    parts = {board: [row for row in rows if row.get("board") == board] for board in boards}
    return alt.vconcat(*(draw_ranks(own).properties(title=board) for board, own in parts.items()))


def draw_ranks(rows: Sequence[dict[str, Any]]) -> alt.LayerChart:
    """Return one line per metric, best first: rank with its interval, coloured by tier."""
    import altair as alt

    kept = ("metric", "overall", "rank", "rank_low", "rank_high", "tier")
    ranked = [row for row in rows if row["rank"] is not None]
    data = alt.InlineData(values=[{name: row[name] for name in kept} for row in ranked])
    axis = alt.Axis(labelLimit=220, ticks=False, domain=False)
    y = alt.Y("metric:N", title=None, sort=alt.EncodingSortField("rank"), axis=axis)
    x = alt.X("rank:Q", title="rank", scale=alt.Scale(domain=[0.5, len(ranked) + 0.5], nice=False))
    tip = [
        alt.Tooltip("metric:N"),
        alt.Tooltip("overall:Q", format=".4g"),
        *(alt.Tooltip(f"{name}:Q") for name in kept[2:]),
    ]
    base = alt.Chart(data).encode(y, color=alt.Color("tier:O", scale=alt.Scale(scheme="tableau10")), tooltip=tip)
    span = base.mark_rule(strokeWidth=3, opacity=0.5).encode(x=alt.X("rank_low:Q"), x2="rank_high:Q")
    point = base.mark_point(filled=True, size=60, opacity=1).encode(x)
    return alt.LayerChart(layer=[span, point]).properties(width=360, height=18 * max(len(ranked), 1))
