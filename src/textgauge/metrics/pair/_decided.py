"""Pairs about which no model has to be asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Pairs


def decided(pairs: Pairs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Similarities of pairs with 1 for equal or two blank texts and 0 for one blank text, and where to ask (NaN).

    >>> decided(Pairs(["a", "", "", "a"], ["a", " ", "b", "b"]))
    (array([ 1.,  1.,  0., nan]), array([3]))
    """
    blank_left, blank_right = (
        np.array([not text.strip() for text in side.texts], dtype=bool) for side in (pairs.left, pairs.right)
    )
    values = np.full(len(pairs), np.nan)
    values[blank_left | blank_right] = 0.0
    values[(blank_left & blank_right) | (pairs.left.keys == pairs.right.keys)] = 1.0
    return values, np.flatnonzero(np.isnan(values))
