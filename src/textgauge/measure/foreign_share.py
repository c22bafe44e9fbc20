"""How large a distance is, as a share of foreign texts: a reference with that share mixed in would be as far away.

One half of the reference is compared with mixtures of its other half and foreign texts, at several shares, and with as
many texts of the candidate. The share whose mixture is as far as the candidate is the answer. The foreign texts must
come from a third source: mixtures with the candidate's own texts reach its distance at 100 %, whatever the metric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.errors import ArgumentError
from textgauge.core.progress import begin_step, name_counts
from textgauge.core.show import join_words
from textgauge.data import Comparison, Corpus, Draws, load_corpus, sample
from textgauge.data.samples import DOMAINS
from textgauge.data.source import get_source_name
from textgauge.data.view import join_pools
from textgauge.encode.embedders import has_own_model
from textgauge.measure.candidates import Pairing
from textgauge.measure.comparing import Asked, Views, prepare_rows
from textgauge.metrics import CorpusMetric, Score
from textgauge.metrics.uncertainty import NullValues, order_by_content
from textgauge.stats.resampling import draw_halves, draw_left_out_groups

SHOWN = ("energy",)  # metrics whose interval holds the share in simulations (docs/reliability.md)
BUILT_IN = "built-in texts about banking, cooking, support and travel"
_SHARES = np.array([0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])
_FINE = np.linspace(0.0, 1.0, 201)
_SPLITS = 10  # of the reference into halves
_PARTS, _HALVES = 20, 40  # of each corpus, left out for the interval
_POWER = 0.8
_FEWEST, _MOST = 400, 4_000  # built-in texts


@dataclass(frozen=True)
class ForeignShare:
    """The share of foreign texts in a reference that is as far as the candidate, with its interval.

    0 also for a candidate closer than the reference's own halves, 1 also for one farther than the foreign texts; NaN
    where the metric is undefined on halves. `is_within` says that the share is below the margin that was asked for,
    `power` how likely that is to be found for two samples of one source, and `texts` from how many texts of the smaller
    corpus it is with 80 %.
    """

    share: float = math.nan
    low: float = math.nan
    high: float = math.nan
    is_within: bool = False
    power: float = math.nan
    texts: float = math.nan


def load_built_in(count: int = _FEWEST) -> Corpus:
    """Return about this many built-in texts, for comparisons without foreign texts of the user's."""
    each = min(max(count, _FEWEST), _MOST) // len(DOMAINS)
    return Corpus.of([text for name in DOMAINS for text in sample(name, n=each).texts])


def find_size(
    measured: Pairing, metrics: Sequence[CorpusMetric], asked: Asked
) -> tuple[list[Score], list[str], dict[str, Any]]:
    """Return scores, notes and fields of a report: how far the corpora are as a share of foreign texts.

    Where nobody asked for that: the share that would have been found.
    """
    comparison, scores = measured.comparison, list(measured.scores)
    source, within = asked.given.get("foreign"), asked.given.get("within")
    if source is None and within is None:
        return scores, [], _find_missed(measured, metrics) if asked.test else {}
    if within is not None and not any(metric.name in SHOWN for metric in metrics):
        raise ArgumentError(f"`within` needs one of these among the metrics: {join_words(list(SHOWN))}")
    if source is None:
        foreign, name = load_built_in(max(map(len, comparison.sides))), BUILT_IN
    else:
        how: Any = {"column": asked.column, "limit": asked.given.get("limit"), "seed": asked.seed}
        foreign = load_corpus(source, role="foreign", **how)
        name = get_source_name(source, "foreign texts")
    notes = [f"foreign texts: {BUILT_IN}; name others with --foreign"] if source is None else []
    if others := [metric.key for metric in metrics if metric.name not in SHOWN]:
        notes.append(f"foreign texts are estimated by {join_words(SHOWN)} only, not by {join_words(others)}")
    chosen = [place for place, metric in enumerate(metrics) if metric.name in SHOWN and not scores[place].reason]
    joint, foreign = join_pools(comparison.joint, foreign)
    prepare_rows(Views(Comparison(joint, foreign)), [metrics[place] for place in chosen])
    n, found = len(comparison.reference), list[ForeignShare]()
    moved = Comparison(joint.take(range(n)), joint.take(range(n, len(joint))), groups=comparison.groups)
    for number, place in enumerate(chosen):
        metric = metrics[place]
        begin_step(metric.key, number, len(chosen), "share of foreign texts")
        with name_counts(f"{metric.key}: mixtures"):
            share = estimate_share(metric, moved, foreign, level=asked.level, seed=asked.seed, within=within)
        scores[place] = replace(
            scores[place], foreign_share=share.share, foreign_low=share.low, foreign_high=share.high
        )
        found.append(share)
    return scores, notes, {"foreign": next(iter(found), ForeignShare()), "within": within, "foreign_name": name}


def _find_missed(measured: Pairing, metrics: Sequence[CorpusMetric]) -> dict[str, Any]:
    """Return the fields of a report that say which share would have been found."""
    comparison = measured.comparison
    usable = zip(metrics, measured.nulls, strict=True)
    known = [(metric, null) for metric, null in usable if null is not None and metric.name in SHOWN]
    if not known or not comparison.joint.pool.has_texts or comparison.blocks is not None:
        return {}
    metric, null = known[0]
    if metric.reads_texts or comparison.joint.pool.is_stored or not has_own_model(metric.embedder):
        return {}  # other encoders may cost money for texts that nobody asked for
    smallest = find_smallest_share(metric, comparison, null, load_built_in())
    return {} if math.isnan(smallest) else {"missed": (metric.key, smallest), "foreign_name": BUILT_IN}


def estimate_share(
    metric: CorpusMetric,
    comparison: Comparison,
    foreign: Corpus,
    *,
    level: float = 0.95,
    seed: int = 0,
    within: float | None = None,
) -> ForeignShare:
    """Estimate the share of foreign texts that, mixed into the reference, gives the distance of the candidate.

    The interval holds the shares s at which the distance of the candidate less that of the mixture lies within its
    standard error times Student's quantile of 0. The candidate is `within` a share that lies above this interval.
    Between the shares that are tried, distances grow with s², as energy does.
    """
    from scipy.special import ndtr, ndtri, stdtrit
    from sklearn.isotonic import isotonic_regression

    joint = order_by_content(comparison) | foreign.canonical()
    values = metric.orient(metric.select(metric.compute_many(joint, _draw_mixtures(comparison, len(foreign), seed))))
    distances = values.reshape(-1, _SPLITS, len(_SHARES) + 1).mean(axis=1)
    if not np.isfinite(distances).all():
        return ForeignShare()
    curves = np.array([np.interp(_FINE**2, _SHARES**2, isotonic_regression(row)) for row in distances[:, :-1]])
    gaps = distances[:, -1:] - curves
    first, second = _estimate_variances(gaps[1:])
    reach = float(stdtrit(_PARTS - 1, 0.5 + level / 2))
    inside = _FINE[np.abs(gaps[0]) <= reach * np.sqrt(first + second)]
    share = float(np.interp(0.0, -gaps[0], _FINE))
    found = ForeignShare(share, float(inside.min(initial=share)), float(inside.max(initial=share)))
    if within is None:
        return found
    gap, rise, a, c = (
        float(np.interp(within, _FINE, row)) for row in (gaps[0], curves[0] - curves[0, 0], first, second)
    )
    error = math.sqrt(a + c)
    # The variance at r times the texts is a/r + c/r²: solved for 1/r where the power is the wanted one.
    wanted = (rise / (reach + float(ndtri(_POWER)))) ** 2
    inverse = (math.sqrt(a**2 + 4 * c * wanted) - a) / (2 * c) if c > 0 else wanted / a
    return replace(
        found,
        is_within=gap < -reach * error,
        power=float(ndtr(rise / error - reach)),
        texts=comparison.smaller / inverse if inverse > 0 else math.inf,
    )


def find_smallest_share(metric: CorpusMetric, comparison: Comparison, null: NullValues, foreign: Corpus) -> float:
    """Return the share of foreign texts that a test by the metric alone finds with 80 % power at these sizes.

    A share s adds s² times the distance of the foreign texts to energy. The null values say what must be added: up to
    their 95 % quantile, and 0.84 standard deviations more, of values as far as that.
    """
    joint, foreign = join_pools(comparison.joint, foreign)
    away = Comparison(joint, foreign)
    prepare_rows(Views(away), [metric])
    n, m = map(len, comparison.sides)
    bias = null.mean * (1 / len(joint) + 1 / len(foreign)) / (1 / n + 1 / m)
    farthest = metric.measure(away).value - bias
    if not (farthest > 0 and null.mean > 0):
        return math.nan
    # x = q + z·√(V₀·(1 + 2x/E₀)): the variance of a squared length grows with it (see `invert_interval`).
    q = max(float(np.quantile(null.permuted, 0.95, method="weibull")) - null.mean, 0.0)
    chance = 0.8416 * null.deviation
    middle = q + chance**2 / null.mean
    return min(math.sqrt((middle + math.sqrt(middle**2 - q**2 + chance**2)) / farthest), 1.0)


def _estimate_variances(gaps: Floats) -> tuple[Floats, Floats]:
    """Return the variances a and c, of first and second order, of columns.

    Values without each part estimate a + 2c (Efron and Stein 1981), values without random halves a + 3c.
    """
    without_part, halved = np.split(gaps, [_PARTS])
    by_part = (_PARTS - 1) * without_part.var(axis=0)
    second = np.clip(halved.var(axis=0, ddof=1) - by_part, 0.0, by_part / 2.0)
    return np.asarray(by_part - 2.0 * second), np.asarray(second)


def _draw_mixtures(comparison: Comparison, n_foreign: int, seed: int) -> Draws:
    """Draws from all texts, then the same without each part, and without random halves, of all three corpora.

    A draw has a half of the reference on one side, and on the other a mixture of the other half, by rising share, or
    the candidate. Mixtures of a split share their texts, and splits keep their order where texts are left out, so that
    draws differ by the share and the part alone. Texts of a unit, such as a group, stay together.
    """
    n, sizes = len(comparison.reference), [*map(len, comparison.sides), n_foreign]
    labels = comparison.units.groups
    if labels is None:
        labels = np.arange(sizes[0] + sizes[1])
    units = [labels[:n], labels[n:] - labels[n:].min(), np.arange(n_foreign)]
    kept = np.hstack([_draw_masks(int(of.max()) + 1, seed + number)[:, of] for number, of in enumerate(units)])
    starts = np.cumsum([0, *sizes[:-1]])
    rng = np.random.default_rng([seed, 12])
    splits = [
        [
            start + np.argsort(np.argsort(rng.permutation(int(of.max()) + 1))[of], kind="stable")
            for start, of in zip(starts, units, strict=True)
        ]
        for _ in range(_SPLITS)
    ]
    made = [_mix_split([rows[mask[rows]] for rows in split], units[0], sum(sizes)) for mask in kept for split in splits]
    return Draws(*(np.concatenate(side) for side in zip(*made, strict=True)))


def _mix_split(rows: list[Ints], units: Ints, total: int) -> tuple[Masks, Masks]:
    """Masks of one split, given the rows of reference, candidate and foreign texts in the order they are used.

    No unit of the reference is cut in two: the half ends with the unit in the middle.
    """
    own, candidate, others = rows
    ends = np.flatnonzero(np.diff(units[own], append=-1))
    half = int(ends[min(int(np.searchsorted(ends, len(own) // 2 - 1)), len(ends) - 2)]) + 1
    mixed = min(len(own) - half, len(candidate), len(others))
    left, right = np.zeros((2, len(_SHARES) + 1, total), dtype=bool)
    left[:, own[:half]] = True
    for row, share in zip(right, _SHARES, strict=False):
        count = round(share * mixed)
        row[others[:count]] = row[own[half : half + mixed - count]] = True
    right[-1, candidate[:mixed]] = True
    return left, right


def _draw_masks(size: int, seed: int) -> Masks:
    """Masks of all texts, of all but each group, and of random halves; with few texts some groups leave out none."""
    found = draw_left_out_groups(size, _PARTS, seed)
    whole = np.ones((1 + _PARTS - len(found), size), dtype=bool)
    return np.vstack([whole[:1], found, whole[1:], draw_halves(size, _HALVES, seed)[0]])
