"""What two metrics' correlations become when their values are exchanged at random, row by row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.correlation import Correlation, spearman

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

_CELLS = 500_000  # coins held at once


def exchanged(
    correlation: Correlation, gold: Floats, first: Floats, second: Floats, *, trials: int, seed: int
) -> Floats:
    """Difference of the two correlations in each trial; a coin per row says whether the two values change sides.

    >>> x = np.arange(4.0)
    >>> exchanged(spearman, x, x, x, trials=3, seed=0).tolist()
    [0.0, 0.0, 0.0]
    """
    at_once = _AT_ONCE.get(correlation, _one_by_one(correlation))
    rng, step = np.random.default_rng([seed, 9]), max(1, _CELLS // len(gold))
    sizes = [min(step, trials - start) for start in range(0, trials, step)]
    coins = (rng.random((size, len(gold))) < 0.5 for size in sizes)
    return np.concatenate([np.empty(0), *(at_once(gold, first, second, kept) for kept in coins)])


def _one_by_one(correlation: Correlation) -> Callable[[Floats, Floats, Floats, Masks], Floats]:
    def differences(gold: Floats, a: Floats, b: Floats, kept: Masks) -> Floats:
        return np.array(
            [correlation(gold, np.where(row, a, b)) - correlation(gold, np.where(row, b, a)) for row in kept]
        )

    return differences


def _by_ranks(gold: Floats, a: Floats, b: Floats, kept: Masks) -> Floats:
    """Spearman's: both metrics' values are sorted together once, and a trial is a choice among them."""
    from scipy.stats import rankdata

    both, ranks = np.concatenate([a, b]), rankdata(gold)
    order = np.argsort(both, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(both[order]) != 0))
    centred = ranks - ranks.mean()
    weight = np.tile(centred, 2)[order] / (np.sqrt(centred @ centred) or np.nan)
    chosen = np.concatenate([kept, ~kept], axis=1)[:, order]
    return _rank_correlations(chosen, weight, starts) - _rank_correlations(~chosen, weight, starts)


def _rank_correlations(chosen: Masks, weight: Floats, starts: NDArray[np.intp]) -> Floats:
    """Pearson's r of mean ranks among the chosen with gold ranks of mean 0 and length 1; equal values share a start."""
    drawn = np.add.reduceat(chosen, starts, axis=1, dtype=np.float64)
    middle = np.cumsum(drawn, axis=1) - drawn / 2.0 - chosen.shape[1] / 4.0
    top = np.einsum("ij,ij->i", middle, np.add.reduceat(chosen * weight, starts, axis=1))
    spread = np.einsum("ij,ij,ij->i", drawn, middle, middle)
    return np.where(spread > 0, top / np.sqrt(np.where(spread > 0, spread, 1.0)), np.nan)


_AT_ONCE: dict[Correlation, Callable[[Floats, Floats, Floats, Masks], Floats]] = {spearman: _by_ranks}
