"""Soft pairwise accuracy: do a metric and people say with the same confidence which of two systems is better?

For every two systems, p is the chance that flipping the sign of each item's difference at random gives a sum as large
as the observed one. The measure is 1 − mean |p(people) − p(metric)|. Source: Thompson et al. 2024, "Improving
Statistical Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats

FLIPS = 1_000


def random_signs(items: int, *, flips: int = FLIPS, seed: int = 0) -> Floats:
    """Signs of items, one row per flip: the same for people and all metrics."""
    return np.random.default_rng([seed, 11]).choice([-1.0, 1.0], size=(flips, items))


def superiority(scores: Floats, signs: Floats) -> Floats:
    """p of "the first system is better" for every two systems, first < second, larger scores being better.

    >>> superiority(np.array([[3.0, 4.0], [1.0, 2.0]]), np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])).tolist()
    [0.25]
    """
    first, second = np.triu_indices(len(scores), 1)
    observed = scores.sum(axis=1)
    flipped = signs @ scores.T
    gap = observed[first] - observed[second]
    slack = 1e-9 * np.maximum(np.abs(observed[first]) + np.abs(observed[second]), 1e-300)
    return np.asarray((flipped[:, first] - flipped[:, second] >= gap - slack).mean(axis=0))


def soft_accuracy(people: Floats, metric: Floats) -> float:
    """1 − mean |p(people) − p(metric)|, from `superiority` of both; NaN without two systems.

    >>> soft_accuracy(np.array([0.1, 0.9]), np.array([0.1, 0.5]))
    0.8
    """
    return float(1.0 - np.abs(people - metric).mean()) if len(people) else float("nan")


def superiority_draws(scores: Floats, weights: NDArray[Any]) -> Floats:
    """`superiority` of items drawn again, a row of weights for each resample; normal in place of random signs."""
    from scipy.special import ndtr

    first, second = np.triu_indices(len(scores), 1)
    gaps = scores[first] - scores[second]
    spread = np.sqrt(weights @ (gaps * gaps).T)
    return np.asarray(ndtr(-(weights @ gaps.T) / np.where(spread > 0, spread, 1.0)))
