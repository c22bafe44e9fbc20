"""Which metric is best, and which ones are tied."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats
from textgauge.errors import InputError
from textgauge.evaluate.protocols.base import RESAMPLES, Measure, Protocol, Verdict
from textgauge.evaluate.results import Judged
from textgauge.stats.resampling import percentile_interval, resampled_sums
from textgauge.tabular import Tabular, format_cell, plain_row, text_table

if TYPE_CHECKING:
    import altair as alt

_LEVEL = 0.95


@dataclass(frozen=True)
class RankedMetric:
    """One metric: its measures, its overall score, and the ranks it may have."""

    metric: str
    measures: Mapping[str, float]
    overall: float
    rank: int
    rank_low: int
    rank_high: int
    cluster: int

    def to_dict(self) -> dict[str, Any]:
        """A flat dictionary; NaN becomes None."""
        flat: dict[str, Any] = {"metric": self.metric, **self.measures, "overall": self.overall}
        flat |= {"rank": self.rank, "rank_low": self.rank_low, "rank_high": self.rank_high, "cluster": self.cluster}
        return plain_row(flat)


@dataclass(frozen=True)
class Leaderboard(Tabular):
    """Rows, best first; metrics of one cluster are tied with its first one."""

    rows: tuple[RankedMetric, ...]
    measures: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RankedMetric]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dictionary per metric."""
        return [row.to_dict() for row in self.rows]

    def readable(self) -> list[dict[str, Any]]:
        """The rows as tables for people have them: the ranks of a metric in one cell, numbers of four digits."""
        return [_readable(row) for row in self.to_dicts()]

    def plot(self) -> alt.LayerChart:
        """The rank of every metric with the ranks it may have, coloured by cluster."""

        return rank_chart(self.to_dicts())

    def __str__(self) -> str:
        return "\n".join([text_table(self.readable()), *(f"note: {line}" for line in self.notes)])


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    ranks = f"{row.pop('rank')} ({row.pop('rank_low')}–{row.pop('rank_high')})"
    cluster = row.pop("cluster")
    return {"rank": ranks, **{name: format_cell(value) for name, value in row.items()}, "cluster": cluster}


@dataclass(frozen=True, eq=False)
class _Table:
    """Values of one measure on one data set under one protocol: metrics by repetitions, NaN for what is missing.

    `draws`, where the protocol made its own, are metrics by resamples; `n` is how many things were resampled.
    """

    measure: Measure
    values: Floats
    draws: Floats | None
    n: int

    @property
    def column(self) -> str:
        """The column of the leaderboard that the measure counts for."""
        return self.measure.column or self.measure.name

    def shares(self) -> Floats:
        """Mean share of the way to the best over repetitions, one row."""
        return self._weighted(np.ones((1, self.values.shape[1])))

    def drawn(self, seed: int) -> Floats:
        """The same for every resample: of the protocol's own, or of repetitions."""
        if self.draws is not None:
            return np.asarray(self.measure.share(self.draws.T))
        return self._weighted(resampled_sums(np.eye(self.values.shape[1]), RESAMPLES, seed))

    def _weighted(self, weights: Floats) -> Floats:
        known = ~np.isnan(self.values)
        totals, counts = weights @ np.where(known, self.values, 0.0).T, weights @ known.T
        with np.errstate(invalid="ignore"):
            return np.asarray(self.measure.share(totals / counts))


def leaderboard(judged: Sequence[Judged], weights: Mapping[str, float] | None = None, *, seed: int = 0) -> Leaderboard:
    """Order metrics by the weighted mean of their measures, each as a share of the way from its worst to its best.

    Repetitions, or the pairs of rated data, are resampled for all metrics alike, so that comparisons are paired. One
    metric is better than another if the 95 % interval of their difference is above 0: `rank_low` counts the metrics
    that are better, `rank_high` those that are not worse, and a cluster holds the metrics not worse than its first:
    they are tied with it. A measure without two ends (time) is shown, not averaged, and so is one that tells what a
    metric is like, not how good it is (distributionality), unless it is named in `weights` or there is nothing else.
    `weights` by name; measures not named weigh 1.
    """
    latest, notes = _latest(judged)
    metrics = list(dict.fromkeys(item.metric for item in latest))
    tables = _tables(latest, metrics)
    if not tables:
        raise InputError("there is nothing to rank: the run holds no results")
    names = list(dict.fromkeys(table.column for table in tables))
    _check_weights(weights or {}, names)
    shown_only = _no_qualities(tables, weights or {})
    given = {**dict.fromkeys(shown_only, 0.0), **(weights or {})}
    overall = _overall(tables, [table.shares() for table in tables], given)[0]
    drawn = _overall(tables, [table.drawn(seed) for table in tables], given)
    order = sorted(range(len(metrics)), key=lambda m: (-_known(overall[m]), metrics[m]))
    fewest = min(table.n for table in tables)
    better = _better_pairs(overall, drawn, fewest)
    low, high = 1 + better.sum(axis=0), len(metrics) - better.sum(axis=1)
    clusters = _clusters(order, better)
    shown = {name: _shown([table for table in tables if table.column == name]) for name in names}
    return Leaderboard(
        tuple(
            RankedMetric(
                metrics[m],
                {name: float(shown[name][m]) for name in names},
                float(overall[m]),
                place + 1,
                min(int(low[m]), place + 1),
                max(int(high[m]), place + 1),
                clusters[m],
            )
            for place, m in enumerate(order)
        ),
        tuple(names),
        (
            *notes,
            *(f"{name} tells what a metric is like, not how good it is: overall leaves it out" for name in shown_only),
        ),
    )


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


def _tables(judged: Sequence[Judged], metrics: list[str]) -> list[_Table]:
    groups: dict[tuple[str, str, Protocol, int], dict[str, Judged]] = {}
    for item in judged:
        groups.setdefault((item.data, item.fingerprint, item.protocol, item.seed), {})[item.metric] = item
    tables = []
    for members in groups.values():
        for measure in next(iter(members.values())).protocol.measures:
            if measure.detail:
                continue
            table = _table(measure, [_verdict(members.get(metric), measure.name) for metric in metrics])
            if table.values.size:
                tables.append(table)
    return tables


def _table(measure: Measure, verdicts: list[Verdict]) -> _Table:
    values, draws = _padded([verdict.values for verdict in verdicts]), _padded([verdict.draws for verdict in verdicts])
    if not draws.size:
        return _Table(measure, values, None, values.shape[1])
    return _Table(measure, values, draws, max(verdict.units for verdict in verdicts))


def _padded(rows: list[tuple[float, ...]]) -> Floats:
    """Rows of equal length, filled up with NaN."""
    filled = np.full((len(rows), max(map(len, rows))), np.nan)
    for place, row in zip(filled, rows, strict=True):
        place[: len(row)] = row
    return filled


def _verdict(item: Judged | None, measure: str) -> Verdict:
    found = [] if item is None else [v for v in item.verdicts if v.measure == measure]
    return found[0] if found else Verdict(measure, math.nan)


def _overall(tables: list[_Table], shares: list[Floats], by_name: Mapping[str, float]) -> Floats:
    """Weighted mean over columns; measures of one column, and data sets of one measure, share its weight.

    One row per resample.
    """
    total = wanted = 0.0
    for name in dict.fromkeys(table.column for table in tables):
        weight = by_name.get(name, 1.0)
        stacked = _by_measure(
            [t for t in tables if t.column == name],
            [part for table, part in zip(tables, shares, strict=True) if table.column == name],
        )
        if np.isnan(stacked).all() or weight == 0:
            continue
        total = total + weight * stacked.mean(axis=0)
        wanted += weight
    return np.asarray(total / wanted) if wanted else np.full(shares[0].shape, np.nan)


def _by_measure(tables: list[_Table], parts: list[Floats]) -> Floats:
    """The mean over the data sets of each measure, one after the other."""
    groups: dict[str, list[Floats]] = {}
    for table, part in zip(tables, parts, strict=True):
        groups.setdefault(table.measure.name, []).append(part)
    return np.array([np.mean(group, axis=0) for group in groups.values()])


def _shown(tables: list[_Table]) -> Floats:
    """The plain value of a column for every metric."""
    groups: dict[str, list[Floats]] = {}
    for table in tables:
        groups.setdefault(table.measure.name, []).append(table.values)
    means = np.array([_mean_of(group) for group in groups.values()])
    return np.array([_mean(column) for column in means.T])


def _better_pairs(overall: Floats, drawn: Floats, repetitions: int) -> NDArray[np.bool_]:
    """Which metric (row) is better than which (column): the interval of their difference is above 0."""
    count = len(overall)
    return np.array([[_better(overall, drawn, a, b, repetitions) for b in range(count)] for a in range(count)])


def _clusters(order: list[int], better: NDArray[np.bool_]) -> dict[int, int]:
    clusters, first = {order[0]: 1}, order[0]
    for metric in order[1:]:
        if better[first, metric]:
            clusters[metric], first = clusters[first] + 1, metric
        else:
            clusters[metric] = clusters[first]
    return clusters


def _better(overall: Floats, drawn: Floats, first: int, second: int, repetitions: int) -> bool:
    if np.isnan(overall[first]) or np.isnan(overall[second]):
        return not np.isnan(overall[first])
    gap = drawn[:, first] - drawn[:, second]
    low, _ = percentile_interval(gap, repetitions, _LEVEL)
    return bool(low > 0)


def _no_qualities(tables: list[_Table], weights: Mapping[str, float]) -> list[str]:
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


def _mean_of(values: list[Floats]) -> Floats:
    means = np.array([[_mean(row) for row in table] for table in values])
    return np.array([_mean(column) for column in means.T])


def _mean(row: Floats) -> float:
    known = row[~np.isnan(row)]
    return float(known.mean()) if len(known) else math.nan


def _known(value: float) -> float:
    return -math.inf if math.isnan(value) else float(value)


def rank_chart(rows: Sequence[dict[str, Any]]) -> alt.LayerChart:
    """One line per metric, best first: rank with its interval, coloured by cluster."""
    import altair as alt

    kept = ("metric", "overall", "rank", "rank_low", "rank_high", "cluster")
    data = alt.InlineData(values=[{name: row[name] for name in kept} for row in rows])
    axis = alt.Axis(labelLimit=220, ticks=False, domain=False)
    y = alt.Y("metric:N", title=None, sort=alt.EncodingSortField("rank"), axis=axis)
    x = alt.X("rank:Q", title="rank", scale=alt.Scale(domain=[0.5, len(rows) + 0.5], nice=False))
    tip = [
        alt.Tooltip("metric:N"),
        alt.Tooltip("overall:Q", format=".4g"),
        *(alt.Tooltip(f"{name}:Q") for name in kept[2:]),
    ]
    base = alt.Chart(data).encode(y, color=alt.Color("cluster:O", scale=alt.Scale(scheme="tableau10")), tooltip=tip)
    span = base.mark_rule(strokeWidth=3, opacity=0.5).encode(x=alt.X("rank_low:Q"), x2="rank_high:Q")
    point = base.mark_point(filled=True, size=60, opacity=1).encode(x)
    return alt.LayerChart(layer=[span, point]).properties(width=360, height=18 * max(len(rows), 1))
