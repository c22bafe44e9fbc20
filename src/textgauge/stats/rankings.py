"""Several tests at once: corrections, which of several things is better than which, and what ranks follow.

Every pair's difference has an interval or a corrected test, and all statements hold together at the level asked for.
One thing is better than another where its interval excludes 0; ranks and tiers follow from these statements alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.settings import split_into_blocks
from textgauge.core.show import ARROWS, Row, drop_nonfinite, format_cell, format_ranks
from textgauge.stats.decisions import ALPHA, format_leaders, is_ahead, is_different
from textgauge.stats.resampling import adjust_by_holm

_CELLS = 2**21  # at once
_MULTIPLIERS = 4_000  # draws from which it follows how far intervals reach that hold together
_SEED = 7


def compute_gap_p(gaps: Floats, errors: Floats, freedom: Floats) -> Floats:
    """Return two-sided p-values of Student's t of each gap; NaN where a gap or its error is unknown.

    A gap that is the same every time has no spread to compare it with: then all `freedom` + 1 signs agree, and the
    p-value is that of the sign test.
    """
    from scipy.special import betainc

    with np.errstate(invalid="ignore", divide="ignore"):
        p = betainc(freedom / 2.0, 0.5, freedom / (freedom + np.square(gaps / errors)))
    constant = np.abs(gaps) > 1e12 * errors
    signs = np.where(gaps == 0, 1.0, np.exp2(-np.minimum(freedom, 1_000.0)))
    return np.where(np.isfinite(errors) & (freedom > 0), np.where(constant | (gaps == 0), signs, p), np.nan)


def moderate_variances(variances: Floats, freedom: float, metrics: int) -> tuple[Floats, float]:
    """Draw the variances of all pairs of `metrics` towards a common one; return them, and their degrees of freedom.

    Each is the mean of its own value, which has `freedom`, and of the common one (the geometric mean), which counts for
    the more degrees the less the variances differ, but for no more than half of those of the other metrics: pairs share
    metrics, and few say little about the spread of their variances. Source: Smyth 2004, the moments of the logarithms.

    >>> alike, freedom = moderate_variances(np.array([1.0, 1.1, 0.9]), 4.0, 3)
    >>> alike.round(2).tolist(), freedom
    ([1.1, 1.17, 1.04], 6.0)
    """
    from scipy.special import digamma, polygamma

    known = variances[variances > 0]
    if len(known) < 2:
        return variances, freedom
    logs = np.log(known) - digamma(freedom / 2.0) + np.log(freedom / 2.0)
    degrees = np.geomspace((metrics - 2) * freedom / 2.0, 1e-3, 1_000)
    prior = float(np.interp(logs.var(ddof=1) - polygamma(1, freedom / 2.0), polygamma(1, degrees / 2.0), degrees))
    return (prior * np.exp(logs.mean()) + freedom * variances) / (prior + freedom), freedom + prior


def compute_student_interval(value: float, error: float, freedom: float, level: float) -> tuple[float, float]:
    """Return the value ± Student's quantile times the error; NaN where the error is unknown.

    >>> [round(end, 3) for end in compute_student_interval(1.0, 0.1, 4.0, 0.95)]
    [0.722, 1.278]
    """
    from scipy.special import stdtrit

    if not (np.isfinite(error) and freedom > 0):
        return float("nan"), float("nan")
    reach = float(-stdtrit(freedom, (1.0 - level) / 2.0)) * error
    return value - reach, value + reach


def compute_difference_interval(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Return the interval of first − second, each a value with both ends, of samples that have nothing in common.

    An end is as far from the difference as √(a² + b²) of the half-widths on that side (Zou and Donner 2008).

    >>> [round(end, 3) for end in compute_difference_interval((0.5, 0.4, 0.6), (0.3, 0.2, 0.4))]
    [0.059, 0.341]
    """
    (value, low, high), (other, other_low, other_high) = first, second
    below, above = np.hypot(value - low, other_high - other), np.hypot(high - value, other - other_low)
    return float(value - other - below), float(value - other + above)


def find_better(gaps: Floats, errors: Floats, freedom: Floats, *, alpha: float = ALPHA) -> Masks:
    """Return which row is better than which column, at family-wise level `alpha` over all pairs.

    The arguments are square: `gaps[a, b]` is how far a is ahead of b.

    >>> gaps = np.array([[0.0, 5.0], [-5.0, 0.0]])
    >>> find_better(gaps, np.ones((2, 2)), np.full((2, 2), 30.0)).tolist()
    [[False, True], [False, False]]
    """
    first, second = np.triu_indices(len(gaps), 1)
    chosen = first, second
    adjusted = adjust_by_holm(compute_gap_p(gaps[chosen], errors[chosen], freedom[chosen]))
    sure = np.zeros(gaps.shape, dtype=bool)
    sure[chosen] = [is_different(p, alpha=alpha) for p in adjusted.tolist()]
    return (sure | sure.T) & (gaps > 0)


def compute_smallest_gap(better: Masks, errors: Floats, freedom: Floats) -> float:
    """Return the gap from which `find_better` would have called tied things different: the median over tied pairs.

    NaN where none are tied, or no error is known.
    """
    from scipy.special import stdtrit

    first, second = np.nonzero(np.triu(~(better | better.T), 1))
    reach = -stdtrit(freedom[first, second], ALPHA / (2.0 * max(len(first), 1))) * errors[first, second]
    known = reach[reach > 0]
    return float(np.median(known)) if len(known) else float("nan")


def rank_ranges(better: Masks) -> tuple[Ints, Ints]:
    """Return the first and the last rank that each may have: behind all that are better, before all that are worse.

    >>> low, high = rank_ranges(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    >>> low.tolist(), high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def split_into_tiers(order: Sequence[int], better: Masks) -> dict[int, int]:
    """Return the tier of each, in this order: a new one begins only where all before are better than all after.

    >>> split_into_tiers([0, 1, 2], np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    {0: 1, 1: 1, 2: 2}
    """
    found, tier = {}, 1
    for place, item in enumerate(order):
        if place and better[np.ix_(order[:place], order[place:])].all():
            tier += 1
        found[item] = tier
    return found


@dataclass(frozen=True, eq=False)
class Ranking:
    """Things by a number of which less is better; `low[a, b]` and `high[a, b]` bound how far a is ahead of b."""

    values: Floats
    low: Floats
    high: Floats

    @property
    def better(self) -> Masks:
        """Which row is better than which column."""
        return np.asarray(is_ahead(self.low))

    @property
    def order(self) -> list[int]:
        """The things that have a value, best first; those of equal values by the ranks they may have."""
        low, high = self.rank_ranges()
        places = np.lexsort((high, low, self.values))
        return [int(place) for place in places if np.isfinite(self.values[place])]

    def rank_ranges(self) -> tuple[Ints, Ints]:
        """Return the first and the last rank that each may have among those that have a value."""
        low, high = rank_ranges(self.better)
        return low, high - int(np.isnan(self.values).sum())

    def tiers(self) -> dict[int, int]:
        """Return the tier of each thing with a value: a new one begins where all before beat all after."""
        return split_into_tiers(self.order, self.better)

    def unbeaten(self) -> list[int]:
        """Return the things that no other is better than, best first."""
        return [place for place in self.order if not self.better[:, place].any()]

    def placings(self) -> list[dict[str, Any]]:
        """List the `place` of each thing with its `rank`, `rank_low`, `rank_high` and `tier`, best first.

        Unranked last.
        """
        (low, high), tiers, order = self.rank_ranges(), self.tiers(), self.order
        names = ("place", "rank", "rank_low", "rank_high", "tier")
        ranked = [(at, rank, int(low[at]), int(high[at]), tiers[at]) for rank, at in enumerate(order, 1)]
        rest = [(at, None, None, None, None) for at in range(len(self.values)) if at not in tiers]
        return [dict(zip(names, row, strict=True)) for row in (*ranked, *rest)]

    def pairs(self, metric: str, names: Sequence[str]) -> list[dict[str, Any]]:
        """List for every pair which comes `first` and how far it is `ahead`; `better` names it where that is sure."""
        order = self.order
        return [
            {
                "metric": metric,
                "first": names[first],
                "second": names[second],
                "ahead": drop_nonfinite(float(self.values[second] - self.values[first])),
                "low": drop_nonfinite(float(self.low[first, second])),
                "high": drop_nonfinite(float(self.high[first, second])),
                "better": names[first] if self.better[first, second] else None,
            }
            for at, first in enumerate(order)
            for second in order[at + 1 :]
        ]


def format_ranking_answer(thing: str, names: Sequence[str], rankings: Mapping[str, Ranking], level: float) -> str:
    """Say which of several things, such as candidates, is best by which metrics."""
    leaders = {metric: [names[place] for place in one.unbeaten()] for metric, one in rankings.items()}
    return format_leaders(thing, leaders, len(names), level)


def list_differences(names: Sequence[str], rankings: Mapping[str, Ranking]) -> list[Row]:
    """Return one flat dictionary per metric and pair: how far `first` is ahead of `second`."""
    return [row for metric, one in rankings.items() for row in one.pairs(metric, names)]


def rank_values(values: Floats, errors: Floats, draws: Floats, *, freedom: float, level: float) -> Ranking:
    """Rank things by values of which less is better; a row of `draws` holds one random error of each thing.

    `errors` is square: the standard error of the difference of two things; NaN where it is unknown. The draws, of any
    scale, say how the errors of different pairs go together.

    >>> errors = np.full((3, 3), 0.1)
    >>> draws = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = rank_values(np.array([0.2, 0.1, 0.9]), errors, draws, freedom=50.0, level=0.95)
    >>> [ends.tolist() for ends in found.rank_ranges()], found.tiers(), found.unbeaten()
    ([[1, 1, 3], [2, 2, 3]], {1: 1, 0: 1, 2: 2}, [1, 0])
    """
    gaps = values[None, :] - values[:, None]
    # A difference that did not vary at all on parts of the data says nothing about how much it varies on all of them.
    known = np.isfinite(gaps) & np.isfinite(errors) & ((errors > 0) | (gaps == 0))
    reach = compute_pair_reach(draws, freedom=freedom, level=level) * errors
    return Ranking(values, np.where(known, gaps - reach, np.nan), np.where(known, gaps + reach, np.nan))


def compute_pair_reach(draws: Floats, *, freedom: float, level: float) -> float:
    """Return how many standard errors the intervals of all differences of two columns reach, to hold together.

    The largest normal deviate of the differences, with the correlations that the draws have (Gaussian multipliers), its
    tail carried over to Student's t; never more than Bonferroni's correction.

    >>> from scipy.stats import norm
    >>> two = np.random.default_rng(0).normal(size=(500, 2))
    >>> bool(abs(compute_pair_reach(two, freedom=1e6, level=0.95) - norm.ppf(0.975)) < 0.1)
    True
    """
    from scipy.special import ndtr, stdtrit

    usable = draws[:, np.isfinite(draws).all(axis=0)].T
    products = usable @ usable.T
    squares = np.add.outer(np.diag(products), np.diag(products))
    spread = np.triu(squares - 2 * products, 1)
    varying = spread > 1e-12 * squares  # others are equal but for rounding
    tests = int(varying.sum())
    bound = (1.0 - level) / (2 * max(tests, 1))
    if tests:
        scale = np.divide(1.0, np.sqrt(np.abs(spread)), out=np.zeros_like(spread), where=varying)
        rng, largest = np.random.default_rng(_SEED), np.zeros(_MULTIPLIERS)
        for block in split_into_blocks(_MULTIPLIERS, _CELLS, max(usable.shape)):
            deviates = usable @ rng.normal(size=(block.stop - block.start, usable.shape[1])).T
            for one, row in enumerate(deviates[:-1]):
                ratios = np.abs(deviates[one + 1 :] - row) * scale[one, one + 1 :, None]
                np.maximum(largest[block], ratios.max(axis=0), out=largest[block])
        bound = max(bound, float(ndtr(-np.quantile(largest, level))))
    return float(-stdtrit(freedom, bound))


RANKS_IN_CELLS = "in brackets the ranks that each may have; all hold together, and shared ranks are ties"


def spread_metrics(rows: Sequence[Mapping[str, Any]], named: str) -> list[dict[str, Any]]:
    """Return rows of metrics and systems, or candidates, as one row for each of these and a column for each metric.

    >>> row = {"metric": "bleu", "system": "a", "value": 0.1251, "closer": "larger", "rank_low": 1, "rank_high": 2}
    >>> spread_metrics([row], "system")
    [{'system': 'a', 'bleu ↑': '0.125 (1–2)'}]
    """
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        cell = "undefined" if row["value"] is None else format_cell(row["value"])
        ranks = "" if row["rank_low"] is None else f" ({format_ranks(row['rank_low'], row['rank_high'])})"
        heading = f"{row['metric']} {ARROWS[row['closer']]}"
        found.setdefault(row[named], {named: row[named]})[heading] = cell + ranks
    return list(found.values())
