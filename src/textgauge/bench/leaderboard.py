"""Which metric is best, which ones are tied, and on what grounds; and which protocols share a leaderboard.

Ranks follow from overall scores, weighted means of measures, and from the errors of all differences between metrics.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from textgauge.bench.protocols.base import Measure, Protocol, Verdict
from textgauge.bench.results import SCOPES, Group, Scope, Verdicts, check_measures
from textgauge.core.arrays import Floats, average_known
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
    moderate_variances,
    rank_ranges,
    split_into_tiers,
)

if TYPE_CHECKING:
    import altair as alt

_LEVEL = 0.95
_FEWEST_DATA_SETS = 3  # with two, Student's interval is 12 standard errors wide
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
        flat |= {"rank": self.rank, "rank_low": self.rank_low, "rank_high": self.rank_high, "tier": self.tier}
        flat |= {"tied_with": self.tied_with}
        return drop_nonfinite_values(flat)


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
    metrics, tables, notes = _read_tables(groups)
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
    shown = {name: _average_column(own) for name, own in by_column.items()}
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


def _read_tables(groups: Sequence[Group]) -> tuple[list[str], list[MeasureTable], list[str]]:
    """Return the metrics, a table of each measure of each protocol on each data set, and notes.

    Of trials that were judged in several ways, the last way counts.
    """
    ways = {group.trials: group for group in groups}
    counted = [group for group in groups if group.protocol == ways[group.trials].protocol]
    several = {f"{group.protocol.key} on {group.data}" for group in groups if group not in counted}
    notes = [f"{trials}: judged in several ways, the last one counts" for trials in sorted(several)]
    found: dict[tuple[str, str, str, int], dict[str, Verdicts]] = {}
    for group in counted:
        found.setdefault(group.trials, {}).update(group.verdicts)
    metrics = list(dict.fromkeys(metric for group in counted for metric in (*group.missing, *group.verdicts)))
    tables = []
    for trials, members in found.items():
        for measure in (one for one in ways[trials].protocol.measures if not one.detail):
            nothing = Verdict(measure.name, math.nan)
            verdicts = [members.get(metric, {}).get(measure.name, nothing) for metric in metrics]
            values, draws = (_pad_rows([getattr(one, name) for one in verdicts]) for name in ("values", "draws"))
            if values.size:
                units = max(verdict.units for verdict in verdicts)
                tables.append(MeasureTable(measure, ways[trials], values, draws if draws.size else None, units))
    return metrics, tables, notes


def _pad_rows(rows: list[tuple[float, ...]]) -> Floats:
    """Return rows of equal length, filled up with NaN."""
    filled = np.full((len(rows), max(map(len, rows))), np.nan)
    for place, row in zip(filled, rows, strict=True):
        place[: len(row)] = row
    return filled


def _average_column(tables: list[MeasureTable]) -> Floats:
    """Average the values of a column for every metric over data sets, then over the measures of the column."""
    groups: dict[str, list[Floats]] = {}
    for table in tables:
        groups.setdefault(table.measure.name, []).append(average_known(table.values, axis=1))
    return average_known(np.array([average_known(np.array(group), axis=0) for group in groups.values()]), axis=0)


@dataclass(frozen=True, eq=False)
class MeasureTable:
    """Values of one measure in one group of results: metrics by repetitions, NaN for what is missing.

    `draws`, where the protocol made its own, are metrics by resamples of `units` texts or documents. `weight` is what
    the table counts for in the overall score.
    """

    measure: Measure
    group: Group
    values: Floats
    draws: Floats | None
    units: int
    weight: float = 1.0

    @property
    def shares(self) -> Floats:
        """Each metric's mean over repetitions, as a share of the way to the best."""
        return np.asarray(self.measure.share(average_known(self.values, axis=1)))

    @property
    def scope(self) -> Scope:
        """The widest scope that the error of this table is for."""
        if self.draws is not None:
            return self.group.protocol.resampled
        share = self.group.pool_share
        return "sources" if share is not None and share < 1 else "texts"


class Gaps(NamedTuple):
    """How far each metric (row) is ahead of each other one (column), with standard error and degrees of freedom.

    The last row and column stand for a metric of overall 0: gaps to it are overall scores.
    """

    gap: Floats
    error: Floats
    freedom: Floats


def weigh_tables(tables: Sequence[MeasureTable], weights: Mapping[str, float]) -> list[MeasureTable]:
    """Return the tables that count in the overall score, with weights that add up to 1.

    Measures of one column share its weight, data sets of one measure share the measure's. A table without any share
    (a time, a measure that is undefined for all) does not count.
    """
    used = [table for table in tables if weights.get(table.measure.column, 1.0) > 0 and np.isfinite(table.shares).any()]
    data_sets = Counter((table.measure.column, table.measure.name) for table in used)
    measures = Counter(column for column, _ in data_sets)
    total = sum(weights.get(column, 1.0) for column in measures)
    counts = [(m.column, measures[m.column], data_sets[m.column, m.name]) for m in (table.measure for table in used)]
    return [
        replace(table, weight=weights.get(column, 1.0) / alike / sets / total)
        for table, (column, alike, sets) in zip(used, counts, strict=True)
    ]


def has_alike_data_sets(tables: Sequence[MeasureTable]) -> bool:
    """Return whether there are enough data sets, each with the same measures, to speak of new ones."""
    measures = defaultdict(list)
    for table in tables:
        measures[table.group.source].append(table.measure.name)
    return len(measures) >= _FEWEST_DATA_SETS and len({tuple(sorted(names)) for names in measures.values()}) == 1


def estimate_gaps(tables: Sequence[MeasureTable], scope: Scope) -> Gaps:
    """Return all differences of overall scores, with their errors in a scope.

    Repetitions on one pool use some texts again: for new texts, the error of a mean of R repetitions that each use the
    share f of the pool is s·√(1/R + f/(1 − f)) (Nadeau and Bengio 2003). The variances of differences are moderated
    over all pairs of metrics. What the pool adds is the same for all
    protocols on one data set, so it adds up there; between data sets all errors are independent.
    """
    if scope == "data":
        return _estimate_between_data_sets(tables)
    size = len(tables[0].values) + 1
    own, satterthwaite = np.zeros((size, size)), np.zeros((size, size))
    pools: dict[str, Floats] = {}
    groups = defaultdict(list)
    for table in tables:
        groups[table.group.trials, table.draws is None, table.values.shape[1]].append(table)
    for members in groups.values():
        variance, degrees = _compute_own_variance(members)
        first = members[0]
        share = first.group.pool_share if scope == "sources" and first.draws is None else None
        extra = variance * first.values.shape[1] * (share / (1 - share)) if share else np.zeros_like(variance)
        pools[first.group.source] = pools.get(first.group.source, 0.0) + np.sqrt(extra)
        own = own + variance
        with np.errstate(invalid="ignore", divide="ignore"):
            satterthwaite = satterthwaite + (variance + extra) ** 2 / degrees
    total = own + sum(np.square(pool) for pool in pools.values())
    fewest = min(table.values.shape[1] if table.draws is None else table.units for table in tables)
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = np.where(satterthwaite > 0, total**2 / satterthwaite, fewest - 1.0)
    overall = np.sum([table.weight * table.shares for table in tables], axis=0)  # NaN where a metric lacks one
    return Gaps(_compute_differences(overall), np.sqrt(total), freedom)


def _estimate_between_data_sets(tables: Sequence[MeasureTable]) -> Gaps:
    """Errors from the spread of data sets, which has that of documents and repetitions in it."""
    parts: dict[str, Floats] = {}
    for table in tables:
        parts[table.group.source] = parts.get(table.group.source, 0.0) + table.weight * table.shares
    values = len(parts) * np.array(list(parts.values())).T
    spread, n = _compute_spread(values)
    variance, degrees = _moderate(spread / n, n - 1.0)
    return Gaps(_compute_differences(values.mean(axis=1)), np.sqrt(variance), degrees)


def _compute_own_variance(members: Sequence[MeasureTable]) -> tuple[Floats, Floats]:
    """Variance of the differences of what the tables of one protocol add up to, and its degrees of freedom."""
    drawn = [(table.measure, table.weight, table.values if table.draws is None else table.draws) for table in members]
    # Shares of the way to the best, beyond the ends too, so that errors are not cut off.
    lines = [weight * ((values - m.low) / (m.high - m.low)) for m, weight, values in drawn]
    spread, n = _compute_spread(np.sum(lines, axis=0))
    if members[0].draws is None:
        return _moderate(spread / n, n - 1.0)
    units = min(table.units for table in members)
    return _moderate(spread * units / max(units - 1, 1), units - 1.0)


def _moderate(variance: Floats, degrees: float) -> tuple[Floats, Floats]:
    """Draw the variances of all differences of two metrics together; those of the scores themselves stay."""
    first, second = np.triu_indices(len(variance) - 1, 1)
    count = int(np.isfinite(np.diag(variance)).sum()) - 1
    variance, freedom = variance.copy(), np.full(variance.shape, degrees)
    own, freedom[first, second] = moderate_variances(variance[first, second], degrees, count)
    variance[first, second] = variance[second, first] = own
    freedom[second, first] = freedom[first, second]
    return variance, freedom


def _compute_spread(values: Floats) -> tuple[Floats, int]:
    """Return the variance over columns of the difference of every two rows, and how many columns count.

    A row of zeros is added.

    Columns count that all rows have; rows without any value are NaN, and all rows with fewer than two columns.
    """
    values = np.vstack([values, np.zeros((1, values.shape[1]))])
    there = np.isfinite(values).any(axis=1)
    known = values[:, np.isfinite(values[there]).all(axis=0)]
    n = known.shape[1]
    if n < 2:
        return np.full((len(values), len(values)), np.nan), 1
    centred = known - known.mean(axis=1, keepdims=True)
    return np.array([np.square(centred - row).sum(axis=1) for row in centred]) / (n - 1), n


def _compute_differences(scores: Floats) -> Floats:
    with_zero = np.append(scores, 0.0)
    return np.asarray(with_zero[:, None] - with_zero)


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
