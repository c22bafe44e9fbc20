"""Eigenvectors of tridiagonal matrices by numpy: for all wanted eigenvalues of many matrices in step.

With T − λ = L D Lᵀ from above and U E Uᵀ from below, the place where D + E − (T − λ) is least is where the vector is
large; from there it is a product of ratios upwards and downwards. Source: Parlett and Dhillon 1997.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.tridiagonal import Tridiagonal

Rows = NDArray[np.float64]

_CELLS = 1 << 16  # entries of vectors computed in step: half a megabyte, and as much again for each way


def in_step(matrices: Sequence[Tridiagonal], values: Sequence[Rows]) -> list[tuple[Rows, Rows]]:
    """Vectors as columns for eigenvalues of each matrix, and what is left of (T − λ)z."""
    found: dict[int, tuple[Rows, Rows]] = {}
    for places in _together(matrices, values):
        some = [values[place] for place in places]
        widest = max(map(len, some))
        wanted = np.stack([np.append(one, np.repeat(one[-1:], widest - len(one))) for one in some])
        vectors, residuals = _twisted([matrices[place] for place in places], wanted)
        for at, (place, one) in enumerate(zip(places, some, strict=True)):
            found[place] = np.ascontiguousarray(vectors[:, at, : len(one)]), residuals[at, : len(one)]
    return [found[place] for place in range(len(matrices))]


def _together(matrices: Sequence[Tridiagonal], values: Sequence[Rows]) -> Iterator[list[int]]:
    """Places of matrices of one size, with about as many wanted vectors, as many at a time as may be held."""
    sizes = [len(matrix.diagonal) for matrix in matrices]
    waiting = sorted(range(len(matrices)), key=lambda place: (-sizes[place], -len(values[place])))
    while waiting:
        size, kept = sizes[waiting[0]], len(values[waiting[0]])
        some = [place for place in waiting[: max(1, _CELLS // (size * kept))] if sizes[place] == size]
        yield some
        waiting = waiting[len(some) :]


def _twisted(matrices: Sequence[Tridiagonal], wanted: Rows) -> tuple[Rows, Rows]:
    """Vectors, rows by matrices by eigenvalues, and residuals; what is not finite is not right."""
    beside = np.stack([one.beside for one in matrices], axis=1)[:, :, None]
    shifted = np.stack([one.diagonal for one in matrices], axis=1)[:, :, None] - wanted
    square, last = _both_ways(beside * beside), len(shifted) - 1
    pivots = _both_ways(shifted)
    with np.errstate(all="ignore"):
        step = np.empty_like(pivots[0])
        for i in range(last):
            np.divide(square[i], pivots[i], out=step)
            pivots[i + 1] -= step
        above, below = pivots[:, 0], pivots[::-1, 1]
        shifted -= above
        shifted -= below
        np.abs(shifted, out=shifted)
        middle = shifted.argmin(axis=0)[None]
        residual = np.take_along_axis(shifted, middle, axis=0)[0]
        place = np.arange(last)[:, None, None]
        upwards, downwards = np.divide(-beside, above[:-1]), np.divide(-beside, below[1:])
        upwards[place >= middle], downwards[place < middle] = 0.0, 0.0
        vectors = np.zeros_like(shifted)
        np.put_along_axis(vectors, middle, 1.0, axis=0)
        parts, ratios = _both_ways(vectors), np.stack([downwards, upwards[::-1]], axis=1)
        for i in range(last):
            np.multiply(ratios[i], parts[i], out=step)
            parts[i + 1] += step
        np.add(parts[:, 0], parts[::-1, 1], out=vectors)
        np.put_along_axis(vectors, middle, 1.0, axis=0)
        lengths = np.sqrt(np.einsum("ipm,ipm->pm", vectors, vectors))
        vectors /= lengths
        return vectors, residual / lengths


def _both_ways(rows: Rows) -> Rows:
    """From the first row on and from the last one back, beside each other, so that one loop goes both ways."""
    return np.stack([rows, rows[::-1]], axis=1)
