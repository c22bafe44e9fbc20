"""What the C files beside this one do, as functions on arrays; `built` tells whether they are compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.native.library import call, checked, compiled
from textgauge.numerics.native.lloyd import Lloyd, Rows, lloyd_by_products

__all__ = [
    "Lloyd",
    "Rows",
    "angle_sums",
    "angles",
    "built",
    "eigenvalues",
    "eigenvectors",
    "lloyd_by_products",
    "products",
    "rbf",
    "rbf_picked",
    "rbf_weighted",
    "squares",
    "svm",
    "svm_by_products",
    "tridiagonal",
    "wide",
]

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Index = NDArray[np.intp]

_LANES = 16  # of eigenvectors.c
_SIDE = 8  # of eigenvalues.c
_DOWN, _ACROSS, _BAND = 6, 16, 144  # of products.c
_ROUNDING = 2.0**-53
_LARGE = 2.0**200  # squares of larger entries, and of those below its inverse, may leave the range of float64


def built() -> bool:
    """Whether the kernels are compiled."""
    return compiled() is not None


def wide() -> bool:
    """Whether they are, in a form that makes products about as fast as a BLAS."""
    return built() and bool(call("wide"))


def tridiagonal(matrix: Doubles) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Reflections row by row in place of the matrix, their factors, the diagonal, and what stands beside it."""
    n = len(matrix)
    checked(matrix, np.float64, n, n)
    diagonal, beside, factors, work = np.empty(n), np.empty(n - 1), np.empty(n - 1), np.empty(4 * n)
    unit = _unit(matrix.max(), -matrix.min())
    if unit != 1.0:
        matrix /= unit
    call("tridiagonal", n, matrix, diagonal, beside, factors, work)
    return matrix, factors, unit * diagonal, unit * beside


def _unit(*sizes: float) -> float:
    """A power of two that brings the largest of these near 1, if it is far from it."""
    largest = float(max(sizes))
    return 1.0 if 1.0 / _LARGE <= largest <= _LARGE or not 0.0 < largest < np.inf else 2.0 ** int(np.log2(largest))


def eigenvalues(matrices: Sequence[tuple[Doubles, Doubles]]) -> list[Doubles | None]:
    """Rising eigenvalues of tridiagonal matrices, given by their diagonals and what stands beside them.

    None for those that take too long. Matrices without negative eigenvalues, and best of about one size.
    """
    found: list[Doubles | None] = []
    for start in range(0, len(matrices), _SIDE):
        found += _side_by_side(matrices[start : start + _SIDE])
    return found


def _side_by_side(matrices: Sequence[tuple[Doubles, Doubles]]) -> list[Doubles | None]:
    """Shorter ones are filled up with an eigenvalue below all others."""
    n = max(len(diagonal) for diagonal, _ in matrices)
    d, e, small, units = np.zeros((n, _SIDE)), np.zeros((n, _SIDE)), np.zeros(_SIDE), np.ones(_SIDE)
    for place, (diagonal, beside) in enumerate(matrices):
        size = max(float(np.abs(diagonal).max()), float(np.abs(beside).max(initial=0.0)))
        unit = units[place] = _unit(size)
        d[: len(diagonal), place], d[len(diagonal) :, place] = diagonal / unit, 0.0 - size / unit
        e[: len(beside), place] = (beside / unit) ** 2
        small[place] = (_ROUNDING * size / unit) ** 2
    if call("eigenvalues", n, d, e, small):  # which of them is at fault is seen alone
        return [None] if len(matrices) == 1 else [values for one in matrices for values in _side_by_side([one])]
    d.sort(axis=0)
    d *= units
    return [d[n - len(diagonal) :, place] for place, (diagonal, _) in enumerate(matrices)]


def eigenvectors(
    diagonal: Doubles, beside: Doubles, values: Doubles, turned: tuple[Doubles, Doubles] | None = None
) -> tuple[Doubles, Doubles]:
    """Vectors of a tridiagonal matrix for some eigenvalues, as columns, and what is left of (T − λ)z.

    With LAPACK's reflections, row by row, and their factors, the vectors of the matrix that was reduced to T.
    """
    n, m = len(diagonal), len(values)
    checked(diagonal, np.float64, n), checked(beside, np.float64, n - 1), checked(values, np.float64, m)
    reflections, tau = turned or (None, None)
    if reflections is not None and tau is not None:
        checked(reflections, np.float64, n, n), checked(tau, np.float64, n - 1)
    vectors, residuals, work = np.empty((n, m)), np.empty(m), np.empty(3 * _LANES * n)
    unit = _unit(np.abs(diagonal).max(), np.abs(beside).max(initial=0.0))
    told = diagonal / unit, beside / unit, values / unit
    call("eigenvectors", n, m, *told, reflections, tau, vectors, residuals, work)
    return vectors, unit * residuals


def svm(curvature: Floats, labels: Floats, *, tolerance: float) -> tuple[Doubles, Floats, Floats]:
    """Coefficients β, and y − f of the rows whose β may grow and may shrink, infinite elsewhere."""
    n = len(labels)
    checked(curvature, np.float32, n, n), checked(labels, np.float32, n)
    return _svm(curvature, np.ones(n, dtype=np.uint8), (0, None, None, None, 0.0, 0.0), labels, tolerance)


def svm_by_products(
    products: Floats,
    places: Index | None,
    squares: Floats,
    labels: Floats,
    *,
    factor: float,
    above: float,
    tolerance: float,
    room: Floats | None = None,
) -> tuple[Doubles, Floats, Floats]:
    """The same with the curvature `above` − exp(factor·‖x − y‖²), from products of the rows and of each with itself.

    The rows are those at some places of the products; where none are told they are all, and the products are lost.
    Room for the curvature saves the time of getting it from the system.
    """
    n, size = len(labels), len(products)
    checked(products, np.float32, size, size), checked(squares, np.float32, n), checked(labels, np.float32, n)
    within = None if places is None else checked(_within(places, size), np.int64, n)
    space = np.empty(n * n, dtype=np.float32) if room is None else room
    curvature = checked(products if places is None else space[: n * n].reshape(n, n), np.float32, n, n)
    made = (size, products, within, squares, float(factor), float(above))
    return _svm(curvature, np.zeros(n, dtype=np.uint8), made, labels, tolerance)


def _svm(
    curvature: Floats,
    ready: NDArray[np.uint8],
    made: tuple[int, Floats | None, NDArray[np.int64] | None, Floats | None, float, float],
    labels: Floats,
    tolerance: float,
) -> tuple[Doubles, Floats, Floats]:
    n = len(labels)
    beta, (rise, fall, gain) = np.empty(n), np.empty((3, n), dtype=np.float32)
    call("svm", n, curvature, ready, *made, labels, float(tolerance), beta, rise, fall, gain)
    return beta, rise, fall


def products(left: Floats, right: Floats | None = None) -> Floats:
    """Products of rows with others, or among themselves: each the same bits whatever other rows there are."""
    (n, d), m = left.shape, len(left if right is None else right)
    checked(left, np.float32, n, d), right is None or checked(right, np.float32, m, d)
    panels = -(-n // _DOWN) * _DOWN + -(-m // _ACROSS) * _ACROSS
    found, work = np.empty((n, m), dtype=np.float32), np.empty(_BAND * _ACROSS + panels * d + 16, dtype=np.float32)
    call("products", n, m, d, left, right, found, work)
    return found


def squares(rows: Floats) -> Floats:
    """Products of rows with themselves, to the same bits as in `products`."""
    n, d = rows.shape
    checked(rows, np.float32, n, d)
    found = np.empty(n, dtype=np.float32)
    call("squares", n, d, rows, found)
    return found


def rbf(squared: Floats, factor: float, start: float, sign: float) -> Floats:
    """start + sign·exp(factor·x) in place; an exponent above 0 is taken for 0."""
    checked(squared, np.float32, *squared.shape)
    call("rbf", squared.size, squared, float(factor), float(start), float(sign))
    return squared


def rbf_picked(squared: Floats, left: Index, right: Index, factor: float, start: float, sign: float) -> Floats:
    """The same of some rows and columns of a square matrix."""
    size = len(squared)
    checked(squared, np.float32, size, size)
    left, right = _within(left, size), _within(right, size)
    found = np.empty((len(left), len(right)), dtype=np.float32)
    call("rbf_picked", *found.shape, size, squared, left, right, float(factor), float(start), float(sign), found)
    return found


def rbf_weighted(
    products: Floats, places: tuple[Index, Index], squares: tuple[Floats, Floats], weights: Doubles, *, factor: float
) -> Doubles:
    """Σ weight·exp(factor·‖x − y‖²) over the rows of some columns, for each of some rows, from their products."""
    (height, width), (left, right) = products.shape, places
    left, right = _within(left, height), _within(right, width)
    checked(products, np.float32, height, width), checked(weights, np.float64, len(right))
    checked(squares[0], np.float32, len(left)), checked(squares[1], np.float32, len(right))
    found, work = np.empty(len(left)), np.empty(len(right), dtype=np.float32)
    told = len(left), len(right), width, products, left, right, *squares, float(factor), weights
    call("rbf_weighted", *told, found, work)
    return found


def _within(places: Index, size: int) -> NDArray[np.int64]:
    if len(places) and not 0 <= places.min() <= places.max() < size:
        raise ValueError("a place outside of the matrix")
    return places.astype(np.int64, copy=False)


def angles(cosines: Floats, polynomial: Floats) -> Floats:
    """Angles in place, by the polynomial of `_angles`."""
    checked(cosines, np.float32, *cosines.shape), checked(polynomial, np.float32, 7)
    call("angles", cosines.size, cosines, polynomial)
    return cosines


def angle_sums(
    cosines: Floats, polynomial: Floats, shifts: tuple[Floats, Floats], weights: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Weighted sums of the angles of (cosine + shift of the row − shift of the column), by row and by column."""
    rows, columns = cosines.shape
    checked(cosines, np.float32, rows, columns), checked(polynomial, np.float32, 7)
    for down, across in (shifts, weights):
        checked(down, np.float32, rows), checked(across, np.float32, columns)
    by_row, by_column = np.empty(rows, dtype=np.float32), np.empty(columns, dtype=np.float32)
    call("angle_sums", rows, columns, cosines, *shifts, *weights, polynomial, by_row, by_column)
    return by_row, by_column
