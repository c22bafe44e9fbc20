"""Corrections for several tests at once."""

from __future__ import annotations

import numpy as np

from textgauge.arrays import Floats


def holm(p: Floats) -> Floats:
    """Holm's correction: the k-th smallest of m times m − k + 1, never falling, at most 1; missing ones do not count.

    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    corrected = np.full(len(p), np.nan)
    order = np.argsort(p, kind="stable")[: int(np.isfinite(p).sum())]
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return corrected
