"""Which of several things is better than which, by one number each: statements that all hold together.

Every pair's difference has an interval, and all intervals hold together at the level asked for. One thing is better
than another where that interval excludes 0; ranks and tiers follow from these statements alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.show import Row, plain
from textgauge.stats import simultaneous
from textgauge.stats.decisions import ahead, leaders_sentence

_MULTIPLIERS = 4_000
_SEED = 7


@dataclass(frozen=True, eq=False)
class Ranking:
    """Things by a number of which less is better; `low[a, b]` and `high[a, b]` bound how far a is ahead of b."""

    values: Floats
    low: Floats
    high: Floats

    @property
    def better(self) -> Masks:
        """Which row is better than which column."""
        return np.asarray(ahead(self.low))

    @property
    def order(self) -> list[int]:
        """The things that have a value, best first; those of equal values by the ranks they may have."""
        low, high = self.rank_ranges()
        places = np.lexsort((high, low, self.values))
        return [int(place) for place in places if np.isfinite(self.values[place])]

    def rank_ranges(self) -> tuple[Ints, Ints]:
        """The first and the last rank that each may have among those that have a value."""
        low, high = simultaneous.rank_ranges(self.better)
        return low, high - int(np.isnan(self.values).sum())

    def tiers(self) -> dict[int, int]:
        """The tier of each thing that has a value: a new one begins where all before are better than all after."""
        return simultaneous.tiers(self.order, self.better)

    def unbeaten(self) -> list[int]:
        """The things that no other is better than, best first."""
        return [place for place in self.order if not self.better[:, place].any()]

    def placings(self) -> list[dict[str, Any]]:
        """The `place` of each thing with its `rank`, `rank_low`, `rank_high` and `tier`, best first; unranked last."""
        (low, high), tiers, order = self.rank_ranges(), self.tiers(), self.order
        ranked: list[dict[str, Any]] = [
            {
                "place": place,
                "rank": rank,
                "rank_low": int(low[place]),
                "rank_high": int(high[place]),
                "tier": tiers[place],
            }
            for rank, place in enumerate(order, 1)
        ]
        rest = [place for place in range(len(self.values)) if place not in tiers]
        return ranked + [{"place": place} | dict.fromkeys(("rank", "rank_low", "rank_high", "tier")) for place in rest]

    def pairs(self, metric: str, names: Sequence[str]) -> list[dict[str, Any]]:
        """For every pair, which comes `first` and how far it is `ahead`; `better` names it where that is sure."""
        order = self.order
        return [
            {
                "metric": metric,
                "first": names[first],
                "second": names[second],
                "ahead": plain(float(self.values[second] - self.values[first])),
                "low": plain(float(self.low[first, second])),
                "high": plain(float(self.high[first, second])),
                "better": names[first] if self.better[first, second] else None,
            }
            for at, first in enumerate(order)
            for second in order[at + 1 :]
        ]


def ranking_answer(thing: str, names: Sequence[str], rankings: Mapping[str, Ranking], level: float) -> str:
    """Say which of several things, such as candidates, is best by which metrics."""
    leaders = {metric: [names[place] for place in one.unbeaten()] for metric, one in rankings.items()}
    return leaders_sentence(thing, leaders, len(names), level)


def ranking_differences(names: Sequence[str], rankings: Mapping[str, Ranking]) -> list[Row]:
    """Return one flat dictionary per metric and pair: how far `first` is ahead of `second`."""
    return [row for metric, one in rankings.items() for row in one.pairs(metric, names)]


def ranking(values: Floats, errors: Floats, draws: Floats, *, freedom: float, level: float) -> Ranking:
    """Rank things by values of which less is better; a row of `draws` holds one random error of each thing.

    `errors` is square: the standard error of the difference of two things; NaN where it is unknown. The draws, of any
    scale, say how the errors of different pairs go together.

    >>> errors = np.full((3, 3), 0.1)
    >>> draws = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = ranking(np.array([0.2, 0.1, 0.9]), errors, draws, freedom=50.0, level=0.95)
    >>> [ends.tolist() for ends in found.rank_ranges()], found.tiers(), found.unbeaten()
    ([[1, 1, 3], [2, 2, 3]], {1: 1, 0: 1, 2: 2}, [1, 0])
    """
    gaps = values[None, :] - values[:, None]
    # A difference that did not vary at all on parts of the data says nothing about how much it varies on all of them.
    known = np.isfinite(gaps) & np.isfinite(errors) & ((errors > 0) | (gaps == 0))
    first, second = np.triu_indices(len(values), 1)
    reach = joint_reach(draws[:, first] - draws[:, second], freedom=freedom, level=level) * errors
    return Ranking(values, np.where(known, gaps - reach, np.nan), np.where(known, gaps + reach, np.nan))


def joint_reach(draws: Floats, *, freedom: float, level: float) -> float:
    """How many standard errors the intervals of all columns reach, so that all hold together at `level`.

    The largest of the columns' normal deviates, with the correlations that the draws have (Gaussian multipliers), its
    tail carried over to Student's t; never more than Bonferroni's correction.

    >>> from scipy.stats import norm
    >>> alone = np.random.default_rng(0).normal(size=(500, 1))
    >>> bool(abs(joint_reach(alone, freedom=1e6, level=0.95) - norm.ppf(0.975)) < 0.1)
    True
    """
    from scipy.special import ndtr, stdtrit

    usable = draws[:, np.isfinite(draws).all(axis=0)]
    spread = np.sqrt((usable**2).mean(axis=0))
    usable = usable[:, spread > 0] / spread[spread > 0]
    tests = max(usable.shape[1], 1)
    bound = (1.0 - level) / (2 * tests)
    if usable.shape[1]:
        weights = np.random.default_rng(_SEED).normal(size=(_MULTIPLIERS, len(usable)))
        largest = np.abs(weights @ usable / np.sqrt(len(usable))).max(axis=1)
        bound = max(bound, float(ndtr(-np.quantile(largest, level))))
    return float(-stdtrit(freedom, bound))
