"""Corrections for several tests at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textgauge.arrays import Floats


def holm(p: Floats, groups: Sequence[int] | None = None) -> Floats:
    """Holm's correction: the k-th smallest of m times m − k + 1, never falling, at most 1; missing ones do not count.

    With `groups`, p-values of one group are already adjusted for each other (by `max_t`). A group then counts with as
    many tests as it has, until all of them are passed, and its p-values are divided by that number first: one group
    keeps its p-values, groups of one are Holm's correction.

    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.06, 0.06, nan]
    >>> holm(np.array([0.01, 0.03, 0.02]), groups=[0, 0, 1]).tolist()
    [0.015, 0.045, 0.045]
    """
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(np.isfinite(p))
    _, place = np.unique(np.arange(len(p)) if groups is None else np.asarray(groups), return_inverse=True)
    sizes = np.bincount(place[known], minlength=1)
    order = known[np.argsort(p[known] / sizes[place[known]], kind="stable")]
    last = np.zeros(len(sizes), dtype=np.intp)
    np.maximum.at(last, place[order], np.arange(len(order)))  # the place at which the last test of a group is passed
    ending = np.bincount(last[sizes > 0], weights=sizes[sizes > 0], minlength=len(order))
    left = np.cumsum(ending[::-1])[::-1]  # tests of the groups that are not passed yet
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * (left / sizes[place[order]])), 1.0)
    return corrected


def max_t(values: Floats) -> Floats:
    """Westfall and Young's step-down max-T: p-values of several tests that share their permutations.

    A column per test, on comparable scales (ranks, or standard deviations): the observed value in the first row, below
    it those of the permutations. The test with the largest value is compared with the largest of all tests in each
    permutation, the next one with the largest of all but the first, and so on; p-values never fall along this order.

    >>> max_t(np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 0.0], [-1.0, 0.0]])).tolist()
    [0.25, 0.5]
    """
    order = np.argsort(-values[0], kind="stable")
    largest = np.maximum.accumulate(values[:, order[::-1]], axis=1)[:, ::-1]
    p = (largest >= values[0, order]).mean(axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(p)
    return adjusted
