"""Two systems with the same references and paired tests of their difference; several systems, ranked.

Items are resampled for all systems and metrics alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.result import Column, Result
from textgauge.core.show import (
    FlatRow,
    Row,
    drop_nonfinite,
    format_cell,
    format_interval,
    format_p,
    format_ranks,
    format_value,
)
from textgauge.data import Pairs
from textgauge.measure.score_report import Bootstrap, ItemScores, ItemUnits, align_systems
from textgauge.measure.single_texts import list_items
from textgauge.metrics import PairScores, get_pair_metrics
from textgauge.metrics.uncertainty import PERMUTATION, NullValues, adjust_p_values
from textgauge.stats.decisions import format_adjustment, format_baseline, format_sign
from textgauge.stats.rankings import (
    RANKS_IN_CELLS,
    Ranking,
    format_ranking_answer,
    list_differences,
    rank_values,
    spread_metrics,
)
from textgauge.stats.resampling import compute_percentile_interval, swap_sums

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class Contrast(FlatRow):
    """Two systems under one metric: both scores, their difference and how sure it is.

    `of` says what is compared: the score of the whole set where the metric has one, else the mean over items.
    `low` and `high` bound the difference; both p-values are two-sided, for "the systems do not differ". `p_adjusted` is
    that of randomisation, adjusted for all metrics by max-T.
    """

    metric: str
    of: str
    value: float
    baseline: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_randomisation: float
    p_adjusted: float
    n: int
    signature: str


@dataclass(frozen=True, repr=False)
class ContrastReport(Result):
    """Two systems under several metrics; iterate over the contrasts, or take one by its place or metric."""

    command: ClassVar[str] = "score"
    columns: ClassVar[tuple[Column, ...]] = (
        *(Column(name, form=format_cell) for name in ("metric", "of", "value", "baseline", "difference")),
        Column("interval", "low high", format_interval),
        Column("adjusted p", "p_adjusted", format_p),
        Column("p bootstrap", "p_bootstrap", format_p),
        Column("p randomisation", "p_randomisation", format_p),
    )

    rows: tuple[Contrast, ...]
    warnings: tuple[str, ...] = ()
    sign: str | None = None
    texts: pl.DataFrame | None = None

    @property
    def footnote(self) -> str | None:
        """How p-values were adjusted, where they were."""
        return format_adjustment("max-T" if len(self.rows) > 1 else None)

    @property
    def answer(self) -> str:
        """Which metrics find the candidate better or worse than the baseline, by their tests adjusted together."""
        larger = {row.metric: get_pair_metrics([row.metric])[0].closer == "larger" for row in self.rows}
        closer = {row.metric: row.difference > 0 if larger[row.metric] else row.difference < 0 for row in self.rows}
        return format_baseline({row.metric: row.p_adjusted for row in self.rows}, closer, self.sign)


@dataclass(frozen=True, eq=False)
class ScoredSystems:
    """Systems on the same items: their pairs by name, and by metric the scores of each, in the order of the systems.

    `missing` has the reason of each metric that could not be computed; `sign` says that items seem to belong together.
    """

    pairs: Mapping[str, Pairs]
    items: Mapping[str, Sequence[ItemScores]]
    missing: Mapping[str, str]
    units: ItemUnits
    sign: str | None

    @property
    def segments(self) -> dict[str, list[PairScores]]:
        """The values of single items, by metric and system."""
        return {name: [one.scores for one in found] for name, found in self.items.items() if name not in self.missing}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against a metric on these texts, and why one is missing."""
        segments = self.segments
        texts = [*self.units.notes, *(text for own in segments.values() for one in own for text in one.warnings)]
        texts += [f"{metric}: {reason}" for metric, reason in self.missing.items()]
        for metric, scores in segments.items():
            counts = {name: len(one) - len(one.defined) for name, one in zip(self.pairs, scores, strict=True)}
            if any(counts.values()):
                which = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
                texts.append(f"{metric} is undefined for items ({which}), which are left out for all systems")
        return tuple(dict.fromkeys(texts))


def contrast_systems(scored: ScoredSystems, how: Bootstrap, *, explain: bool) -> ContrastReport:
    """Test the difference of two systems by every metric; p-values are adjusted for all of them."""
    rows, nulls = list[Contrast](), list[NullValues]()
    for name, segments in scored.segments.items():
        metric = scored.items[name][0].metric
        of, (mine, yours) = align_systems(scored.items[name], scored.units)
        observed, draws = mine.value - yours.value, mine.resample(how) - yours.resample(how)
        low, high = compute_percentile_interval(draws, len(mine.rows), how.level)
        swapped = swap_sums(mine.rows, yours.rows, how.resamples, how.seed)
        exchanged = mine.score(swapped[0]) - yours.score(swapped[1])
        nulls.append(NullValues(abs(observed), np.abs(exchanged), PERMUTATION))
        contrast = Contrast(
            metric=name,
            of=of,
            value=mine.value,
            baseline=yours.value,
            difference=observed,
            low=low,
            high=high,
            p_bootstrap=NullValues(abs(observed), np.abs(draws - draws.mean()), PERMUTATION).p_value,
            p_randomisation=nulls[-1].p_value,
            p_adjusted=math.nan,
            n=len(segments[0]),
            signature=metric.signature,
        )
        rows.append(contrast)
    p = adjust_p_values(nulls)[0].tolist()
    adjusted = tuple(replace(row, p_adjusted=own) for row, own in zip(rows, p, strict=True))
    named = dict(zip(("candidate", "baseline"), scored.pairs.values(), strict=True))
    texts = list_items(named, scored.segments) if explain else None
    return ContrastReport(adjusted, scored.warnings, scored.sign, texts)


@dataclass(frozen=True, kw_only=True)
class SystemScore(FlatRow):
    """One system by one metric; `of` says whether it is the score of the whole set or the mean over items."""

    metric: str
    system: str
    of: str
    value: float
    closer: str
    low: float
    high: float
    n: int
    signature: str
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    tier: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class SystemsReport(Result):
    """Several systems on the same items, best first by each metric; `rankings` have the places of `names`."""

    command: ClassVar[str] = "score"
    keys: ClassVar[tuple[str, ...]] = ("metric", "system")
    columns: ClassVar[tuple[Column, ...]] = (
        Column("metric"),
        Column("system"),
        Column("value", "value closer", format_value),
        Column("interval", "low high", format_interval),
        Column("rank", "rank_low rank_high", format_ranks),
        Column("of"),
    )

    scored: ScoredSystems
    rows: tuple[SystemScore, ...]
    rankings: Mapping[str, Ranking]
    level: float = 0.95
    texts: pl.DataFrame | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems, in the order given."""
        return tuple(self.scored.pairs)

    @property
    def sign(self) -> str | None:
        """A sign that items belong together."""
        return self.scored.sign

    @property
    def answer(self) -> str:
        """Which system is best, by which metrics."""
        said = format_ranking_answer("system", self.names, self.rankings, self.level)
        return said if self.sign is None else f"{said} {format_sign(self.sign)}"

    def readable(self) -> list[Row]:
        """Return one row a system, with value and ranks by each metric; the first metric gives the order."""
        return spread_metrics(self.to_dicts(), "system")

    @property
    def footnote(self) -> str | None:
        """What stands in the cells, and for what the ranks hold."""
        return f"{RANKS_IN_CELLS} ({100 * self.level:g} %)"

    @property
    def details(self) -> Row:
        """`differences`: one row per metric and pair."""
        return {"differences": self.differences()}

    def differences(self) -> list[Row]:
        """Return one flat dictionary per metric and pair of systems: how far `first` is ahead of `second`."""
        return list_differences(self.names, self.rankings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against a metric on these texts, and why one is missing."""
        return self.scored.warnings

    def items(self) -> list[Row]:
        """Return one flat dictionary per system and item, with a field per metric."""
        columns = {metric: [one.values.tolist() for one in own] for metric, own in self.scored.segments.items()}
        return [
            {"system": name, "index": item}
            | {metric: drop_nonfinite(values[at][item]) for metric, values in columns.items()}
            for at, name in enumerate(self.names)
            for item in range(len(next(iter(columns.values()))[at]))
        ]


def rank_systems(scored: ScoredSystems, how: Bootstrap, *, explain: bool) -> SystemsReport:
    """Rank systems by each metric; their differences hold together for all pairs and metrics."""
    names, rows, rankings = tuple(scored.pairs), list[SystemScore](), dict[str, Ranking]()
    level = 1 - (1 - how.level) / len(scored.items)
    for name, segments in scored.segments.items():
        metric = scored.items[name][0].metric
        of, statistics = align_systems(scored.items[name], scored.units)
        n, values = len(statistics[0].rows), metric.orient(np.array([one.value for one in statistics]))
        draws = np.column_stack([one.resample(how) for one in statistics])  # of the same items for all systems
        draws = metric.orient(draws[np.isfinite(draws).all(axis=1)])
        errors = _estimate_errors(draws, n)
        rankings[name] = rank_values(values, errors, draws - draws.mean(axis=0), freedom=n - 1, level=level)
        for row in rankings[name].placings():
            place = row.pop("place")
            low, high = statistics[place].interval(how)
            rows.append(
                SystemScore(
                    metric=name,
                    system=names[place],
                    of=of,
                    value=statistics[place].value,
                    closer=metric.closer,
                    low=low,
                    high=high,
                    n=len(segments[0]) if of == "whole set" else int(statistics[place].rows[:, 1].sum()),
                    signature=metric.signature,
                    **row,
                )
            )
    texts = list_items(scored.pairs, scored.segments) if explain else None
    return SystemsReport(scored, tuple(rows), rankings, how.level, texts)


def _estimate_errors(draws: Floats, n: int) -> Floats:
    """Return the standard errors of differences of columns.

    Resampling n items misses the factor n/(n − 1) of the variance.
    """
    if n < 2 or len(draws) < 2:
        return np.full((draws.shape[1], draws.shape[1]), np.nan)
    spread = np.std(draws[:, :, None] - draws[:, None, :], axis=0)
    return np.asarray(spread * np.sqrt(n / (n - 1)))
