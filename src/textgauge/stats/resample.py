"""Draws of sub-samples and what they tell: permutations, jackknife groups, halves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Masks = NDArray[np.bool_]
Floats = NDArray[np.float64]


def permuted(n: int, m: int, trials: int, seed: int) -> tuple[Masks, Masks]:
    """Random splits of n + m rows into n and m.

    >>> left, right = permuted(3, 2, trials=4, seed=0)
    >>> left.sum(axis=1).tolist(), bool((left ^ right).all())
    ([3, 3, 3, 3], True)
    """
    rng = np.random.default_rng([seed, 1])
    left = np.zeros((trials, n + m), dtype=bool)
    for row in left:
        row[rng.permutation(n + m)[:n]] = True
    return left, ~left


def halves(n: int, trials: int, seed: int) -> tuple[Masks, Masks]:
    """Random splits of n rows into two halves; one row is left out where n is odd."""
    rng = np.random.default_rng([seed, 2])
    left, right = np.zeros((trials, n), dtype=bool), np.zeros((trials, n), dtype=bool)
    for first, second in zip(left, right, strict=True):
        order = rng.permutation(n)
        first[order[: n // 2]] = True
        second[order[n // 2 : n // 2 * 2]] = True
    return left, right


def grouped(n: int, groups: int, seed: int) -> Masks:
    """One mask per group that leaves this group out; groups are random and as equal as can be."""
    order = np.random.default_rng([seed, 3]).permutation(n)
    kept = np.ones((min(groups, n), n), dtype=bool)
    for mask, members in zip(kept, np.array_split(order, len(kept)), strict=True):
        mask[members] = False
    return kept


def jackknife_variance(values: Floats) -> float:
    """(G − 1)/G · Σ (value without group g − their mean)²."""
    g = len(values)
    return float((g - 1) / g * ((values - values.mean()) ** 2).sum())


def permutation_p(observed: float, permuted_values: Floats) -> float:
    """(1 + number at least as far)/(1 + number of permutations), for values where farther is larger.

    Values that differ by rounding alone count as equal.

    >>> float(permutation_p(3.0, np.array([1.0, 2.0, 3.0])))
    0.5
    """
    slack = 1e-12 * max(abs(observed), 1e-300)
    return float((1 + (permuted_values >= observed - slack).sum()) / (1 + len(permuted_values)))
