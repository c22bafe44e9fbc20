"""Two systems with the same references and paired tests of their difference; several systems, ranked.

Items are resampled for all systems and metrics alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError, MissingExtra, ResourceError
from textgauge.core.progress import begin_step
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
from textgauge.data import Pairs, load_aligned
from textgauge.data.source import Source
from textgauge.encode.embedders import EmbedderLike
from textgauge.measure.score_report import Bootstrap, ItemUnits, Summed, align_systems, measure_items
from textgauge.measure.scoring import (
    DEFAULT_METRICS,
    References,
    find_groups,
    list_references,
    make_pairs,
    require_texts,
)
from textgauge.measure.single_texts import list_items
from textgauge.metrics import Metric, PairMetric, PairScores, get_pair_metrics
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
from textgauge.stats.resampling import compute_percentile_interval, resample_sums, swap_sums

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
        Column("p bootstrap", "p_bootstrap", format_p),
        Column("p randomisation", "p_randomisation", format_p),
        Column("adjusted p", "p_adjusted", format_p),
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


def contrast(
    left: Source,
    baseline: Source,
    right: References,
    *,
    metrics: str | Iterable[str | Metric] = DEFAULT_METRICS,
    embedder: EmbedderLike | None = None,
    column: str | None = None,
    group: str | Sequence[Any] | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    explain: bool = False,
) -> ContrastReport:
    """Compare the texts of a system with those of a baseline, both against the same references.

    The interval and one p-value come from the paired bootstrap (Koehn 2004, centred as in sacrebleu), the other p-value
    from approximate randomisation (Riezler and Maxwell 2005); that one is also adjusted for all metrics by max-T, as
    every metric sees the same resamples and exchanges. Fitted weights come from the references, which both share.

    Parameters
    ----------
    left
        The texts of the system.
    baseline
        The texts of another system: test the difference from it, metric by metric.
    right
        The references; a list for each item holds several.
    metrics
        Metrics, separated by commas or repeated.
    embedder
        The embedder of metrics whose name has none. In Python also a function that gives vectors for a list of texts,
        or a model with a method `encode`.
    column
        The column that holds the texts, for tables.
    group
        A column that says which items belong together, or their labels: whole groups are resampled and exchanged.
    level
        Confidence level of the intervals.
    resamples
        Number of resamples in bootstrap and test.
    seed
        Random seed.
    explain
        Keep every item with its texts and values in `texts` of the report.

    Examples
    --------
    >>> found = contrast(left=["a b c", "d e"], baseline=["a b", "x y"], right=["a b c", "d e"], metrics="jaccard")
    >>> round(found[0].difference, 3)
    0.667
    """
    how = Bootstrap(level=level, resamples=resamples, seed=seed)
    pairs = load_systems({"the system": left, "the baseline": baseline}, right, column)
    systems = list(pairs.values())
    chosen = [metric.on_given(systems[0]) for metric in get_pair_metrics(metrics, embedder)]
    require_texts(systems[0], chosen)
    units, sign = find_groups(group, (left, baseline, right), *systems)
    found = []
    for number, metric in enumerate(chosen):
        begin_step(metric.key, number, len(chosen), "scoring")
        found.append(_contrast_metric(metric, systems, units, how))
    p = adjust_p_values([null for _, null, _ in found])[0].tolist()
    rows = tuple(replace(row, p_adjusted=own) for (row, _, _), own in zip(found, p, strict=True))
    named = dict(zip(("candidate", "baseline"), systems, strict=True))
    texts = list_items(named, {row.metric: scores for row, _, scores in found}) if explain else None
    return ContrastReport(rows, units.notes, sign, texts)


def _contrast_metric(
    metric: PairMetric, systems: list[Pairs], units: ItemUnits, how: Bootstrap
) -> tuple[Contrast, NullValues, list[PairScores]]:
    found = [measure_items(metric, pairs) for pairs in systems]
    of, (mine, yours) = align_systems(found, units)
    observed = mine.value - yours.value
    draws = resample_differences(mine, yours, how)
    low, high = compute_percentile_interval(draws, len(mine.rows), how.level)
    swapped = swap_sums(mine.rows, yours.rows, how.resamples, how.seed)
    exchanged = mine.score(swapped[0]) - yours.score(swapped[1])
    null = NullValues(abs(observed), np.abs(exchanged), PERMUTATION)
    contrast = Contrast(
        metric=metric.key,
        of=of,
        value=mine.value,
        baseline=yours.value,
        difference=observed,
        low=low,
        high=high,
        p_bootstrap=NullValues(abs(observed), np.abs(draws - draws.mean()), PERMUTATION).p_value,
        p_randomisation=null.p_value,
        p_adjusted=math.nan,
        n=systems[0].n_items,
        signature=metric.signature,
    )
    return contrast, null, [one.scores for one in found]


def resample_differences(mine: Summed, yours: Summed, how: Bootstrap) -> Floats:
    """Return the first score minus the second, over resamples of the items they share."""
    joint = resample_sums(np.hstack([mine.rows, yours.rows]), how.resamples, how.seed)
    width = mine.rows.shape[1]
    return mine.score(joint[:, :width]) - yours.score(joint[:, width:])


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
    """Several systems on the same items, best first by each metric; `rankings` have the places of `names`.

    `segments` has the values of single items, by metric and system; `missing` the reason for each metric that could not
    be computed; `sign` says that items seem to belong together.
    """

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

    names: tuple[str, ...]
    rows: tuple[SystemScore, ...]
    rankings: Mapping[str, Ranking]
    segments: Mapping[str, Sequence[PairScores]]
    missing: Mapping[str, str]
    level: float = 0.95
    notes: tuple[str, ...] = ()
    sign: str | None = None
    texts: pl.DataFrame | None = None

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
        texts = [*self.notes, *(text for scores in self.segments.values() for one in scores for text in one.warnings)]
        texts += [f"{metric}: {reason}" for metric, reason in self.missing.items()]
        for metric, scores in self.segments.items():
            counts = {name: len(one) - len(one.defined) for name, one in zip(self.names, scores, strict=True)}
            if any(counts.values()):
                which = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
                texts.append(f"{metric} is undefined for items ({which}), which are left out for all systems")
        return tuple(dict.fromkeys(texts))

    def items(self) -> list[Row]:
        """Return one flat dictionary per system and item, with a field per metric."""
        columns = {metric: [one.values.tolist() for one in scores] for metric, scores in self.segments.items()}
        return [
            {"system": name, "index": item}
            | {metric: drop_nonfinite(values[at][item]) for metric, values in columns.items()}
            for at, name in enumerate(self.names)
            for item in range(len(next(iter(columns.values()))[at]))
        ]


def score_systems(
    systems: Mapping[str, Source],
    right: References,
    *,
    metrics: str | Iterable[str | Metric] = DEFAULT_METRICS,
    embedder: EmbedderLike | None = None,
    column: str | None = None,
    group: str | Sequence[Any] | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    explain: bool = False,
) -> SystemsReport:
    """Rank several systems, given by name, by the scores of their texts against the same references.

    By each metric: the score of the whole set where the metric has one, else the mean over the items that have a value
    for every system; its interval; the differences between systems with intervals that hold together at `level` for all
    pairs and metrics; the rank ranges and tiers that follow. Items, or groups of them (`group`: a column, or the label
    of each item), are resampled for all systems and metrics alike. `right` may hold several references for each item.
    Fitted weights come from the references. `explain` keeps every item with its texts and values in `texts`.

    >>> systems = {"a": ["a red cat", "one dog", "no"] * 9, "b": ["a cat", "two cows", "yes"] * 9}
    >>> score_systems(systems, ["a red cat", "one dog", "no"] * 9, metrics="jaccard").rankings["jaccard"].unbeaten()
    [0]
    """
    how = Bootstrap(level=level, resamples=resamples, seed=seed)
    pairs = load_systems(systems, right, column)
    first = next(iter(pairs.values()))
    chosen = [metric.on_given(first) for metric in get_pair_metrics(metrics, embedder)]
    require_texts(first, chosen)
    units, sign = find_groups(group, (*systems.values(), right), *pairs.values())
    rows: list[SystemScore] = []
    rankings: dict[str, Ranking] = {}
    segments: dict[str, Sequence[PairScores]] = {}
    missing: dict[str, ResourceError | MissingExtra] = {}
    for number, metric in enumerate(chosen):
        begin_step(metric.key, number, len(chosen), "scoring")
        try:
            found = [measure_items(metric, one) for one in pairs.values()]
        except (ResourceError, MissingExtra) as error:
            missing[metric.key] = error
            continue
        segments[metric.key] = [one.scores for one in found]
        of, statistics = align_systems(found, units)
        rankings[metric.key] = _rank_systems(metric, statistics, how, 1 - (1 - level) / len(chosen))
        for row in rankings[metric.key].placings():
            place = row.pop("place")
            summed = statistics[place]
            low, high = summed.interval(how)
            rows.append(
                SystemScore(
                    metric=metric.key,
                    system=list(systems)[place],
                    of=of,
                    value=summed.value,
                    closer=metric.closer,
                    low=low,
                    high=high,
                    n=first.n_items if of == "whole set" else int(summed.rows[:, 1].sum()),
                    signature=metric.signature,
                    **row,
                )
            )
    if len(missing) == len(chosen):
        raise next(iter(missing.values()))
    reasons = {key: str(error) for key, error in missing.items()}
    texts = list_items(pairs, segments) if explain else None
    return SystemsReport(tuple(systems), tuple(rows), rankings, segments, reasons, level, units.notes, sign, texts)


def load_systems(systems: Mapping[str, Source], right: References, column: str | None) -> dict[str, Pairs]:
    """Return the pairs of each system with the references, which fitted weights come from."""
    if not systems:
        raise InputError("there is no system to score")
    references: Any = load_aligned(right, column=column)  # type: ignore[arg-type]
    fitted = list_references(references)
    pairs = {}
    for name, source in systems.items():
        texts = load_aligned(source, column=column)
        if len(texts) != len(references):
            raise InputError(f"{name} has {len(texts)} texts, but the references have {len(references)} items")
        pairs[name] = make_pairs(texts, references, fitted)
    return pairs


def _rank_systems(metric: PairMetric, statistics: Sequence[Summed], how: Bootstrap, level: float) -> Ranking:
    """Rank the systems by their scores; every resample holds the same items for all of them."""
    n = len(statistics[0].rows)
    draws = np.column_stack([one.score(resample_sums(one.rows, how.resamples, how.seed)) for one in statistics])
    oriented = metric.orient(draws[np.isfinite(draws).all(axis=1)])
    values = metric.orient(np.array([one.value for one in statistics]))
    return rank_values(
        values, _estimate_errors(oriented, n), oriented - oriented.mean(axis=0), freedom=n - 1, level=level
    )


def _estimate_errors(draws: Floats, n: int) -> Floats:
    """Return the standard errors of differences of columns.

    Resampling n items misses the factor n/(n − 1) of the variance.
    """
    if n < 2 or len(draws) < 2:
        return np.full((draws.shape[1], draws.shape[1]), np.nan)
    spread = np.std(draws[:, :, None] - draws[:, None, :], axis=0)
    return np.asarray(spread * np.sqrt(n / (n - 1)))
