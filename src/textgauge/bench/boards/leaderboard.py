"""Which metric is best, which ones are tied, and on what grounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from textgauge.bench.boards.overall import (
    SCOPES,
    Gaps,
    MeasureTable,
    Scope,
    coefficients,
    data_sets_alike,
    gaps_of,
    mean_known,
    overall_scores,
    widest_scope,
)
from textgauge.bench.protocols.base import Measure, Protocol, Verdict
from textgauge.bench.results import Judged
from textgauge.core.arrays import Floats
from textgauge.core.charts import without_network
from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.result import Result
from textgauge.core.tabular import format_cell, format_interval, listed, plain_row, text_table
from textgauge.stats.decisions import ranking_sentence
from textgauge.stats.simultaneous import better_than, rank_ranges, student_interval, tiers

if TYPE_CHECKING:
    import altair as alt

_LEVEL = 0.95


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

    def to_dict(self) -> dict[str, Any]:
        """A flat dictionary; NaN becomes None."""
        flat: dict[str, Any] = {"metric": self.metric, **self.measures, "overall": self.overall}
        flat |= {"overall_low": self.low, "overall_high": self.high}
        if not math.isnan(self.new_data_low):
            flat |= {"new_data_low": self.new_data_low, "new_data_high": self.new_data_high}
        flat |= {"rank": self.rank, "rank_low": self.rank_low, "rank_high": self.rank_high, "tier": self.tier}
        return plain_row(flat)


@dataclass(frozen=True, repr=False)
class Leaderboard(Result):
    """Rows, best first. Rank ranges and tiers hold for all metrics together with probability 95 %.

    A tier ends only where every metric above is better than every metric below. `tied` are the metrics that the first
    one is not better than; `scope` says what the statements are about.
    """

    command: ClassVar[str] = "leaderboard"

    rows: tuple[RankedMetric, ...]
    measures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()
    scope: str = SCOPES["texts"]

    @property
    def answer(self) -> str:
        """The best metric and what it is tied with, in one sentence."""
        ranked = [row for row in self.rows if row.rank is not None]
        return ranking_sentence([row.metric for row in ranked], self.tied, self.scope)

    @property
    def details(self) -> dict[str, Any]:
        """What ranks and tiers are about, which metrics are tied with the first, and what overall is made of."""
        return {"scope": self.scope, "tied": list(self.tied), "notes": list(self.notes)}

    def readable(self) -> list[dict[str, Any]]:
        """The rows as tables for people have them: ranks and intervals in one cell, numbers of four digits."""
        return [_readable(row) for row in self.to_dicts()]

    def plot(self) -> alt.LayerChart:
        """The rank of every metric with the ranks it may have, coloured by tier."""
        return without_network(rank_chart(self.to_dicts()))

    def __str__(self) -> str:
        return "\n".join([self.answer, "", text_table(self.readable()), *(f"note: {line}" for line in self.notes)])


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    rank, low, high, tier = (row.pop(name) for name in ("rank", "rank_low", "rank_high", "tier"))
    ends = row.pop("overall_low"), row.pop("overall_high")
    new_data = row.pop("new_data_low", None), row.pop("new_data_high", None)
    cells: dict[str, Any] = {"rank": "unranked" if rank is None else f"{rank} ({low}–{high})"}
    cells |= {"metric": row.pop("metric"), "overall": format_cell(row.pop("overall"))}
    cells["interval"] = format_interval(*ends)
    if new_data[0] is not None:
        cells["new data sets"] = format_interval(*new_data)
    return cells | {"tier": format_cell(tier)} | {name: format_cell(value) for name, value in row.items()}


def leaderboard(
    judged: Sequence[Judged], weights: Mapping[str, float] | None = None, *, scope: Scope | None = None
) -> Leaderboard:
    """Order metrics by the weighted mean of their measures, each as a share of the way from its worst to its best.

    All metrics see the same draws, so differences are paired. One metric is better than another where the difference
    is significant by Student's t after Holm's correction over all pairs of metrics (5 % for all statements together):
    `rank_low` counts the metrics that are better, `rank_high` those that are not worse. `scope` is what the statements
    are about: `texts` (these texts), `sources` (new texts from these sources) or `data` (new data sets); by default
    the wider one of the first two that the run supports. A measure without two ends (throughput) is shown, not
    averaged, and so is one that says what a metric is like, not how good it is (distributionality), unless it is named
    in `weights` or there is nothing else. `weights` by name; measures not named weigh 1.
    """
    latest, notes = _latest(judged)
    metrics = list(dict.fromkeys(item.metric for item in latest))
    tables = _tables(latest, metrics)
    if not tables:
        raise InputError("there is nothing to rank: the run holds no results")
    names = list(dict.fromkeys(table.column for table in tables))
    _check_weights(weights or {}, names)
    shown_only = _no_qualities(tables, weights or {})
    counts = coefficients(tables, {**dict.fromkeys(shown_only, 0.0), **(weights or {})})
    chosen = _scope(tables, counts, scope)
    new_data = gaps_of(tables, counts, "data") if data_sets_alike(tables, counts) else None
    shown = {name: _shown([table for table in tables if table.column == name]) for name in names}
    values = [{name: float(shown[name][m]) for name in names} for m in range(len(metrics))]
    rows, tied = _ranked(metrics, values, gaps_of(tables, counts, chosen), new_data)
    return Leaderboard(
        tuple(rows), tuple(names), (*notes, *_about(tables, counts, shown_only, chosen)), tied, SCOPES[chosen]
    )


def list_measures(judged: Sequence[Judged]) -> list[str]:
    """Return the columns that a leaderboard of these verdicts has."""
    latest, _ = _latest(judged)
    metrics = list(dict.fromkeys(item.metric for item in latest))
    return list(dict.fromkeys(table.column for table in _tables(latest, metrics)))


def list_ranked_metrics(judged: Sequence[Judged]) -> frozenset[str]:
    """Return the metrics that a leaderboard of these verdicts ranks, without testing them against each other."""
    latest, _ = _latest(judged)
    metrics = list(dict.fromkeys(item.metric for item in latest))
    tables = _tables(latest, metrics)
    if not tables:
        return frozenset()
    overall = overall_scores(tables, coefficients(tables, dict.fromkeys(_no_qualities(tables, {}), 0.0)))
    return frozenset(metric for metric, score in zip(metrics, overall.tolist(), strict=True) if not math.isnan(score))


def _ranked(
    metrics: list[str], values: list[dict[str, float]], gaps: Gaps, new_data: Gaps | None
) -> tuple[list[RankedMetric], tuple[str, ...]]:
    """The rows in order, and the metrics that are tied with the first."""
    overall = gaps.gap[:-1, -1]
    order = sorted(range(len(metrics)), key=lambda m: (math.isnan(overall[m]), -overall[m], metrics[m]))
    ranked = [m for m in order if not math.isnan(overall[m])]
    here = np.ix_(ranked, ranked)
    better = better_than(gaps.gap[here], gaps.error[here], gaps.freedom[here])
    firsts, lasts = rank_ranges(better)
    tier = tiers(range(len(ranked)), better)
    rows = []
    for place, m in enumerate(order):
        low, high = _interval(gaps, m)
        new_low, new_high = _interval(new_data, m) if new_data else (math.nan, math.nan)
        row = RankedMetric(metrics[m], values[m], float(overall[m]), low, high, new_low, new_high)
        if place < len(ranked):
            first, last = firsts[place], lasts[place]
            row = replace(row, rank=place + 1, rank_low=int(first), rank_high=int(last), tier=tier[place])
        rows.append(row)
    behind = better[0, 1:].tolist() if ranked else []
    return rows, tuple(metrics[m] for m, ahead in zip(ranked[1:], behind, strict=True) if not ahead)


def _interval(gaps: Gaps, m: int) -> tuple[float, float]:
    """The interval of one overall score, which is its gap to 0; a score lies between 0 and 1."""
    low, high = student_interval(gaps.gap[m, -1], gaps.error[m, -1], gaps.freedom[m, -1], _LEVEL)
    return max(low, 0.0), min(high, 1.0)


def _scope(tables: list[MeasureTable], counts: Floats, wanted: Scope | None) -> Scope:
    widest = widest_scope(tables, counts)
    if wanted is None:
        return widest
    if wanted not in SCOPES:
        raise ArgumentError(f"{{scope}} is one of {', '.join(SCOPES)}, not {{value}}", value=repr(wanted))
    if wanted == "sources" and widest != "sources":
        raise InputError("this run does not support statements about new texts: repetitions share all their texts")
    if wanted == "data" and not data_sets_alike(tables, counts):
        raise InputError("statements about new data sets need three or more data sets with the same measures")
    return wanted


def _about(tables: list[MeasureTable], counts: Floats, shown_only: list[str], scope: Scope) -> Iterator[str]:
    """What overall is made of, what chance gives, what the measures have in common, and what the ranks are about."""
    used = list(dict.fromkeys(t.measure for t, count in zip(tables, counts, strict=True) if count))
    if used:
        even = len({round(float(c), 12) for c in _column_weights(tables, counts).values()}) == 1
        parts = list(_formulas(used))
        kind = f"the {'' if even else 'weighted '}mean of " if len(parts) > 1 else ""
        yield f"overall is {kind}{listed(parts)}"
        chance = [f"{m.name} {format_cell(m.chance)}" for m in used if m.chance is not None]
        if chance:
            others = [m.name for m in used if m.chance is None]
            rest = f"; for {listed(others)} that depends on the data" if others else ""
            yield f"a metric that knows nothing has {listed(chance)}{rest}"
        yield f"intervals, ranks and tiers are for {SCOPES[scope]}; ranks and tiers hold together at 95 %"
    yield from dict.fromkeys(t.common for t, count in zip(tables, counts, strict=True) if count and t.common)
    yield from (f"{name} says what a metric is like, not how good it is: overall leaves it out" for name in shown_only)


def _formulas(measures: Sequence[Measure]) -> Iterator[str]:
    """What counts for each column: the measure, or the mean of the measures that share the column."""
    columns: dict[str, list[str]] = {}
    for measure in measures:
        columns.setdefault(measure.column or measure.name, []).append(measure.formula)
    for column, formulas in columns.items():
        yield formulas[0] if len(formulas) == 1 else f"{column} (itself the mean of {listed(formulas)})"


def _column_weights(tables: list[MeasureTable], counts: Floats) -> dict[str, float]:
    found: dict[str, float] = {}
    for table, count in zip(tables, counts.tolist(), strict=True):
        if count:
            found[table.column] = found.get(table.column, 0.0) + count
    return found


def _latest(judged: Sequence[Judged]) -> tuple[list[Judged], list[str]]:
    """The last verdicts on each metric's trials: trials that were judged in several ways are not counted twice."""
    ways: dict[tuple[str, str, str, int], Protocol] = {}
    for item in judged:
        ways[_trials(item)] = item.protocol
    found = [item for item in judged if item.protocol == ways[_trials(item)]]
    several = {f"{item.protocol.key} on {item.data}" for item in judged if item.protocol != ways[_trials(item)]}
    notes = [f"{trials}: judged in several ways, the last one counts" for trials in sorted(several)]
    return found, notes


def _trials(item: Judged) -> tuple[str, str, str, int]:
    return item.data, item.fingerprint, item.protocol.key, item.seed


def _tables(judged: Sequence[Judged], metrics: list[str]) -> list[MeasureTable]:
    groups: dict[tuple[str, str, Protocol, int], dict[str, Judged]] = {}
    for item in judged:
        groups.setdefault((item.data, item.fingerprint, item.protocol, item.seed), {})[item.metric] = item
    tables = []
    for trials, members in groups.items():
        one = next(iter(members.values()))
        for measure in one.protocol.measures:
            if not measure.detail:
                verdicts = [_verdict(members.get(metric), measure.name) for metric in metrics]
                tables.append(_table(measure, trials, one, verdicts))
    return [table for table in tables if table.values.size]


def _table(measure: Measure, trials: tuple[object, ...], one: Judged, verdicts: list[Verdict]) -> MeasureTable:
    values, draws = _padded([verdict.values for verdict in verdicts]), _padded([verdict.draws for verdict in verdicts])
    units = max(verdict.units for verdict in verdicts)
    return MeasureTable(
        measure,
        one.fingerprint or one.data,
        trials,
        values,
        draws if draws.size else None,
        units,
        one.pool_share,
        one.protocol.common,
        one.protocol.resampled,
    )


def _padded(rows: list[tuple[float, ...]]) -> Floats:
    """Rows of equal length, filled up with NaN."""
    filled = np.full((len(rows), max(map(len, rows))), np.nan)
    for place, row in zip(filled, rows, strict=True):
        place[: len(row)] = row
    return filled


def _verdict(item: Judged | None, measure: str) -> Verdict:
    found = [] if item is None else [v for v in item.verdicts if v.measure == measure]
    return found[0] if found else Verdict(measure, math.nan)


def _shown(tables: list[MeasureTable]) -> Floats:
    """The plain value of a column for every metric: the mean over data sets, then over the measures of the column."""
    groups: dict[str, list[Floats]] = {}
    for table in tables:
        groups.setdefault(table.measure.name, []).append(mean_known(table.values))
    return mean_known(np.array([mean_known(np.array(group).T) for group in groups.values()]).T)


def _no_qualities(tables: list[MeasureTable], weights: Mapping[str, float]) -> list[str]:
    """Columns that are shown and not averaged; none where nothing else could be averaged."""
    counting = [table for table in tables if table.measure.best == "larger" and np.isfinite(table.measure.high)]
    found = {table.column for table in counting if not table.measure.quality and table.column not in weights}
    others = {table.column for table in counting} - found
    return sorted(found) if others else []


def _check_weights(weights: Mapping[str, float], names: list[str]) -> None:
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise InputError(f"no measure {unknown[0]!r} in this run; the measures are {', '.join(names)}")
    if any(not (weight >= 0 and math.isfinite(weight)) for weight in weights.values()):
        raise InputError("weights are finite numbers, zero or more")


def rank_charts(rows: Sequence[dict[str, Any]]) -> alt.LayerChart | alt.VConcatChart:
    """A chart of the board that rows are of, or of each board that they name."""
    import altair as alt

    boards = dict.fromkeys(row.get("board") for row in rows)
    if len(boards) < 2:
        return rank_chart(rows)
    parts = {board: [row for row in rows if row.get("board") == board] for board in boards}
    return alt.vconcat(*(rank_chart(own).properties(title=board) for board, own in parts.items()))


def rank_chart(rows: Sequence[dict[str, Any]]) -> alt.LayerChart:
    """One line per metric, best first: rank with its interval, coloured by tier."""
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
