"""Angles of many float32 cosines, in place, and their sums, by vector instructions whatever the processor."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from textgauge.numerics.native import kernels

Block = NDArray[np.float32]

# arccos x = √(1 − x)·p(x) for 0 ≤ x ≤ 1 within 9e-8, highest power first: the least largest error of this degree.
_P = (0.002611721741, -0.01200339836, 0.02776291704, -0.04919743873, 0.0888358862, -0.2145910887, 1.570796239)
_NARROW = np.array(_P, dtype=np.float32)
_RIGHT = np.float32(np.pi / 2.0)
_SIGN = np.uint32(1 << 31)
_CHUNK = 1 << 15  # numbers at a time: with what is computed from them they stay in the second cache
_ONES = np.ones(_CHUNK, dtype=np.float32)


def to_angles(cosines: Block) -> Block:
    """arccos in radians, overwriting the cosines; what rounding moved out of [−1, 1] is brought back.

    Within 5e-7 of the exact angle.

    >>> to_angles(np.array([1.0, 0.0, -1.0], dtype=np.float32)).round(4).tolist()
    [0.0, 1.5708, 3.1416]
    """
    if _vectorised():
        return _by_numpy(cosines)
    return kernels.angles(cosines, _NARROW) if kernels.built() else _by_polynomial(cosines)


def angle_sums(
    cosines: Block, shifts: tuple[Block, Block] | None = None, weights: tuple[Block, Block] | None = None
) -> tuple[Block, Block]:
    """Sums of the angles of a block by row and by column, times weights of the columns and of the rows.

    Cosines may be off by a known shift of their row, to be added, and of their column, to be taken off. The block is
    used up.

    >>> by_row, by_column = angle_sums(np.array([[1.0, 0.0], [0.0, -1.0]], dtype=np.float32))
    >>> by_row.round(4).tolist(), by_column.round(4).tolist()
    ([1.5708, 4.7124], [1.5708, 4.7124])
    """
    rows, columns = cosines.shape
    down, across = weights or (np.ones(rows, dtype=np.float32), np.ones(columns, dtype=np.float32))
    if kernels.built() and not _vectorised():
        none = np.zeros(rows, dtype=np.float32), np.zeros(columns, dtype=np.float32)
        return kernels.angle_sums(cosines, _NARROW, shifts or none, (down, across))
    step = max(1, _CHUNK // columns)
    for part in (slice(start, start + step) for start in range(0, rows, step)):
        if shifts:
            cosines[part] += shifts[0][part, None]
            cosines[part] -= shifts[1]
        to_angles(cosines[part])
    return cosines @ across, down @ cosines


@cache
def _vectorised() -> bool:
    """Whether numpy's own arccos uses vector instructions here; without them it is several times slower."""
    from numpy.lib.introspect import opt_func_info

    found = opt_func_info(func_name="^arccos$", signature="float32").get("arccos", {})
    return not all("baseline" in kind["current"] for kind in found.values())


def _by_numpy(cosines: Block) -> Block:
    np.clip(cosines, -1.0, 1.0, out=cosines)
    return np.arccos(cosines, out=cosines)


def _by_polynomial(cosines: Block) -> Block:
    """Signs are moved as bits and the bound is an array: at copysign and at scalar bounds numpy is far slower."""
    flat = cosines.reshape(-1)
    size, p = np.empty((2, min(_CHUNK, flat.size)), dtype=np.float32)
    for start in range(0, flat.size, _CHUNK):
        x = flat[start : start + _CHUNK]
        y, sums = size[: x.size], p[: x.size]
        np.abs(x, out=y)
        np.minimum(y, _ONES[: x.size], out=y)
        np.multiply(y, np.float32(_P[0]), out=sums)
        for coefficient in _P[1:-1]:
            sums += np.float32(coefficient)
            sums *= y
        sums += np.float32(_P[-1])
        np.subtract(np.float32(1.0), y, out=y)
        np.sqrt(y, out=y)
        y *= sums
        # arccos(−x) = π − arccos x
        np.subtract(_RIGHT, y, out=y)
        sign, arcsine = x.view(np.uint32), y.view(np.uint32)
        sign &= _SIGN
        arcsine |= sign
        np.subtract(_RIGHT, y, out=x)
    return cosines
