"""The alternative-annotator test: may a judge take the place of a person?

Each person is left out in turn; the judge wins an item where it is at least as close to the other people as the person
left out is. Source: Calderon, Reichart and Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from textgauge.arrays import Floats, Masks

Closeness = Literal["accuracy", "rmse"]

PASSES = 0.5  # share of the people that the judge must be as good as
MIN_ITEMS = 30  # of a person
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class AlternativeAnnotator:
    """The share of people that the judge is as good as (`winning_rate`), and how often it is (`advantage`).

    `p_values` and `advantages` are those of each person, NaN for people with fewer than 30 items that others rated too.
    The judge passes where it is as good as half of the people.
    """

    winning_rate: float
    advantage: float
    p_values: Floats
    advantages: Floats

    @property
    def passed(self) -> bool:
        """Whether the judge may take the place of a person."""
        return self.winning_rate >= PASSES


def alternative_annotator_test(
    people: Floats, judge: Floats, *, margin: float = 0.2, closeness: Closeness = "accuracy", min_items: int = MIN_ITEMS
) -> AlternativeAnnotator:
    """The test of a judge among people: one row of ratings per person, one column per item, NaN where there is none.

    Closeness to the others is the share of equal ratings (`accuracy`), or less the root of the mean squared difference
    (`rmse`). For each person: Student's one-sided test that they win more items than the judge by less than `margin`;
    over people the false discovery rate is 5 % (Benjamini and Yekutieli). NaN where no person has enough items.

    >>> people = np.tile([[1.0, 2.0]], (3, 20))
    >>> found = alternative_annotator_test(people, people[0])
    >>> found.winning_rate, found.advantage, found.passed
    (1.0, 1.0, True)
    """
    rated = np.isfinite(people) & np.isfinite(judge)
    rated &= rated.sum(axis=0) > 1
    found = [_against_person(people, judge, rated, person, margin, closeness) for person in range(len(people))]
    enough = rated.sum(axis=1) >= min_items
    p, advantage = (np.where(enough, [row[place] for row in found], np.nan) for place in range(2))
    if not enough.any():
        return AlternativeAnnotator(float("nan"), float("nan"), p, advantage)
    wins = _rejected(p[enough])
    return AlternativeAnnotator(float(wins.mean()), float(advantage[enough].mean()), p, advantage)


def _against_person(
    people: Floats, judge: Floats, rated: Masks, person: int, margin: float, closeness: Closeness
) -> tuple[float, float]:
    """The p-value for "the person is better by the margin", and how often the judge is as close as the person."""
    items = np.flatnonzero(rated[person])
    if not len(items):
        return float("nan"), float("nan")
    others, known = np.delete(people, person, axis=0)[:, items], np.delete(rated, person, axis=0)[:, items]
    mine, own = (_closeness(one[items], others, known, closeness) for one in (judge, people[person]))
    wins, losses = mine >= own, own >= mine
    return _p_less(losses.astype(np.float64) - wins, margin), float(wins.mean())


def _closeness(rating: Floats, others: Floats, known: Masks, closeness: Closeness) -> Floats:
    gaps = rating - others
    cells = np.where(known, gaps == 0 if closeness == "accuracy" else gaps**2, 0.0)
    means = cells.sum(axis=0) / known.sum(axis=0)
    return np.asarray(means if closeness == "accuracy" else -np.sqrt(means))


def _p_less(values: Floats, bound: float) -> float:
    """Student's one-sided p-value for "the mean is the bound or more"."""
    from scipy.special import stdtr

    error = float(values.std(ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    gap = float(values.mean()) - bound
    if error == 0:
        return 0.0 if gap < 0 else 1.0
    return float(stdtr(len(values) - 1, gap / error))


def _rejected(p: Floats) -> Masks:
    """Which hypotheses fall at a false discovery rate of 5 %, whatever their dependence."""
    m = len(p)
    order = np.argsort(p, kind="stable")
    bounds = np.arange(1, m + 1) / m * _LEVEL / (1.0 / np.arange(1, m + 1)).sum()
    below = np.flatnonzero(p[order] <= bounds)
    found = np.zeros(m, dtype=bool)
    found[order[: below[-1] + 1 if len(below) else 0]] = True
    return found
