"""Discrepancies A + B − 2C of a symmetric function of two texts: energy (−δ), mmd (Gaussian) and kid (polynomial).

A and B are the means within the corpora, C is the mean across; so values, draws, intervals and contributions are
written once. Wasserstein distances along lines (sliced_wasserstein) are the other way to compare clouds as they lie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints, Masks
from textgauge.core.parallel import map_threads
from textgauge.core.progress import advance
from textgauge.core.settings import split_into_blocks
from textgauge.data import Comparison, Corpus, Draws
from textgauge.metrics.base import DEFAULT_SEED, INFINITY, UNBOUNDED, VALUE, Part, Range, Undefined, take_single
from textgauge.metrics.corpus_metric import CorpusMetric, EmbeddingMetric, GroundMetric, Interval, ManyValues, Values
from textgauge.metrics.grounds import get_pair_distances, get_places
from textgauge.metrics.numerics.moments import GROUNDS, move_near_zero, scale_to_units, sum_sides
from textgauge.metrics.registry import register
from textgauge.metrics.score import Contributions, Score, SideTerms
from textgauge.metrics.uncertainty import FEWEST_FOR_U_STATISTIC, compute_normal_reach

Kernel = Callable[[Floats, Floats], Floats]

U_STATISTIC = "u-statistic"

_ENERGY = "(mean distance to the other corpus − mean distance to its own) / number of texts in its own"
_MMD = "(mean kernel with its own corpus − mean kernel with the other) / number of texts in its own"
# A polynomial kernel above the first bound is a difference of large numbers; below this share of them it has lost half
# of its sixteen digits.
_LONG, _LOST = 1e6, 1e-8
_MEDIAN_ROWS = 2_000  # the median distance is taken over at most this many texts
MANY_ROWS = 1_000  # from here on sums of distances are taken from float32 blocks
_CELLS = 4_000_000  # distances of rows at once of which groups are summed: 32 MB
_BLOCK = 1_024  # rows of a block: 1,024 × 1,024 float64 is 8 MB, within reach of the cache
_MOMENT_ROWS = 2_000  # rows that estimate the second-order moments; they enter only divided by n²
_STEPS = 30  # of the power method
_NO_DISTANCE = 1e-12  # of equal samples, but for rounding


@dataclass(frozen=True)
class RowSums:
    """For two samples: the sum over the own sample (the row itself left out) and over the other, for every row."""

    xx: Floats
    yy: Floats
    xy: Floats
    yx: Floats
    x_self: Floats
    y_self: Floats

    def discrepancy(self, *, with_self: bool) -> float:
        """Return A + B − 2C; the pairs of a row with itself are counted or left out."""
        n, m = len(self.xx), len(self.yy)
        across = self.xy.sum() / (n * m)
        if with_self:
            a, b = (self.xx.sum() + self.x_self.sum()) / n**2, (self.yy.sum() + self.y_self.sum()) / m**2
        else:
            a, b = self.xx.sum() / (n * (n - 1)), self.yy.sum() / (m * (m - 1))
        return float(a + b - 2.0 * across)

    def means(self, orders: tuple[Ints, Ints]) -> Floats:
        """Return each row's mean over all rows of both samples, itself among them; the rows of a sample in an order."""
        own = self.xx + self.x_self + self.xy, self.yy + self.y_self + self.yx
        return np.concatenate([side[order] for side, order in zip(own, orders, strict=True)]) / sum(map(len, own))

    def terms(self, *, with_self: bool) -> tuple[Floats, Floats]:
        """Return each row's part of A + B − 2C."""
        n, m = len(self.xx), len(self.yy)
        # Blocks of many texts are float32, so that the two sums across differ in the eighth digit: one total for both.
        total, swapped = self.xy.sum(), self.yx.sum()
        yx = self.yx * (total / swapped) if swapped else self.yx
        if with_self:
            own = (self.xx + self.x_self) / n**2, (self.yy + self.y_self) / m**2
        else:
            own = self.xx / (n * (n - 1)), self.yy / (m * (m - 1))
        return own[0] - self.xy / (n * m), own[1] - yx / (n * m)


def compute_row_sums(X: Floats, Y: Floats, kernel: Kernel) -> RowSums:
    """Return one pass over the blocks; symmetric ones are computed once.

    Float32 rows stay so, and those of many different ones become so; their blocks are float32, and sums are added up in
    float64: the mean is within 1e-7 of the float64 one.
    """
    if X.dtype != np.float32 and min(len(X), len(Y)) >= MANY_ROWS and is_mostly_different(X) and is_mostly_different(Y):
        X, Y = X.astype(np.float32), Y.astype(np.float32)
    total, done = (len(X) + len(Y)) * (len(X) + len(Y) + 1) // 2, 0
    sums: list[tuple[Floats, Floats, Floats]] = []  # by row, by column, and of a row with itself
    for A, B, is_within in ((X, X, True), (Y, Y, True), (X, Y, False)):
        by_row, own = np.zeros((2, len(A)))
        by_column = by_row if is_within else np.zeros(len(B))
        parts = split_into_blocks(len(B), _BLOCK)
        for number, a in enumerate(split_into_blocks(len(A), _BLOCK)):
            for b in parts[number:] if is_within else parts:
                block = kernel(A[a], B[b])
                by_row[a] += block.sum(axis=1, dtype=np.float64)
                if is_within and a == b:
                    own[a] = block.diagonal()
                else:
                    by_column[b] += block.sum(axis=0, dtype=np.float64)
            size = a.stop - a.start
            done += size * (size + 1) // 2 + size * (len(A) - a.stop) if is_within else size * len(B)
            advance(done, total, "pairs of texts")
        sums.append((by_row, by_column, own))
    (xx, _, x_self), (yy, _, y_self), (xy, yx, _) = sums
    return RowSums(xx - x_self, yy - y_self, xy, yx, x_self, y_self)


def group_kernel(rows: Floats, n: int, groups: Ints, kernel: Kernel, means: Floats) -> tuple[Floats, Floats, Kernel]:
    """Return groups of two samples, of which the first has n rows, as rows of their numbers, and a kernel of these.

    It is that of sums over groups, centred (`means` are those of the rows) and over the mean size of the sample's
    groups: the mean over groups is then the mean over rows, and a group that is larger by chance is not farther for it.
    """
    order = np.argsort(groups, kind="stable")
    rows, means = rows[order], means[order] - means.mean() / 2.0
    sizes, cut = np.bincount(groups), int(groups[:n].max()) + 1
    starts = np.append(0, np.cumsum(sizes))
    scale = np.repeat([cut / n, (len(sizes) - cut) / (len(rows) - n)], [cut, len(sizes) - cut])

    def compute(A: Floats, B: Floats) -> Floats:
        a, b = (slice(int(side[0, 0]), int(side[-1, 0]) + 1) for side in (A, B))
        columns = slice(starts[b.start], starts[b.stop])
        block = np.empty((len(A), len(B)))
        for some in split_into_blocks(len(A), _CELLS, sizes[a].max() * (columns.stop - columns.start)):
            first, last = starts[a.start + some.start], starts[a.start + some.stop]
            part = kernel(rows[first:last], rows[columns]) - means[first:last, None] - means[columns]
            by_row = np.add.reduceat(part, starts[a][some] - first, axis=0)
            block[some] = np.add.reduceat(by_row, starts[b] - columns.start, axis=1)
        return np.asarray(block * scale[a, None] * scale[b])

    numbers = np.arange(len(sizes), dtype=np.float64)[:, None]
    return numbers[:cut], numbers[cut:], compute


def compute_discrepancies(
    X: Floats, left: Masks, right: Masks, kernel: Kernel, *, with_self: bool
) -> tuple[Floats, Floats]:
    """Compute A + B − 2C and C of many pairs of subsets of the rows, by products with blocks of the kernel matrix."""
    L, R = left.astype(np.float64), right.astype(np.float64)
    sums = np.zeros((3, len(L)))
    diagonal = np.zeros(len(X))
    for b in split_into_blocks(len(X), _BLOCK):
        columns = kernel(X, X[b])
        diagonal[b] = columns[b].diagonal()
        from_left, from_right = L @ columns, R @ columns
        sums[0] += np.einsum("rj,rj->r", from_left, L[:, b])
        sums[1] += np.einsum("rj,rj->r", from_right, R[:, b])
        sums[2] += np.einsum("rj,rj->r", from_left, R[:, b])
    n, m = L.sum(axis=1), R.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if with_self:
            a, b = sums[0] / n**2, sums[1] / m**2
        else:
            a, b = (sums[0] - L @ diagonal) / (n * (n - 1)), (sums[1] - R @ diagonal) / (m * (m - 1))
        return a + b - 2.0 * sums[2] / (n * m), sums[2] / (n * m)


def compute_discrepancy_interval(
    X: Floats, Y: Floats, kernel: Kernel, sums: RowSums, reach: float
) -> tuple[float, float]:
    """Return all δ within `reach` standard errors of the unbiased estimate, the error being the one δ would have.

    To second order (Hoeffding) the variance is V2 + κδ: V2 remains when both samples are alike, κδ comes from the row
    means. The error of a small estimate is small by the same luck that made it small; asking for the error at δ, as
    Wilson did for shares, keeps that luck out.
    """
    n, m, estimate = len(X), len(Y), sums.discrepancy(with_self=False)
    A, B = (rows[:_MOMENT_ROWS].astype(np.float64, copy=False) for rows in (X, Y))
    (xx, largest_x), (yy, largest_y) = (_measure_variation(kernel(side, side)) for side in (A, B))
    across = kernel(A, B)
    xy = ((across - across.mean(axis=0) - across.mean(axis=1)[:, None] + across.mean()) ** 2).mean()
    second = 2.0 * xx / (n * (n - 1)) + 2.0 * yy / (m * (m - 1)) + 4.0 * xy / (n * m)
    g_x = sums.xx / (n - 1) - sums.xy / m
    g_y = sums.yy / (m - 1) - sums.yx / n
    first = 4.0 * (g_x.var(ddof=1) / n + g_y.var(ddof=1) / m)  # the noise of the row means adds 2·V2
    # κ lies between its mean over all directions and the largest; equal samples have no distance to divide by.
    distance = sums.discrepancy(with_self=True)
    least = first / distance if distance > _NO_DISTANCE else 0.0
    most = max(4.0 * (largest_x / n + largest_y / m), least)
    kappa = float(np.clip((first - 2.0 * second) / estimate, least, most)) if estimate > 0 else most
    middle = estimate + reach**2 * kappa / 2.0
    width = np.sqrt(max(middle**2 - estimate**2 + reach**2 * second, 0.0))
    alike = reach * np.sqrt(second)  # below zero the error is that of alike samples
    low = middle - width if estimate > alike else estimate - alike
    return float(low), float(middle + width if estimate > -alike else estimate + alike)


def _measure_variation(K: Floats) -> tuple[float, float]:
    """Return the mean square of the centred kernel of a sample without its diagonal, and the largest variance.

    That is the variance of the sample along any one direction of the feature space of its kernel matrix.
    """
    n = len(K)
    means = (K.sum(axis=1) - K.diagonal()) / (n - 1)
    square = ((K - means - means[:, None] + means.mean())[~np.eye(n, dtype=bool)] ** 2).mean()
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    vector = K[:, np.argmax(K.diagonal())]
    for _ in range(_STEPS + 1):
        vector = K @ (vector / max(float(np.linalg.norm(vector)), 1e-300))
    return float(square), float(np.linalg.norm(vector) / n)


def is_mostly_different(X: NDArray[np.floating[Any]]) -> bool:
    """Return whether hardly any rows are equal: the distance of equal rows is where float32 products err most."""
    direction = np.linspace(0.5, 1.5, X.shape[1])
    projected = np.concatenate([X[some] @ direction for some in split_into_blocks(len(X), _BLOCK)])
    return len(np.unique(projected)) >= 0.99 * len(X)


class Discrepancy(CorpusMetric):
    """A + B − 2C; subclasses say of which kernel, and with which pairs."""

    min_texts_interval = 30
    knows_groups = True

    counts_self_pairs: ClassVar[bool] = True  # whether A and B are means over all pairs, those with itself among them

    def compute(self, comparison: Comparison) -> Values:
        X, Y, _, sums = self.sum_rows(comparison)
        value = sums.discrepancy(with_self=self.counts_self_pairs)
        return take_single(self._make_values(np.array(value), sums.xy.sum() / (len(X) * len(Y))))

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """`compute` for many draws; those of the same texts share one kernel matrix."""
        values, across = np.full((2, len(draws)), np.nan)
        unions, group = np.unique(draws.left | draws.right, axis=0, return_inverse=True)
        sizes = draws.smaller
        for number, union in enumerate(unions):
            members = np.flatnonzero((group.reshape(-1) == number) & (sizes >= self.min_texts))
            if len(members):
                texts = np.flatnonzero(union)
                rows, kernel = self.prepare(joint.take(texts))
                left, right = (side[np.ix_(members, texts)] for side in (draws.left, draws.right))
                values[members], across[members] = compute_discrepancies(
                    rows, left, right, kernel, with_self=self.counts_self_pairs
                )
        return self._make_values(values, across)

    def _make_values(self, values: Floats, across: Floats) -> ManyValues:
        """Return headline and parts, given A + B − 2C and C."""
        return {VALUE: np.maximum(values, 0.0) if self.counts_self_pairs else values}

    def prepare(self, corpus: Corpus) -> tuple[Floats, Kernel]:
        """Return rows of texts that are to be compared, and the kernel: distances by the ground, unless overridden."""
        if self.pair_ground is not None:
            return get_places(corpus, self.pair_ground), get_pair_distances(corpus.pool, self.pair_ground)
        X, is_straight = corpus.embeddings(self.embedder), self.ground == "euclidean"
        rows = move_near_zero(np.asarray(X, dtype=np.float64)) if is_straight else scale_to_units(X)
        return rows, GROUNDS[self.ground]

    def sum_rows(self, comparison: Comparison) -> tuple[Floats, Floats, Kernel, RowSums]:
        """Return the rows of both corpora, the kernel and its sums over them, which are computed once."""
        return comparison.derive(_sum_kernel_rows, replace(self, part=None))

    def interval_ends(self, comparison: Comparison, score: Score, *, level: float, seed: int) -> Interval:
        """From the variance of the U-statistic, the kernel held fixed, moved by the known share of the self pairs.

        Of texts that belong together the statistic is that of their sums, group by group.
        """
        units = comparison.units
        is_apart = units.blocks is None and not units.dealt
        if self.part is not None or comparison.smaller < FEWEST_FOR_U_STATISTIC or not is_apart:
            return super().interval_ends(comparison, score, level=level, seed=seed)
        X, Y, kernel, sums = self.sum_rows(comparison)
        value, method = sums.discrepancy(with_self=self.counts_self_pairs), ""
        if not units.has_few_repeated and units.groups is not None:
            rows = np.concatenate([side[order] for side, order in zip((X, Y), units.orders, strict=True)])
            X, Y, kernel = group_kernel(rows, len(X), units.groups, kernel, sums.means(units.orders))
            sums, method = compute_row_sums(X, Y, kernel), " of groups"
        ends = compute_discrepancy_interval(X, Y, kernel, sums, compute_normal_reach(level))
        shifted = np.array(ends) + (value - sums.discrepancy(with_self=False))
        low, high = self._make_values(shifted, np.full(2, np.nan))[VALUE].tolist()
        return low, high, U_STATISTIC + method


def _sum_kernel_rows(comparison: Comparison, metric: Discrepancy) -> tuple[Floats, Floats, Kernel, RowSums]:
    n, (rows, kernel) = len(comparison.reference), metric.prepare(comparison.joint)
    return rows[:n], rows[n:], kernel, compute_row_sums(rows[:n], rows[n:], kernel)


@register
class Energy(Discrepancy, GroundMetric):
    """Energy distance: how much farther texts are from the other corpus than from their own.

    2·mean δ(P,Q) − mean δ(P,P) − mean δ(Q,Q), self pairs included; with cosine distance this is the squared distance
    of the mean unit vectors. `root` takes the square root; part `coefficient` divides by 2·mean δ(P,Q).
    Source: Székely and Rizzo 2013; Ackerman et al. 2023, eq. 3.
    """

    name, label, source = "energy", "Energy distance", "Székely and Rizzo 2013; Ackerman et al. 2023"
    min_texts = 1  # one text has a distance to another
    headline = Part(VALUE, bounds=(0.0, INFINITY))
    parts = (Part("coefficient"),)

    root: bool = False

    @property
    def is_sum(self) -> bool:  # type: ignore[override]
        """With cosine, where sums of unit vectors decide."""
        return self.on.endswith(":cosine")

    def prepare(self, corpus: Corpus) -> tuple[Floats, Kernel]:
        """Return rows, and −δ: the kernel that turns A + B − 2C into the energy distance."""
        rows, distances = super().prepare(corpus)
        return rows, lambda X, Y: np.negative(block := distances(X, Y), out=block)

    def compute(self, comparison: Comparison) -> Values:
        """Compute a closed form for cosine, blocks of distances for the other grounds."""
        return CorpusMetric.compute(self, comparison) if self.is_sum else super().compute(comparison)

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        if not self.is_sum:
            return super().compute_many(joint, draws)
        sides, sums = sum_sides(joint.embeddings(self.embedder), draws, partial(scale_to_units, padded=True))
        with np.errstate(divide="ignore", invalid="ignore"):
            means = sums / sides.sizes[:, None]
        a, b = means[sides.left], means[sides.right]
        return self._make_values(((a - b) ** 2).sum(axis=1), (a * b).sum(axis=1) - 1.0)

    def _make_values(self, values: Floats, across: Floats) -> ManyValues:
        values = np.maximum(values, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            coefficient = np.where(across < 0, np.minimum(values / (-2.0 * across), 1.0), values * 0.0)
        return {VALUE: np.sqrt(values) if self.root else values, "coefficient": coefficient}

    def explain(self, comparison: Comparison) -> Contributions:
        """(mean δ to the other side − mean δ to the own side, itself included)/n, which sum to 2C − A − B.

        `root` divides each by the root of the sum, `coefficient` by 2·mean δ across, so that they sum to what is shown.
        """
        if self.is_sum:  # the means over texts are products with the mean unit vectors
            rows, n = self.prepare(comparison.joint)[0], len(comparison.reference)
            gap = rows[:n].mean(axis=0) - rows[n:].mean(axis=0)
            sides = rows[:n] @ gap / n, rows[n:] @ gap / -(len(rows) - n)
        else:
            sides = self.sum_rows(comparison)[-1].terms(with_self=True)
        total = float(sides[0].sum() + sides[1].sum())
        scale, formula = 1.0, _ENERGY
        if self.root or self.part is not None:
            shown = float(self.select(self.compute(comparison)))
            scale, formula = shown / total if total > 0 else 0.0, f"{_ENERGY}, scaled to the value"
        reference, candidate = (SideTerms(scale * side) for side in sides)
        return Contributions(self.part or VALUE, formula, reference, candidate)


def gaussian(distances: Kernel, scale: float, X: Floats, Y: Floats) -> Floats:
    """exp(−δ²/(2 scale²))."""
    block = distances(X, Y)
    block *= block
    block *= -0.5 / scale**2
    return np.asarray(np.exp(block, out=block))


def polynomial(degree: int, X: Floats, Y: Floats) -> Floats:
    """(x·y/d + 1)^degree − 1: a constant cancels in a discrepancy, and without it small products keep their digits."""
    z = X @ Y.T / X.shape[1]
    total = np.ones_like(z)
    for power in range(degree - 1, 0, -1):
        total = total * z + comb(degree, power)
    return np.asarray(total * z)


def compute_bandwidth(joint: Corpus, metric: Discrepancy) -> float:
    """Return the median distance of the different texts of a corpus, of many the first in content order; 1 for none."""
    _, first = np.unique(joint.keys, return_index=True)
    rows, measure = Discrepancy.prepare(metric, joint.take(first[:_MEDIAN_ROWS]))
    distances = measure(rows, rows)[np.triu_indices(len(rows), 1)]
    median = float(np.median(distances)) if len(distances) else 0.0
    return median if median > 0 else 1.0


@dataclass(frozen=True, kw_only=True)
class KernelDiscrepancy(Discrepancy):
    """Squared maximum mean discrepancy; subclasses say which kernel."""

    estimator: Literal["unbiased", "biased"] = "unbiased"

    @property
    def counts_self_pairs(self) -> bool:  # type: ignore[override]
        return self.estimator == "biased"

    @property
    def bounds(self) -> tuple[float, float]:
        """The unbiased estimate may fall below zero."""
        return UNBOUNDED if self.estimator == "unbiased" else (0.0, INFINITY)

    def explain(self, comparison: Comparison) -> Contributions:
        """(mean k with the own side − mean k with the other one)/n; unbiased: without the pair with itself."""
        reference, candidate = self.sum_rows(comparison)[-1].terms(with_self=self.counts_self_pairs)
        return Contributions(VALUE, _MMD, SideTerms(reference), SideTerms(candidate))


@register
class Mmd(KernelDiscrepancy, GroundMetric):
    """Squared maximum mean discrepancy with a Gaussian kernel.

    mean k(P,P) + mean k(Q,Q) − 2·mean k(P,Q), k = exp(−δ(x, y)²/(2σ²)), σ the median distance in the joint corpus
    times `scale`; δ is Euclidean unless another ground is named. The unbiased estimate leaves out self pairs and may
    be negative. Source: Gretton et al. 2012.
    """

    name, label, source = "mmd", "Maximum mean discrepancy", "Gretton et al. 2012"
    default_on = "minilm:euclidean"
    version = 2

    scale: float = 1.0

    def prepare(self, corpus: Corpus) -> tuple[Floats, Kernel]:
        """Return rows, and a Gaussian as wide as the median distance."""
        rows, distances = super().prepare(corpus)
        return rows, partial(gaussian, distances, self.scale * corpus.derive(compute_bandwidth, self))


@register
class Kid(KernelDiscrepancy, EmbeddingMetric):
    """Kernel distance: squared maximum mean discrepancy with a polynomial kernel.

    k = (x·y/d + 1)^degree. The unbiased estimate may be negative. Undefined (NaN) where the vectors are so long that
    the difference of the kernels is lost in their rounding. Source: Bińkowski et al. 2018.
    """

    name, label, source = "kid", "Kernel distance", "Bińkowski et al. 2018"
    version = 2

    degree: int = 3
    ranges = (Range("degree", 1, 100),)

    def prepare(self, corpus: Corpus) -> tuple[Floats, Kernel]:
        return corpus.embeddings(self.embedder).astype(np.float64), partial(polynomial, self.degree)

    def compute(self, comparison: Comparison) -> Values:
        """Return A + B − 2C over blocks, refused where only rounding error remains."""
        values = super().compute(comparison)
        rows, _ = self.prepare(comparison.joint)
        largest = (float(np.einsum("ij,ij->i", rows, rows).max()) / rows.shape[1] + 1.0) ** self.degree
        if largest > _LONG and abs(values[VALUE]) < _LOST * largest:
            raise Undefined("the vectors are so long that the difference of their kernels is lost in rounding")
        return values


def plan_quantiles(n: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Which order statistics of two samples of n and m meet in the optimal plan on a line, and with what mass."""
    # Whole numbers (multiples of 1/(n·m)) so that equal steps of both samples coincide exactly.
    steps = np.unique(np.concatenate([np.arange(1, n + 1) * m, np.arange(1, m + 1) * n]))
    masses = np.diff(steps, prepend=0) / (n * m)
    return (steps - 1) // m, (steps - 1) // n, masses


def compute_transport_cost(x_sorted: Floats, y_sorted: Floats, p: float) -> Floats:
    """Wᵖ of sorted samples, one per column."""
    i, j, mass = plan_quantiles(len(x_sorted), len(y_sorted))
    gaps = np.abs(x_sorted[i] - y_sorted[j])
    return np.asarray(mass @ (gaps**2 if p == 2 else gaps**p))


@register
class SlicedWasserstein(EmbeddingMetric):
    """Wasserstein distance averaged over random one-dimensional projections.

    (mean over `projections` unit vectors θ of W_p(θ·P, θ·Q)^p)^(1/p), exact on each line, also for unequal sizes.
    Source: Bonneel et al. 2015.
    """

    fitted = True
    name, label, source = "sliced_wasserstein", "Sliced Wasserstein", "Bonneel et al. 2015"
    min_texts = 1  # one text is a distribution
    no_interval = "those tried hold the expected value in 85 to 95 % of samples"
    interval_trials = 12
    headline = Part(VALUE, bounds=(0.0, INFINITY))

    ranges = (Range("p", 1), Range("projections", 1, 1_000_000))

    p: float = 2.0
    projections: int = 128
    seed: int = DEFAULT_SEED

    def compute(self, comparison: Comparison) -> Values:
        projected = self._project(comparison.joint)
        X, Y = (np.sort(side, axis=0) for side in np.split(projected, [len(comparison.reference)]))
        return {VALUE: float(compute_transport_cost(X, Y, self.p).mean() ** (1.0 / self.p))}

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        """Project and sort once; a subset of sorted values is sorted."""
        projected = self._project(joint)
        order = np.argsort(projected, axis=0, kind="stable").T
        ordered = np.take_along_axis(projected.T, order, axis=1)
        sizes = draws.smaller

        def one(r: int) -> float:
            if sizes[r] < self.min_texts:
                return float("nan")
            x, y = (ordered[mask[r][order]].reshape(len(order), -1).T for mask in (draws.left, draws.right))
            return float(compute_transport_cost(x, y, self.p).mean() ** (1.0 / self.p))

        return {VALUE: map_threads(one, len(draws))}

    def _project(self, corpus: Corpus) -> Floats:
        rows = corpus.embeddings(self.embedder).astype(np.float64)
        rows -= 0.5 * rows.min(axis=0) + 0.5 * rows.max(axis=0)  # distances stay, and large common numbers go
        columns = np.random.default_rng(self.seed).standard_normal((rows.shape[1], self.projections))
        return np.asarray(rows @ (columns / np.linalg.norm(columns, axis=0)))
