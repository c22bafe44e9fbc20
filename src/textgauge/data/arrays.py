"""Ready-made embeddings in `.npy` files: memory-mapped, never unpickled, finite."""

from __future__ import annotations

import math
import os
from tokenize import TokenError
from typing import BinaryIO

import numpy as np

from textgauge.core.errors import InputError
from textgauge.core.limits import ARRAY_BYTES, open_stored
from textgauge.core.sizes import blocks
from textgauge.data.packing import show
from textgauge.data.pool import Embeddings

_BLOCK_CELLS = 2**22


def read_embeddings(path: str | os.PathLike[str]) -> Embeddings:
    """Read the rows of an `.npy` file, one embedding a text.

    float32 and float64 are memory-mapped as they are; float16 becomes float32, integers and wider floats float64.
    Anything but a 2-dimensional array of finite numbers is refused in one line.
    """
    rows = map_embeddings(path)
    check_finite(rows, show(path))
    return rows


def map_embeddings(path: str | os.PathLike[str]) -> Embeddings:
    """The same without a check of its numbers."""
    name = show(path)
    shape, dtype = _header(path, name)
    _check_header(name, shape, dtype)
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    native = {"<f4": np.float32, "<f8": np.float64, "<f2": np.float32}.get(dtype.newbyteorder("<").str, np.float64)
    if dtype != native:
        ARRAY_BYTES.check(array.size * np.dtype(native).itemsize, f"{name}: in memory, an array")
    rows: Embeddings = array if dtype == native else array.astype(native)
    return rows


def check_finite(rows: Embeddings, name: str) -> None:
    """Refuse NaN and infinity, and name the first row that holds one (counted from 0, as numpy does)."""
    for block in blocks(len(rows), _BLOCK_CELLS, rows.shape[1]):
        good = np.isfinite(rows[block]).all(axis=1)
        if not good.all():
            row = block.start + int(np.argmin(good))
            value = "NaN" if np.isnan(rows[row]).any() else "an infinite value"
            raise InputError(f"{name}: row {row} holds {value}")


def _header(path: str | os.PathLike[str], name: str) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    try:
        with open_stored(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size == 0:
                raise InputError(f"{name}: the file is empty (0 bytes)")
            shape, dtype = _parse_header(stream)
            _check_size(name, shape, dtype, size - stream.tell())
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name}: this is a folder; give a file") from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None
    except (ValueError, EOFError, SyntaxError, TypeError, RecursionError, MemoryError, TokenError):
        raise InputError(f"{name}: not an .npy file, or its header is damaged") from None
    return shape, dtype


def _parse_header(stream: BinaryIO) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"npy version {version}")
    shape, _, dtype = read(stream)
    return shape, dtype


def _check_size(name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], size: int) -> None:
    if dtype.hasobject:
        raise InputError(f"{name}: the array holds Python objects, which are never unpickled; save numbers")
    wanted = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or wanted != size:
        raise InputError(f"{name}: the header says {shape} {dtype} ({wanted:,} bytes), the file holds {size:,}")


def _check_header(name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> None:
    if dtype.kind not in "fiu":
        raise InputError(f"{name}: embeddings must be numbers, not {dtype}")
    if len(shape) != 2:
        raise InputError(f"{name}: embeddings must have 2 dimensions (texts x numbers), not {len(shape)}: {shape}")
    if 0 in shape:
        raise InputError(f"{name}: the array is empty: {shape}")
