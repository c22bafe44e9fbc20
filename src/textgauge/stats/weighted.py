"""Correlations of many resamples at once: a resample is a row of weights, how often each row of data was drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.correlation import Correlation, pearson, spearman

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_CELLS = 500_000  # weights held at once: 4 MB
_FLAT = 1e-12  # a variance below this share of the whole column's is rounding: all drawn values are equal


def draws(n: int, resamples: int, seed: int, cluster: NDArray[Any] | None = None) -> Iterator[Counts]:
    """Weights of rows drawn with replacement, some resamples at a time; whole clusters are drawn where given.

    >>> [w.sum(axis=1).tolist() for w in draws(5, resamples=2, seed=0)]
    [[5, 5]]
    """
    place = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    units = n if place is None else int(place.max(initial=-1)) + 1
    rng, step = np.random.default_rng([seed, 7]), max(1, _CELLS // max(n, 1))
    for start in range(0, resamples if units else 0, step):
        size = min(step, resamples - start)
        cells = rng.integers(units, size=(size, units)) + np.arange(size)[:, None] * units
        weights = np.bincount(cells.ravel(), minlength=size * units).reshape(size, units)
        yield weights if place is None else weights[:, place]


def resampled(correlation: Correlation, x: Floats, y: Floats, weights: Counts) -> Floats:
    """The correlation of each resample; Pearson's and Spearman's without a loop over them.

    >>> resampled(pearson, np.array([1.0, 2, 3]), np.array([2.0, 4, 7]), np.array([[1, 1, 1], [0, 1, 2]])).round(4)
    array([0.9934, 1.    ])
    """
    at_once = _AT_ONCE.get(correlation)
    if at_once is None or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return np.array([correlation(np.repeat(x, row), np.repeat(y, row)) for row in weights])
    return at_once(x, y, weights.astype(np.float64))


def _pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """From weighted moments of the columns, centred first so that sums do not cancel."""
    a, b = x - x.mean(), y - y.mean()
    sums = weights @ np.column_stack([np.ones_like(a), a, b, a * a, b * b, a * b])
    n, sa, sb, saa, sbb, sab = sums.T
    flat = _FLAT * np.array([[a @ a], [b @ b]])
    return _ratio(sab - sa * sb / n, np.stack([saa - sa**2 / n, sbb - sb**2 / n]), flat)


def _spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Mean ranks within each resample follow from how often each distinct value was drawn; no row is sorted again."""
    a, b = _centred_ranks(x, weights), _centred_ranks(y, weights)
    aw = weights * a
    top = np.einsum("ij,ij->i", aw, b)
    below = np.stack([np.einsum("ij,ij->i", aw, a), np.einsum("ij,ij,ij->i", weights, b, b)])
    return _ratio(top, below, np.full((2, 1), 0.25))


def _centred_ranks(x: Floats, weights: Floats) -> Floats:
    """Mean ranks of the rows drawn, less their mean: 0.25 is below the least Σ rank² of two distinct values."""
    values, place = np.unique(x, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(values)))
    drawn = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(drawn, axis=1) - drawn / 2.0
    return np.asarray((middle - drawn.sum(axis=1, keepdims=True) / 2.0)[:, place])


def _ratio(top: Floats, below: Floats, flat: Floats) -> Floats:
    defined = (below > flat).all(axis=0)
    scale = np.sqrt(np.where(defined, below[0] * below[1], 1.0))
    return np.where(defined, np.clip(top / scale, -1.0, 1.0), np.nan)


_AT_ONCE: dict[Correlation, Callable[[Floats, Floats, Floats], Floats]] = {pearson: _pearson, spearman: _spearman}
