"""How far annotators agree, the ceiling of what a metric can reach; what a judge adds to them, or stands for.

Ratings are a matrix, one row per rater and one column per item; NaN where a rater did not rate. In the test of
Calderon, Reichart and Dror 2025 ("The Alternative Annotator Test for LLM-as-a-Judge") each person is left out in turn;
the judge wins an item where it is at least as close to the other people as the person left out is.

Prediction-powered inference gives the mean of people's scores from few of theirs and many of a judge:

    mean = mean(people) + λ·(mean(judge, all) − mean(judge, rated items))

unbiased whatever the judge does, since its own error is estimated on the items that people rated; λ is chosen so that
the variance is smallest, and 0 where the judge tells nothing. Source: Angelopoulos, Duchi and Zrnic 2023, "PPI++".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Masks, average_known
from textgauge.stats.correlation import Correlation
from textgauge.stats.decisions import is_different

Scale = Literal["nominal", "ordinal", "interval"]
Closeness = Literal["accuracy", "rmse"]

PASSES = 0.5  # share of the people that the judge must be as good as
MIN_ITEMS = 30  # of a person
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
        m, kinds = np.bincount(item), np.unique(values, return_inverse=True)[1]
        cells, alike = np.unique(item * (int(kinds.max()) + 1) + kinds, return_counts=True)
        of_kind, n = np.bincount(kinds), len(values)
        agreed = float((alike * (alike - 1) / (m[cells // (int(kinds.max()) + 1)] - 1)).sum())
        by_chance = float((of_kind * (of_kind - 1)).sum()) / (n - 1)
        return 1.0 - (n - agreed) / (n - by_chance)
    # Squared differences sum up from moments: Σ over pairs of (a − b)² = m·Σa² − (Σa)².
    values = rankdata(values) if scale == "ordinal" else values - values.mean()
    m, s, q = np.bincount(item), np.bincount(item, values), np.bincount(item, values**2)
    observed = float(((m * q - s**2) / (m - 1)).sum())
    expected = float(len(values) * q.sum() - s.sum() ** 2) / (len(values) - 1)
    return 1.0 - observed / expected


def correlate_with_others(correlation: Correlation, ratings: Floats) -> Floats:
    """Return each rater's correlation with the mean of the other raters, over the items that both have; NaN where none.

    >>> from textgauge.stats.correlation import pearson
    >>> correlate_with_others(pearson, np.array([[1.0, 2, 4], [1, 2, 4], [1, 4, 2]])).round(4).tolist()
    [0.7559, 0.7559, 0.1429]
    """
    values = []
    for rater, own in enumerate(ratings):
        others = average_known(np.delete(ratings, rater, axis=0), axis=0)
        both = np.isfinite(own) & np.isfinite(others)
        values.append(correlation(own[both], others[both]))
    return np.array(values)


def kappa(first: Floats, second: Floats, *, squared: bool = False) -> float:
    """Cohen's κ of two raters over the items that both rated: 1 − observed/expected disagreement.

    Disagreement is 0 or 1, or the squared difference. NaN where no disagreement is expected.

    >>> round(kappa(np.array([1.0, 1, 2, 2]), np.array([1.0, 1, 2, 1])), 4)
    0.5
    """
    both = np.isfinite(first) & np.isfinite(second)
    weights = np.ones((1, int(both.sum())))
    return float(resample_kappa(first[both], second[both], weights, squared=squared)[0])


def resample_kappa(first: Floats, second: Floats, weights: NDArray[Any], *, squared: bool = False) -> Floats:
    """Cohen's κ of each resample, a row of weights; NaN where no disagreement is expected."""
    n = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        if squared:
            centre = first.sum() / max(len(first), 1)  # raters may have no item in common
            x, y = first - centre, second - centre
            means = weights @ np.column_stack([x, y, x * x, y * y, (x - y) ** 2]) / n[:, None]
            mx, my, mxx, myy, observed = means.T
            expected = mxx + myy - 2.0 * mx * my
        else:
            kinds = np.unique(np.concatenate([first, second]))
            shares = [weights @ (side[:, None] == kinds) / n[:, None] for side in (first, second)]
            observed = weights @ (first != second).astype(np.float64) / n
            expected = 1.0 - (shares[0] * shares[1]).sum(axis=1)
        return np.asarray(1.0 - observed / np.where(expected > _EQUAL, expected, np.nan))


@dataclass(frozen=True, eq=False)
class AlternativeAnnotator:
    """The share of people that the judge is as good as (`winning_rate`), and how often it is (`advantage`).

    `p_values`, raw and adjusted for all people, and `advantages` are those of each person, NaN for people with fewer
    than 30 items that others rated too.
    The judge passes where it is as good as half of the people.
    """

    winning_rate: float
    advantage: float
    p_values: Floats
    advantages: Floats
    p_adjusted: Floats

    @property
    def passed(self) -> bool:
        """Whether the judge may take the place of a person."""
        return self.winning_rate >= PASSES


def run_alternative_annotator_test(
    people: Floats, judge: Floats, *, margin: float = 0.2, closeness: Closeness = "accuracy", min_items: int = MIN_ITEMS
) -> AlternativeAnnotator:
    """Return the test of a judge among people: one row of ratings per person, one column per item, NaN where there is
    none.

    Closeness to the others is the share of equal ratings (`accuracy`), or less the root of the mean squared difference
    (`rmse`). For each person: Student's one-sided test that they win more items than the judge by less than `margin`;
    over people the false discovery rate is 5 % (Benjamini and Yekutieli). NaN where no person has enough items.

    >>> people = np.tile([[1.0, 2.0]], (3, 20))
    >>> found = run_alternative_annotator_test(people, people[0])
    >>> found.winning_rate, found.advantage, found.passed
    (1.0, 1.0, True)
    """
    from scipy.stats import false_discovery_control

    rated = np.isfinite(people) & np.isfinite(judge)
    rated &= rated.sum(axis=0) > 1
    found = [_compare_with_person(people, judge, rated, person, margin, closeness) for person in range(len(people))]
    enough = rated.sum(axis=1) >= min_items
    p, advantage = (np.where(enough, [row[place] for row in found], np.nan) for place in range(2))
    if not enough.any():
        return AlternativeAnnotator(float("nan"), float("nan"), p, advantage, p)
    adjusted = p.copy()
    adjusted[enough] = false_discovery_control(p[enough], method="by")
    wins = [is_different(one) for one in adjusted[enough]]
    return AlternativeAnnotator(float(np.mean(wins)), float(advantage[enough].mean()), p, advantage, adjusted)


def _compare_with_person(
    people: Floats, judge: Floats, rated: Masks, person: int, margin: float, closeness: Closeness
) -> tuple[float, float]:
    """Test "the person is better by the margin", and count how often the judge is as close as the person.

    Student's one-sided p-value for "the mean of losses less wins is the margin or more".
    """
    from scipy.special import stdtr

    items = np.flatnonzero(rated[person])
    if not len(items):
        return float("nan"), float("nan")
    others, known = np.delete(people, person, axis=0)[:, items], np.delete(rated, person, axis=0)[:, items]
    mine, own = (_measure_closeness(one[items], others, known, closeness) for one in (judge, people[person]))
    wins, losses = mine >= own, own >= mine
    gaps = losses.astype(np.float64) - wins
    error = float(gaps.std(ddof=1)) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
    beyond = float(gaps.mean()) - margin
    p = float(beyond >= 0) if error == 0 else float(stdtr(len(gaps) - 1, beyond / error))
    return p, float(wins.mean())


def _measure_closeness(rating: Floats, others: Floats, known: Masks, closeness: Closeness) -> Floats:
    gaps = rating - others
    cells = np.where(known, gaps == 0 if closeness == "accuracy" else gaps**2, 0.0)
    means = cells.sum(axis=0) / known.sum(axis=0)
    return np.asarray(means if closeness == "accuracy" else -np.sqrt(means))


class MeanEstimate(NamedTuple):
    """A mean with its interval, the weight λ of the judge, and how many items people and the judge alone rated."""

    value: float
    low: float
    high: float
    weight: float
    rated: int
    unrated: int


def estimate_prediction_powered_mean(people: Floats, judge: Floats, *, level: float = 0.95) -> MeanEstimate:
    """Return the mean of people's scores over all items; `people` is NaN where only the judge has a score.

    Items without a judge's score are left out. The interval is Student's with two degrees of freedom less than rated
    items, one of them for λ. NaN with fewer than three of these.

    >>> people = np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan])
    >>> estimate_prediction_powered_mean(people, np.array([1.0, 2.0, 3.0, 4.0, 5.0, 5.0])).value
    3.0208
    """
    from scipy.special import stdtrit

    usable = np.isfinite(judge)
    rated = usable & np.isfinite(people)
    y, f, more = people[rated], judge[rated], judge[usable & ~rated]
    n, unrated = len(y), len(more)
    if n < 3:
        return MeanEstimate(float("nan"), float("nan"), float("nan"), float("nan"), n, unrated)
    spread = float(np.concatenate([f, more]).var(ddof=1))
    weight = 0.0
    if unrated and spread > 0:  # cov(y, f)/((1 + n/N)·var(f)), 0 where there is nothing to gain
        weight = max(float(np.cov(y, f)[0, 1]) / ((1.0 + n / unrated) * spread), 0.0)
    value, variance = float(y.mean()), float((y - weight * f).var(ddof=2)) / n
    if unrated:
        value += weight * (float(more.mean()) - float(f.mean()))
        variance += weight**2 * spread / unrated
    reach = float(stdtrit(n - 2, (1.0 + level) / 2.0)) * np.sqrt(variance)
    return MeanEstimate(value, value - reach, value + reach, weight, n, unrated)
