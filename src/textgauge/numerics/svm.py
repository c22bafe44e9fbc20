"""A support vector classifier with an RBF kernel, on a kernel made by matrix products.

The problem is that of scikit-learn's `SVC()`: C = 1, gamma = "scale", tolerance 1e-3. The kernel is float32, as it is
inside libsvm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.native import kernels
from textgauge.numerics.svm_kernel import Distances, Products
from textgauge.numerics.svm_large import curvatures, scaled, weighted
from textgauge.numerics.svm_near import Near
from textgauge.numerics.svm_solver import solve, solve_many

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Index = NDArray[np.intp]
Rows = NDArray[np.floating[Any]]

KERNEL_ROWS = 16_384  # a matrix of 1 GiB; beyond it libsvm works on the rows, slowly but in bounded memory
SMALL_TRAIN = 512  # up to here problems share distances, and numpy solves them side by side
SHARED_ROWS = 4_096  # so many rows have their distances, 64 MiB, computed once for all small problems
_BATCH_CELLS = 1 << 24


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
        """Whether a step of the solver costs more in calls than in arithmetic."""
        return len(self.train) <= SMALL_TRAIN and len(self.test) <= SHARED_ROWS // 2


def decide(rows: Rows, tasks: Sequence[Task], products: Products | None = None) -> list[Doubles]:
    """Decision values of the test rows of each task, positive for label 1.

    They do not depend on the other tasks, nor on rows that the task does not use. Products of the rows, about any
    origin, save time if there are some already.
    """
    unit = magnitude(rows)
    rows = rows / rows.dtype.type(unit)
    small = iter(_decide_all_small(rows, [task for task in tasks if task.small], products and products.over(unit)))
    large = _decide_all_large(rows, [task for task in tasks if not task.small])
    return [next(small if task.small else large) for task in tasks]


def magnitude(rows: Rows) -> float:
    """The power of two at or below the largest entry: dividing by it is exact, and squares stay finite."""
    largest = max(rows.max(), -rows.min())
    return float(np.ldexp(0.5, np.frexp(largest)[1])) if largest > 0 else 1.0


def _decide_all_small(rows: Rows, tasks: Sequence[Task], products: Products | None) -> list[Doubles]:
    if not tasks or len(rows) > SHARED_ROWS:
        return [found for task in tasks for found in _decide_small(*_alone(rows, task))]
    size = 1 if kernels.built() else max(1, _BATCH_CELLS // max(len(task.train) for task in tasks) ** 2)
    distances = Distances.of(rows, products)
    if 2 * sum(len(task.train) ** 2 for task in tasks) > len(rows) ** 2:
        distances = distances.prepared()
    batches = (tasks[start : start + size] for start in range(0, len(tasks), size))
    return [found for batch in batches for found in _decide_small(distances, batch)]


def _alone(rows: Rows, task: Task) -> tuple[Distances, list[Task]]:
    used, place = np.unique(np.concatenate([task.train, task.test]), return_inverse=True)
    return Distances.of(rows[used]), [Task(place[: len(task.train)], task.labels, place[len(task.train) :])]


def _decide_small(distances: Distances, tasks: Sequence[Task]) -> Iterator[Doubles]:
    gammas = [distances.gamma(task.train) for task in tasks]
    matrices = [distances.curvature(task.train, gamma) for task, gamma in zip(tasks, gammas, strict=True)]
    solutions = _solved(matrices, tasks) if len(tasks) > 1 else [solve(matrices[0], tasks[0].labels)]
    for task, gamma, (beta, intercept) in zip(tasks, gammas, solutions, strict=True):
        support, weight = _support(task.train, beta[: len(task.train)])
        yield distances.kernel(task.test, support, gamma) @ weight + intercept


def _solved(matrices: Sequence[Floats], tasks: Sequence[Task]) -> Iterator[tuple[Doubles, float]]:
    widest = max(map(len, matrices))
    curvature = np.ones((len(tasks), widest, widest), dtype=np.float32)
    labels = np.zeros((len(tasks), widest), dtype=np.float32)
    for place, (task, one) in enumerate(zip(tasks, matrices, strict=True)):
        curvature[place, : len(one), : len(one)] = one
        labels[place, : len(one)] = task.labels
    return zip(*solve_many(curvature, labels), strict=True)


def _support(train: Index, beta: Doubles) -> tuple[Index, Doubles]:
    """Rows with a weight, and the weight: the coefficients of a row's copies added up."""
    weight = np.bincount(train, weights=beta).astype(np.float64, copy=False)
    support = np.flatnonzero(weight)
    return support, weight[support]


def _decide_all_large(rows: Rows, tasks: Sequence[Task]) -> Iterator[Doubles]:
    near = Near.of(rows) if tasks and kernels.wide() else None
    if near is None:
        yield from (_decide_large(rows, task) for task in tasks)
        return
    held = [len(task.train) <= KERNEL_ROWS and near.holds(task.train) for task in tasks]
    near = near.shared([(task.train, task.test) for task, fits in zip(tasks, held, strict=True) if fits])
    for task, fits in zip(tasks, held, strict=True):
        yield _decide_near(near, task) if fits else _decide_large(rows, task)


def _decide_near(near: Near, task: Task) -> Doubles:
    beta, intercept = near.solve(task.train, task.labels)
    return near.weighted(task.test, *_support(task.train, beta), near.gamma(task.train)) + intercept


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
