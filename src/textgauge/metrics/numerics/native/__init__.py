"""The compiled library, and the one switch between it and NumPy.

It holds one function, k-means on few rows, compiled from kmeans.c when textgauge is installed with a C compiler.
`TEXTGAUGE_NATIVE=0` leaves it out. NumPy gives the same labels, more slowly.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
import warnings
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints

_INTERFACE = 3  # of kmeans.c; another number belongs to other signatures
_SWITCH = "TEXTGAUGE_NATIVE"
_STEM = Path(__file__).with_name("_kmeans")
_SOLVED, _NO_MEMORY = 0, 2
_POINTER, _WHOLE = ctypes.c_void_p, ctypes.c_int64
_FUNCTIONS = {
    "textgauge_interface": [],
    "textgauge_has_avx2_build": [],
    "textgauge_kmeans": [_WHOLE] * 4 + [_POINTER] * 5,
}


class Library(NamedTuple):
    """The compiled library, or the reason why there is none."""

    compiled: ctypes.CDLL | None
    reason: str = ""


@cache
def library() -> Library:
    """The compiled library of this process."""
    return Library(None, f"{_SWITCH}=0 is set") if os.environ.get(_SWITCH) == "0" else load(_STEM)


def load(stem: Path) -> Library:
    """The library of this interface among the files of this stem."""
    reason = "there is no compiled library: installed without a C compiler, or from the wheel for all platforms"
    for path in (stem.with_name(stem.name + suffix) for suffix in EXTENSION_SUFFIXES):
        if not path.is_file():
            continue
        try:
            check(path)  # loading a damaged one could end the process
            found = ctypes.CDLL(str(path))
            for name, arguments in _FUNCTIONS.items():
                function = getattr(found, name)
                function.argtypes, function.restype = arguments, _WHOLE
            if found.textgauge_interface() == _INTERFACE:
                return Library(found)
            reason = f"{path} was built for another version of textgauge"
        except (OSError, AttributeError) as error:
            reason = f"{path} cannot be used: {error}"
    return Library(None, reason)


def check(path: Path) -> None:
    """Refuse a library whose size or digest is not that of its build; without a record, one that is cut off."""
    try:
        size, digest = path.with_name(f"{path.name}.sha256").read_text(encoding="ascii").split()
    except FileNotFoundError:
        if not is_whole(path):
            raise OSError("it is cut off") from None
        return
    except ValueError:
        raise OSError("the record of its build is damaged") from None
    if str(path.stat().st_size) != size:
        raise OSError(f"it has {path.stat().st_size:,} bytes, its build had {size[:20]}")
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise OSError("its digest is not that of its build")


def is_whole(path: Path) -> bool:
    """Whether a library has all its bytes, as far as its header tells: that of ELF says where its last table ends."""
    with path.open("rb") as stream:
        head = stream.read(64)
    if len(head) < 64:
        return False
    if head[:4] != b"\x7fELF" or head[4:6] != b"\2\1":  # other systems, and other kinds of ELF
        return True
    (start,), (size, count) = struct.unpack_from("<Q", head, 40), struct.unpack_from("<HH", head, 58)
    return bool(path.stat().st_size >= start + size * count)


@cache
def available() -> bool:
    """Whether the compiled library runs; one warning per process where it should and does not."""
    found = library()
    if found.compiled is None and os.environ.get(_SWITCH) != "0":
        warnings.warn(
            f"k-means runs in NumPy, more slowly: {found.reason} (set {_SWITCH}=0 to hide this warning)",
            RuntimeWarning,
            stacklevel=2,
        )
    return found.compiled is not None


def tier() -> str:
    """Which form of the code runs here, in words."""
    found = library()
    if found.compiled is None:
        return f"NumPy: {found.reason}"
    return "compiled, AVX2 build" if found.compiled.textgauge_has_avx2_build() else "compiled, baseline build"


def kmeans_by_products(products: Floats, weights: Floats, starts: Ints, *, steps: int) -> tuple[Ints, Floats] | None:
    """Labels and objectives of restarts that begin at these rows, restarts by k; None where a cluster is left empty."""
    (restarts, k), n = starts.shape, len(weights)
    _check(products, np.float64, n, n)
    _check(weights, np.float64, n)
    _check(starts, np.int64, restarts, k)
    if starts.min() < 0 or starts.max() >= n:
        raise ValueError("a restart begins at a row that is not there")
    compiled = library().compiled
    if compiled is None:
        raise RuntimeError(library().reason)
    labels, objectives = np.empty((restarts, n), dtype=np.int64), np.empty(restarts)
    arrays = (array.ctypes.data for array in (products, weights, starts, labels, objectives))
    status = compiled.textgauge_kmeans(n, k, restarts, steps, *arrays)
    if status == _NO_MEMORY:
        raise MemoryError("k-means found no memory for its work")
    return (labels, objectives) if status == _SOLVED else None


def _check(array: NDArray[Any], dtype: type[np.generic], *shape: int) -> None:
    """Refuse an array that C would misread."""
    if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
        found = f"{array.dtype} {array.shape}{'' if array.flags.c_contiguous else ' with gaps'}"
        raise ValueError(f"the library needs contiguous {np.dtype(dtype)} {shape}, not {found}")
