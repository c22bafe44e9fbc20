"""Whether corpora differ, and whether their texts' values go with people's ratings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.core.tabular import FlatRow
from textgauge.metrics.properties.base import MeasuredCorpus
from textgauge.stats.correlation import complete, spearman
from textgauge.stats.resampled_correlation import correlation_interval
from textgauge.stats.simultaneous import holm


@dataclass(frozen=True, kw_only=True)
class Difference(FlatRow):
    """Two corpora under one property: means per text, and p-values for "no difference", corrected for their number.

    Welch's unpaired t-test and the Mann-Whitney test, each corrected over all its tests by Holm's method. Plausibility
    is the surprise per token, the logarithm of perplexity.
    """

    property: str
    first: str
    second: str
    mean_first: float
    mean_second: float
    p_t: float
    p_mann_whitney: float
    p_t_holm: float
    p_mann_whitney_holm: float


@dataclass(frozen=True, kw_only=True)
class RatingLink(FlatRow):
    """Spearman's ρ of a property and the ratings of the same texts, with its bootstrap interval."""

    corpus: str
    property: str
    rho: float
    low: float
    high: float
    n: int


def differences(corpora: Sequence[MeasuredCorpus]) -> tuple[Difference, ...]:
    """All pairs of corpora under every property that both have, text by text."""
    columns = {measured.name: measured.text_values() for measured in corpora}
    cases = [
        (name, first, second)
        for first, second in combinations(columns, 2)
        for name in columns[first]
        if name in columns[second]
    ]
    found = [_tested(columns[first][name], columns[second][name]) for name, first, second in cases]
    corrected = [holm(np.array(column)) for column in zip(*(row[2:] for row in found), strict=True)]
    return tuple(
        Difference(
            property=name,
            first=first,
            second=second,
            mean_first=row[0],
            mean_second=row[1],
            p_t=row[2],
            p_mann_whitney=row[3],
            p_t_holm=float(corrected[0][place]),
            p_mann_whitney_holm=float(corrected[1][place]),
        )
        for place, ((name, first, second), row) in enumerate(zip(cases, found, strict=True))
    )


def rating_links(
    corpora: Sequence[MeasuredCorpus], ratings: Mapping[str, Floats], *, level: float, seed: int
) -> Iterator[RatingLink]:
    """ρ of each per-text property with the ratings, for every corpus that has them."""
    for measured in corpora:
        given = ratings.get(measured.name)
        if given is None:
            continue
        order = np.argsort(measured.corpus.keys, kind="stable")  # draws do not depend on the order of the texts
        for name, values in measured.text_values().items():
            known = order[complete(values, given)[order]]
            low, high = correlation_interval(spearman, given[known], values[known], level=level, seed=seed)
            rho = spearman(given[known], values[known])
            yield RatingLink(corpus=measured.name, property=name, rho=rho, low=low, high=high, n=len(known))


def _tested(first: Floats, second: Floats) -> tuple[float, float, float, float]:
    """Both means and both p-values; NaN where a side has less than two values, or none of them differ."""
    a, b = first[np.isfinite(first)], second[np.isfinite(second)]
    mine, yours = (float(side.mean()) if len(side) else math.nan for side in (a, b))
    if min(len(a), len(b)) < 2 or np.ptp(np.concatenate([a, b])) == 0:
        return mine, yours, math.nan, math.nan
    return mine, yours, *_p_values(a, b)


def _p_values(a: Floats, b: Floats) -> tuple[float, float]:
    from scipy.special import stdtr
    from scipy.stats import mannwhitneyu

    errors = [float(side.var(ddof=1)) / len(side) for side in (a, b)]
    parts = [error**2 / (len(side) - 1) for error, side in zip(errors, (a, b), strict=True)]
    p_t = math.nan
    if sum(parts) > 0:  # Welch's test by hand: scipy's warns where one side is as good as constant
        t = (a.mean() - b.mean()) / math.sqrt(sum(errors))
        p_t = 2.0 * float(stdtr(sum(errors) ** 2 / sum(parts), -abs(t)))
    return p_t, float(mannwhitneyu(a, b, method="asymptotic").pvalue)
