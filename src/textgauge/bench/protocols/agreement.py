"""Agreement with people: how the order of rated pairs, groups of them and sets by a metric follows the ratings.

The protocol first, then the levels at which a metric may agree with people: pairs, pairs within groups, means of
groups. Each gives several measures at once, and the same measures on resamples of all pairs. `x` is how near the metric
finds each pair, `y` how near people do; `rows` are the places of these pairs among all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from textgauge.bench.sources import PairBatch, PairSources
from textgauge.core.arrays import Floats, Ints, average_known
from textgauge.core.errors import InputError
from textgauge.data.units import FEWEST_GROUPS
from textgauge.stats.correlation import (
    Correlation,
    OfRows,
    compute_accuracy_rows,
    compute_kendall_rows,
    compute_pearson_rows,
    compute_spearman_rows,
    correlate_groups,
    count_inversion_rows,
    draw_weights,
    list_rows_of_groups,
    pearson,
    rank_rows,
    resample_correlation,
    spearman,
)
from textgauge.stats.orders import (
    accuracy_eq,
    calibrate_ties,
    compute_soft_accuracy,
    count_rows,
    draw_signs,
    estimate_superiority,
    kendall_b,
    kendall_c,
    resample_kendall_b,
    resample_share,
    resample_superiority,
)

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
    figures = ("order", "scatter")
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
        levels = self._measure_levels(-value, observations.columns)
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

    def _measure_levels(self, x: Floats, columns: Mapping[str, NDArray[Any]]) -> list[AgreementLevel]:
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
    return measure_means(names, judged, x, y, sets, larger=larger, what="means of sets")


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


Rows = NDArray[np.intp]
Draw = Callable[[Ints], Floats]

_SHUFFLES = 1_000
ONE_SIDED = 1.6449  # standard deviations that chance passes in 1 case of 20


@dataclass(frozen=True, eq=False)
class AgreementLevel:
    """Measures of one level: values, what `n` counts, chance levels, reasons, and how they follow from weights.

    `draw` gives resamples by measures. Chance is what a metric that knows nothing reaches in 1 case of 20.
    """

    names: Sequence[str]
    values: Sequence[float]
    n: int
    chance: Sequence[float]
    draw: Draw
    reasons: Sequence[str | None]


def measure_pairs(x: Floats, y: Floats, rows: Rows) -> AgreementLevel:
    """Measure all pairs alike; a pair with several ratings may be there several times."""
    names = ("pearson", "spearman", "kendall", "kendall_c", "pairwise_accuracy")
    why = explain_unrelated(x, y)
    if len(x) < 2:
        return _make_empty_level(names, len(x), why)
    epsilon, accuracy = calibrate_ties(y, x)
    values = [pearson(y, x), spearman(y, x), kendall_b(y, x), kendall_c(y, x), accuracy if np.ptp(y) else np.nan]
    counted, agreed = count_rows(y, x), count_rows(y, x, epsilon=epsilon).agreed
    fewer = max(min(len(np.unique(x)), len(np.unique(y))), 2)
    scale_c, pairs = len(x) ** 2 * (fewer - 1) / fewer, float(len(x) * (len(x) - 1))

    def draw(weights: Ints) -> Floats:
        w = weights[:, rows]
        tau_c = resample_share(counted.concordant - counted.discordant, scale_c, w)
        columns = [
            resample_correlation(pearson, y, x, w),
            resample_correlation(spearman, y, x, w),
            resample_kendall_b(counted, w),
            tau_c,
        ]
        return np.stack([*columns, resample_share(agreed, pairs, w)], axis=1)

    reasons = [why if np.isnan(value) else None for value in values]
    tau = ONE_SIDED * _estimate_kendall_error(len(x))
    chance = [*[min(1.0, ONE_SIDED / np.sqrt(len(x) - 1))] * 2, *[min(1.0, tau)] * 2, _estimate_chance_accuracy(y, tau)]
    return AgreementLevel(names, values, len(x), chance, draw, reasons)


def measure_within_groups(
    column: str, x: Floats, y: Floats, group: NDArray[Any], rows: Rows, *, whole: bool
) -> AgreementLevel:
    """Correlations inside each group, averaged plainly over the groups that have one.

    Where resamples draw groups `whole`, theirs are kept; else pairs are drawn, and those inside a group change.
    """
    kinds: dict[str, Correlation] = {"pearson": pearson, "spearman": spearman, "kendall": kendall_b}
    if column == "item":
        kinds["accuracy"] = partial(accuracy_eq, epsilon=calibrate_ties(y, x, group).epsilon)
    members = list_rows_of_groups(group)
    found = [correlate_groups(kind, y, x, group) for kind in kinds.values()]

    def draw(weights: Ints) -> Floats:
        if whole:
            first = weights[:, rows[[place[0] for place in members]]]
            return np.stack([_average_weighted(values, first) for values in found], axis=1)
        inside = [
            np.stack([_resample_group(kind, x[r], y[r], weights[:, rows[r]]) for r in members])
            for kind in kinds.values()
        ]
        return np.stack([average_known(values, axis=0) for values in inside], axis=1)

    sizes = np.array([len(place) for place in members])
    values = [float(average_known(column_values, axis=0)) for column_values in found]
    return AgreementLevel(
        [f"within_{column}_{name}" for name in kinds],
        values,
        len(members),
        [_estimate_chance_within(name, sizes, y, members) for name in kinds],
        draw,
        [_explain_left_out(values, column) for values in found],
    )


def measure_between_groups(column: str, x: Floats, y: Floats, group: NDArray[Any]) -> AgreementLevel:
    """Correlations of the means of groups (systems); pairwise accuracy of means takes no ties but equal ones.

    All pairs are given: where the metric has no value (NaN), people's ratings still count.
    """
    kinds: dict[str, OfRows] = {
        "pearson": compute_pearson_rows,
        "spearman": compute_spearman_rows,
        "kendall": compute_kendall_rows,
        "accuracy": compute_accuracy_rows,
    }

    def judged(mx: Floats, my: Floats) -> Floats:
        return np.stack([kind(mx, my) for kind in kinds.values()], axis=1)

    names = [f"{column}_{name}" for name in kinds]
    return measure_means(names, judged, x, y, group, larger=[True] * len(names), what=f"means of {column}s")


def measure_soft_accuracy(x: Floats, y: Floats, system: NDArray[Any], item: NDArray[Any]) -> AgreementLevel:
    """Soft pairwise accuracy of systems, over the items that every system has with a rating and a value."""
    names = ("system_soft_accuracy",)
    labels, column = np.unique(system, return_inverse=True)
    _, first, row = np.unique(item, return_index=True, return_inverse=True)
    row, first = np.argsort(np.argsort(first))[row], np.sort(first)  # items as they come, however they are called
    table = np.full((2, len(labels), len(first)), np.nan)
    table[:, column, row] = x, y
    shared = np.isfinite(table).all(axis=(0, 1))
    mine, people = table[:, :, shared]
    known = np.isfinite(x)
    if not np.ptp(y) or not known.any() or not np.ptp(x[known]):
        return _make_empty_level(names, len(labels), explain_unrelated(x[known], y[known]))
    if len(labels) < 2 or shared.sum() < 2:
        return _make_empty_level(
            names, len(labels), "soft accuracy needs two systems, and two items that every system has"
        )
    signs = draw_signs(int(shared.sum()))
    p_people, p_mine = estimate_superiority(people, signs), estimate_superiority(mine, signs)

    def draw(weights: Ints) -> Floats:
        w = weights[:, first[shared]]
        gaps = np.abs(resample_superiority(people, w) - resample_superiority(mine, w))
        return np.asarray(1.0 - gaps.mean(axis=1))[:, None]

    rng = np.random.default_rng([0, 12])
    once = np.ones((1, mine.shape[1]))
    dealt = [resample_superiority(mine[rng.permutation(len(labels))], once)[0] for _ in range(_SHUFFLES)]
    chance = _find_reached(np.array([compute_soft_accuracy(p_people, p) for p in dealt]), larger=True)
    return AgreementLevel(names, [compute_soft_accuracy(p_people, p_mine)], len(labels), [chance], draw, [None])


def measure_means(
    names: Sequence[str],
    judged: OfRows,
    x: Floats,
    y: Floats,
    group: NDArray[Any],
    *,
    larger: Sequence[bool],
    what: str,
) -> AgreementLevel:
    """Measures of the means of groups; chance from dealing the metric's means to the groups at random.

    `judged` takes the metric's and people's means, one row per resample, and gives one column per measure.
    """
    members = list_rows_of_groups(group)
    order, starts = np.concatenate(members), np.cumsum([0, *map(len, members)])[:-1]

    def means(values: Floats, weights: NDArray[Any]) -> Floats:
        known = np.isfinite(values[order])
        drawn = weights[:, order] * known
        total = np.add.reduceat(drawn * np.where(known, values[order], 0.0), starts, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / np.add.reduceat(drawn, starts, axis=1))

    def draw(weights: Ints) -> Floats:
        return judged(means(x, weights), means(y, weights))

    once = np.ones((1, len(x)))
    mx, my = means(x, once), means(y, once)
    values = judged(mx, my)[0].tolist()
    why = explain_unrelated(mx[0], my[0], what)
    dealt = np.random.default_rng([0, 10]).permuted(np.repeat(mx, _SHUFFLES, axis=0), axis=1)
    shuffled = judged(dealt, np.repeat(my, _SHUFFLES, axis=0))
    chance = [_find_reached(column, up) for column, up in zip(shuffled.T, larger, strict=True)]
    return AgreementLevel(names, values, len(members), chance, draw, [why if np.isnan(v) else None for v in values])


def explain_unrelated(x: Floats, y: Floats, what: str = "pairs") -> str:
    """Return why a correlation does not exist."""
    if len(x) < 2:
        return f"a correlation needs at least two {what}, not {len(x)}"
    if not np.isfinite(x).all():
        return f"{int((~np.isfinite(x)).sum())} of the {len(x)} {what} do not exist: the metric has no value there"
    if not np.ptp(y):
        return f"all ratings are equal ({what})"
    return f"the metric gives the same value for all {what}" if not np.ptp(x) else "undefined"


def _make_empty_level(names: Sequence[str], n: int, why: str) -> AgreementLevel:
    nan = [float("nan")] * len(names)
    return AgreementLevel(
        names, nan, n, nan, lambda weights: np.full((len(weights), len(names)), np.nan), [why] * len(names)
    )


def _resample_group(kind: Correlation, x: Floats, y: Floats, weights: Ints) -> Floats:
    if kind is kendall_b:
        return resample_kendall_b(count_rows(y, x), weights) if len(x) > 1 else np.full(len(weights), np.nan)
    return resample_correlation(kind, y, x, weights)


def _average_weighted(values: Floats, weights: Ints) -> Floats:
    known = ~np.isnan(values)
    count = weights[:, known].sum(axis=1)
    return np.where(count > 0, weights[:, known] @ values[known] / np.maximum(count, 1), np.nan)


def _explain_left_out(values: Floats, column: str) -> str | None:
    missing = int(np.isnan(values).sum())
    if not missing:
        return None
    return f"{missing} of {len(values)} {column}s left out: a single pair, or ratings or values of the metric all equal"


def _estimate_kendall_error(n: int) -> float:
    return float(np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))) if n > 1 else 1.0


def _estimate_chance_accuracy(y: Floats, tau: float) -> float:
    """At random all that pays is to tie everything or nothing: the share of gold ties, or half of the rest and luck."""
    n, sizes = len(y), np.unique(y, return_counts=True)[1]
    tied = float((sizes * (sizes - 1.0)).sum() / (n * (n - 1.0)))
    return max(tied, (1.0 - tied) * min(0.5 + tau / 2, 1.0))


def _estimate_chance_within(name: str, sizes: NDArray[np.int64], y: Floats, members: list[NDArray[np.intp]]) -> float:
    usable = sizes[sizes > 1]
    if not len(usable):
        return float("nan")
    errors = np.array(
        [_estimate_kendall_error(int(n)) if name in ("kendall", "accuracy") else (n - 1) ** -0.5 for n in usable]
    )
    bound = min(1.0, ONE_SIDED * float(np.sqrt((errors**2).sum())) / len(usable))
    if name != "accuracy":
        return bound
    return float(np.mean([_estimate_chance_accuracy(y[rows], bound) for rows in members if len(rows) > 1]))


def _find_reached(values: Floats, larger: bool) -> float:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, 0.95 if larger else 0.05)) if len(known) else float("nan")
