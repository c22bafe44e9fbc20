"""How far annotators agree among themselves: the ceiling of what a metric can reach.

Ratings are a matrix, one row per rater and one column per item; NaN where a rater did not rate.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats
from textgauge.stats.correlation import Correlation

Scale = Literal["nominal", "ordinal", "interval"]

_EQUAL = 1e-12  # a disagreement expected below this is rounding


def krippendorff_alpha(ratings: Floats, *, scale: Scale = "interval") -> float:
    """Krippendorff's α = 1 − observed/expected disagreement of two ratings of the same item.

    Disagreement is 0 or 1 (nominal), the squared difference (interval), or the squared difference of mean ranks among
    all ratings compared (ordinal). Items with one rating are left out. NaN where all ratings are equal or no item has
    two. Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".

    >>> round(krippendorff_alpha(np.array([[1.0, 2, 3, 3], [1, 2, 3, np.nan]])), 4)
    1.0
    >>> round(krippendorff_alpha(np.array([[1.0, 2, 3, 3], [1, 2, 3, 2]])), 4)
    0.8205
    """
    from scipy.stats import rankdata

    paired = ratings[:, np.isfinite(ratings).sum(axis=0) > 1]
    item, rater = np.nonzero(np.isfinite(paired.T))
    values = paired[rater, item]
    if len(values) < 2 or bool((values == values[0]).all()):
        return float("nan")
    if scale == "nominal":
        return _alpha_of_kinds(item, values)
    return _alpha_of_squares(item, rankdata(values) if scale == "ordinal" else values - values.mean())


def leave_one_out(correlation: Correlation, ratings: Floats) -> Floats:
    """Each rater's correlation with the mean of the other raters, over the items that both have; NaN where none.

    >>> from textgauge.stats.correlation import pearson
    >>> leave_one_out(pearson, np.array([[1.0, 2, 4], [1, 2, 4], [1, 4, 2]])).round(4).tolist()
    [0.7559, 0.7559, 0.1429]
    """
    return np.array([_with_others(correlation, ratings, rater) for rater in range(len(ratings))])


def _with_others(correlation: Correlation, ratings: Floats, rater: int) -> float:
    others = np.delete(ratings, rater, axis=0)
    count = np.isfinite(others).sum(axis=0)
    both = np.isfinite(ratings[rater]) & (count > 0)
    total = np.where(np.isfinite(others), others, 0.0).sum(axis=0)
    return correlation(ratings[rater, both], total[both] / count[both])


def _alpha_of_squares(item: NDArray[np.intp], values: Floats) -> float:
    """Squared differences sum up from moments: Σ over pairs of (a − b)² = m·Σa² − (Σa)²."""
    m, s, q = np.bincount(item), np.bincount(item, values), np.bincount(item, values**2)
    observed = float(((m * q - s**2) / (m - 1)).sum())
    expected = float(len(values) * q.sum() - s.sum() ** 2) / (len(values) - 1)
    return 1.0 - observed / expected


def _alpha_of_kinds(item: NDArray[np.intp], values: Floats) -> float:
    m, kinds = np.bincount(item), np.unique(values, return_inverse=True)[1]
    cells, alike = np.unique(item * (int(kinds.max()) + 1) + kinds, return_counts=True)
    of_kind, n = np.bincount(kinds), len(values)
    agreed = float((alike * (alike - 1) / (m[cells // (int(kinds.max()) + 1)] - 1)).sum())
    by_chance = float((of_kind * (of_kind - 1)).sum()) / (n - 1)
    return 1.0 - (n - agreed) / (n - by_chance)


def kappa(first: Floats, second: Floats, *, squared: bool = False) -> float:
    """Cohen's κ of two raters over the items that both rated: 1 − observed/expected disagreement.

    Disagreement is 0 or 1, or the squared difference. NaN where no disagreement is expected.

    >>> round(kappa(np.array([1.0, 1, 2, 2]), np.array([1.0, 1, 2, 1])), 4)
    0.5
    """
    both = np.isfinite(first) & np.isfinite(second)
    weights = np.ones((1, int(both.sum())))
    return float(kappa_draws(first[both], second[both], weights, squared=squared)[0])


def kappa_draws(first: Floats, second: Floats, weights: NDArray[Any], *, squared: bool = False) -> Floats:
    """Cohen's κ of each resample, a row of weights; NaN where no disagreement is expected."""
    n = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        if squared:
            x, y = first - first.mean(), second - first.mean()
            means = weights @ np.column_stack([x, y, x * x, y * y, (x - y) ** 2]) / n[:, None]
            mx, my, mxx, myy, observed = means.T
            expected = mxx + myy - 2.0 * mx * my
        else:
            kinds = np.unique(np.concatenate([first, second]))
            shares = [weights @ (side[:, None] == kinds) / n[:, None] for side in (first, second)]
            observed = weights @ (first != second).astype(np.float64) / n
            expected = 1.0 - (shares[0] * shares[1]).sum(axis=1)
        return np.asarray(1.0 - observed / np.where(expected > _EQUAL, expected, np.nan))
