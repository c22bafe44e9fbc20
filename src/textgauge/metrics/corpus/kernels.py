"""Two-sample statistics over all pairs of texts: energy, mmd, kid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Comparison, Corpus, Draws, Pool
from textgauge.encode.grounds import GROUNDS, angle, prepare, squared_euclidean
from textgauge.errors import ParameterError
from textgauge.metrics import ground_matrix
from textgauge.metrics.base import VALUE, Part
from textgauge.metrics.contributions import Contributions, SideTerms
from textgauge.metrics.corpus_metric import CorpusMetric, EmbeddingMetric, GroundMetric, ManyValues, Values
from textgauge.metrics.neighbours import nearest
from textgauge.metrics.registry import register
from textgauge.metrics.score import Score
from textgauge.metrics.uncertainty import normal_reach
from textgauge.numerics.kernel_sums import (
    MANY_ROWS,
    Kernel,
    RowSums,
    discrepancy_interval,
    discrepancy_many,
    mostly_different,
    row_sums,
    to_angles,
)
from textgauge.numerics.principal import narrow_unit, unit

Rows = NDArray[np.float64]
UNBOUNDED = (float("-inf"), float("inf"))

_ENERGY = "(mean distance to the other corpus − mean distance to the own one) / number of texts of the own one"
_MMD = "(mean kernel with the own corpus − mean kernel with the other one) / number of texts of the own one"
_FEWEST_FOR_INTERVAL = 4
_MEDIAN_ROWS = 2_000  # the median distance is taken over at most this many texts


def negative(ground: str, X: Rows, Y: Rows) -> Rows:
    """−δ, the kernel that turns A + B − 2C into the energy distance."""
    block = angle(X, Y) if ground == "angular" else GROUNDS[ground](X, Y)
    block *= -1.0 / np.pi if ground == "angular" else -1.0  # one pass over the block, not two
    return block


class Angles:
    """Angles in radians; those of float32 rows stand in one place, where the next block overwrites them."""

    def __init__(self) -> None:
        self._space = np.empty(0, dtype=np.float32)

    def __call__(self, X: Rows, Y: Rows) -> Rows:
        """The block of two lots of unit rows."""
        return np.asarray(to_angles(self._cosines(X, Y)) if X.dtype == np.float32 else angle(X, Y))

    def sums(self, X: Rows, Y: Rows) -> tuple[Rows, Rows]:
        """Sums of the block by row and by column."""
        if X.dtype == np.float32:
            angles = to_angles(self._cosines(X, Y))
            by_row, by_column = angles @ np.ones(len(Y), np.float32), np.ones(len(X), np.float32) @ angles
            return by_row.astype(np.float64), by_column.astype(np.float64)
        block = angle(X, Y)
        return block.sum(axis=1), block.sum(axis=0)

    def _cosines(self, X: Rows, Y: Rows) -> NDArray[np.float32]:
        if len(self._space) < len(X) * len(Y):
            self._space = np.empty(len(X) * len(Y), dtype=np.float32)
        return np.matmul(X, Y.T, out=self._space[: len(X) * len(Y)].reshape(len(X), len(Y)))


def negated(blocks: Kernel, X: Rows, Y: Rows) -> Rows:
    """−δ for any block function."""
    return -blocks(X, Y)


def gaussian(scale: float, X: Rows, Y: Rows) -> Rows:
    """exp(−‖x − y‖²/(2 scale²))."""
    block = squared_euclidean(X, Y)
    block *= -0.5 / scale**2
    return np.asarray(np.exp(block, out=block))


def gaussian_of(blocks: Kernel, scale: float, X: Rows, Y: Rows) -> Rows:
    """exp(−δ²/(2 scale²)) for any block function."""
    return np.asarray(np.exp(-0.5 / scale**2 * blocks(X, Y) ** 2))


def polynomial(degree: int, X: Rows, Y: Rows) -> Rows:
    """(x·y/d + 1)^degree − 1: a constant cancels in a discrepancy, and without it small products keep their digits."""
    z = X @ Y.T / X.shape[1]
    total = np.ones_like(z)
    for power in range(degree - 1, 0, -1):
        total = total * z + comb(degree, power)
    return np.asarray(total * z)


def median_distance(distances: Rows) -> float:
    """Median distance between different texts, out of a square of distances; 1 where there is none."""
    off = distances[np.triu_indices(len(distances), 1)]
    median = float(np.median(off)) if len(off) else 0.0
    return median if median > 0 else 1.0


def bandwidth(joint: Corpus, metric: GroundMetric) -> float:
    """The median heuristic on the different texts of the joint corpus; on the first in content order of many."""
    _, first = np.unique(joint.keys, return_index=True)
    rows = ground_rows(joint.take(first[:_MEDIAN_ROWS]), metric)
    return median_distance(ground_blocks(joint.pool, metric)(rows, rows))


def ground_rows(corpus: Corpus, metric: GroundMetric) -> Rows:
    """Rows as the ground's block function takes them."""
    if metric.pair_ground is not None:
        return ground_matrix.places(corpus, metric.pair_ground)
    return prepare(corpus.embeddings(metric.embedder), metric.ground)


def ground_blocks(pool: Pool, metric: GroundMetric) -> Kernel:
    """The block function of a metric's ground."""
    return (
        GROUNDS[metric.ground] if metric.pair_ground is None else ground_matrix.distances_of(pool, metric.pair_ground)
    )


def sums_over_pairs(comparison: Comparison, name: str) -> tuple[Rows, Rows, RowSums]:
    """Rows and row sums of −δ for a pair metric as ground."""
    X, Y = (ground_matrix.places(side, name) for side in (comparison.reference, comparison.candidate))
    return X, Y, row_sums(X, Y, partial(negated, ground_matrix.distances_of(comparison.joint.pool, name)))


def sums_over_ground(comparison: Comparison, on: tuple[str, str]) -> tuple[Rows, Rows, RowSums]:
    """Prepared rows and row sums of −δ, shared by all that need them."""
    embedder, ground = on
    vectors = comparison.joint.embeddings(embedder)
    n = len(comparison.reference)
    straight = ground != "euclidean" and bool(vectors.any(axis=1).all())  # no row needs a direction of its own
    many = min(n, len(vectors) - n) >= MANY_ROWS
    narrow = many and straight and mostly_different(vectors[:n]) and mostly_different(vectors[n:])
    exact = unit if straight else partial(prepare, ground=ground)
    rows: Any = narrow_unit(vectors) if narrow else exact(vectors)
    X, Y = rows[:n], rows[n:]
    if ground == "cosine" or not many:
        return X, Y, row_sums(X, Y, partial(negative, ground))
    found = nearest(comparison, embedder, ground).sums
    if ground != "angular":
        return X, Y, row_sums(X, Y, partial(negative, ground), (-found[0], -found[1]) if found else None)
    across = (np.pi * found[0], np.pi * found[1]) if found else None
    return X, Y, row_sums(X, Y, Angles(), across).times(-1.0 / np.pi)


@register
@dataclass(frozen=True, kw_only=True)
class Energy(GroundMetric):
    """Energy distance: how much farther texts are from the other corpus than from their own.

    2·mean δ(P,Q) − mean δ(P,P) − mean δ(Q,Q), self pairs included; with cosine distance this is the squared distance
    of the mean unit vectors. `root` takes the square root; part `coefficient` divides by 2·mean δ(P,Q).
    Source: Székely and Rizzo 2013; Ackerman et al. 2023, eq. 3.
    """

    name = "energy"
    label = "Energy distance"
    source = "Székely and Rizzo 2013; Ackerman et al. 2023"
    headline = Part(VALUE, bounds=(0.0, float("inf")))
    parts = (Part("coefficient"),)

    root: bool = False

    @property
    def min_texts(self) -> int:
        """One text has a distance to another."""
        return 1

    def compute(self, comparison: Comparison) -> Values:
        """Closed form for cosine, blocks of distances for the other grounds."""
        value, across = self._cosine(comparison) if self.on.endswith(":cosine") else self._blocks(comparison)
        coefficient = min(value / (2.0 * across), 1.0) if across > 0 else 0.0
        return {VALUE: float(np.sqrt(value)) if self.root else value, "coefficient": coefficient}

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """All draws by matrix products."""
        rows = ground_rows(joint, self)
        n, m = draws.left.sum(axis=1, keepdims=True), draws.right.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.on.endswith(":cosine"):
                a, b = draws.left @ rows / n, draws.right @ rows / m
                values, across = ((a - b) ** 2).sum(axis=1), 1.0 - (a * b).sum(axis=1)
            else:
                values = discrepancy_many(rows, draws.left, draws.right, self._kernel(joint), with_self=True)
                across = _mean_across(rows, draws, ground_blocks(joint.pool, self))
            values = np.maximum(values, 0.0)
            coefficient = np.where(across > 0, np.minimum(values / (2.0 * across), 1.0), 0.0)
        undefined = np.isnan(values)
        coefficient[undefined] = np.nan
        return {VALUE: np.sqrt(values) if self.root else values, "coefficient": coefficient}

    def interval(self, comparison: Comparison, score: Score, *, level: float, seed: int) -> tuple[float, float, str]:
        """From the variance of the U-statistic, moved by the known share of the self pairs."""
        if self.part is not None or min(len(comparison.reference), len(comparison.candidate)) < _FEWEST_FOR_INTERVAL:
            return super().interval(comparison, score, level=level, seed=seed)
        X, Y, sums = self._sums(comparison)
        ends = discrepancy_interval(X, Y, self._kernel(comparison.joint), sums, normal_reach(level))
        shift = sums.discrepancy(with_self=True) - sums.discrepancy(with_self=False)
        low, high = (max(end + shift, 0.0) for end in ends)
        return (low**0.5, high**0.5, "u-statistic") if self.root else (low, high, "u-statistic")

    def explain(self, comparison: Comparison) -> Contributions:
        """(mean δ to the other side − mean δ to the own side, itself included)/n, which sum to 2C − A − B.

        `root` divides each by the root of the sum, `coefficient` by 2·mean δ across, so that they sum to what is shown.
        """
        if self.on.endswith(":cosine"):
            sides = self._cosine_terms(comparison)
        else:
            sides = row_terms(self._sums(comparison)[2], with_self=True)
        total = float(sides[0].sum() + sides[1].sum())
        scale, formula = 1.0, _ENERGY
        if self.root or self.part is not None:
            shown = float(self.select(self.compute(comparison)))
            scale, formula = shown / total if total > 0 else 0.0, f"{_ENERGY}, scaled to the value"
        reference, candidate = (SideTerms(scale * side) for side in sides)
        return Contributions(self.part or VALUE, formula, reference, candidate)

    def _cosine_terms(self, comparison: Comparison) -> tuple[Rows, Rows]:
        """With cosine distances the means over texts are products with the mean unit vectors."""
        rows = prepare(comparison.joint.embeddings(self.embedder), "cosine")
        n = len(comparison.reference)
        gap = rows[:n].mean(axis=0) - rows[n:].mean(axis=0)
        return rows[:n] @ gap / n, rows[n:] @ gap / -(len(rows) - n)

    def _cosine(self, comparison: Comparison) -> tuple[float, float]:
        rows = prepare(comparison.joint.embeddings(self.embedder), "cosine")
        n = len(comparison.reference)
        a, b = rows[:n].mean(axis=0), rows[n:].mean(axis=0)
        return float(((a - b) ** 2).sum()), float(1.0 - a @ b)

    def _sums(self, comparison: Comparison) -> tuple[Rows, Rows, RowSums]:
        if self.pair_ground is not None:
            return comparison.derive(sums_over_pairs, self.pair_ground)
        return comparison.derive(sums_over_ground, (self.embedder, self.ground))

    def _kernel(self, joint: Corpus) -> Kernel:
        if self.pair_ground is not None:
            return partial(negated, ground_blocks(joint.pool, self))
        return partial(negative, self.ground)

    def _blocks(self, comparison: Comparison) -> tuple[float, float]:
        X, Y, sums = self._sums(comparison)
        return max(sums.discrepancy(with_self=True), 0.0), float(-sums.xy.sum() / (len(X) * len(Y)))


def row_terms(sums: RowSums, *, with_self: bool) -> tuple[Rows, Rows]:
    """Each row's part of A + B − 2C."""
    n, m = len(sums.xx), len(sums.yy)
    # Blocks of many texts are float32, so that the two sums across differ in the eighth digit: one total for both.
    total, turned = sums.xy.sum(), sums.yx.sum()
    yx = sums.yx * (total / turned) if turned else sums.yx
    if with_self:
        own = (sums.xx + sums.x_self) / n**2, (sums.yy + sums.y_self) / m**2
    else:
        own = sums.xx / (n * (n - 1)), sums.yy / (m * (m - 1))
    return own[0] - sums.xy / (n * m), own[1] - yx / (n * m)


def _mean_across(rows: Rows, draws: Draws, blocks: Kernel) -> Rows:
    L, R = draws.left.astype(np.float64), draws.right.astype(np.float64)
    total = np.zeros(len(L))
    for start in range(0, len(rows), 1_024):
        columns = blocks(rows, rows[start : start + 1_024])
        total += np.einsum("rj,rj->r", L @ columns, R[:, start : start + 1_024])
    return np.asarray(total / (L.sum(axis=1) * R.sum(axis=1)))


@dataclass(frozen=True, kw_only=True)
class KernelDiscrepancy(CorpusMetric):
    """Squared maximum mean discrepancy; subclasses say which kernel."""

    estimator: Literal["unbiased", "biased"] = "unbiased"

    @property
    def bounds(self) -> tuple[float, float]:
        """The unbiased estimate may fall below zero."""
        return UNBOUNDED if self.estimator == "unbiased" else (0.0, float("inf"))

    def kernel(self, joint: Corpus) -> Kernel:
        """The kernel, with what it takes from the joint corpus."""
        raise NotImplementedError

    def rows(self, corpus: Corpus) -> Rows:
        """Rows as the kernel takes them."""
        return corpus.embeddings(self.embedder).astype(np.float64)

    def compute(self, comparison: Comparison) -> Values:
        """A + B − 2C over blocks."""
        sums = comparison.derive(_kernel_row_sums, self)[2]
        value = sums.discrepancy(with_self=self.estimator == "biased")
        return {VALUE: value if self.estimator == "unbiased" else max(value, 0.0)}

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Draws over the same texts share one kernel matrix."""
        values = np.full(len(draws), np.nan)
        unions, group = np.unique(draws.left | draws.right, axis=0, return_inverse=True)
        sizes = np.minimum(draws.left.sum(axis=1), draws.right.sum(axis=1))
        for number, union in enumerate(unions):
            members = np.flatnonzero((group.reshape(-1) == number) & (sizes >= self.min_texts))
            texts = np.flatnonzero(union)
            if len(members):
                corpus = joint.take(texts)
                rows = self.rows(corpus)
                left, right = draws.left[np.ix_(members, texts)], draws.right[np.ix_(members, texts)]
                biased = self.estimator == "biased"
                values[members] = discrepancy_many(rows, left, right, self.kernel(corpus), with_self=biased)
        return {VALUE: values if self.estimator == "unbiased" else np.maximum(values, 0.0)}

    def interval(self, comparison: Comparison, score: Score, *, level: float, seed: int) -> tuple[float, float, str]:
        """From the variance of the U-statistic, the kernel held fixed."""
        if min(len(comparison.reference), len(comparison.candidate)) < _FEWEST_FOR_INTERVAL:
            return super().interval(comparison, score, level=level, seed=seed)
        X, Y, sums = comparison.derive(_kernel_row_sums, self)
        low, high = discrepancy_interval(X, Y, self.kernel(comparison.joint), sums, normal_reach(level))
        biased = self.estimator == "biased"
        shift = sums.discrepancy(with_self=True) - sums.discrepancy(with_self=False) if biased else 0.0
        return low + shift, high + shift, "u-statistic"

    def explain(self, comparison: Comparison) -> Contributions:
        """(mean k with the own side − mean k with the other one)/n; unbiased: without the pair with itself."""
        sums = comparison.derive(_kernel_row_sums, self)[2]
        reference, candidate = (SideTerms(side) for side in row_terms(sums, with_self=self.estimator == "biased"))
        return Contributions(VALUE, _MMD, reference, candidate)


def _kernel_row_sums(comparison: Comparison, metric: KernelDiscrepancy) -> tuple[Rows, Rows, RowSums]:
    rows = metric.rows(comparison.joint)
    X, Y = rows[: len(comparison.reference)], rows[len(comparison.reference) :]
    return X, Y, row_sums(X, Y, metric.kernel(comparison.joint))


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

    scale: float = 1.0

    def rows(self, corpus: Corpus) -> Rows:
        """Rows as the ground takes them."""
        return ground_rows(corpus, self)

    def kernel(self, joint: Corpus) -> Kernel:
        """A Gaussian as wide as the median distance."""
        width = self.scale * joint.derive(bandwidth, self)
        if self.ground == "euclidean" and self.pair_ground is None:
            return partial(gaussian, width)
        return partial(gaussian_of, ground_blocks(joint.pool, self), width)


@register
@dataclass(frozen=True, kw_only=True)
class Kid(KernelDiscrepancy, EmbeddingMetric):
    """Kernel distance: squared maximum mean discrepancy with a polynomial kernel.

    k = (x·y/d + 1)^degree. The unbiased estimate may be negative. Source: Bińkowski et al. 2018.
    """

    name = "kid"
    label = "Kernel distance"
    source = "Bińkowski et al. 2018"
    headline = Part(VALUE)

    degree: int = 3

    def check(self) -> None:
        """A polynomial of at least the first degree."""
        if self.degree < 1:
            raise ParameterError(f"{self.name}: degree={self.degree} is not a whole number of at least 1")

    def kernel(self, joint: Corpus) -> Kernel:
        """The polynomial kernel."""
        return partial(polynomial, self.degree)
