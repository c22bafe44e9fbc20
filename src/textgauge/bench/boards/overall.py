"""The overall score of metrics: what it is made of, and the errors of all differences between metrics.

Three scopes say what an interval is for. *These texts*: other repetitions on the same texts. *New texts from these
sources*: other texts too. *New data sets*: other data sets too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from textgauge.bench.protocols.base import Measure
from textgauge.core.arrays import Floats
from textgauge.stats.decisions import NEW_TEXTS

Scope = Literal["texts", "sources", "data"]
SCOPES: dict[Scope, str] = {
    "texts": "these texts",
    "sources": NEW_TEXTS,
    "data": "new data sets",
}
_FEWEST_DATA_SETS = 3  # with two, Student's interval is 12 standard errors wide


@dataclass(frozen=True, eq=False)
class MeasureTable:
    """Values of one measure on one data set under one protocol: metrics by repetitions, NaN for what is missing.

    `draws`, where the protocol made its own, are metrics by resamples of `units` texts or documents. `trials` is what
    the tables of one protocol on one data set have in common; `pool_share` is the share of the source texts that each
    repetition uses, None where it is unknown.
    """

    measure: Measure
    data: str
    trials: tuple[object, ...]
    values: Floats
    draws: Floats | None
    units: int
    pool_share: float | None = None
    common: str = ""  # what the measures of the protocol have in common
    resampled: Scope = "sources"  # what the draws are for

    @property
    def column(self) -> str:
        """The column of the leaderboard that the measure counts for."""
        return self.measure.column or self.measure.name

    def shares(self) -> Floats:
        """Each metric's mean over repetitions, as a share of the way to the best."""
        return np.asarray(self.measure.share(mean_known(self.values)))

    @property
    def scope(self) -> Scope:
        """The widest scope that the error of this table is for."""
        if self.draws is not None:
            return self.resampled
        return "sources" if self.pool_share is not None and self.pool_share < 1 else "texts"


class Gaps(NamedTuple):
    """How far each metric (row) is ahead of each other one (column), with standard error and degrees of freedom.

    The last row and column stand for a metric of overall 0: gaps to it are overall scores.
    """

    gap: Floats
    error: Floats
    freedom: Floats


def coefficients(tables: Sequence[MeasureTable], weights: dict[str, float]) -> Floats:
    """What each table counts for in the overall score; they add up to 1 unless nothing counts.

    Measures of one column share its weight, data sets of one measure share the measure's. A table without any share
    (a time, a measure that is undefined for all) counts nothing.
    """
    counted = [bool(np.isfinite(table.shares()).any()) and weights.get(table.column, 1.0) > 0 for table in tables]
    here = [table for table, counts in zip(tables, counted, strict=True) if counts]
    measures = {column: {t.measure.name for t in here if t.column == column} for column in {t.column for t in here}}
    found = np.zeros(len(tables))
    for place, table in enumerate(tables):
        if counted[place]:
            alike = sum(t.measure.name == table.measure.name and t.column == table.column for t in here)
            found[place] = weights.get(table.column, 1.0) / len(measures[table.column]) / alike
    total = sum(weights.get(column, 1.0) for column in measures)
    return found / total if total else found


def overall_scores(tables: Sequence[MeasureTable], counts: Floats) -> Floats:
    """The weighted sum of shares; NaN for a metric that lacks one of them, and for all where nothing counts."""
    used = [count * table.shares() for table, count in zip(tables, counts, strict=True) if count]
    return np.sum(used, axis=0) if used else np.full(len(tables[0].values), np.nan)


def widest_scope(tables: Sequence[MeasureTable], counts: Floats) -> Scope:
    """The widest scope of one data set that all tables which count support."""
    scopes = {table.scope for table, count in zip(tables, counts, strict=True) if count}
    return "sources" if scopes == {"sources"} else "texts"


def gaps_of(tables: Sequence[MeasureTable], counts: Floats, scope: Scope) -> Gaps:
    """All differences of overall scores, with their errors in a scope.

    Repetitions on one pool use some texts again: for new texts, the error of a mean of R repetitions that each use the
    share f of the pool is s·√(1/R + f/(1 − f)) (Nadeau and Bengio 2003). What the pool adds is the same for all
    protocols on one data set, so it adds up there; between data sets all errors are independent.
    """
    if scope == "data":
        return _between_data_sets(tables, counts)
    size = len(tables[0].values) + 1
    own, satterthwaite = np.zeros((size, size)), np.zeros((size, size))
    pools: dict[str, Floats] = {}
    for members in _grouped(tables, counts):
        variance, n = _own_variance(members)
        first = members[0][0]
        share = first.pool_share if scope == "sources" and first.draws is None else None
        extra = variance * first.values.shape[1] * (share / (1 - share)) if share else np.zeros_like(variance)
        pools[first.data] = pools.get(first.data, np.zeros_like(own)) + np.sqrt(extra)
        own = own + variance
        with np.errstate(invalid="ignore", divide="ignore"):
            satterthwaite = satterthwaite + (variance + extra) ** 2 / n
    total = own + sum(np.square(pool) for pool in pools.values())
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = np.where(satterthwaite > 0, total**2 / satterthwaite, _fewest(tables, counts) - 1.0)
    return Gaps(_differences(overall_scores(tables, counts)), np.sqrt(total), freedom)


def data_sets_alike(tables: Sequence[MeasureTable], counts: Floats) -> bool:
    """Whether there are enough data sets, each with the same measures, to speak of new ones."""
    measures: dict[str, list[str]] = {}
    for table, count in zip(tables, counts, strict=True):
        if count:
            measures.setdefault(table.data, []).append(table.measure.name)
    return len(measures) >= _FEWEST_DATA_SETS and len({tuple(sorted(names)) for names in measures.values()}) == 1


def _between_data_sets(tables: Sequence[MeasureTable], counts: Floats) -> Gaps:
    """Errors from the spread of data sets, which has that of documents and repetitions in it."""
    parts: dict[str, Floats] = {}
    for table, count in zip(tables, counts, strict=True):
        if count:
            parts[table.data] = parts.get(table.data, 0.0) + count * table.shares()
    values = len(parts) * np.array(list(parts.values())).T
    spread, n = _spread(_with_zero(values))
    return Gaps(_differences(values.mean(axis=1)), np.sqrt(spread / n), np.full(spread.shape, n - 1.0))


def _own_variance(members: list[tuple[MeasureTable, float]]) -> tuple[Floats, float]:
    """Variance of the differences of what the tables of one protocol add up to, and its degrees of freedom."""
    first = members[0][0]
    if first.draws is not None:
        spread, _ = _spread(_with_zero(sum((c * _line(t.measure, t.draws) for t, c in members), np.zeros(()))))
        units = min(table.units for table, _ in members)
        return spread * units / max(units - 1, 1), units - 1.0
    spread, n = _spread(_with_zero(sum((c * _line(t.measure, t.values) for t, c in members), np.zeros(()))))
    return spread / n, n - 1.0


def _line(measure: Measure, values: Floats | None) -> Floats:
    """Shares of the way to the best, beyond the ends too, so that errors are not cut off."""
    return np.asarray((np.asarray(values) - measure.low) / (measure.high - measure.low))


def _spread(values: Floats) -> tuple[Floats, int]:
    """The variance over columns of the difference of every two rows, and how many columns all rows have.

    Rows without any value do not count among all; NaN for them, and for fewer than two columns.
    """
    there = np.isfinite(values).any(axis=1)
    kept = values[:, np.isfinite(values[there]).all(axis=0)]
    n = kept.shape[1]
    if n < 2:
        return np.full((len(values), len(values)), np.nan), 1
    centred = kept - kept.mean(axis=1, keepdims=True)
    return np.array([np.square(centred - row).sum(axis=1) for row in centred]) / (n - 1), n


def _grouped(tables: Sequence[MeasureTable], counts: Floats) -> Iterable[list[tuple[MeasureTable, float]]]:
    """Tables that count, those of the same trials together."""
    found: dict[object, list[tuple[MeasureTable, float]]] = {}
    for table, count in zip(tables, counts.tolist(), strict=True):
        if count:
            key = (table.trials, table.draws is None, table.values.shape[1])
            found.setdefault(key, []).append((table, count))
    return found.values()


def _fewest(tables: Sequence[MeasureTable], counts: Floats) -> int:
    sizes = [t.units if t.draws is not None else t.values.shape[1] for t, c in zip(tables, counts, strict=True) if c]
    return min(sizes, default=1)


def _with_zero(values: Floats) -> Floats:
    return np.vstack([values, np.zeros((1, values.shape[1]))])


def _differences(scores: Floats) -> Floats:
    with_zero = np.append(scores, 0.0)
    return np.asarray(with_zero[:, None] - with_zero)


def mean_known(values: Floats) -> Floats:
    """The mean of each row over the values that are known; NaN where none is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1))
