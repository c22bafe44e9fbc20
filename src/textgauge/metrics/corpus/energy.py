"""Energy distance, and Wasserstein distances along lines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Embeddings, Floats
from textgauge.core.parallel import map_threads
from textgauge.data import Comparison, Corpus, Draws
from textgauge.data.pool import iterate_rows
from textgauge.encode.grounds import GROUNDS, angle, prepare, scale_to_units
from textgauge.metrics.base import DEFAULT_SEED, VALUE, Part, Range
from textgauge.metrics.corpus_metric import EmbeddingMetric, GroundMetric, ManyValues, Values
from textgauge.metrics.grounds import get_ground_blocks, get_ground_rows, get_pair_distances, get_places
from textgauge.metrics.numerics.kernel_sums import (
    MANY_ROWS,
    Kernel,
    RowSums,
    compute_discrepancies,
    compute_discrepancy_interval,
    compute_row_sums,
    is_mostly_different,
    to_angles,
)
from textgauge.metrics.numerics.moments import to_narrow_unit, to_unit
from textgauge.metrics.registry import register
from textgauge.metrics.score import Contributions, Score, SideTerms
from textgauge.metrics.token_counts import sum_by_group
from textgauge.metrics.uncertainty import FEWEST_FOR_U_STATISTIC, compute_normal_reach

_AT_ONCE = 4_096  # rows in double precision
_ENERGY = "(mean distance to the other corpus − mean distance to its own) / number of texts in its own"


def negative(ground: str, X: Floats, Y: Floats) -> Floats:
    """−δ, the kernel that turns A + B − 2C into the energy distance."""
    block = angle(X, Y) if ground == "angular" else GROUNDS[ground](X, Y)
    block *= -1.0 / np.pi if ground == "angular" else -1.0  # one pass over the block, not two
    return block


def sum_directions(X: Embeddings) -> Floats:
    """Return the sum of rows at length one, and how many have no direction."""
    sums = [scale_to_units(rows).sum(axis=0) for _, rows in iterate_rows(X, _AT_ONCE)]
    sums = [total if len(total) > X.shape[1] else np.append(total, 0.0) for total in sums]
    return sums[0] if len(sums) == 1 else np.asarray(np.sum(sums, axis=0))


class Angles:
    """Angles in radians; those of float32 rows stand in one place, where the next block overwrites them."""

    def __init__(self) -> None:
        self._space = np.empty(0, dtype=np.float32)

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """Return the block of two lots of unit rows."""
        return np.asarray(to_angles(self._cosines(X, Y)) if X.dtype == np.float32 else angle(X, Y))

    def sums(self, X: Floats, Y: Floats) -> tuple[Floats, Floats]:
        """Return sums of the block by row and by column."""
        if X.dtype == np.float32:
            angles = to_angles(self._cosines(X, Y))
            by_row, by_column = angles @ np.ones(len(Y), np.float32), np.ones(len(X), np.float32) @ angles
            return by_row.astype(np.float64), by_column.astype(np.float64)
        block = angle(X, Y)
        return block.sum(axis=1), block.sum(axis=0)

    def _cosines(self, X: Floats, Y: Floats) -> NDArray[np.float32]:
        if len(self._space) < len(X) * len(Y):
            self._space = np.empty(len(X) * len(Y), dtype=np.float32)
        return np.matmul(X, Y.T, out=self._space[: len(X) * len(Y)].reshape(len(X), len(Y)))


def negate(blocks: Kernel, X: Floats, Y: Floats) -> Floats:
    """−δ for any block function."""
    return -blocks(X, Y)


def sum_over_pairs(comparison: Comparison, name: str) -> tuple[Floats, Floats, RowSums]:
    """Return rows and row sums of −δ for a pair metric as ground."""
    X, Y = (get_places(side, name) for side in comparison.sides)
    return X, Y, compute_row_sums(X, Y, partial(negate, get_pair_distances(comparison.joint.pool, name)))


def sum_over_ground(comparison: Comparison, on: tuple[str, str]) -> tuple[Floats, Floats, RowSums]:
    """Prepared rows and row sums of −δ, shared by all that need them."""
    embedder, ground = on
    vectors = comparison.joint.embeddings(embedder)
    n = len(comparison.reference)
    straight = ground != "euclidean" and bool(vectors.any(axis=1).all())  # no row needs a direction of its own
    many = min(n, len(vectors) - n) >= MANY_ROWS
    narrow = many and straight and is_mostly_different(vectors[:n]) and is_mostly_different(vectors[n:])
    exact = to_unit if straight else partial(prepare, ground=ground)
    rows: Any = to_narrow_unit(vectors) if narrow else exact(vectors)
    X, Y = rows[:n], rows[n:]
    if ground == "angular" and many:
        return X, Y, compute_row_sums(X, Y, Angles()).times(-1.0 / np.pi)
    return X, Y, compute_row_sums(X, Y, partial(negative, ground))


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
    min_texts = 1  # one text has a distance to another
    min_texts_interval = 30
    source = "Székely and Rizzo 2013; Ackerman et al. 2023"
    headline = Part(VALUE, bounds=(0.0, float("inf")))
    parts = (Part("coefficient"),)

    root: bool = False

    def compute(self, comparison: Comparison) -> Values:
        """Closed form for cosine, blocks of distances for the other grounds."""
        if self.on.endswith(":cosine"):
            sides = comparison.sides
            a, b = (sum_directions(side.embeddings(self.embedder)) / len(side) for side in sides)
            value, across = float(((a - b) ** 2).sum()), float(1.0 - a @ b)
        else:
            value, across = self._blocks(comparison)
        coefficient = min(value / (2.0 * across), 1.0) if across > 0 else 0.0
        return {VALUE: float(np.sqrt(value)) if self.root else value, "coefficient": coefficient}

    @property
    def is_sum(self) -> bool:
        """With cosine, where sums of unit vectors decide."""
        return self.on.endswith(":cosine")

    def compute_many(self, joint: Corpus, draws: Draws) -> ManyValues:
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.on.endswith(":cosine"):
                vectors, groups = joint.embeddings(self.embedder), draws.groups
                rows = scale_to_units(vectors) if groups is None else sum_by_group(vectors, groups, sum_directions)
                n, m = (size[:, None] for size in draws.sizes)
                a, b = draws.left @ rows / n, draws.right @ rows / m
                values, across = ((a - b) ** 2).sum(axis=1), 1.0 - (a * b).sum(axis=1)
            else:
                rows, kernel = get_ground_rows(joint, self), self._kernel(joint)
                values, across = compute_discrepancies(rows, draws.left, draws.right, kernel, with_self=True)
                across = -across
            values = np.maximum(values, 0.0)
            coefficient = np.where(across > 0, np.minimum(values / (2.0 * across), 1.0), 0.0)
        undefined = np.isnan(values)
        coefficient[undefined] = np.nan
        return {VALUE: np.sqrt(values) if self.root else values, "coefficient": coefficient}

    def interval_ends(
        self, comparison: Comparison, score: Score, *, level: float, seed: int
    ) -> tuple[float, float, str]:
        """From the variance of the U-statistic, moved by the known share of the self pairs."""
        if self.part is not None or comparison.smaller < FEWEST_FOR_U_STATISTIC:
            return super().interval_ends(comparison, score, level=level, seed=seed)
        X, Y, sums = self._sums(comparison)
        ends = compute_discrepancy_interval(X, Y, self._kernel(comparison.joint), sums, compute_normal_reach(level))
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
            sides = self._sums(comparison)[2].terms(with_self=True)
        total = float(sides[0].sum() + sides[1].sum())
        scale, formula = 1.0, _ENERGY
        if self.root or self.part is not None:
            shown = float(self.select(self.compute(comparison)))
            scale, formula = shown / total if total > 0 else 0.0, f"{_ENERGY}, scaled to the value"
        reference, candidate = (SideTerms(scale * side) for side in sides)
        return Contributions(self.part or VALUE, formula, reference, candidate)

    def _cosine_terms(self, comparison: Comparison) -> tuple[Floats, Floats]:
        """With cosine distances the means over texts are products with the mean unit vectors."""
        rows = prepare(comparison.joint.embeddings(self.embedder), "cosine")
        n = len(comparison.reference)
        gap = rows[:n].mean(axis=0) - rows[n:].mean(axis=0)
        return rows[:n] @ gap / n, rows[n:] @ gap / -(len(rows) - n)

    def _sums(self, comparison: Comparison) -> tuple[Floats, Floats, RowSums]:
        if self.pair_ground is not None:
            return comparison.derive(sum_over_pairs, self.pair_ground)
        return comparison.derive(sum_over_ground, (self.embedder, self.ground))

    def _kernel(self, joint: Corpus) -> Kernel:
        if self.pair_ground is not None:
            return partial(negate, get_ground_blocks(joint.pool, self))
        return partial(negative, self.ground)

    def _blocks(self, comparison: Comparison) -> tuple[float, float]:
        X, Y, sums = self._sums(comparison)
        return max(sums.discrepancy(with_self=True), 0.0), float(-sums.xy.sum() / (len(X) * len(Y)))


def draw_directions(dimension: int, count: int, seed: int) -> Floats:
    """Random unit vectors as columns."""
    columns = np.random.default_rng(seed).standard_normal((dimension, count))
    unit: Floats = columns / np.linalg.norm(columns, axis=0)
    return unit


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
@dataclass(frozen=True, kw_only=True)
class SlicedWasserstein(EmbeddingMetric):
    """Wasserstein distance averaged over random one-dimensional projections.

    (mean over `projections` unit vectors θ of W_p(θ·P, θ·Q)^p)^(1/p), exact on each line, also for unequal sizes.
    Source: Bonneel et al. 2015.
    """

    fitted = True
    name = "sliced_wasserstein"
    label = "Sliced Wasserstein"
    min_texts = 1  # one text is a distribution
    no_interval = "those tried hold the expected value in 85 to 95 % of samples"
    interval_trials = 12
    source = "Bonneel et al. 2015"
    headline = Part(VALUE, bounds=(0.0, float("inf")))

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
        return rows @ draw_directions(rows.shape[1], self.projections, self.seed)
