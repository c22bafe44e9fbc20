"""How large a distance is, as a share of foreign texts: a reference with that share mixed in would be as far away.

One half of the reference is compared with mixtures of its other half and foreign texts, at several shares, and with as
many texts of the candidate. The share whose mixture is as far as the candidate is the answer. The foreign texts must
come from a third source: mixtures with the candidate's own texts reach its distance at 100 %, whatever the metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.progress import begin_step, name_counts
from textgauge.core.show import join_words
from textgauge.data import Comparison, Corpus, Draws
from textgauge.data.view import join_pools
from textgauge.measure.comparing import UncertaintyOptions, Views, prepare_rows
from textgauge.metrics import CorpusMetric, Score
from textgauge.stats.resampling import draw_halves, draw_left_out_groups

SHOWN = ("energy",)  # metrics whose interval holds the share in simulations (docs/reliability.md)
_SHARES = np.array([0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])
_FINE = np.linspace(0.0, 1.0, 201)
_SPLITS = 10  # of the reference into halves
_GROUPS, _HALVES = 20, 40  # of each corpus, left out for the interval


@dataclass(frozen=True)
class ForeignShare:
    """The share of foreign texts in a reference that is as far as the candidate, with its interval.

    0 also for a candidate closer than the reference's own halves, 1 also for one farther than the foreign texts; NaN
    where the metric is undefined on halves.
    """

    share: float
    low: float
    high: float


def add_shares(
    scores: Sequence[Score],
    metrics: Sequence[CorpusMetric],
    comparison: Comparison,
    foreign: Corpus,
    options: UncertaintyOptions,
) -> tuple[list[Score], list[str]]:
    """Return the scores with shares of foreign texts, where the interval is shown to hold, and what is skipped."""
    joint, foreign = join_pools(comparison.joint, foreign)
    shared, others = list(scores), [metric.key for metric in metrics if metric.name not in SHOWN]
    chosen = [
        (place, metric) for place, metric in enumerate(metrics) if metric.name in SHOWN and not scores[place].reason
    ]
    prepare_rows(Views(Comparison(joint, foreign)), [metric for _, metric in chosen])
    n = len(comparison.reference)
    moved = Comparison(joint.take(range(n)), joint.take(range(n, len(joint))))
    for number, (place, metric) in enumerate(chosen):
        begin_step(metric.key, number, len(chosen), "share of foreign texts")
        with name_counts(f"{metric.key}: mixtures"):
            share = estimate_share(metric, moved, foreign, level=options.level, seed=options.seed)
        shared[place] = replace(
            scores[place], foreign_share=share.share, foreign_low=share.low, foreign_high=share.high
        )
    skipped = f"foreign texts are estimated by {join_words(SHOWN)} only, not by {join_words(others)}"
    return shared, [skipped] if others else []


def estimate_share(
    metric: CorpusMetric, comparison: Comparison, foreign: Corpus, *, level: float = 0.95, seed: int = 0
) -> ForeignShare:
    """Estimate the share of foreign texts that, mixed into the reference, gives the distance of the candidate.

    The interval holds the shares s at which the distance of the candidate less that of the mixture lies within its
    standard error times Student's quantile of 0. The error comes from leaving out groups and halves of all three
    corpora: of a variance a + c (first and second order) groups estimate a + 2c (Efron and Stein 1981), halves a + 3c.
    """
    from scipy.special import stdtrit
    from sklearn.isotonic import isotonic_regression

    sides = [side.canonical() for side in (comparison.reference, comparison.candidate, foreign)]
    sizes = [len(side) for side in sides]
    joint = sides[0] | sides[1] | sides[2]
    values = metric.orient(metric.select(metric.compute_many(joint, _draw_mixtures(sizes, seed))))
    distances = values.reshape(-1, _SPLITS, len(_SHARES) + 1).mean(axis=1)
    if not np.isfinite(distances).all():
        return ForeignShare(*[float("nan")] * 3)
    curves = np.array([np.interp(_FINE, _SHARES, isotonic_regression(row)) for row in distances[:, :-1]])
    gaps = distances[:, -1:] - curves
    reach = float(stdtrit(_GROUPS - 1, 0.5 + level / 2)) * _estimate_errors(gaps[1:])
    inside = _FINE[np.abs(gaps[0]) <= reach]
    share = float(np.interp(0.0, -gaps[0], _FINE))
    return ForeignShare(share, float(inside.min(initial=share)), float(inside.max(initial=share)))


def _estimate_errors(gaps: Floats) -> Floats:
    """Return the standard errors of columns, from their values without each group and without random halves."""
    without_group, halved = np.split(gaps, [_GROUPS])
    by_group = (_GROUPS - 1) * without_group.var(axis=0)
    return np.asarray(np.sqrt(np.clip(2.0 * by_group - halved.var(axis=0, ddof=1), by_group / 2.0, by_group)))


def _draw_mixtures(sizes: list[int], seed: int) -> Draws:
    """Draws from all texts, then the same without each group, and without random halves, of all three corpora.

    A draw has a half of the reference on one side, and on the other a mixture of the other half, by rising share, or
    the candidate. Mixtures of a split share their texts, and splits keep their order where texts are left out, so that
    draws differ by the share and the group alone.
    """
    kept = np.hstack([_draw_masks(size, seed + number) for number, size in enumerate(sizes)])
    starts = np.cumsum([0, *sizes[:-1]])
    rng = np.random.default_rng([seed, 12])
    splits = [
        [start + rng.permutation(size) for start, size in zip(starts, sizes, strict=True)] for _ in range(_SPLITS)
    ]
    made = [_mix_split([rows[mask[rows]] for rows in split], sum(sizes)) for mask in kept for split in splits]
    return Draws(*(np.concatenate(side) for side in zip(*made, strict=True)))


def _mix_split(rows: list[Ints], total: int) -> tuple[Masks, Masks]:
    """Masks of one split, given the rows of reference, candidate and foreign texts in the order they are used."""
    own, candidate, others = rows
    half = len(own) // 2
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
    found = draw_left_out_groups(size, _GROUPS, seed)
    whole = np.ones((1 + _GROUPS - len(found), size), dtype=bool)
    return np.vstack([whole[:1], found, whole[1:], draw_halves(size, _HALVES, seed)[0]])
