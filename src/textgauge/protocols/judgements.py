"""Judgements of known-similarity corpora: a distance inside another should not be the larger one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Ties = Literal["half", "right", "wrong"]
Which = Literal["distinct", "paper"]
Floats = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Judgements:
    """Pairs (inner, outer) of corpus pairs, by their place among all pairs i < j, with how often each counts.

    `gap` is how much longer the outer pair is.
    """

    inner: Index
    outer: Index
    count: Floats
    gap: Index

    def __len__(self) -> int:
        return int(self.count.sum())


@cache
def corpus_pairs(k: int) -> tuple[Index, Index]:
    """All i < j of k corpora, in order."""
    i, j = np.triu_indices(k, 1)
    return i.astype(np.int64), j.astype(np.int64)


@cache
def judgements(k: int, which: Which = "distinct") -> Judgements:
    """Every pair properly inside another one, once; or as often as the recursion of the authors' code lists it.

    >>> len(judgements(7)), len(judgements(12)), len(judgements(7, "paper")), len(judgements(12, "paper"))
    (105, 935, 156, 6053)
    """
    i, j = corpus_pairs(k)
    inside = (i[:, None] >= i) & (j[:, None] <= j)
    np.fill_diagonal(inside, False)
    inner, outer = np.nonzero(inside)
    length = j - i
    count = np.ones(len(inner))
    if which == "paper":
        count = np.array([float(comb(k - 1 - int(length[o]), int(i[o]))) for o in outer])
    return Judgements(inner, outer, count, length[outer] - length[inner])


def sampled(all_of_them: Judgements, size: int, seed: int) -> Judgements:
    """A random sample of judgements, drawn by their counts with replacement."""
    rng = np.random.default_rng([seed, 6])
    rows = rng.choice(len(all_of_them.count), size=size, p=all_of_them.count / all_of_them.count.sum())
    picked = (all_of_them.inner[rows], all_of_them.outer[rows], np.ones(size), all_of_them.gap[rows])
    return Judgements(*picked)


def accuracy(distances: Floats, of: Judgements, *, weighted: bool = False, ties: Ties = "half") -> float:
    """Share of judgements in which the inner distance is not the larger; `weighted` by 1/(ℓ_outer − ℓ_inner).

    >>> accuracy(np.array([1.0, 2.0, 1.0]), judgements(3))
    1.0
    """
    if np.isnan(distances).any():
        return float("nan")
    gap = distances[of.outer] - distances[of.inner]
    right = (gap > 0) + {"half": 0.5, "right": 1.0, "wrong": 0.0}[ties] * (gap == 0)
    weight = of.count / of.gap if weighted else of.count
    return float((weight * right).sum() / weight.sum())
