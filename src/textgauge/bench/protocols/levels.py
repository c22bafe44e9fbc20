"""Levels at which a metric may agree with people: pairs, pairs within groups, means of groups.

Each gives several measures at once, and the same measures on resamples of all pairs. `x` is how near the metric finds
each pair, `y` how near people do; `rows` are the places of these pairs among all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, average_known
from textgauge.stats.correlation import (
    Correlation,
    OfRows,
    compute_accuracy_rows,
    compute_kendall_rows,
    compute_pearson_rows,
    compute_spearman_rows,
    correlate_groups,
    list_rows_of_groups,
    pearson,
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
    resample_superiority,
    share_draws,
)

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
    """Return all pairs alike; a pair with several ratings may be there several times."""
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
        tau_c = share_draws(counted.concordant - counted.discordant, scale_c, w)
        columns = [
            resample_correlation(pearson, y, x, w),
            resample_correlation(spearman, y, x, w),
            resample_kendall_b(counted, w),
            tau_c,
        ]
        return np.stack([*columns, share_draws(agreed, pairs, w)], axis=1)

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


def measure_between_groups(column: str, x: Floats, y: Floats, group: NDArray[Any], seed: int = 0) -> AgreementLevel:
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
    return measure_means(names, judged, x, y, group, larger=[True] * len(names), seed=seed, what=f"means of {column}s")


def measure_soft_accuracy(
    x: Floats, y: Floats, system: NDArray[Any], item: NDArray[Any], seed: int = 0
) -> AgreementLevel:
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
    signs = draw_signs(int(shared.sum()), seed=seed)
    p_people, p_mine = estimate_superiority(people, signs), estimate_superiority(mine, signs)

    def draw(weights: Ints) -> Floats:
        w = weights[:, first[shared]]
        gaps = np.abs(resample_superiority(people, w) - resample_superiority(mine, w))
        return np.asarray(1.0 - gaps.mean(axis=1))[:, None]

    rng = np.random.default_rng([seed, 12])
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
    seed: int,
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
    dealt = np.random.default_rng([seed, 10]).permuted(np.repeat(mx, _SHUFFLES, axis=0), axis=1)
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
