"""Maximum mean discrepancy of two corpora, with a Gaussian or a polynomial kernel: mmd, kid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Literal

import numpy as np

from textgauge.core.arrays import Floats
from textgauge.data import Comparison, Corpus, Draws
from textgauge.encode.grounds import squared_euclidean
from textgauge.metrics.base import VALUE, Part, Range, Undefined
from textgauge.metrics.corpus_metric import CorpusMetric, EmbeddingMetric, GroundMetric, ManyValues, Values
from textgauge.metrics.grounds import get_ground_blocks, get_ground_rows
from textgauge.metrics.numerics.kernel_sums import (
    Kernel,
    RowSums,
    compute_discrepancies,
    compute_discrepancy_interval,
    compute_row_sums,
)
from textgauge.metrics.registry import register
from textgauge.metrics.score import Contributions, Score, SideTerms
from textgauge.metrics.uncertainty import FEWEST_FOR_U_STATISTIC, compute_normal_reach

UNBOUNDED = (float("-inf"), float("inf"))

_MMD = "(mean kernel with its own corpus − mean kernel with the other) / number of texts in its own"
# A polynomial kernel above the first bound is a difference of large numbers; below this share of them it has lost half
# of its sixteen digits.
_LONG, _LOST = 1e6, 1e-8
_MEDIAN_ROWS = 2_000  # the median distance is taken over at most this many texts


def gaussian(scale: float, X: Floats, Y: Floats) -> Floats:
    """exp(−‖x − y‖²/(2 scale²))."""
    block = squared_euclidean(X, Y)
    block *= -0.5 / scale**2
    return np.asarray(np.exp(block, out=block))


def gaussian_of(blocks: Kernel, scale: float, X: Floats, Y: Floats) -> Floats:
    """exp(−δ²/(2 scale²)) for any block function."""
    return np.asarray(np.exp(-0.5 / scale**2 * blocks(X, Y) ** 2))


def polynomial(degree: int, X: Floats, Y: Floats) -> Floats:
    """(x·y/d + 1)^degree − 1: a constant cancels in a discrepancy, and without it small products keep their digits."""
    z = X @ Y.T / X.shape[1]
    total = np.ones_like(z)
    for power in range(degree - 1, 0, -1):
        total = total * z + comb(degree, power)
    return np.asarray(total * z)


def compute_median_distance(distances: Floats) -> float:
    """Median distance between different texts, out of a square of distances; 1 where there is none."""
    off = distances[np.triu_indices(len(distances), 1)]
    median = float(np.median(off)) if len(off) else 0.0
    return median if median > 0 else 1.0


def compute_bandwidth(joint: Corpus, metric: GroundMetric) -> float:
    """Return the median heuristic on the different texts of the joint corpus; on the first in content order of many."""
    _, first = np.unique(joint.keys, return_index=True)
    rows = get_ground_rows(joint.take(first[:_MEDIAN_ROWS]), metric)
    return compute_median_distance(get_ground_blocks(joint.pool, metric)(rows, rows))


@dataclass(frozen=True, kw_only=True)
class KernelDiscrepancy(CorpusMetric):
    """Squared maximum mean discrepancy; subclasses say which kernel."""

    min_texts_interval = 30

    estimator: Literal["unbiased", "biased"] = "unbiased"

    @property
    def bounds(self) -> tuple[float, float]:
        """The unbiased estimate may fall below zero."""
        return UNBOUNDED if self.estimator == "unbiased" else (0.0, float("inf"))

    def kernel(self, joint: Corpus) -> Kernel:
        """Return the kernel, with what it takes from the joint corpus."""
        raise NotImplementedError

    def rows(self, corpus: Corpus) -> Floats:
        """Return rows as the kernel takes them."""
        return corpus.embeddings(self.embedder).astype(np.float64)

    def compute(self, comparison: Comparison) -> Values:
        sums = comparison.derive(_sum_kernel_rows, self)[2]
        value = sums.discrepancy(with_self=self.estimator == "biased")
        return {VALUE: value if self.estimator == "unbiased" else max(value, 0.0)}

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Draws over the same texts share one kernel matrix."""
        values = np.full(len(draws), np.nan)
        unions, group = np.unique(draws.left | draws.right, axis=0, return_inverse=True)
        sizes = draws.smaller
        for number, union in enumerate(unions):
            members = np.flatnonzero((group.reshape(-1) == number) & (sizes >= self.min_texts))
            texts = np.flatnonzero(union)
            if len(members):
                corpus = joint.take(texts)
                rows = self.rows(corpus)
                left, right = draws.left[np.ix_(members, texts)], draws.right[np.ix_(members, texts)]
                biased = self.estimator == "biased"
                values[members], _ = compute_discrepancies(rows, left, right, self.kernel(corpus), with_self=biased)
        return {VALUE: values if self.estimator == "unbiased" else np.maximum(values, 0.0)}

    def interval_ends(
        self, comparison: Comparison, score: Score, *, level: float, seed: int
    ) -> tuple[float, float, str]:
        """From the variance of the U-statistic, the kernel held fixed."""
        if comparison.smaller < FEWEST_FOR_U_STATISTIC:
            return super().interval_ends(comparison, score, level=level, seed=seed)
        X, Y, sums = comparison.derive(_sum_kernel_rows, self)
        low, high = compute_discrepancy_interval(X, Y, self.kernel(comparison.joint), sums, compute_normal_reach(level))
        biased = self.estimator == "biased"
        shift = sums.discrepancy(with_self=True) - sums.discrepancy(with_self=False) if biased else 0.0
        return low + shift, high + shift, "u-statistic"

    def explain(self, comparison: Comparison) -> Contributions:
        """(mean k with the own side − mean k with the other one)/n; unbiased: without the pair with itself."""
        sums = comparison.derive(_sum_kernel_rows, self)[2]
        reference, candidate = (SideTerms(side) for side in sums.terms(with_self=self.estimator == "biased"))
        return Contributions(VALUE, _MMD, reference, candidate)


def _sum_kernel_rows(comparison: Comparison, metric: KernelDiscrepancy) -> tuple[Floats, Floats, RowSums]:
    n, rows = len(comparison.reference), metric.rows(comparison.joint)
    return rows[:n], rows[n:], compute_row_sums(rows[:n], rows[n:], metric.kernel(comparison.joint))


@register
@dataclass(frozen=True, kw_only=True)
class Mmd(KernelDiscrepancy, GroundMetric):
    """Squared maximum mean discrepancy with a Gaussian kernel.

    mean k(P,P) + mean k(Q,Q) − 2·mean k(P,Q), k = exp(−δ(x, y)²/(2σ²)), σ the median distance in the joint corpus
    times `scale`; δ is Euclidean unless another ground is named. The unbiased estimate leaves out self pairs and may
    be negative. Source: Gretton et al. 2012.
    """

    name = "mmd"
    label = "Maximum mean discrepancy"
    source = "Gretton et al. 2012"
    default_on = "minilm:euclidean"
    headline = Part(VALUE)
    version = 2

    scale: float = 1.0

    def rows(self, corpus: Corpus) -> Floats:
        """Return rows as the ground takes them."""
        return get_ground_rows(corpus, self)

    @property
    def _euclidean(self) -> bool:
        return self.ground == "euclidean" and self.pair_ground is None

    def _width(self, joint: Corpus) -> float:
        return self.scale * joint.derive(compute_bandwidth, self)

    def kernel(self, joint: Corpus) -> Kernel:
        """Return a Gaussian as wide as the median distance."""
        width = self._width(joint)
        if self._euclidean:
            return partial(gaussian, width)
        return partial(gaussian_of, get_ground_blocks(joint.pool, self), width)


@register
@dataclass(frozen=True, kw_only=True)
class Kid(KernelDiscrepancy, EmbeddingMetric):
    """Kernel distance: squared maximum mean discrepancy with a polynomial kernel.

    k = (x·y/d + 1)^degree. The unbiased estimate may be negative. Undefined (NaN) where the vectors are so long that
    the difference of the kernels is lost in their rounding. Source: Bińkowski et al. 2018.
    """

    name = "kid"
    label = "Kernel distance"
    source = "Bińkowski et al. 2018"
    headline = Part(VALUE)
    version = 2

    degree: int = 3
    ranges = (Range("degree", 1, 100),)

    def compute(self, comparison: Comparison) -> Values:
        """Return a + B − 2C over blocks, refused where only rounding error remains."""
        values = super().compute(comparison)
        rows = self.rows(comparison.joint)
        largest = (float(np.einsum("ij,ij->i", rows, rows).max()) / rows.shape[1] + 1.0) ** self.degree
        if largest > _LONG and abs(values[VALUE]) < _LOST * largest:
            raise Undefined("the vectors are so long that the difference of their kernels is lost in rounding")
        return values

    def kernel(self, joint: Corpus) -> Kernel:
        """Return the polynomial kernel."""
        return partial(polynomial, self.degree)
