"""Sequential minimal optimisation with second-order choice of the pair (Fan, Chen and Lin 2005).

In the variables β = yα: a step adds t to βᵢ and takes t from βⱼ. C = 1, tolerance 1e-3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.native import kernels
from textgauge.numerics.svm_kernel import ABOVE_ONE

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Index = NDArray[np.intp]

TOLERANCE = 1e-3
_INF = np.float32(np.inf)


def solve(curvature: Floats, labels: Floats) -> tuple[Doubles, float]:
    """Coefficients β and intercept of one problem: f(x) = Σ βᵢ k(xᵢ, x) + intercept."""
    if not kernels.built():
        return solve_by_numpy(curvature, labels)
    beta, rise, fall = kernels.svm(curvature, labels, tolerance=TOLERANCE)
    return beta, _intercept(rise, fall)


def solve_by_products(
    products: Floats, places: Index | None, squares: Floats, labels: Floats, gamma: float, room: Floats | None = None
) -> tuple[Doubles, float]:
    """`solve` with a kernel whose rows are made, from products of the rows at some places, when they are needed.

    Without places the rows are all, and the products are lost.
    """
    beta, rise, fall = kernels.svm_by_products(
        products, places, squares, labels, factor=-gamma, above=float(ABOVE_ONE), tolerance=TOLERANCE, room=room
    )
    return beta, _intercept(rise, fall)


def solve_by_numpy(curvature: Floats, labels: Floats) -> tuple[Doubles, float]:
    """`solve` to the same bits.

    `rise` holds y − f of the rows whose β may grow and −∞ elsewhere, `fall` of those whose β may shrink and ∞
    elsewhere. Kernel differences are curvature differences with the other sign, so the kernel is not needed.
    """
    high, low = np.maximum(labels, 0).tolist(), np.minimum(labels, 0).tolist()
    beta = [0.0] * len(labels)
    rise, fall = np.where(labels > 0, labels, -_INF), np.where(labels < 0, labels, _INF)
    gap, work = np.empty_like(labels), np.empty_like(labels)
    while True:
        i = rise.argmax()
        np.subtract(rise[i], fall, out=gap)
        np.sqrt(curvature[i], out=work)
        np.divide(gap, work, out=work)
        j = work.argmax()
        width = float(gap[j])
        if width < TOLERANCE and gap.max() < TOLERANCE:
            return np.array(beta), _intercept(rise, fall)
        step = min(width / (2.0 * float(curvature[i, j])), high[i] - beta[i], beta[j] - low[j])
        np.subtract(curvature[j], curvature[i], out=work)
        work *= np.float32(step)
        rise -= work
        fall -= work
        beta[i] = min(beta[i] + step, high[i])
        beta[j] = max(beta[j] - step, low[j])
        fall[i], rise[j] = rise[i], fall[j]
        if beta[i] >= high[i]:
            rise[i] = -_INF
        if beta[j] <= low[j]:
            fall[j] = _INF


def solve_many(curvature: Floats, labels: Floats) -> tuple[Doubles, Doubles]:
    """`solve` for a batch of problems side by side; label 0 marks padding. A finished problem leaves the batch."""
    high, low = np.maximum(labels, 0).astype(np.float64), np.minimum(labels, 0).astype(np.float64)
    beta = np.zeros_like(high)
    rise, fall = np.where(labels > 0, labels, -_INF), np.where(labels < 0, labels, _INF)
    found, intercepts, live = np.zeros_like(high), np.zeros(len(labels)), np.arange(len(labels))
    at = np.arange(len(live))
    while True:
        i = rise.argmax(axis=1)
        gap = rise[at, i][:, None] - fall
        going = gap.max(axis=1) >= TOLERANCE
        if not going.all():
            for done in np.flatnonzero(~going):
                found[live[done]], intercepts[live[done]] = beta[done], _intercept(rise[done], fall[done])
            state = (beta, rise, fall, high, low, gap, i, live)
            beta, rise, fall, high, low, gap, i, live = (array[going] for array in state)
            if not len(live):
                return found, intercepts
            at = np.arange(len(live))
        row = curvature[live, i]
        j = (gap / np.sqrt(row)).argmax(axis=1)
        step = gap[at, j].astype(np.float64) / (2.0 * row[at, j].astype(np.float64))
        step = np.minimum(step, np.minimum(high[at, i] - beta[at, i], beta[at, j] - low[at, j]))
        change = (curvature[live, j] - row) * step[:, None].astype(np.float32)
        rise -= change
        fall -= change
        beta[at, i] = np.minimum(beta[at, i] + step, high[at, i])
        beta[at, j] = np.maximum(beta[at, j] - step, low[at, j])
        fall[at, i], rise[at, j] = rise[at, i], fall[at, j]
        rise[at, i] = np.where(beta[at, i] >= high[at, i], -_INF, rise[at, i])
        fall[at, j] = np.where(beta[at, j] <= low[at, j], _INF, fall[at, j])


def _intercept(rise: Floats, fall: Floats) -> float:
    free = np.isfinite(rise) & np.isfinite(fall)
    return float(rise[free].mean()) if free.any() else float(rise.max() + fall.min()) / 2.0
