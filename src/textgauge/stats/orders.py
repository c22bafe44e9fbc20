"""How alike two columns, two orders of sets and two judgements about systems order things.

Pairs of rows are counted (for pairwise accuracy with ties, and for Kendall's τ of resamples) without looking at every
pair: rows are sorted by the metric, and each asks how many of those before it have a lower or an equal rating. NaN in,
NaN out; infinite values are ordinary ends.

An order of sets is a column of ranks, 1 the best. A set without a mean has no rank: every number about that order is
NaN. Source of these measures: Yamshchikov et al. 2021, "Style-transfer and paraphrase: looking for a sensible semantic
similarity metric".

Soft pairwise accuracy asks whether a metric and people say with the same confidence which of two systems is better. For
every two systems, p is the chance that flipping the sign of each item's difference at random gives a sum as large as
the observed one. The measure is 1 − mean |p(people) − p(metric)|. Source: Thompson et al. 2024, "Improving Statistical
Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.stats.correlation import average_over_groups, find_complete_rows, list_rows_of_groups, spearman

FLIPS = 1_000  # of signs, for soft pairwise accuracy
_ROUNDING = 12  # digits: sums of shares that differ beyond these are equal


def kendall_b(gold: Floats, metric: Floats, *, variant: Literal["b", "c"] = "b") -> float:
    """Kendall's τ-b, pairs that are tied left out of the scale; NaN where either column is constant.

    >>> round(kendall_b(np.array([1.0, 2, 2, 3]), np.array([1.0, 3, 2, 4])), 4)
    0.9129
    """
    from scipy.stats import kendalltau

    if _is_uncountable(gold, metric):
        return float("nan")
    return float(kendalltau(gold, metric, variant=variant).statistic)


def kendall_c(gold: Floats, metric: Floats) -> float:
    """Kendall's τ-c (Stuart), for columns with different numbers of distinct values; NaN where either is constant.

    >>> kendall_c(np.array([1.0, 2, 2, 3]), np.array([1.0, 3, 2, 4]))
    0.9375
    """
    return kendall_b(gold, metric, variant="c")


def accuracy_eq(gold: Floats, metric: Floats, *, epsilon: float = 0.0) -> float:
    """Share of pairs of rows that the metric orders, or ties, as the gold ratings do ("acc_eq", WMT's "acc23").

    (C + T_both)/pairs. Metric values that differ by `epsilon` or less are tied; gold ratings are tied when equal.
    NaN for fewer than two rows. Source: Deutsch, Foster and Freitag 2023, "Ties Matter".

    >>> gold, metric = np.array([1.0, 1, 2]), np.array([0.1, 0.2, 0.9])
    >>> round(accuracy_eq(gold, metric), 4), accuracy_eq(gold, metric, epsilon=0.1)
    (0.6667, 1.0)
    """
    if _is_uncountable(gold, metric):
        return float("nan")
    sizes = np.unique(gold, return_counts=True)[1]
    _, concordant, tied_gold = (int(count) for count in _count_before(gold, metric, epsilon).sum(axis=1))
    tied_both = int((sizes * (sizes - 1) // 2).sum()) - tied_gold
    return (concordant + tied_both) / (len(gold) * (len(gold) - 1) // 2)


def _count_clear_before(ascending: Floats, epsilon: float) -> Ints:
    """For each value, how many lie below it by more than epsilon.

    Found by bisection on the differences themselves: value − epsilon would round otherwise than value − other.
    """
    if epsilon == 0.0:
        return np.searchsorted(ascending, ascending, side="left").astype(np.int64)
    low, high = np.zeros(len(ascending), dtype=np.int64), np.arange(len(ascending), dtype=np.int64)
    with np.errstate(invalid="ignore"):
        while (low < high).any():
            middle = (low + high) // 2
            clear = (ascending - ascending[middle] > epsilon) & (low < high)
            low, high = np.where(clear, middle + 1, low), np.where(clear | (low == high), high, middle)
    return low


def _count_lower_and_equal(classes: Ints, before: Ints) -> tuple[Ints, Ints]:
    """For each row, how many of the first `before` rows have a lower class, and how many the same.

    A wavelet matrix, walked for all rows at once: bit by bit from the highest, rows are split stably into zeros and
    ones, and each row's range is carried to the part where its own class goes on.
    """
    lower, rest = np.zeros_like(before), classes
    start, end = np.zeros_like(before), before
    for bit in reversed(range(int(classes.max()).bit_length())):
        one, own = (rest >> bit & 1).astype(bool), (classes >> bit & 1).astype(bool)
        zeros = np.concatenate([[0], np.cumsum(~one)])
        from_zero, to_zero = zeros[start], zeros[end]
        lower += np.where(own, to_zero - from_zero, 0)
        start = np.where(own, zeros[-1] + start - from_zero, from_zero)
        end = np.where(own, zeros[-1] + end - to_zero, to_zero)
        rest = np.concatenate([rest[~one], rest[one]])
    return lower, end - start


def _is_uncountable(gold: Floats, metric: Floats) -> bool:
    return len(gold) < 2 or bool(np.isnan(gold).any() or np.isnan(metric).any())


class TieCalibration(NamedTuple):
    """The epsilon that gives the highest pairwise accuracy, and that accuracy."""

    epsilon: float
    accuracy: float


def calibrate_ties(
    gold: Floats,
    metric: Floats,
    group: NDArray[Any] | None = None,
    *,
    limit: int | None = 2_000_000,
    seed: int = 0,
) -> TieCalibration:
    """Find the epsilon among the metric's differences (and 0) with the highest mean `accuracy_eq` over groups.

    The smallest such epsilon. Where there are more than `limit` pairs of rows, epsilon is sought on a random part of
    them; the accuracy is always over all. NaN where a value is not finite or no group has two rows. A metric that knows
    only of gold ties gains by this too: compare calibrated values with calibrated values.
    Source: Deutsch, Foster and Freitag 2023; with limit=None WMT's KendallWithTiesOpt at sample rate 1.

    >>> calibrate_ties(np.array([1.0, 1, 1, 4]), np.array([0.0, 2, 6, 8]))
    TieCalibration(epsilon=4.0, accuracy=0.6667)
    """
    label = np.zeros(len(gold), dtype=np.int64) if group is None else group
    rows = [members for members in list_rows_of_groups(label) if len(members) > 1]
    if not rows or not find_complete_rows(gold, metric).all():
        return TieCalibration(float("nan"), float("nan"))
    total = sum(len(members) * (len(members) - 1) // 2 for members in rows)
    share = 1.0 if limit is None else limit / total
    rng = np.random.default_rng([seed, 6])
    parts = [_compute_gains(gold[members], metric[members], share, rng) for members in rows]
    gaps, gains = (np.concatenate(of) for of in zip(*parts, strict=True))
    order = np.argsort(gaps)
    gaps, sums = gaps[order], np.cumsum(gains[order])
    last = np.append(gaps[1:] != gaps[:-1], True)[: len(gaps)]
    # The smallest gap at which the sum of the gains up to it is highest, or 0 where none is above zero.
    gaps, sums = np.append(0.0, gaps[last]), np.append(0.0, np.round(sums[last], _ROUNDING))
    epsilon = float(gaps[np.argmax(sums)])
    return TieCalibration(epsilon, average_over_groups(partial(accuracy_eq, epsilon=epsilon), label)(gold, metric))


def _compute_gains(gold: Floats, metric: Floats, share: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """For pairs whose verdict a tie changes: the metric's difference, and what accuracy gains once it counts as one."""
    n = len(gold)
    if share >= 1.0:
        first, second = np.triu_indices(n, 1)
    else:
        first = rng.integers(n, size=max(1, round(share * n * (n - 1) / 2)))
        second = (first + rng.integers(1, n, size=len(first))) % n
    gap, order = metric[first] - metric[second], gold[first] - gold[second]
    gain = np.where(order == 0, 1.0, np.where(np.sign(gap) == np.sign(order), -1.0, 0.0))
    changed = (gap != 0) & (gain != 0)
    return np.abs(gap[changed]), gain[changed] / len(first)


class RowCounts(NamedTuple):
    """For each row, with how many others it is ordered alike, ordered otherwise, untied in gold or metric, agreed."""

    concordant: Floats
    discordant: Floats
    untied_gold: Floats
    untied_metric: Floats
    agreed: Floats


def count_rows(gold: Floats, metric: Floats, *, epsilon: float = 0.0) -> RowCounts:
    """Count for each row the pairs with the others.

    >>> count_rows(np.array([1.0, 2, 2]), np.array([1.0, 2, 3])).concordant.tolist()
    [2.0, 1.0, 1.0]
    """
    _, place, sizes = np.unique(gold, return_inverse=True, return_counts=True)
    alike = sizes[place].astype(np.float64)
    below, above = (_count_before(sign * gold, sign * metric, epsilon) for sign in (1.0, -1.0))
    untied, concordant, tied_gold = (below + above).astype(np.float64)
    agreed = concordant + alike - 1.0 - tied_gold
    return RowCounts(concordant, untied - concordant - tied_gold, len(gold) - alike, untied, agreed)


def resample_kendall_b(rows: RowCounts, weights: NDArray[Any]) -> Floats:
    """Kendall's τ-b of each resample, to first order; NaN where nothing untied is left."""
    sums = np.stack([rows.concordant - rows.discordant, rows.untied_gold, rows.untied_metric], axis=1)
    agreed, gold, metric = _of_pairs(sums, weights).T
    defined = (gold > 0) & (metric > 0)
    scale = np.sqrt(np.where(defined, gold * metric, 1.0))
    return np.where(defined, np.clip(agreed / scale, -1.0, 1.0), np.nan)


def resample_share(sums: Floats, total: float, weights: NDArray[Any]) -> Floats:
    """Return a sum over pairs (τ-c, accuracy) as a share of a fixed total, on each resample, to first order."""
    return np.asarray(_of_pairs(sums[:, None], weights)[:, 0] / total)


def _of_pairs(sums: Floats, weights: NDArray[Any]) -> Floats:
    """1'S1 + 2(w − 1)'S1, from S1."""
    return np.asarray(2.0 * (weights @ sums) - sums.sum(axis=0))


def _count_before(gold: Floats, metric: Floats, epsilon: float) -> Ints:
    """For each row: how many lie below it in the metric, and of these below it in gold, and level with it in gold."""
    order = np.argsort(metric, kind="stable")
    classes = np.unique(gold, return_inverse=True)[1][order].astype(np.int64)
    clear = _count_clear_before(metric[order], epsilon)
    counts = np.empty((3, len(gold)), dtype=np.int64)
    counts[:, order] = clear, *_count_lower_and_equal(classes, clear)
    return counts


def rank_sets(means: Floats, *, best: Literal["larger", "smaller"] = "larger") -> Floats:
    """Rank of each set by its mean, best first; sets with equal means share the mean of their ranks.

    >>> rank_sets(np.array([0.1, 0.9, 0.5, 0.5])).tolist()
    [4.0, 1.0, 2.5, 2.5]
    >>> rank_sets(np.array([0.1, 0.9, 0.5, 0.5]), best="smaller").tolist()
    [1.0, 4.0, 2.5, 2.5]
    """
    from scipy.stats import rankdata

    placed = rankdata(-means if best == "larger" else means, nan_policy="omit")
    return np.asarray(placed, dtype=np.float64)


def correlate_orders(orders: Floats) -> Floats:
    """Spearman's ρ of every order with every other; one order per row. NaN in the row of a constant order.

    >>> correlate_orders(np.array([[1.0, 2, 3], [1, 3, 2]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    return np.array([[spearman(a, b) for b in orders] for a in orders]).reshape(len(orders), len(orders))


def average_sets(values: Floats, sets: NDArray[Any], labels: Sequence[str]) -> Floats:
    """Return the mean of each set over its values that are finite; NaN where none is.

    >>> average_sets(np.array([1.0, 3.0, np.nan]), np.array(["a", "a", "b"]), ["a", "b"]).tolist()
    [2.0, nan]
    """
    parts = [values[(sets == label) & np.isfinite(values)] for label in labels]
    return np.array([float(part.mean()) if len(part) else np.nan for part in parts])


def draw_signs(items: int, *, flips: int = FLIPS, seed: int = 0) -> Floats:
    """Draw signs of items, one row per flip: the same for people and all metrics."""
    return np.random.default_rng([seed, 11]).choice([-1.0, 1.0], size=(flips, items))


def estimate_superiority(scores: Floats, signs: Floats) -> Floats:
    """p of "the first system is better" for every two systems, first < second, larger scores being better.

    >>> signs = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> estimate_superiority(np.array([[3.0, 4.0], [1.0, 2.0]]), signs).tolist()
    [0.25]
    """
    first, second = np.triu_indices(len(scores), 1)
    observed = scores.sum(axis=1)
    flipped = signs @ scores.T
    gap = observed[first] - observed[second]
    slack = 1e-9 * np.maximum(np.abs(observed[first]) + np.abs(observed[second]), 1e-300)
    return np.asarray((flipped[:, first] - flipped[:, second] >= gap - slack).mean(axis=0))


def compute_soft_accuracy(people: Floats, metric: Floats) -> float:
    """1 − mean |p(people) − p(metric)|, from `estimate_superiority` of both; NaN without two systems.

    >>> compute_soft_accuracy(np.array([0.1, 0.9]), np.array([0.1, 0.5]))
    0.8
    """
    return float(1.0 - np.abs(people - metric).mean()) if len(people) else float("nan")


def resample_superiority(scores: Floats, weights: NDArray[Any]) -> Floats:
    """Return `estimate_superiority` on each resample, a row of weights; a normal law in place of random signs."""
    from scipy.special import ndtr

    first, second = np.triu_indices(len(scores), 1)
    gaps = scores[first] - scores[second]
    spread = np.sqrt(weights @ (gaps * gaps).T)
    return np.asarray(ndtr(-(weights @ gaps.T) / np.where(spread > 0, spread, 1.0)))
