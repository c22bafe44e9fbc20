"""What each text adds to a two-sample statistic over all pairs: energy, mmd, kid."""

from __future__ import annotations

from textgauge.comparing.contributions.terms import Contributions, Floats, SideTerms
from textgauge.data import Comparison
from textgauge.encode.grounds import prepare
from textgauge.metrics.base import VALUE
from textgauge.metrics.corpus.kernels import (
    Energy,
    KernelDiscrepancy,
    _kernel_row_sums,
    sums_over_ground,
    sums_over_pairs,
)
from textgauge.numerics.kernel_sums import RowSums

_ENERGY = "(mean distance to the other corpus − mean distance to the own one) / number of texts of the own one"
_MMD = "(mean kernel with the own corpus − mean kernel with the other one) / number of texts of the own one"


def of_energy(metric: Energy, comparison: Comparison) -> Contributions:
    """Energy: (mean δ to the other side − mean δ to the own side, itself included)/n, which sum to 2C − A − B.

    `root` divides each by the root of the sum, `coefficient` by 2·mean δ across, so that they sum to what is shown.
    """
    sides = _of_cosine(metric, comparison) if metric.on.endswith(":cosine") else _of_blocks(metric, comparison)
    total = float(sides[0].sum() + sides[1].sum())
    scale, formula = 1.0, _ENERGY
    if metric.root or metric.part is not None:
        shown = float(metric.select(metric.compute(comparison)))
        scale, formula = shown / total if total > 0 else 0.0, f"{_ENERGY}, scaled to the value"
    reference, candidate = (SideTerms(scale * side) for side in sides)
    return Contributions(metric.part or VALUE, formula, reference, candidate)


def of_discrepancy(metric: KernelDiscrepancy, comparison: Comparison) -> Contributions:
    """mmd and kid: (mean k with the own side − mean k with the other one)/n; unbiased: without the pair with itself."""
    sums = comparison.derive(_kernel_row_sums, metric)[2]
    reference, candidate = (SideTerms(side) for side in row_terms(sums, with_self=metric.estimator == "biased"))
    return Contributions(VALUE, _MMD, reference, candidate)


def row_terms(sums: RowSums, *, with_self: bool) -> tuple[Floats, Floats]:
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


def _of_cosine(metric: Energy, comparison: Comparison) -> tuple[Floats, Floats]:
    """With cosine distances the means over texts are products with the mean unit vectors."""
    rows = prepare(comparison.joint.embeddings(metric.embedder), "cosine")
    n = len(comparison.reference)
    gap = rows[:n].mean(axis=0) - rows[n:].mean(axis=0)
    return rows[:n] @ gap / n, rows[n:] @ gap / -(len(rows) - n)


def _of_blocks(metric: Energy, comparison: Comparison) -> tuple[Floats, Floats]:
    if metric.pair_ground is not None:
        sums = comparison.derive(sums_over_pairs, metric.pair_ground)[2]
    else:
        sums = comparison.derive(sums_over_ground, (metric.embedder, metric.ground))[2]
    return row_terms(sums, with_self=True)
