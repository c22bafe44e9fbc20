"""What `score` gives back: values of every pair, and their summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.charts import draw_without_network
from textgauge.core.errors import InputError
from textgauge.core.registry import parse
from textgauge.core.result import Column, Result, show_rows
from textgauge.core.settings import check_seed_and_level
from textgauge.core.show import (
    ARROWS,
    BLUE,
    VERMILION,
    FlatRow,
    Row,
    drop_nonfinite,
    format_cell,
    format_count,
    format_interval,
    join_words,
)
from textgauge.data import Pairs
from textgauge.metrics import PairMetric, PairScores
from textgauge.metrics.base import Closer
from textgauge.stats.decisions import format_sign
from textgauge.stats.resampling import compute_percentile_interval, resample_sums

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


_BINS = 30


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made."""

    level: float = 0.95
    resamples: int = 1_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed_and_level(self.seed, self.level)
        if self.resamples < 100:
            raise InputError(f"a bootstrap needs at least 100 resamples, not {self.resamples}")


class ItemUnits(NamedTuple):
    """What is resampled and exchanged as a whole: items, or groups of them.

    `order` are the items, one unit after the other; `starts` the places in it at which a unit begins.
    """

    order: Ints
    starts: Ints

    @property
    def notes(self) -> tuple[str, ...]:
        """How many groups there are, if units are groups."""
        n = len(self.starts)
        return () if n == len(self.order) else (f"intervals and tests count {n} groups of {len(self.order)} items",)


@dataclass(frozen=True, eq=False)
class Summed:
    """Statistics of every item, the score their sums make, and the bounds it has."""

    rows: Floats
    score: Callable[[Floats], Floats]
    bounds: tuple[float, float] = (-np.inf, np.inf)

    @property
    def value(self) -> float:
        """The score of all items."""
        return float(self.score(self.rows.sum(axis=0, keepdims=True))[0])

    def sum_units(self, units: ItemUnits) -> Summed:
        """Return the sums over the items of each unit, in the order of units."""
        return replace(self, rows=np.add.reduceat(self.rows[units.order], units.starts))

    def resample(self, how: Bootstrap) -> Floats:
        """Return the score of resamples of the rows: the same ones of all that have as many."""
        return self.score(resample_sums(self.rows, how.resamples, how.seed))

    def interval(self, how: Bootstrap) -> tuple[float, float]:
        """Low and high end of the score over resamples of the rows."""
        low, high = compute_percentile_interval(self.resample(how), len(self.rows), how.level)
        return max(low, self.bounds[0]), min(high, self.bounds[1])


@dataclass(frozen=True, eq=False)
class ItemScores:
    """The values of a metric on all items; `counts` are what the score of the whole set adds up, where it has one."""

    metric: PairMetric
    scores: PairScores
    counts: Floats | None = None

    @property
    def mean(self) -> Summed:
        """The mean over the items that have a value."""
        values = self.scores.values
        defined = ~np.isnan(values)
        return Summed(np.column_stack([np.where(defined, values, 0.0), defined]), _divide_sums, self._bounds)

    @property
    def whole(self) -> Summed | None:
        """The score of the whole set, where the metric has one."""
        if self.counts is None:
            return None
        return Summed(self.counts, lambda sums: self.metric.factor * self.metric.of_statistics(sums), self._bounds)

    @property
    def _bounds(self) -> tuple[float, float]:
        low, high = self.metric.bounds
        return self.metric.factor * low, self.metric.factor * high

    def cite(self, references: int) -> str | None:
        """Return the score of the whole set as sacrebleu writes it, None where it has no such score.

        `references` is how many of them each text has, -1 if it varies.
        """
        known = None if self.counts is None else self.metric.as_sacrebleu(self.counts.sum(axis=0, keepdims=True))
        if known is None or self.whole is None:
            return None
        name, theirs = known
        theirs.num_refs = references
        return f"{name}|{theirs.get_signature()} = {self.whole.value:.1f}"


def measure_items(metric: PairMetric, pairs: Pairs) -> ItemScores:
    """Return the scores of a metric, and what the score of the whole set adds up."""
    return ItemScores(metric, metric.measure(pairs), metric.statistics(pairs) if metric.part is None else None)


def align_systems(systems: Sequence[ItemScores], units: ItemUnits) -> tuple[str, list[Summed]]:
    """Return what systems are compared by, and the statistics of each, by unit.

    The score of the whole set where the metric has one, else the mean over items that have a value for every system.
    """
    wholes = [whole for one in systems if (whole := one.whole) is not None]
    if len(wholes) == len(systems):
        return "whole set", [whole.sum_units(units) for whole in wholes]
    means = [one.mean for one in systems]
    defined = np.prod([mean.rows[:, 1:] for mean in means], axis=0)
    return "mean", [replace(mean, rows=mean.rows * defined).sum_units(units) for mean in means]


def find_item_units(*systems: Pairs, labels: Ints | None = None) -> ItemUnits:
    """Return the units of items, whose group is their label from 0; without labels every item is one.

    They are ordered by their texts, so that resamples do not depend on the order given. Several systems on the same
    items are taken together, whichever comes first.
    """
    starts = np.flatnonzero(np.diff(systems[0].items, prepend=-1))
    candidates = np.bitwise_xor.reduce([pairs.left.keys[starts] for pairs in systems])
    references = np.bitwise_xor.reduceat(systems[0].right.keys, starts)
    if labels is None:
        order = np.lexsort((references, candidates))
        return ItemUnits(order, np.arange(len(order)))
    place = np.argsort(np.lexsort((labels, references, candidates)))
    first = np.full(int(labels.max()) + 1, len(place))
    np.minimum.at(first, labels, place)
    order = np.lexsort((place, first[labels]))
    return ItemUnits(order, np.flatnonzero(np.diff(first[labels[order]], prepend=-1)))


def _divide_sums(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1])


@dataclass(frozen=True, kw_only=True)
class Summary(FlatRow):
    """The values of one metric in short.

    `low` and `high` bound the mean; `whole` is the score of the set as one (corpus BLEU, chrF, TER), NaN where a metric
    has none; `sacrebleu` is that score, from 0 to 100, as sacrebleu writes it; `closer` says whether `smaller` or
    `larger` values are better; `undefined` counts values that do not exist.
    """

    metric: str
    closer: Closer
    mean: float
    std: float
    low: float
    high: float
    n: int
    whole: float
    whole_low: float
    whole_high: float
    undefined: int
    reason: str | None
    warning: str | None
    seconds: float
    signature: str
    sacrebleu: str | None


@dataclass(frozen=True, eq=False, repr=False)
class ScoreReport(Result):
    """The scores of many metrics on the same pairs; iterate over them, or ask for one by its key.

    `references` is how many of them each text has, -1 where the number varies; `places` are the rows
    of the pairs in what they were read from; `sign` says that pairs seem to belong together.
    """

    command: ClassVar[str] = "score"

    items: tuple[ItemScores, ...]
    units: ItemUnits
    bootstrap: Bootstrap
    references: int
    places: Ints
    sign: str | None = None
    texts: pl.DataFrame | None = None

    @cached_property
    def rows(self) -> tuple[PairScores, ...]:
        """The scores of each metric."""
        return tuple(one.scores for one in self.items)

    @property
    def scores(self) -> tuple[PairScores, ...]:
        """The scores: the rows."""
        return self.rows

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against trusting a metric on these pairs, and what is undefined, each one sentence."""
        found = dict.fromkeys(text for scores in self.rows for text in scores.warnings)
        sign = [] if self.sign is None else [format_sign(self.sign, "intervals hold")]
        lacking = [(one, len(one) - len(one.defined)) for one in self.rows if one.reason]
        undefined = [
            f"{one.metric} is undefined for {missing} of {format_count(len(one), 'pair')}: {one.reason}"
            for one, missing in lacking
        ]
        return (*self.units.notes, *sign, *found, *undefined)

    def summary(self) -> tuple[Summary, ...]:
        """Mean, standard deviation and interval of every metric, in order."""
        return self._summaries

    @cached_property
    def _summaries(self) -> tuple[Summary, ...]:
        return tuple(map(self._summarise, self.items))

    def _summarise(self, one: ItemScores, *, with_intervals: bool = True) -> Summary:
        scores, whole, nothing = one.scores, one.whole, (math.nan, math.nan)
        low, high = one.mean.sum_units(self.units).interval(self.bootstrap) if with_intervals else nothing
        ends = whole.sum_units(self.units).interval(self.bootstrap) if whole and with_intervals else nothing
        return Summary(
            metric=scores.metric,
            closer=one.metric.closer,
            mean=scores.mean,
            std=scores.std,
            low=low,
            high=high,
            n=len(scores),
            whole=math.nan if whole is None else whole.value,
            whole_low=ends[0],
            whole_high=ends[1],
            undefined=len(scores) - len(scores.defined),
            reason=scores.reason,
            warning="; ".join(scores.warnings) or None,
            seconds=scores.seconds,
            signature=scores.signature,
            sacrebleu=one.cite(self.references),
        )

    def to_dicts(self, *, parts: bool = False) -> list[dict[str, Any]]:
        """One flat dictionary per pair: `index` (the row of the source, from 0), a field per metric, and per part."""
        columns: dict[str, list[Any]] = {}
        for scores in self.rows:
            columns[scores.metric] = list(map(drop_nonfinite, scores.values.tolist()))
            for name, values in scores.parts.items() if parts else ():
                columns[str(replace(parse(scores.metric), part=name))] = list(map(drop_nonfinite, values.tolist()))
        columns = {"index": self.places.tolist(), **columns}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def plot(self) -> alt.VConcatChart:
        """Return how the values of every metric are spread over the pairs, with their mean."""
        return draw_without_network(draw_spread(self.rows))

    @property
    def answer(self) -> str:
        """The score of the whole set where a metric has one, then the means of the others."""
        whole = {one.scores.metric: found.value for one in self.items if (found := one.whole)}
        means = {one.metric: one.mean for one in self.rows if one.metric not in whole}
        return score_sentence(whole, means, len(self.rows[0]) if self.rows else 0)

    @property
    def details(self) -> Row:
        """`summary`: one row per metric."""
        return {"summary": [row.to_dict() for row in self.summary()]}

    def readable(self) -> list[Row]:
        """One row per metric: the score of the whole set first, then mean, interval and spread over the pairs."""
        return show_rows([row.to_dict() for row in self.summary()], _COLUMNS)

    @property
    def citations(self) -> tuple[str, ...]:
        """The scores of the whole set as sacrebleu writes them, to be cited."""
        return tuple(line for one in self.items if (line := one.cite(self.references)))

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *self.citations])

    def at_a_glance(self) -> list[Row]:
        """Return what `readable` has, without intervals, which take longer than looking at a result may."""
        rows = [self._summarise(one, with_intervals=False).to_dict() for one in self.items]
        return show_rows(rows, _GLANCE)


def score_sentence(whole: Mapping[str, float], means: Mapping[str, float], pairs: int) -> str:
    """Return the answer of `score`: scores of the whole set, then means over pairs.

    >>> score_sentence({"bleu": 31.25}, {"jaccard": 0.5, "cosine": float("nan")}, 12)
    'The whole set of 12 pairs has bleu 31.2; on average over pairs jaccard 0.5; cosine is undefined.'
    """
    said, known = [], {name: value for name, value in means.items() if not math.isnan(value)}
    of_whole, of_means = (
        ", ".join(f"{name} {format_cell(value)}" for name, value in of.items()) for of in (whole, known)
    )
    if whole:
        said.append(f"The whole set of {format_count(pairs, 'pair')} has {of_whole}")
    if known:
        over = "on average over pairs" if whole else f"On average over {format_count(pairs, 'pair')}:"
        said.append(f"{over} {of_means}")
    undefined = [name for name in means if name not in known]
    if undefined:
        said.append(f"{join_words(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined")
    return "; ".join(said) + "."


def _format_whole(value: float | None, low: float | None, high: float | None) -> str:
    return format_cell(value) if value is None else f"{format_cell(value)} ({format_interval(low, high)})"


_COLUMNS = (
    Column("metric", "metric closer", lambda metric, closer: f"{metric} {ARROWS[closer]}"),
    Column("whole set", "whole whole_low whole_high", _format_whole, when="whole"),
    Column("mean", form=format_cell),
    Column("interval", "low high", format_interval),
    Column("std", form=format_cell),
    Column("n"),
)
_GLANCE = (_COLUMNS[0], Column("whole set", "whole", when="whole"), *map(Column, ("mean", "std", "n")))


def draw_spread(scores: Sequence[PairScores]) -> alt.VConcatChart:
    """Return one histogram per metric, each on a scale of its own, with a line at the mean."""
    import altair as alt

    return alt.vconcat(*(_draw_histogram(one) for one in scores), spacing=8)


def _draw_histogram(scores: PairScores) -> alt.LayerChart:
    import altair as alt

    values = scores.defined[np.isfinite(scores.defined)]
    counts, edges = np.histogram(values, bins=_BINS) if len(values) else (np.empty(0), np.empty(1))
    bins = [
        {"low": float(low), "high": float(high), "pairs": int(count)}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    mean = [{"mean": scores.mean}] if np.isfinite(scores.mean) else []
    axis = alt.Axis(tickCount=5, format=".3~g")
    x = alt.X("low:Q", bin="binned", title=None, scale=alt.Scale(zero=False), axis=axis)
    tip = [alt.Tooltip("low:Q", format=".4g"), alt.Tooltip("high:Q", format=".4g"), alt.Tooltip("pairs:Q")]
    y = alt.Y("pairs:Q", title="pairs", axis=alt.Axis(tickCount=3))
    bars = alt.Chart(alt.InlineData(values=bins)).mark_bar(color=BLUE).encode(x, y, x2="high:Q", tooltip=tip)
    middle = alt.Chart(alt.InlineData(values=mean)).mark_rule(color=VERMILION, strokeWidth=2)
    line = middle.encode(x="mean:Q", tooltip=[alt.Tooltip("mean:Q", format=".6g")])
    missing = len(scores) - len(scores.defined)
    title = f"{scores.metric}, mean {scores.mean:.4g}" + (f"; undefined for {missing} pairs" if missing else "")
    return alt.LayerChart(layer=[bars, line]).properties(
        width=360, height=60, title=alt.TitleParams(title, anchor="start", fontSize=11)
    )
