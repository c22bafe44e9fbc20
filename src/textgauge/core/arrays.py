"""Names of the array types that annotations use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Masks = NDArray[np.bool_]
Embeddings = NDArray[np.floating[Any]]


def average_known(values: Floats, axis: int) -> Floats:
    """Return means along an axis over the values that are known; NaN where none is.

    >>> average_known(np.array([[1.0, np.nan], [2.0, np.nan]]), axis=0).tolist()
    [1.5, nan]
    """
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    return np.where(count > 0, np.where(known, values, 0.0).sum(axis=axis) / np.maximum(count, 1), np.nan)
