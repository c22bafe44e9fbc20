"""A support vector classifier with an RBF kernel, on a kernel made by matrix products.

The problem is that of scikit-learn's `SVC()`: C = 1, gamma = "scale", tolerance 1e-3. The kernel is float32, as it is
inside libsvm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textgauge.numerics.svm_kernel import (
    Distances,
    Doubles,
    Floats,
    Index,
    Products,
    Rows,
    curvatures,
    scaled,
    weighted,
)

KERNEL_ROWS = 16_384  # a matrix of 1 GiB; beyond it libsvm works on the rows, slowly but in bounded memory
SMALL_TRAIN = 512  # up to here tasks share distances
SHARED_ROWS = 4_096  # so many rows have their distances, 64 MiB, computed once for all small tasks
TOLERANCE = 1e-3
_INF = np.float32(np.inf)


@dataclass(frozen=True)
class Task:
    """Which rows to train on, with labels −1 and 1, and which to decide about.

    A row may be trained on more than once and with either label; its copies share one kernel row exactly.
    """

    train: Index
    labels: Floats
    test: Index

    @property
    def small(self) -> bool:
        """Whether the task shares distances with other tasks."""
        return len(self.train) <= SMALL_TRAIN and len(self.test) <= SHARED_ROWS // 2


def decide(rows: Rows, tasks: Sequence[Task], products: Products | None = None) -> list[Doubles]:
    """Decision values of the test rows of each task, positive for label 1.

    They do not depend on the other tasks, nor on rows that the task does not use. Products of the rows, about any
    origin, save time if there are some already.
    """
    unit = magnitude(rows)
    rows = rows / rows.dtype.type(unit)
    small = [task for task in tasks if task.small]
    distances = None
    if small and len(rows) <= SHARED_ROWS:
        distances = Distances.of(rows, products and products.over(unit))
        if 2 * sum(len(task.train) ** 2 for task in small) > len(rows) ** 2:
            distances = distances.prepared()
    return [_decide_small(rows, task, distances) if task.small else _decide_large(rows, task) for task in tasks]


def magnitude(rows: Rows) -> float:
    """The power of two at or below the largest entry: dividing by it is exact, and squares stay finite."""
    largest = max(rows.max(), -rows.min())
    return float(np.ldexp(0.5, np.frexp(largest)[1])) if largest > 0 else 1.0


def _decide_small(rows: Rows, task: Task, distances: Distances | None) -> Doubles:
    if distances is None:
        used, place = np.unique(np.concatenate([task.train, task.test]), return_inverse=True)
        distances = Distances.of(rows[used])
        task = Task(place[: len(task.train)], task.labels, place[len(task.train) :])
    gamma = distances.gamma(task.train)
    beta, intercept = solve(distances.curvature(task.train, gamma), task.labels)
    support, weight = _support(task.train, beta)
    return distances.kernel(task.test, support, gamma) @ weight + intercept


def _decide_large(rows: Rows, task: Task) -> Doubles:
    if len(task.train) > KERNEL_ROWS:
        from sklearn.svm import SVC

        found: Doubles = SVC().fit(rows[task.train], task.labels).decision_function(rows[task.test])
        return found
    train, test = scaled(rows[task.train], rows[task.test])
    distinct, first, place = np.unique(task.train, return_index=True, return_inverse=True)
    curvature = curvatures(train[first])
    if not np.array_equal(distinct, task.train):
        curvature = curvature[np.ix_(place, place)]
    beta, intercept = solve(curvature, task.labels)
    support, weight = _support(place, beta)
    return weighted(test, train[first[support]], weight) + intercept


def _support(train: Index, beta: Doubles) -> tuple[Index, Doubles]:
    """Rows with a weight, and the weight: the coefficients of a row's copies added up."""
    weight = np.bincount(train, weights=beta).astype(np.float64, copy=False)
    support = np.flatnonzero(weight)
    return support, weight[support]


def solve(curvature: Floats, labels: Floats, *, most_steps: int = 0) -> tuple[Doubles, float]:
    """Coefficients β and intercept of one problem: f(x) = Σ βᵢ k(xᵢ, x) + intercept.

    Sequential minimal optimisation with second-order choice of the pair, in the variables β = yα: a step adds t to βᵢ
    and takes t from βⱼ. `rise` holds y − f of the rows whose β may grow and −∞ elsewhere, `fall` of those whose β may
    shrink and ∞ elsewhere. Kernel differences are curvature differences with the other sign, so the kernel is not
    needed. It ends after `most_steps` at the latest (0: as many as libsvm allows), and at once for NaN.
    Source: Fan, Chen and Lin 2005.
    """
    high, low = np.maximum(labels, 0).tolist(), np.minimum(labels, 0).tolist()
    beta = [0.0] * len(labels)
    rise, fall = np.where(labels > 0, labels, -_INF), np.where(labels < 0, labels, _INF)
    gap, work = np.empty_like(labels), np.empty_like(labels)
    for _ in range(most_steps or max(10_000_000, 100 * len(labels))):
        i = rise.argmax()
        np.subtract(rise[i], fall, out=gap)
        np.sqrt(curvature[i], out=work)
        np.divide(gap, work, out=work)
        j = work.argmax()
        width = float(gap[j])
        if not (width >= TOLERANCE or gap.max() >= TOLERANCE):
            break
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
    return np.array(beta), _intercept(rise, fall)


def _intercept(rise: Floats, fall: Floats) -> float:
    free = np.isfinite(rise) & np.isfinite(fall)
    return float(rise[free].mean()) if free.any() else float(rise.max() + fall.min()) / 2.0
