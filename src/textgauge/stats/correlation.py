"""How two columns go together: Pearson, Spearman, over all rows or averaged over groups of rows.

A correlation is any function of two columns to one number. One value that is not a number makes it NaN: rows without a
value are left out by the caller, who then knows n (`complete`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats

Correlation: TypeAlias = Callable[[Floats, Floats], float]


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r; NaN where either column is constant or not finite.

    >>> round(pearson(np.array([1.0, 2, 3]), np.array([2.0, 4, 7])), 4)
    0.9934
    """
    if unrelated(x) or unrelated(y):
        return float("nan")
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    if scale == 0.0:
        return float("nan")
    return float(np.clip((a @ b) / scale, -1.0, 1.0))


def spearman(x: Floats, y: Floats) -> float:
    """Spearman's ρ with mean ranks for ties."""
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y))


def by_group(correlation: Correlation, x: Floats, y: Floats, group: NDArray[Any]) -> Floats:
    """The correlation within each group, in the order of the sorted group labels; NaN where there is none.

    >>> x, y = np.array([1.0, 2, 1, 2, 5]), np.array([1.0, 2, 2, 1, 5])
    >>> by_group(pearson, x, y, np.array(["a", "a", "b", "b", "c"])).tolist()
    [1.0, -1.0, nan]
    """
    return np.array([correlation(x[rows], y[rows]) for rows in rows_of_groups(group)])


def averaged(correlation: Correlation, group: NDArray[Any]) -> Correlation:
    """A correlation that is the plain mean over groups (items or systems); groups without one are left out.

    The columns given later must be in the order of `group`. NaN where no group has a value.
    """

    def mean(x: Floats, y: Floats) -> float:
        values = by_group(correlation, x, y, group)
        known = values[~np.isnan(values)]
        return float(known.mean()) if len(known) else float("nan")

    return mean


def rows_of_groups(group: NDArray[Any]) -> list[NDArray[np.intp]]:
    """The row numbers of each group, in the order of the sorted labels."""
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(place, kind="stable")
    return np.split(order, np.cumsum(np.bincount(place, minlength=len(first)))[:-1]) if len(order) else []


def complete(*columns: Floats) -> NDArray[np.bool_]:
    """Which rows have a finite value in every column."""
    return np.asarray(np.isfinite(np.stack(columns)).all(axis=0))


def unrelated(x: Floats) -> bool:
    """Whether a column is constant or holds what is not a finite number."""
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
    if unrelated(y) or residual_freedom < 1 or len(labels) < 2:
        return float("nan")
    means = np.bincount(place, y) / np.bincount(place)
    total, residual = float(((y - y.mean()) ** 2).sum()), float(((y - means[place]) ** 2).sum())
    mean_residual = residual / residual_freedom
    return float((total - residual - (len(labels) - 1) * mean_residual) / (total + mean_residual))
