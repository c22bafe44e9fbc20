"""How two columns go together: Pearson, Spearman, over all rows, averaged over groups of rows, on many resamples.

A correlation is any function of two columns to one number. One value that is not a number makes it NaN: rows without a
value are left out by the caller, who then knows n (`find_complete_rows`). A resample is a row of weights, how often
each row of data was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.settings import split_into_blocks
from textgauge.stats.resampling import compute_percentile_interval

Correlation: TypeAlias = Callable[[Floats, Floats], float]
OfRows: TypeAlias = Callable[[Floats, Floats], Floats]

_CELLS = 500_000  # weights in memory at once: 4 MB
_ROW_CELLS = 4_000_000  # pairs of columns of all rows in memory at once
_FLAT = 1e-12  # a variance below this share of the whole column's is rounding: all drawn values are equal


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r; NaN where either column is constant or not finite.

    >>> round(pearson(np.array([1.0, 2, 3]), np.array([2.0, 4, 7])), 4)
    0.9934
    """
    if _is_unusable(x) or _is_unusable(y):
        return float("nan")
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip((a @ b) / scale, -1.0, 1.0)) if scale else float("nan")


def spearman(x: Floats, y: Floats) -> float:
    """Spearman's ρ with mean ranks for ties."""
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y))


def correlate_groups(correlation: Correlation, x: Floats, y: Floats, group: NDArray[Any]) -> Floats:
    """Return the correlation within each group, in the order of the sorted group labels; NaN where there is none.

    >>> x, y = np.array([1.0, 2, 1, 2, 5]), np.array([1.0, 2, 2, 1, 5])
    >>> correlate_groups(pearson, x, y, np.array(["a", "a", "b", "b", "c"])).tolist()
    [1.0, -1.0, nan]
    """
    return np.array([correlation(x[rows], y[rows]) for rows in list_rows_of_groups(group)])


def average_over_groups(correlation: Correlation, group: NDArray[Any]) -> Correlation:
    """Return a correlation that is the plain mean over groups (items or systems); groups without one are left out.

    The columns given later must be in the order of `group`. NaN where no group has a value.
    """

    def mean(x: Floats, y: Floats) -> float:
        values = correlate_groups(correlation, x, y, group)
        known = values[~np.isnan(values)]
        return float(known.mean()) if len(known) else float("nan")

    return mean


def list_rows_of_groups(group: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return the row numbers of each group, in the order of the sorted labels."""
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(place, kind="stable")
    return np.split(order, np.cumsum(np.bincount(place, minlength=len(first)))[:-1]) if len(order) else []


def find_complete_rows(*columns: Floats) -> NDArray[np.bool_]:
    """Return which rows have a finite value in every column."""
    return np.asarray(np.isfinite(np.stack(columns)).all(axis=0))


def _is_unusable(x: Floats) -> bool:
    """Return whether a column is constant or holds what is not a finite number."""
    return len(x) < 2 or not bool(np.isfinite(x).all()) or bool((x == x[0]).all())


def r_squared(x: Floats, y: Floats) -> float:
    """R² of the least-squares line of y over x."""
    return pearson(x, y) ** 2


def omega_squared(y: Floats, group: NDArray[np.integer]) -> float:
    """ω² of a one-way analysis of variance: (SS_t − df_t·MS_r)/(SS_total + MS_r).

    NaN where all values are equal, one is not finite, or no group has two values.

    >>> omega_squared(np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    labels, place = np.unique(group, return_inverse=True)
    residual_freedom = len(y) - len(labels)
    if _is_unusable(y) or residual_freedom < 1 or len(labels) < 2:
        return float("nan")
    means = np.bincount(place, y) / np.bincount(place)
    total, residual = float(((y - y.mean()) ** 2).sum()), float(((y - means[place]) ** 2).sum())
    mean_residual = residual / residual_freedom
    return float((total - residual - (len(labels) - 1) * mean_residual) / (total + mean_residual))


def draw_weights(n: int, resamples: int, seed: int, cluster: NDArray[Any] | None = None) -> Iterator[Ints]:
    """Yield weights of rows drawn with replacement, some resamples at a time; whole clusters are drawn where given.

    >>> [w.sum(axis=1).tolist() for w in draw_weights(5, resamples=2, seed=0)]
    [[5, 5]]
    """
    place = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    units = n if place is None else int(place.max(initial=-1)) + 1
    rng = np.random.default_rng([seed, 7])
    for some in split_into_blocks(resamples if units else 0, _CELLS, n):
        size = some.stop - some.start
        drawn = rng.integers(units, size=(size, units)) + np.arange(size)[:, None] * units
        weights = np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units)
        yield weights if place is None else weights[:, place]


def resample_correlation(correlation: Correlation, x: Floats, y: Floats, weights: Ints) -> Floats:
    """Return the correlation of each resample; Pearson's and Spearman's without a loop over them.

    >>> x, y, weights = np.array([1.0, 2, 3]), np.array([2.0, 4, 7]), np.array([[1, 1, 1], [0, 1, 2]])
    >>> resample_correlation(pearson, x, y, weights).round(4)
    array([0.9934, 1.    ])
    """
    at_once = _AT_ONCE.get(correlation)
    if at_once is None or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return np.array([correlation(np.repeat(x, row), np.repeat(y, row)) for row in weights])
    return at_once(x, y, weights.astype(np.float64))


def _resample_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """From weighted moments of the columns, centred first so that sums do not cancel."""
    a, b = x - x.mean(), y - y.mean()
    sums = weights @ np.column_stack([np.ones_like(a), a, b, a * a, b * b, a * b])
    drawn, sa, sb, saa, sbb, sab = sums.T
    n = np.maximum(drawn, 1.0)  # of nothing drawn all sums are 0, and the correlation NaN
    flat = _FLAT * np.array([[a @ a], [b @ b]])
    return _divide(sab - sa * sb / n, np.stack([saa - sa**2 / n, sbb - sb**2 / n]), flat)


def _resample_spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Mean ranks within each resample follow from how often each distinct value was drawn; no row is sorted again."""
    a, b = _centre_ranks(x, weights), _centre_ranks(y, weights)
    aw = weights * a
    top = np.einsum("ij,ij->i", aw, b)
    below = np.stack([np.einsum("ij,ij->i", aw, a), np.einsum("ij,ij,ij->i", weights, b, b)])
    return _divide(top, below, np.full((2, 1), 0.25))


def _centre_ranks(x: Floats, weights: Floats) -> Floats:
    """Mean ranks of the rows drawn, less their mean: 0.25 is below the least Σ rank² of two distinct values."""
    values, place = np.unique(x, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(values)))
    drawn = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(drawn, axis=1) - drawn / 2.0
    return np.asarray((middle - drawn.sum(axis=1, keepdims=True) / 2.0)[:, place])


def _divide(top: Floats, below: Floats, flat: Floats) -> Floats:
    defined = (below > flat).all(axis=0)
    scale = np.sqrt(np.where(defined, below[0] * below[1], 1.0))
    return np.where(defined, np.clip(top / scale, -1.0, 1.0), np.nan)


_AT_ONCE: dict[Correlation, Callable[[Floats, Floats, Floats], Floats]] = {
    pearson: _resample_pearson,
    spearman: _resample_spearman,
}


def compute_pearson_rows(x: Floats, y: Floats) -> Floats:
    """Pearson's r of each row; NaN where one is constant or not finite.

    >>> compute_pearson_rows(np.array([[1.0, 2, 3], [1, 1, 1]]), np.array([[3.0, 2, 1], [1, 2, 3]])).tolist()
    [-1.0, nan]
    """
    flat = (np.ptp(x, axis=1) == 0) | (np.ptp(y, axis=1) == 0) | ~np.isfinite(x + y).all(axis=1)
    a, b = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    flat |= scale == 0
    return np.where(flat, np.nan, np.clip((a * b).sum(axis=1) / np.where(flat, 1.0, scale), -1.0, 1.0))


def rank_rows(x: Floats) -> Floats:
    """Rank within each row, 1 the largest, mean ranks for ties; a row with NaN has none."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-x, axis=1, nan_policy="propagate"), dtype=np.float64)


def compute_spearman_rows(x: Floats, y: Floats) -> Floats:
    """Spearman's ρ of each row, with mean ranks for ties."""
    return compute_pearson_rows(rank_rows(x), rank_rows(y))


def compute_kendall_rows(x: Floats, y: Floats) -> Floats:
    """Kendall's τ-b of each row; NaN where one is constant."""
    agreed, untied_x, untied_y = _sum_over_pairs(x, y, lambda a, b: (a * b, np.abs(a), np.abs(b)))
    scale = np.sqrt(untied_x * untied_y)
    defined = scale > 0
    return np.where(defined, np.clip(agreed / np.where(defined, scale, 1.0), -1.0, 1.0), np.nan)


def compute_accuracy_rows(x: Floats, y: Floats) -> Floats:
    """Share of pairs of columns ordered, or tied, alike."""
    (agreed,) = _sum_over_pairs(x, y, lambda a, b: (a == b,))
    size = x.shape[1]
    return agreed / (size * (size - 1)) if size > 1 else np.full(len(x), np.nan)


def count_inversion_rows(x: Floats, y: Floats) -> Floats:
    """Return pairs of columns in opposite order."""
    (opposed,) = _sum_over_pairs(x, y, lambda a, b: (a * b < 0,))
    return opposed / 2.0


def _sum_over_pairs(
    x: Floats, y: Floats, of: Callable[[Floats, Floats], tuple[NDArray[np.generic], ...]]
) -> tuple[Floats, ...]:
    """Return the sums over all two different columns, in both directions, of what their signs in x and y give.

    NaN for NaN.
    """
    off = ~np.eye(x.shape[1], dtype=bool)
    sums = []
    for some in split_into_blocks(len(x), _ROW_CELLS, x.shape[1] ** 2):
        signs = [np.sign(part[:, :, None] - part[:, None, :]) for part in (z[some] for z in (x, y))]
        sums.append([np.where(off, found, 0.0).sum(axis=(1, 2)) for found in of(*signs)])
    known = np.isfinite(x + y).all(axis=1)
    return tuple(np.where(known, np.concatenate(parts), np.nan) for parts in zip(*sums, strict=True))


def draw_correlations(
    correlation: Correlation,
    gold: Floats,
    metric: Floats,
    *,
    resamples: int = 1_000,
    seed: int = 0,
    cluster: NDArray[Any] | None = None,
) -> Floats:
    """Return the correlation on resampled rows (or clusters); the draws depend on n, clusters and seed alone."""
    parts = draw_weights(len(gold), resamples, seed, cluster)
    return np.concatenate(
        [np.empty(0), *(resample_correlation(correlation, gold, metric, weights) for weights in parts)]
    )


def estimate_correlation_interval(
    correlation: Correlation,
    gold: Floats,
    metric: Floats,
    *,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
    cluster: NDArray[Any] | None = None,
) -> tuple[float, float]:
    """Return the bootstrap interval of a correlation over rows; over clusters of rows that belong together if given.

    Resamples without a correlation are left out; NaN where there are none left or a single cluster.

    >>> x = np.arange(20.0)
    >>> low, high = estimate_correlation_interval(pearson, x, x + 5 * np.sin(x))
    >>> round(low, 1), round(high, 1)
    (0.7, 0.9)
    """
    values = draw_correlations(correlation, gold, metric, resamples=resamples, seed=seed, cluster=cluster)
    return compute_percentile_interval(values, len(gold) if cluster is None else len(np.unique(cluster)), level)
