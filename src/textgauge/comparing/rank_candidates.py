"""Rank candidates by their distance to one reference: the error of every difference, from parts they share.

All corpora are cut into disjoint quarters and halves, the reference the same way for every candidate. What the
reference's luck adds to all distances alike then cancels in their differences, as it does in the values themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textgauge.arrays import Floats
from textgauge.data import Comparison
from textgauge.metrics import CorpusMetric
from textgauge.metrics.base import Undefined
from textgauge.metrics.uncertainty import Parts
from textgauge.stats.rankings import Ranking, ranking

MIN_TEXTS = 200  # of each corpus: the smallest size at which false statements were simulated
_TRIALS = 16  # cuts into quarters; every candidate pays for all of them


def rank_candidates(
    metric: CorpusMetric,
    comparisons: Sequence[Comparison],
    values: Floats,
    *,
    level: float,
    seed: int,
    paired: bool = False,
) -> Ranking:
    """Which candidate is nearer than which, for comparisons with one reference and the metric's values on them.

    `paired`: text i of every candidate belongs together. Raises `Undefined` with the reason where the corpora are too
    small for this metric's errors.
    """
    fewest = min(min(len(one.reference), len(one.candidate)) for one in comparisons)
    if fewest < MIN_TEXTS:
        raise Undefined(f"corpora are ranked from {MIN_TEXTS} texts on; one has {fewest}")
    cut = Parts.of_rows if paired else Parts.of
    parts = [cut(comparison, trials=_TRIALS, seed=seed) for comparison in comparisons]
    drawn = np.stack([metric.select(metric.compute_many(part.joint, part.draws)) for part in parts])
    return ranking_of_parts(parts[0], metric.orient(values), metric.orient(drawn), fewest=fewest, level=level)


def ranking_of_parts(parts: Parts, values: Floats, drawn: Floats, *, fewest: int, level: float) -> Ranking:
    """The ranking of candidates by their values, given those on the parts (a row each); less is nearer.

    Degrees of freedom: half the texts, as of an interval of a single value, and one and a half per cut, since that is
    about what the few cuts leave of the variances of halves and quarters.
    """
    freedom = 1.0 / (2.0 / (fewest - 1) + 1.0 / (1.5 * parts.trials))
    draws = _usable(parts.half_differences(drawn))
    return ranking(values, _errors_of_differences(parts, drawn), draws, freedom=freedom, level=level)


def _errors_of_differences(parts: Parts, drawn: Floats) -> Floats:
    """The standard error of the difference of every two candidates; NaN where it cannot be estimated.

    V(n) ≈ V(n/2) · V(n/2)/V(n/4), where the ratio is that of all pairs together, or the pair's own if that is larger:
    one pair's ratio alone would be too noisy.
    """
    quarters, halves = np.zeros((2, len(drawn), len(drawn)))
    for first, second in zip(*np.triu_indices(len(drawn), 1), strict=True):
        try:
            found = parts.variances(drawn[first] - drawn[second])
        except Undefined:
            found = (np.nan, np.nan)
        quarters[first, second], halves[first, second] = found
    quarters, halves = quarters + quarters.T, halves + halves.T
    with np.errstate(invalid="ignore", divide="ignore"):
        own, pooled = halves / quarters, np.nansum(halves) / np.nansum(quarters)
    return np.asarray(np.sqrt(np.where(halves == 0, 0.0, halves * np.fmax(own, pooled))))


def _usable(differences: Floats) -> Floats:
    """Draws as rows, those in which a candidate has no value left out."""
    return np.asarray(differences[:, np.isfinite(differences).all(axis=0)].T)
