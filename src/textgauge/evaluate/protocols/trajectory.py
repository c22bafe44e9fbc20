"""How a distance moves over the steps of known-similarity corpora: densities by step, deviations of two metrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.stats.density import RESOLVED, deviations, group_densities

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Densities of standardised distances at each step, their shares of all, and steps of (almost) one value."""

    densities: Floats
    shares: Floats
    narrow: tuple[int, ...]


def trajectory(values: Floats, step: Index) -> Trajectory:
    """Standardise distances by the mean and standard deviation (over n) of all, and take the density at each step.

    Distances that are all equal stand at 0.

    >>> made = trajectory(np.array([1.0, 2.0, 1.0, 2.0, 4.0, 4.0]), np.array([1, 1, 1, 1, 2, 2]))
    >>> made.densities.shape, made.shares.round(2).tolist(), made.narrow
    ((2, 3001), [0.67, 0.33], (2,))
    """
    steps, counts = np.unique(step, return_counts=True)
    densities, bandwidths = group_densities((values - values.mean()) / (values.std() or 1.0), step, steps)
    return Trajectory(densities, counts / len(step), tuple(steps[bandwidths < RESOLVED].tolist()))


def leave_one_out(values: Floats, step: Index, repetition: Index) -> list[Trajectory]:
    """The trajectory of all repetitions, then those without one of them, where there are several."""
    names = np.unique(repetition)
    parts = [repetition != name for name in names] if len(names) > 1 else []
    return [trajectory(values, step), *(trajectory(values[kept], step[kept]) for kept in parts)]


def deviation(first: Trajectory, second: Trajectory) -> float:
    """Σ_ℓ w_ℓ Σ_x (f_ℓ(x) − g_ℓ(x))² δx, with the shares of distances as weights."""
    return float(first.shares @ deviations(first.densities, second.densities))


def score(distributional: Floats, neighbours: Floats) -> Floats:
    """(N − D)/(N + D) of deviations from both prototypes: 1 on the first, −1 on the second; NaN where both are 0.

    >>> score(np.array([0.0, 1.0, 3.0]), np.array([2.0, 1.0, 1.0])).tolist()
    [1.0, 0.0, -0.5]
    """
    total = distributional + neighbours
    return np.where(total > 0, (neighbours - distributional) / np.where(total > 0, total, 1.0), np.nan)


def pseudo_values(estimates: Floats) -> Floats:
    """From an estimate and those without one repetition each: what each repetition contributes, with the same mean.

    Their standard deviation over √R is the standard error of the jackknife. A single estimate stays as it is.

    >>> pseudo_values(np.array([5.0, 5.5, 4.5])).tolist()
    [4.5, 5.5]
    """
    whole, parts = estimates[0], estimates[1:]
    return np.asarray(whole + (len(parts) - 1) * (parts.mean() - parts)) if len(parts) else estimates
