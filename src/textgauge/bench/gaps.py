"""How far metrics are ahead of each other: tables of their measures, and differences of overall scores with errors."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from textgauge.bench.protocols.base import Measure, Verdict
from textgauge.bench.results import Group, Scope, Verdicts
from textgauge.core.arrays import Floats, average_known
from textgauge.stats.rankings import moderate_variances

_FEWEST_DATA_SETS = 3  # with two, Student's interval is 12 standard errors wide


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


def read_tables(groups: Sequence[Group]) -> tuple[list[str], list[MeasureTable], list[str]]:
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


def average_column(tables: list[MeasureTable]) -> Floats:
    """Average the values of a column for every metric over data sets, then over the measures of the column."""
    groups: dict[str, list[Floats]] = {}
    for table in tables:
        groups.setdefault(table.measure.name, []).append(average_known(table.values, axis=1))
    return average_known(np.array([average_known(np.array(group), axis=0) for group in groups.values()]), axis=0)


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
    over all pairs of metrics. What the pool adds is the same for all protocols on one data set, so it adds up there;
    between data sets all errors are independent.
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

    A row of zeros is added. Columns count that all rows have; rows without any value are NaN, and all rows with fewer
    than two columns.
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
