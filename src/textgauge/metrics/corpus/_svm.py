"""A support vector classifier with an RBF kernel, on a kernel made by matrix products.

The problem is that of scikit-learn's `SVC()`: C = 1, gamma = "scale", tolerance 1e-3. The kernel is float32, as it is
inside libsvm. The solver is sequential minimal optimisation with second-order choice of the pair (Fan, Chen and Lin
2005), in the variables β = yα: a step adds t to βᵢ and takes t from βⱼ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Index = NDArray[np.intp]
Rows = NDArray[np.floating[Any]]

TOLERANCE = 1e-3
KERNEL_ROWS = 16_384  # a matrix of 1 GiB; beyond it libsvm works on the rows, slowly but in bounded memory
SMALL_TRAIN = 512  # up to here problems are solved side by side
SHARED_ROWS = 4_096  # so many rows have their distances, 64 MiB, computed once for all small problems
_BATCH_CELLS = 1 << 24
_BLOCK = 256
_INF = np.float32(np.inf)
_ABOVE_ONE = np.float32(1.0 + 1e-6)  # keeps the curvature between two equal texts above zero


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
    return [next(small) if task.small else _decide_large(rows, task) for task in tasks]


@dataclass(frozen=True)
class Products:
    """A matrix of products of rows, and where in it each row is; the rows are those of a task times `unit`."""

    matrix: Doubles
    place: Index
    unit: float = 1.0

    def over(self, unit: float) -> Products:
        """The products as they stand for rows divided by a power of two."""
        return Products(self.matrix, self.place, unit)


def solve(curvature: Floats, labels: Floats) -> tuple[Doubles, float]:
    """Coefficients β and intercept of one problem: f(x) = Σ βᵢ k(xᵢ, x) + intercept.

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


def _decide_all_small(rows: Rows, tasks: Sequence[Task], products: Products | None) -> list[Doubles]:
    if not tasks or len(rows) > SHARED_ROWS:
        return [found for task in tasks for found in _decide_small(*_alone(rows, task))]
    size = max(1, _BATCH_CELLS // max(len(task.train) for task in tasks) ** 2)
    distances = _Distances.of(rows, products)
    if 2 * sum(len(task.train) ** 2 for task in tasks) > len(rows) ** 2:
        distances = distances.prepared()
    batches = (tasks[start : start + size] for start in range(0, len(tasks), size))
    return [found for batch in batches for found in _decide_small(distances, batch)]


def _alone(rows: Rows, task: Task) -> tuple[_Distances, list[Task]]:
    used, place = np.unique(np.concatenate([task.train, task.test]), return_inverse=True)
    return _Distances.of(rows[used]), [Task(place[: len(task.train)], task.labels, place[len(task.train) :])]


@dataclass(frozen=True)
class _Distances:
    """Products of rows, from which squared distances come, and what the variance of any subset needs.

    Products are float64 and only distances are float32, so that a subset of the rows has the same distances.
    """

    products: Products
    norms: Doubles
    sums: Doubles
    squares: Doubles
    dimension: int
    whole: Floats | None = None  # all squared distances, where tasks look at most of them

    @classmethod
    def of(cls, rows: Rows, products: Products | None = None) -> _Distances:
        X = rows.astype(np.float64)
        given = products or Products(X @ X.T, np.arange(len(X)))
        norms = given.matrix.diagonal()[given.place]
        return cls(given, norms, X.sum(axis=1), np.einsum("ij,ij->i", X, X), X.shape[1])

    def kernel(self, task: Task, left: Index, right: Index) -> Floats:
        entries = len(task.train) * self.dimension
        mean, square = self.sums[task.train].sum() / entries, self.squares[task.train].sum() / entries
        block = self._squared(left, right)
        block *= np.float32(-_gamma(self.dimension, square - mean * mean))
        return np.exp(block, out=block)

    def prepared(self) -> _Distances:
        """With all distances at hand."""
        rows = np.arange(len(self.norms))
        return replace(self, whole=self._squared(rows, rows))

    def _squared(self, left: Index, right: Index) -> Floats:
        if self.whole is not None:
            return self.whole.ravel().take(len(self.whole) * left[:, None] + right)
        squared = self.products.matrix[np.ix_(self.products.place[left], self.products.place[right])]
        squared *= -2.0
        squared += self.norms[left, None]
        squared += self.norms[right]
        np.maximum(squared, 0.0, out=squared)
        squared *= self.products.unit**-2
        return squared.astype(np.float32)


def _decide_small(distances: _Distances, tasks: Sequence[Task]) -> Iterator[Doubles]:
    widest = max(len(task.train) for task in tasks)
    curvature = np.ones((len(tasks), widest, widest), dtype=np.float32)
    labels = np.zeros((len(tasks), widest), dtype=np.float32)
    for place, task in enumerate(tasks):
        n = len(task.train)
        np.subtract(_ABOVE_ONE, distances.kernel(task, task.train, task.train), out=curvature[place, :n, :n])
        labels[place, :n] = task.labels
    solutions = zip(*solve_many(curvature, labels), strict=True) if len(tasks) > 1 else [solve(curvature[0], labels[0])]
    for task, (beta, intercept) in zip(tasks, solutions, strict=True):
        support, weight = _support(task.train, beta[: len(task.train)])
        yield distances.kernel(task, task.test, support) @ weight + intercept


def _decide_large(rows: Rows, task: Task) -> Doubles:
    if len(task.train) > KERNEL_ROWS:
        from sklearn.svm import SVC

        found: Doubles = SVC().fit(rows[task.train], task.labels).decision_function(rows[task.test])
        return found
    train, test = _scaled(rows[task.train], rows[task.test])
    distinct, first, place = np.unique(task.train, return_index=True, return_inverse=True)
    curvature = _curvatures(train[first])
    if not np.array_equal(distinct, task.train):
        curvature = curvature[np.ix_(place, place)]
    beta, intercept = solve(curvature, task.labels)
    support, weight = _support(place, beta)
    return _weighted(test, train[first[support]], weight) + intercept


def _scaled(train: Rows, test: Rows) -> tuple[Floats, Floats]:
    """Rows with k(x, y) = exp(−‖x − y‖²): centred, times √gamma."""
    centre = train.mean(axis=0, dtype=np.float64)
    near = centre.astype(train.dtype)
    left, right = (train - near).astype(np.float32, copy=False), (test - near).astype(np.float32, copy=False)
    within = np.einsum("ij,ij->i", left, left).sum(dtype=np.float64) / left.size
    factor = np.float32(np.sqrt(_gamma(len(centre), within + float(centre.var()))))
    left *= factor
    right *= factor
    return left, right


def magnitude(rows: Rows) -> float:
    """The power of two at or below the largest entry: dividing by it is exact, and squares stay finite."""
    largest = max(rows.max(), -rows.min())
    return float(np.ldexp(0.5, np.frexp(largest)[1])) if largest > 0 else 1.0


def _gamma(dimension: int, variance: float) -> float:
    """1 / (d · variance of all training entries); where all are equal, any gamma gives the same decisions."""
    return 1.0 / (dimension * variance) if variance > 1e-13 else 1.0


def _curvatures(rows: Floats) -> Floats:
    """1 − k(x, y) between all rows: the lower triangle by blocks, mirrored, so exactly symmetric."""
    n, (left, right) = len(rows), (_as_left(rows), _as_right(rows))
    matrix = np.empty((n, n), dtype=np.float32)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        block = matrix[start:stop, :stop]
        np.subtract(_ABOVE_ONE, _kernel_of(left[start:stop], right[:stop], block), out=block)
        for first in range(0, start, _BLOCK):
            matrix[first : first + _BLOCK, start:stop] = block[:, first : first + _BLOCK].T
    return matrix


def _as_left(rows: Floats) -> Floats:
    """Rows whose products with those of `_as_right` are −‖x − y‖² = 2⟨x, y⟩ − ‖x‖² − ‖y‖²."""
    return np.column_stack([rows, -np.einsum("ij,ij->i", rows, rows), np.ones(len(rows), dtype=np.float32)])


def _as_right(rows: Floats) -> Floats:
    return np.column_stack([rows + rows, np.ones(len(rows), dtype=np.float32), -np.einsum("ij,ij->i", rows, rows)])


def _kernel_of(left: Floats, right: Floats, out: Floats | None = None) -> Floats:
    block: Floats = np.matmul(left, right.T, out=out)
    np.minimum(block, 0.0, out=block)
    return np.exp(block, out=block)


def _support(train: Index, beta: Doubles) -> tuple[Index, Doubles]:
    """Rows with a weight, and the weight: the coefficients of a row's copies added up."""
    weight = np.bincount(train, weights=beta).astype(np.float64, copy=False)
    support = np.flatnonzero(weight)
    return support, weight[support]


def _weighted(test: Floats, support: Floats, weight: Doubles) -> Doubles:
    """Σ weight · k(support, x) for each test row x, by blocks."""
    left, right = _as_left(test), _as_right(support)
    starts = range(0, len(test), _BLOCK)
    return np.concatenate([_kernel_of(left[start : start + _BLOCK], right) @ weight for start in starts])
