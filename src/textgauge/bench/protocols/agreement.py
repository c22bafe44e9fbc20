"""Agreement with people: how the order of rated pairs, groups of them and sets by a metric follows the ratings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.bench.inputs import GROUPS, RatedPairs, get_pair_groups
from textgauge.bench.protocols.base import (
    PAIR_METRICS,
    RESAMPLES,
    Measure,
    Observations,
    Protocol,
    Verdict,
    register_protocol,
)
from textgauge.bench.protocols.batch import PairBatch
from textgauge.bench.protocols.levels import (
    AgreementLevel,
    measure_between_groups,
    measure_means,
    measure_pairs,
    measure_soft_accuracy,
    measure_within_groups,
)
from textgauge.bench.sources import PairSources
from textgauge.core.arrays import Floats
from textgauge.core.errors import InputError
from textgauge.data.units import FEWEST_GROUPS
from textgauge.stats.correlation import compute_pearson_rows, count_inversion_rows, draw_weights, rank_rows

_BATCH = 5_000  # pairs: every batch carries the texts of all pairs, for metrics that are fitted on them
_MEAN_RANKS = "ties: mean ranks"
_TAU_B = "Kendall's τ-b; ties: left out of the scale"
_ACCURACY = "share of pairs ordered or tied alike; ties: calibrated on the metric's differences (Deutsch et al. 2023)"
_SOFT = "1 − mean difference of the p-values of people and metric that one is better (Thompson et al. 2024)"


_declare_correlation = partial(Measure, low=-1.0, chance=0.0)


def _declare_within(column: str) -> tuple[Measure, ...]:
    level = f"pairs within each {column}, mean over {column}s"
    return (
        _declare_correlation(f"within_{column}_pearson", about=f"{level}: Pearson's r"),
        _declare_correlation(f"within_{column}_spearman", about=f"{level}: Spearman's ρ; {_MEAN_RANKS}"),
        _declare_correlation(f"within_{column}_kendall", about=f"{level}: {_TAU_B}"),
    )


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Agreement(Protocol):
    """Agreement of a metric with people who rated pairs of texts.

    Pairs come with `rating` (larger is nearer), and where known with single ratings (`rating_1`, …), `set`, `system`
    and `item`. At pair level: Pearson, Spearman, Kendall's τ-b and τ-c, pairwise accuracy with tie calibration, over
    all pairs and averaged within sets, systems, items. `system_…` correlate the means of systems; with items, also soft
    pairwise accuracy. Sets are ordered by
    their means, best first: Pearson of means, correlation of orders, coinciding ranks, swaps (half of Spearman's
    footrule), inversions (Kendall); and where the names of some sets end with `random`: variability (range of means on
    random sets over the range on all, in percent) and disqualification (a random set ranks above another).
    Distances count as negated. Pairs without a value are left out of the metric's numbers; people's means are over
    all. Intervals are from resampling pairs, all those of a `group` (a document, a user) together, or of an item where
    no group is named. `ratings=single` takes every single rating, not their mean, at pair level.

    Source: Yamshchikov et al. 2021; Deutsch et al. 2023 for pairwise accuracy, Thompson et al. 2024 for the soft one.
    """

    name = "agreement"
    heading = "Agreement with people"
    question = "Do similarities of pairs follow the ratings that people gave them?"
    purpose = "Scoring pairs as people do"
    of = "pairs"
    data = RatedPairs()
    default_metrics = PAIR_METRICS
    figures = ("order", "bump", "scatter")
    rated = True
    measures = (
        _declare_correlation("pearson", about="pairs: Pearson's r"),
        _declare_correlation("spearman", about=f"pairs: Spearman's ρ; {_MEAN_RANKS}"),
        _declare_correlation("kendall", about=f"pairs: {_TAU_B}"),
        _declare_correlation(
            "kendall_c", about="pairs: Kendall's τ-c; ties: scaled by the smaller number of distinct values"
        ),
        Measure("pairwise_accuracy", about=f"pairs: {_ACCURACY}"),
        *_declare_within("set"),
        *_declare_within("system"),
        *_declare_within("item"),
        Measure("within_item_accuracy", about=f"pairs within each item, mean over items: {_ACCURACY}"),
        _declare_correlation("system_pearson", about="means of systems: Pearson's r"),
        _declare_correlation("system_spearman", about=f"means of systems: Spearman's ρ; {_MEAN_RANKS}"),
        _declare_correlation("system_kendall", about=f"means of systems: {_TAU_B}"),
        Measure("system_accuracy", about="means of systems: share of pairs ordered alike; ties: equal means only"),
        Measure("system_soft_accuracy", about=f"pairs of systems: {_SOFT}", detail=True),
        _declare_correlation("set_pearson", about="means of sets: Pearson's r"),
        _declare_correlation("order_correlation", about=f"order of sets: Spearman's ρ; {_MEAN_RANKS}"),
        Measure("coinciding_ranks", high=np.inf, about="order of sets: sets of the same rank"),
        Measure("swaps", high=np.inf, best="smaller", about="order of sets: half of Spearman's footrule"),
        Measure("inversions", high=np.inf, best="smaller", about="order of sets: pairs of sets in opposite order"),
        Measure("variability", high=100.0, best="smaller", about="means of sets: range on random over range, percent"),
        Measure("disqualified", best="smaller", about="order of sets: 1 if a random set ranks above another"),
    )

    random: str = "random"
    ratings: Literal["mean", "single"] = "mean"

    @property
    def key(self) -> str:
        return f"agreement|v{self.version}"

    def check(self, sources: PairSources) -> None:
        if "rating" not in sources.columns:
            raise InputError(f"{sources.name}: agreement needs ratings of the pairs")
        if len(sources.left) < 2:
            raise InputError(f"{sources.name}: agreement needs at least two rated pairs, not {len(sources.left)}")
        if self.ratings == "single" and "rating_1" not in sources.columns:
            raise InputError(f"{sources.name}: ratings=single needs several ratings of each pair")
        group, item = (sources.columns.get(name) for name in ("group", "item"))
        if group is None:
            return
        if (count := len(np.unique(group))) < FEWEST_GROUPS:
            needed = f"resampling whole groups needs at least {FEWEST_GROUPS} groups, found {count}"
            raise InputError(f"{sources.name}: {needed}")
        if item is not None and len(set(zip(item.tolist(), group.tolist(), strict=True))) > len(np.unique(item)):
            raise InputError(f"{sources.name}: an item lies in several groups: a document or user has whole items")

    def batch_numbers(self, sources: PairSources, seed: int) -> Sequence[int]:
        return range(-(-sources.pairs.n_items // _BATCH))

    def trials(self, sources: PairSources, seed: int) -> Iterator[PairBatch]:
        """Yield some thousand pairs each; weights of fitted metrics are those of all pairs."""
        pairs = sources.pairs
        for number, rows in enumerate(np.array_split(np.arange(pairs.n_items), -(-pairs.n_items // _BATCH))):
            yield PairBatch(number, pairs.take(rows), {name: column[rows] for name, column in sources.columns.items()})

    def judge(self, observations: Observations) -> list[Verdict]:
        value, group = observations.value, get_pair_groups(observations.columns)
        levels = self._levels(-value, observations.columns)
        drawn = draw_weights(len(value), RESAMPLES, 0, group)
        blocks = [[level.draw(weights) for level in levels] for weights in drawn]
        units = len(value) if group is None else len(np.unique(group))
        missing, left_out = np.flatnonzero(~np.isfinite(value)), None
        if len(missing):
            first = observations.columns["reason"][missing[0]] if "reason" in observations.columns else None
            left_out = f"{len(missing)} of {len(value)} pairs left out: {first or 'the value is not finite'}"
        verdicts = []
        for place, level in enumerate(levels):
            draws = np.concatenate([block[place] for block in blocks]).T
            columns = zip(level.names, level.values, level.chance, level.reasons, draws, strict=True)
            for name, number, chance, reason, column in columns:
                why = "; ".join(filter(None, (reason, left_out))) or None
                verdicts.append(Verdict.of_draws(name, number, column, units, reason=why, n=level.n, chance=chance))
        return verdicts

    def _levels(self, x: Floats, columns: Mapping[str, NDArray[Any]]) -> list[AgreementLevel]:
        y, rows = columns["rating"].astype(np.float64), np.flatnonzero(np.isfinite(x))
        ratings, pair = y[rows], rows
        if self.ratings == "single":
            single = [columns[name][rows] for name in sorted(columns) if name.startswith("rating_")]
            ratings, pair = np.concatenate(single).astype(np.float64), np.tile(rows, len(single))
            ratings, pair = ratings[np.isfinite(ratings)], pair[np.isfinite(ratings)]
        levels = [measure_pairs(x[pair], ratings, pair)]
        if len(rows):
            levels += [
                measure_within_groups(name, x[rows], y[rows], columns[name][rows], rows, whole=name == "item")
                for name in GROUPS
                if name in columns
            ]
        if "system" in columns:
            levels.append(measure_between_groups("system", x, y, columns["system"]))
            if "item" in columns:
                levels.append(measure_soft_accuracy(x, y, columns["system"], columns["item"]))
        if "set" in columns:
            levels.append(measure_sets(x, y, columns["set"], self.random))
        return levels


def measure_sets(x: Floats, y: Floats, sets: NDArray[Any], random: str) -> AgreementLevel:
    """Return how the order of sets by their means follows the order by people's."""
    labels = np.unique(sets)
    is_random = np.array([bool(random) and str(label).endswith(random) for label in labels])
    names = ["set_pearson", "order_correlation", "coinciding_ranks", "swaps", "inversions"]
    larger = [True, True, True, False, False]
    if is_random.any() and not is_random.all():
        names, larger = [*names, "variability", "disqualified"], [*larger, False, False]
    judged = partial(_compare_sets, is_random=is_random, count=len(names))
    return measure_means(names, judged, x, y, sets, larger=larger, seed=0, what="means of sets")


def _compare_sets(mx: Floats, my: Floats, *, is_random: NDArray[np.bool_], count: int) -> Floats:
    mine, people = rank_rows(mx), rank_rows(my)
    known = np.isfinite(mine + people).all(axis=1, keepdims=True)
    values = [
        compute_pearson_rows(mx, my),
        compute_pearson_rows(mine, people),
        (mine == people).sum(axis=1),
        np.abs(mine - people).sum(axis=1) / 2.0,
        count_inversion_rows(mine, people),
    ]
    if count > len(values):
        whole = np.ptp(mx, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            variability = np.where(whole > 0, 100.0 * np.ptp(mx[:, is_random], axis=1) / whole, np.nan)
        values += [variability, mine[:, is_random].min(axis=1) < mine[:, ~is_random].max(axis=1)]
    return np.where(known, np.stack(values, axis=1).astype(np.float64), np.nan)
