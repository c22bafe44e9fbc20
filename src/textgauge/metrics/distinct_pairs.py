"""The distinct texts of pairs, and pairs in groups whose texts fit into memory together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from textgauge.data import Corpus, Pairs

Index = NDArray[np.int64]


def distinct_texts(left: Corpus, right: Corpus) -> tuple[list[str], Index, Index]:
    """The different texts of both sides, and for each left and right text its place among them."""
    rows = np.concatenate([left.index, right.index])
    _, first, inverse = np.unique(left.pool.keys[rows], return_index=True, return_inverse=True)
    texts = left.pool.texts
    return [texts[row] for row in rows[first]], inverse[: len(left)], inverse[len(left) :]


def groups(left: Index, right: Index, sizes: Index, *, most: int) -> Iterator[Index]:
    """Runs of pairs whose distinct texts have at most `most` tokens together, or one pair.

    >>> [group.tolist() for group in groups(np.array([0, 0, 1]), np.array([1, 2, 3]), np.array([2, 2, 2, 2]), most=6)]
    [[0, 1], [2]]
    """
    start, held, total = 0, set[int](), 0
    for place, pair in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        more = sum(int(sizes[text]) for text in set(pair) - held)
        if held and total + more > most:
            yield np.arange(start, place)
            start, held, more = place, set(), sum(int(sizes[text]) for text in set(pair))
            total = 0
        held.update(pair)
        total += more
    if held:
        yield np.arange(start, len(left))


def runs(sizes: Index, *, most: int) -> Iterator[Index]:
    """Runs of texts of at most `most` tokens together, or one text."""
    places = np.arange(len(sizes))
    return groups(places, places, sizes, most=most)


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
