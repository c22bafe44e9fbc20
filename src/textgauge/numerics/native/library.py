"""Finds the library that was compiled from the C files beside this one when textgauge was installed."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INTERFACE = 2  # of kernels.h; another number belongs to other signatures
_SWITCH = "TEXTGAUGE_NATIVE"


@cache
def compiled() -> ctypes.CDLL | None:
    """The compiled kernels; None where no compiler was at hand, or `TEXTGAUGE_NATIVE=0` asks to do without."""
    return None if os.environ.get(_SWITCH) == "0" else _load(Path(__file__).with_name("_kernels"))


def _load(stem: Path) -> ctypes.CDLL | None:
    """The library of this interface among the files of this stem."""
    for suffix in EXTENSION_SUFFIXES:
        path = stem.with_name(stem.name + suffix)
        if path.is_file():
            try:
                found = ctypes.CDLL(str(path))
                if found.textgauge_interface() == _INTERFACE:
                    return found
            except (OSError, AttributeError):  # built for another machine, or something else of that name
                continue
    return None


def argument(value: int | float | NDArray[Any] | None) -> Any:
    """A number, or the place of an array's numbers, as C takes it; an array must hold them one after the other."""
    if value is None:
        return None
    if isinstance(value, int):
        return ctypes.c_int64(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    if not value.flags.c_contiguous:
        raise ValueError("a kernel was given an array with gaps")
    return ctypes.c_void_p(value.ctypes.data)


def call(name: str, *values: int | float | NDArray[Any] | None) -> int:
    """Call a kernel; other threads of Python run meanwhile."""
    found = compiled()
    if found is None:
        raise RuntimeError("the kernels are not compiled")
    kernel = getattr(found, f"textgauge_{name}")
    kernel.restype = ctypes.c_int64
    return int(kernel(*map(argument, values)))


def checked(array: NDArray[Any], dtype: type[np.generic], *shape: int) -> NDArray[Any]:
    """The array, if it is what the kernel will take it for."""
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(f"a kernel wants {np.dtype(dtype)} {shape}, and was given {array.dtype} {array.shape}")
    return array
