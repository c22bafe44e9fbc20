"""How much is worked on at once: the one owner of blocks.

Blocks bound memory and keep data in the processor's cache; numbers do not depend on them but for rounding. All loops
over blocks take them from here, so that `cap_sizes` can make all of them small: a few texts then cross every border.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

_VARIABLE = "TEXTGAUGE_LARGEST_BLOCK"  # processes that are started under a cap have it too
_given = os.environ.get(_VARIABLE, "")
_cap = int(_given) if _given.isdecimal() else sys.maxsize


def cap_size(size: int) -> int:
    """Return the size, or the cap where that is smaller."""
    return min(size, _cap)


def split_into_blocks(total: int, size: int, width: int = 1) -> list[slice]:
    """Slices of `total` rows, of at most `size` numbers each where a row has `width`, and of one row at least.

    >>> split_into_blocks(7, 12, width=4)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 7, None)]
    """
    step = max(cap_size(size // max(int(width), 1)), 1)
    return [slice(start, min(start + step, total)) for start in range(0, total, step)]


def split_into_runs(sizes: NDArray[np.integer], most: int) -> Iterator[slice]:
    """Slices of rows with at most `most` numbers together, or of one row that has more.

    >>> list(split_into_runs(np.array([3, 3, 9, 1]), 6))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    ends, start = np.concatenate([[0], np.cumsum(sizes)]), 0
    while start < len(sizes):
        stop = max(int(np.searchsorted(ends, ends[start] + cap_size(most), side="right")) - 1, start + 1)
        yield slice(start, stop)
        start = stop


@contextmanager
def limit_sizes(largest: int) -> Iterator[None]:
    """Within this context no block has more rows, tokens or bytes, and no corpus of more texts is read as a whole.

    >>> with limit_sizes(2):
    ...     split_into_blocks(5, 1_000)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    global _cap  # noqa: PLW0603, threads must see it
    before, variable = _cap, os.environ.get(_VARIABLE)
    _cap, os.environ[_VARIABLE] = largest, str(largest)
    try:
        yield
    finally:
        _cap = before
        os.environ.pop(_VARIABLE)
        if variable is not None:
            os.environ[_VARIABLE] = variable
