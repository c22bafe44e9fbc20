"""Distances between the moments of two embedding clouds: fid, medoid, median, ttest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from textgauge.core.arrays import Embeddings, Floats
from textgauge.core.settings import split_into_blocks
from textgauge.data import Comparison, Corpus, Draws
from textgauge.data.pool import compute_mean_rows
from textgauge.metrics.base import UNBOUNDED, VALUE, Part
from textgauge.metrics.corpus_metric import EmbeddingMetric, ManyValues, Values
from textgauge.metrics.numerics.moments import (
    Moments,
    Subsets,
    compute_moments,
    frechet,
    frechet_many,
    get_moments_of_scatter,
    sum_by_group,
    sum_sides,
)
from textgauge.metrics.registry import register
from textgauge.metrics.uncertainty import PERMUTATION, NullValues

_MOST_PERMUTATIONS = 399  # where each takes an eigenproblem of many dimensions
_MANY_DIMENSIONS = 128
_CELLS = 2**24  # of the embeddings, in double precision at once
_SUB_SIZES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def compute_cosine_distance(u: Floats, v: Floats) -> Floats:
    """1 − cos along the last axis; two zero vectors are at 0, a zero vector and another at 1."""
    norms = np.linalg.norm(u, axis=-1) * np.linalg.norm(v, axis=-1)
    both_zero = ~u.any(axis=-1) & ~v.any(axis=-1)
    cos = (u * v).sum(axis=-1) / np.where(norms > 0, norms, 1.0)
    return np.clip(1.0 - np.where(norms > 0, cos, both_zero), 0.0, 2.0)


def compute_student_p(
    means: tuple[Floats, Floats], variances: tuple[Floats, Floats], sizes: tuple[Floats, Floats]
) -> Floats:
    """Two-sided p of Student's two-sample t-test per dimension, from means, variances (n − 1) and sizes.

    Where both samples are constant: 1 if they are equal, 0 if not.
    """
    from scipy.special import stdtr

    (n, m), freedom = sizes, sizes[0] + sizes[1] - 2
    pooled = ((n - 1) * variances[0] + (m - 1) * variances[1]) / freedom
    gap = np.abs(means[0] - means[1])
    error = np.sqrt(pooled * (1 / n + 1 / m))
    # A spread below the rounding of the means is none: constant coordinates must not be decided by noise.
    rounding = 1e-12 * (np.abs(means[0]) + np.abs(means[1]))
    t = np.where(error > rounding, gap / np.maximum(error, 1e-300), np.where(gap > rounding, np.inf, 0.0))
    return 2.0 * stdtr(freedom, -t)


def compute_column_medians(X: Embeddings) -> Floats:
    """Return the median of each column, a few columns at a time."""
    parts = (X[:, some].astype(np.float64) for some in split_into_blocks(X.shape[1], _CELLS, len(X)))
    return np.concatenate([np.median(part, axis=0) for part in parts])


@register
class Frechet(EmbeddingMetric):
    """Fréchet distance of the two Gaussians fitted to the embeddings.

    ‖μP − μQ‖² + tr(ΣP + ΣQ − 2(ΣPΣQ)^½), covariances with n − 1. The value is biased upwards by about a/n:
    `correct=extrapolate` fits the value over 1/n on nested sub-corpora and gives the limit (may be negative).
    Undefined for fewer than 2 texts. Source: Heusel et al. 2017; extrapolation: Chong and Forsyth 2020.
    """

    name, label, source = "fid", "Fréchet embedding distance", "Heusel et al. 2017"
    version = 2
    min_texts_interval = 300
    variance_grows_with_value = True
    headline = Part(VALUE, bounds=(0.0, float("inf")))
    interval_trials: ClassVar[int] = 12
    is_sum: ClassVar[bool] = True  # of coordinates and of their products

    correct: Literal["none", "extrapolate"] = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.correct != "none":  # halves the corpora, needs the rows, and may give a distance below zero
            vars(self).update(min_texts=8, is_sum=False, shown=replace(self.headline, bounds=UNBOUNDED))

    def compute(self, comparison: Comparison) -> Values:
        if self.correct == "none":
            X, Y = (side.embeddings(self.embedder) for side in comparison.sides)
            return {VALUE: frechet(compute_moments(X), compute_moments(Y))}
        sides = comparison.reference.canonical(), comparison.candidate.canonical()
        X, Y = (side.embeddings(self.embedder) for side in sides)
        windows = _list_windows(len(X), len(Y))
        values = [frechet(compute_moments(X[rows]), compute_moments(Y[others])) for rows, others in windows]
        inverse = [1 / size for size in _SUB_SIZES for _ in range(2)]
        return {VALUE: float(np.polynomial.polynomial.polyfit(inverse, values, 1)[0])}

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        if self.correct != "none":
            return super().compute_many(joint, draws)
        X, sides = joint.embeddings(self.embedder), Subsets.of(draws)
        centre = compute_mean_rows(X)  # the distance does not move with the origin, and cancels less
        if draws.groups is None:
            return {VALUE: frechet_many(sides, lambda side: compute_moments(X[sides.masks[side]] - centre))}

        def add(rows: Embeddings) -> Floats:
            gaps = rows - centre
            return np.vstack([gaps.sum(axis=0), gaps.T @ gaps])

        groups = sum_by_group(X, draws.groups, add)

        def add_groups(side: int) -> Moments:
            n = int(sides.sizes[side])
            total, *products = np.tensordot(sides.masks[side].astype(np.float64), groups, 1)
            return get_moments_of_scatter(n, total / n, np.array(products) - np.outer(total, total / n))

        return {VALUE: frechet_many(sides, add_groups)}

    def null_values(self, comparison: Comparison, *, permutations: int, seed: int) -> NullValues:
        """Return null values as every metric, but at most 399 permutations of corpora that fill many dimensions."""
        n, m = len(comparison.reference), len(comparison.candidate)
        dimension = comparison.joint.embeddings(self.embedder).shape[1]
        if permutations <= _MOST_PERMUTATIONS or not _MANY_DIMENSIONS <= dimension < min(n, m):
            return super().null_values(comparison, permutations=permutations, seed=seed)
        null = super().null_values(comparison, permutations=_MOST_PERMUTATIONS, seed=seed)
        return replace(null, method=f"{PERMUTATION}, {_MOST_PERMUTATIONS} times")


def _list_windows(n: int, m: int) -> Iterator[tuple[slice, slice]]:
    """For each share of the corpora its first and its last texts; the canonical order is as good as random."""
    for share in _SUB_SIZES:
        a, b = round(share * n), round(share * m)
        yield slice(0, a), slice(0, b)
        yield slice(n - a, n), slice(m - b, m)


class CentreDistance(EmbeddingMetric):
    """Cosine distance of two centres; subclasses say which centre."""

    source = "Kour et al. 2022"
    headline = Part(VALUE, bounds=(0.0, 2.0))
    min_texts = 1  # one text has a centre


@register
class Medoid(CentreDistance):
    """Cosine distance of the mean embeddings (the papers call the mean "medoid").

    1 − cos(mean P, mean Q). Source: Kour et al. 2022.
    """

    name, label = "medoid", "Mean vector distance"
    is_sum = True
    min_texts_interval = 300
    variance_grows_with_value = True

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        sides, sums = sum_sides(joint.embeddings(self.embedder), draws, lambda rows: rows.astype(np.float64))
        values = compute_cosine_distance(sums[sides.left], sums[sides.right])
        return {VALUE: np.where(draws.smaller < self.min_texts, np.nan, values)}


@register
class Median(CentreDistance):
    """Cosine distance of the coordinate-wise median embeddings.

    1 − cos(median P, median Q). Source: Kour et al. 2022, authors' code.
    """

    name, label = "median", "Median vector distance"
    interval_trials = 12
    min_texts_interval = 300
    variance_grows_with_value = True

    def compute(self, comparison: Comparison) -> Values:
        sides = comparison.sides
        medians = (compute_column_medians(side.embeddings(self.embedder)) for side in sides)
        return {VALUE: float(compute_cosine_distance(*medians))}


@register
class TTest(EmbeddingMetric):
    """How surely the embedding's dimensions have different means.

    1 − mean over dimensions of the p-value of Student's two-sample t-test. Source: Kour et al. 2022.
    """

    name, label, source = "ttest", "t-test over dimensions", "Kour et al. 2022"
    is_sum = True
    no_interval = "of one source it holds the expected value in 90 % of samples"

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Return means and variances of all sides by matrix products."""
        X = joint.embeddings(self.embedder)
        centre = compute_mean_rows(X)  # keeps the sums of squares from cancelling
        sides, sums = sum_sides(X, draws, lambda rows: np.hstack([rows - centre, (rows - centre) ** 2]))
        sizes = sides.sizes[:, None].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            means, squares = np.split(sums / sizes, 2, axis=1)
            of_sides = means, np.maximum(squares - means**2, 0.0) * sizes / (sizes - 1), sizes
            (a, va, n), (b, vb, m) = ([found[which] for found in of_sides] for which in (sides.left, sides.right))
            values = 1.0 - compute_student_p((a, b), (va, vb), (n, m)).mean(axis=1)
        return {VALUE: np.where(draws.smaller < self.min_texts, np.nan, values)}
