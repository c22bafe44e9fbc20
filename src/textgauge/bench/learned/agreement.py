"""Agreement of a learned metric and of the best single metric with ratings, for new pairs and for new sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.show import drop_nonfinite_values
from textgauge.core.sizes import split_into_blocks
from textgauge.stats.correlation import resample_correlation, spearman
from textgauge.stats.decisions import is_better, judge_intervals
from textgauge.stats.resampling import compute_jackknife_variance, compute_percentile_interval

MEASURES = ("spearman", "order")
_CELLS = 500_000  # weights in memory at once: 4 MB
Agreement: TypeAlias = Callable[[Floats, Floats, Ints, NDArray[Any]], Floats]  # gold, column, sets, weights


@dataclass(frozen=True)
class RatingAgreement:
    """Spearman's ρ over pairs, and that of the means of sets; NaN where there are fewer than three sets."""

    metric: str
    spearman: float
    order: float


@dataclass(frozen=True)
class EnsembleContrast:
    """A learned metric and the best single one by one measure, with two intervals of the difference.

    `pairs_low` and `pairs_high` are for new pairs of the same sets, `sources_low` and `sources_high` for new sources;
    NaN where there are fewer than three. `better` says that both lie above 0.
    """

    measure: str
    ensemble: float
    best: str
    single: float
    difference: float
    pairs_low: float
    pairs_high: float
    sources_low: float
    sources_high: float
    n: int
    sources: int

    @property
    def better(self) -> bool:
        """Whether the learned metric is better, also on new sources."""
        return is_better((self.pairs_low, self.pairs_high), (self.sources_low, self.sources_high))

    @property
    def verdict(self) -> str:
        """Better than, worse than or tied with, on new pairs and on new sources."""
        return judge_intervals((self.pairs_low, self.pairs_high), (self.sources_low, self.sources_high))

    def to_dict(self) -> dict[str, Any]:
        """Return a flat row."""
        return drop_nonfinite_values({**asdict(self), "better": self.better})


def measure_agreement(name: str, gold: Floats, column: Floats, sets: Ints) -> RatingAgreement:
    """Return both measures of one column of similarities."""
    return RatingAgreement(
        name, spearman(gold, column), float(_correlate_sets(gold, column, sets, np.ones((1, len(gold))))[0])
    )


def contrast_ensemble(
    measure: str,
    gold: Floats,
    stacked: Floats,
    single: tuple[str, Floats],
    *,
    sets: Ints,
    sources: Ints,
    texts: Ints,
    resamples: int,
    level: float,
    seed: int,
) -> EnsembleContrast:
    """Compare the learned metric with a single one by one measure."""
    best, other = single
    of = _AGREEMENTS[measure]

    def gaps(weights: NDArray[Any]) -> Floats:
        return of(gold, stacked, sets, weights) - of(gold, other, sets, weights)

    whole = np.ones((1, len(gold)), dtype=np.int64)
    difference = float(gaps(whole)[0])
    drawn = np.concatenate([gaps(weights) for weights in _draw_weights(texts, sources, resamples, seed)])
    pairs = compute_percentile_interval(drawn, len(np.unique(texts)), level)
    labels = np.unique(sources)
    left_out = gaps((sources != labels[:, None]).astype(np.int64)) if len(labels) > 2 else np.full(len(labels), np.nan)
    n = len(gold) if measure == "spearman" else len(np.unique(sets))
    values = (float(of(gold, column, sets, whole)[0]) for column in (stacked, other))
    ends = *pairs, *_estimate_jackknife_interval(difference, left_out, level)
    return EnsembleContrast(measure, next(values), best, next(values), difference, *ends, n, len(labels))


def _estimate_jackknife_interval(value: float, left_out: Floats, level: float) -> tuple[float, float]:
    """Return Student's interval with the jackknife's error over sources; drawing few sources again is too narrow."""
    from scipy.special import stdtrit

    reach = float(stdtrit(len(left_out) - 1, (1.0 + level) / 2.0)) if len(left_out) > 1 else np.nan
    error = reach * float(np.sqrt(compute_jackknife_variance(left_out)))
    return value - error, value + error


def _draw_weights(texts: Ints, sources: Ints, resamples: int, seed: int) -> Iterator[Ints]:
    """Draw weights of pairs: left texts with replacement within each source, some resamples at a time."""
    units, place = np.unique(np.stack([sources, texts]), axis=1, return_inverse=True)
    starts = np.flatnonzero(np.diff(units[0], prepend=-1))
    sizes = np.diff([*starts, units.shape[1]])
    rng = np.random.default_rng([seed, 7])
    for some in split_into_blocks(resamples, _CELLS, len(texts)):
        drawn = some.stop - some.start
        counts = [rng.multinomial(count, np.full(count, 1.0 / count), size=drawn) for count in sizes]
        yield np.concatenate(counts, axis=1)[:, place.reshape(-1)]


def _correlate_pairs(gold: Floats, column: Floats, _: Ints, weights: NDArray[Any]) -> Floats:
    return resample_correlation(spearman, gold, column, weights)


def _correlate_sets(gold: Floats, column: Floats, sets: Ints, weights: NDArray[Any]) -> Floats:
    """Return Spearman's ρ of the means of the sets that have weight; NaN for fewer than three of them."""
    member = (sets[:, None] == np.unique(sets)).astype(np.float64)
    sums = weights.astype(np.float64) @ np.hstack([member, member * gold[:, None], member * column[:, None]])
    rhos = np.full(len(weights), np.nan)
    for row, (sizes, golden, columned) in enumerate(zip(*np.split(sums, 3, axis=1), strict=True)):
        full = sizes > 0
        if full.sum() >= 3:
            rhos[row] = spearman(golden[full] / sizes[full], columned[full] / sizes[full])
    return rhos


_AGREEMENTS: dict[str, Agreement] = {"spearman": _correlate_pairs, "order": _correlate_sets}
