"""A support vector classifier with an RBF kernel, on a kernel made by matrix products.

The problem is that of scikit-learn's `SVC()`: C = 1, gamma = "scale", tolerance 1e-3. The kernel is float32, as it is
inside libsvm. Small tasks share squared distances: products are float64 and only distances are float32, so that a task
has the same distances whichever tasks share them. A large task has a kernel of its own, by float32 products of centred
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Floats32
from textgauge.core.sizes import blocks, capped

Index = NDArray[np.intp]
Rows = NDArray[np.floating[Any]]

_STRIP = 32  # rows of distances made from products at a time, which stay in the second cache
ABOVE_ONE = np.float32(1.0 + 1e-6)  # keeps the curvature between two equal texts above zero
TOLERANCE = 1e-3
_INF = np.float32(np.inf)


@dataclass(frozen=True)
class Limits:
    """Up to which sizes what is done.

    Tasks of `small_train` rows share distances, of which those of `shared_rows` (64 MiB) are computed once for all. A
    large kernel is made `block` rows at a time, up to `kernel_rows` (1 GiB); beyond it libsvm works on the rows, slowly
    but in bounded memory.
    """

    small_train: int = 512
    shared_rows: int = 4_096
    kernel_rows: int = 16_384
    block: int = 256

    def small(self, task: TrainTest) -> bool:
        """Whether a task shares distances with other tasks."""
        return len(task.train) <= capped(self.small_train) and len(task.test) <= self.shared_rows // 2


LIMITS = Limits()


@dataclass(frozen=True)
class Products:
    """A matrix of products of rows, and where in it each row is; the rows are those of a task times `unit`."""

    matrix: Floats
    place: Index
    unit: float = 1.0

    def over(self, unit: float) -> Products:
        """The products as they stand for rows divided by a power of two."""
        return Products(self.matrix, self.place, unit)


@dataclass(frozen=True)
class Distances:
    """Products of rows, from which squared distances come, and what the variance of any subset needs."""

    products: Products
    sums: Floats
    squares: Floats
    dimension: int
    whole: Floats32 | None = None  # all squared distances, where tasks use most of them

    @classmethod
    def of(cls, rows: Rows, products: Products | None = None) -> Distances:
        """Those of these rows, from products of the same about any origin where there are some."""
        X = rows.astype(np.float64)
        given = products or Products(X @ X.T, np.arange(len(X)))
        return cls(given, X.sum(axis=1), np.einsum("ij,ij->i", X, X), X.shape[1])

    def gamma(self, train: Index) -> float:
        """That of rows to train on."""
        entries = len(train) * self.dimension
        mean, square = self.sums[train].sum() / entries, self.squares[train].sum() / entries
        return scale(self.dimension, float(square - mean * mean))

    def kernel(self, left: Index, right: Index, gamma: float) -> Floats32:
        """exp(−gamma·‖x − y‖²)."""
        return self._rbf(left, right, gamma, np.float32(0.0), np.float32(1.0))

    def curvature(self, rows: Index, gamma: float) -> Floats32:
        """1 less the kernel among rows."""
        return self._rbf(rows, rows, gamma, ABOVE_ONE, np.float32(-1.0))

    def prepared(self) -> Distances:
        """With all distances at hand, in the order of the products."""
        matrix, factor = self.products.matrix, self.products.unit**-2
        whole, norms = np.empty(matrix.shape, dtype=np.float32), matrix.diagonal()
        for part in blocks(len(matrix), _STRIP):
            whole[part] = _squared(matrix[part].copy(), norms[part], norms, factor)
        return replace(self, whole=whole)

    def _rbf(self, left: Index, right: Index, gamma: float, start: np.float32, sign: np.float32) -> Floats32:
        """start + sign·exp(−gamma·‖x − y‖²)."""
        left, right = self.products.place[left], self.products.place[right]
        if self.whole is not None:
            picked = self.whole.ravel().take(len(self.whole) * left[:, None] + right)
            return rbf(picked, -gamma, start, sign)
        norms, factor = self.products.matrix.diagonal(), self.products.unit**-2
        block = _squared(self.products.matrix[np.ix_(left, right)], norms[left], norms[right], factor)
        return rbf(block.astype(np.float32), -gamma, start, sign)


def scale(dimension: int, variance: float) -> float:
    """gamma = 1 / (d · variance of all training entries); where all are equal, any gamma gives the same decisions."""
    return 1.0 / (dimension * variance) if variance > 1e-13 else 1.0


def _squared(products: Floats, left: Floats, right: Floats, factor: float) -> Floats:
    """‖x‖² + ‖y‖² − 2⟨x, y⟩ times a factor, in place of the products."""
    products *= -2.0
    products += left[:, None]
    products += right
    np.maximum(products, 0.0, out=products)
    products *= factor
    return products


def rbf(squared: Floats32, factor: float, start: np.float32, sign: np.float32) -> Floats32:
    """start + sign·exp(factor·x), in place; an exponent that rounding moved above 0 is 0."""
    squared *= np.float32(factor)
    np.minimum(squared, 0.0, out=squared)
    np.exp(squared, out=squared)
    squared *= sign
    squared += start
    return squared


def scaled(train: Rows, test: Rows) -> tuple[Floats32, Floats32]:
    """Rows with k(x, y) = exp(−‖x − y‖²): centred, times √gamma."""
    centre = train.mean(axis=0, dtype=np.float64)
    near = centre.astype(train.dtype)
    left, right = (train - near).astype(np.float32, copy=False), (test - near).astype(np.float32, copy=False)
    within = np.einsum("ij,ij->i", left, left).sum(dtype=np.float64) / left.size
    factor = np.float32(np.sqrt(scale(len(centre), within + float(centre.var()))))
    left *= factor
    right *= factor
    return left, right


def curvatures(rows: Floats32, block: int = LIMITS.block) -> Floats32:
    """1 − k(x, y) between all rows: the lower triangle by blocks, mirrored, so exactly symmetric."""
    n, (left, right) = len(rows), (_as_left(rows), _as_right(rows))
    matrix = np.empty((n, n), dtype=np.float32)
    parts = blocks(n, block)
    for number, part in enumerate(parts):
        matrix[part, : part.stop] = rbf(left[part] @ right[: part.stop].T, 1.0, ABOVE_ONE, np.float32(-1.0))
        for first in parts[:number]:
            matrix[first, part] = matrix[part, first].T
    return matrix


def weighted(test: Floats32, support: Floats32, weight: Floats, block: int = LIMITS.block) -> Floats:
    """Σ weight · k(support, x) for each test row x, by blocks."""
    left, right = _as_left(test), _as_right(support)
    parts = (left[part] @ right.T for part in blocks(len(test), block))
    return np.concatenate([rbf(part, 1.0, np.float32(0.0), np.float32(1.0)) @ weight for part in parts])


def _as_left(rows: Floats32) -> Floats32:
    """Rows whose products with those of `_as_right` are −‖x − y‖² = 2⟨x, y⟩ − ‖x‖² − ‖y‖²."""
    return np.column_stack([rows, -np.einsum("ij,ij->i", rows, rows), np.ones(len(rows), dtype=np.float32)])


def _as_right(rows: Floats32) -> Floats32:
    return np.column_stack([rows + rows, np.ones(len(rows), dtype=np.float32), -np.einsum("ij,ij->i", rows, rows)])


@dataclass(frozen=True)
class TrainTest:
    """Which rows to train on, with labels −1 and 1, and which to decide about.

    A row may be trained on more than once and with either label; its copies share one kernel row exactly.
    """

    train: Index
    labels: Floats32
    test: Index


def decide(
    rows: Rows, tasks: Sequence[TrainTest], products: Products | None = None, limits: Limits | None = None
) -> list[Floats]:
    """Decision values of the test rows of each task, positive for label 1.

    They do not depend on the other tasks, nor on rows that the task does not use. Products of the rows, about any
    origin, save time if there are some already.
    """
    limits = limits or LIMITS
    unit = magnitude(rows)
    rows = rows / rows.dtype.type(unit)
    small = [task for task in tasks if limits.small(task)]
    distances = None
    if small and len(rows) <= limits.shared_rows:
        distances = Distances.of(rows, products and products.over(unit))
        if 2 * sum(len(task.train) ** 2 for task in small) > len(rows) ** 2:
            distances = distances.prepared()
    return [
        _decide_small(rows, task, distances) if limits.small(task) else _decide_large(rows, task, limits)
        for task in tasks
    ]


def magnitude(rows: Rows) -> float:
    """The power of two at or below the largest entry: dividing by it is exact, and squares stay finite."""
    largest = max(rows.max(), -rows.min())
    return float(np.ldexp(0.5, np.frexp(largest)[1])) if largest > 0 else 1.0


def _decide_small(rows: Rows, task: TrainTest, distances: Distances | None) -> Floats:
    if distances is None:
        used, place = np.unique(np.concatenate([task.train, task.test]), return_inverse=True)
        distances = Distances.of(rows[used])
        task = TrainTest(place[: len(task.train)], task.labels, place[len(task.train) :])
    gamma = distances.gamma(task.train)
    beta, intercept = solve(distances.curvature(task.train, gamma), task.labels)
    support, weight = _support(task.train, beta)
    return distances.kernel(task.test, support, gamma) @ weight + intercept


def _decide_large(rows: Rows, task: TrainTest, limits: Limits) -> Floats:
    if len(task.train) > limits.kernel_rows:
        from sklearn.svm import SVC

        found: Floats = SVC().fit(rows[task.train], task.labels).decision_function(rows[task.test])
        return found
    train, test = scaled(rows[task.train], rows[task.test])
    distinct, first, place = np.unique(task.train, return_index=True, return_inverse=True)
    curvature = curvatures(train[first], limits.block)
    if not np.array_equal(distinct, task.train):
        curvature = curvature[np.ix_(place, place)]
    beta, intercept = solve(curvature, task.labels)
    support, weight = _support(place, beta)
    return weighted(test, train[first[support]], weight, limits.block) + intercept


def _support(train: Index, beta: Floats) -> tuple[Index, Floats]:
    """Rows with a weight, and the weight: the coefficients of a row's copies added up."""
    weight = np.bincount(train, weights=beta).astype(np.float64, copy=False)
    support = np.flatnonzero(weight)
    return support, weight[support]


def solve(curvature: Floats32, labels: Floats32, *, most_steps: int = 0) -> tuple[Floats, float]:
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


def _intercept(rise: Floats32, fall: Floats32) -> float:
    free = np.isfinite(rise) & np.isfinite(fall)
    return float(rise[free].mean()) if free.any() else float(rise.max() + fall.min()) / 2.0
