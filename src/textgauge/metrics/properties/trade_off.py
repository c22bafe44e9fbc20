"""Texts with the best trade-off between several things that are all better when larger."""

from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np
from numpy.typing import NDArray

from textgauge.arrays import Floats, Ints


def best_trade_offs(goods: Floats, n: int) -> Ints:
    """The n rows with the best trade-off: Pareto front by front, within a front those nearest to the ideal point first.

    A front is what no row left is better than (as good in every column and better in one). The ideal point has the
    largest value of every column; distances are Euclidean after each column was scaled to 0 … 1. Rows with a missing
    value are left out; equal rows are in one front, the first first. Two or three columns.

    >>> best_trade_offs(np.array([[0.9, 0.1], [0.6, 0.6], [0.5, 0.5], [0.1, 0.9]]), 3).tolist()
    [1, 0, 3]
    """
    left = np.flatnonzero(np.isfinite(goods).all(axis=1))
    far = np.full(len(goods), np.inf)
    far[left] = _from_ideal(goods[left])
    left = left[np.lexsort((left, *(-goods[left].T[::-1])))]  # falling, the first column first
    chosen: list[Ints] = [left[:0]]
    while len(left) and sum(map(len, chosen)) < n:
        front = _front(goods[left])
        chosen.append(left[front][np.lexsort((left[front], far[left[front]]))])
        left = left[~front]
    return np.concatenate(chosen)[:n]


def _from_ideal(goods: Floats) -> Floats:
    if not len(goods):
        return np.empty(0)
    reach = np.ptp(goods, axis=0)
    gaps = (goods.max(axis=0) - goods) / np.where(reach > 0, reach, 1.0)
    return np.asarray(np.sqrt((gaps * gaps).sum(axis=1)))


def _front(falling: Floats) -> NDArray[np.bool_]:
    """Which rows, sorted by falling columns, nothing before them is better than."""
    same = np.concatenate([[False], (falling[1:] == falling[:-1]).all(axis=1)])
    heads = np.flatnonzero(~same)
    distinct = falling[heads]
    found = _front_of_two(distinct[:, 1]) if distinct.shape[1] == 2 else _front_of_three(distinct[:, 1:])
    return np.asarray(found[np.cumsum(~same) - 1])


def _front_of_two(second: Floats) -> NDArray[np.bool_]:
    before = np.concatenate([[-np.inf], np.maximum.accumulate(second)[:-1]])
    return np.asarray(second > before)


def _front_of_three(rest: Floats) -> NDArray[np.bool_]:
    """A staircase of the two other columns, rising in one and falling in the other; a row beneath it is beaten."""
    stairs: list[tuple[float, float]] = []
    found = np.zeros(len(rest), dtype=bool)
    for row, (y, z) in enumerate(rest.tolist()):
        place = bisect_left(stairs, (y, -np.inf))
        if place < len(stairs) and stairs[place][1] >= z:
            continue
        found[row] = True
        start = place
        while start and stairs[start - 1][1] <= z:
            start -= 1
        stop = place + 1 if place < len(stairs) and stairs[place][0] == y else place
        del stairs[start:stop]
        insort(stairs, (y, z))
    return found
