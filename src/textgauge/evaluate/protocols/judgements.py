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
        count = _paths(i, length, k)[outer]
    return Judgements(inner, outer, count, length[outer] - length[inner])


def sampled(k: int, which: Which, size: int, seed: int) -> Judgements:
    """A random sample of judgements, drawn by their counts with replacement, without listing them all."""
    rng = np.random.default_rng([seed, 6])
    i, j = corpus_pairs(k)
    length = j - i
    weight = (length + 1) * length / 2 - 1.0  # pairs properly inside each pair
    if which == "paper":
        weight *= _paths(i, length, k)
    outer = rng.choice(len(i), size=size, p=weight / weight.sum())
    row = rng.integers(1, ((length + 1) * length // 2)[outer])  # 0 would be the outer pair itself
    first, last = _inner(row, length[outer])
    start, end = i[outer] + first, i[outer] + last
    inner = start * k - start * (start + 1) // 2 + end - start - 1
    return Judgements(inner, outer, np.ones(size), length[outer] - (end - start))


def _inner(row: Index, length: Index) -> tuple[Index, Index]:
    """Start and end of the row-th pair among those of 0…length: the longest first, then by start."""
    shorter = ((np.sqrt(8 * row + 1) - 1) // 2).astype(np.int64)
    start = row - shorter * (shorter + 1) // 2
    return start, start + length - shorter


def _paths(start: Index, length: Index, k: int) -> Floats:
    """How often the recursion of the authors' code, which shortens a pair by one end at a time, meets each pair."""
    return np.array([float(comb(k - 1 - int(size), int(i))) for i, size in zip(start, length, strict=True)])


def accuracy(distances: Floats, of: Judgements, *, weighted: bool = False, ties: Ties = "half") -> float:
    """Share of judgements in which the inner distance is not the larger; `weighted` by 1/(ℓ_outer − ℓ_inner).

    >>> accuracy(np.array([1.0, 2.0, 1.0]), judgements(3))
    1.0
    """
    if np.isnan(distances).any():
        return float("nan")
    right, weight = _counted(distances, of, weighted, ties)
    return float((weight * right).sum() / weight.sum())


def sampling_error(distances: Floats, of: Judgements, *, weighted: bool = False, ties: Ties = "half") -> float:
    """Standard error of the accuracy on a random sample of judgements: √(p(1 − p)/m) without ties and weights.

    >>> round(sampling_error(np.array([1.0, 2.0, 3.0]), Judgements(*np.array([[0, 2], [1, 1], [1, 1], [1, 1]]))), 4)
    0.3536
    """
    right, weight = _counted(distances, of, weighted, ties)
    mean = (weight * right).sum() / weight.sum()
    return float(np.sqrt(((weight * (right - mean)) ** 2).sum()) / weight.sum())


def settled(values: Floats) -> Floats:
    """The values with those that differ by rounding alone (a part in 10¹²) made equal, so that ties are ties.

    >>> settled(np.array([0.3, 0.1 + 0.2, 0.4])).tolist()
    [0.3, 0.3, 0.4]
    """
    order = np.argsort(values)
    rising = values[order]
    new = np.concatenate([[True], ~np.isclose(rising[1:], rising[:-1], rtol=1e-12, atol=0.0)])
    made = np.empty_like(values)
    made[order] = rising[new][np.cumsum(new) - 1]
    return made


def _counted(distances: Floats, of: Judgements, weighted: bool, ties: Ties) -> tuple[Floats, Floats]:
    outer, inner = distances[of.outer], distances[of.inner]  # compared, not subtracted: two may be infinite
    right = (outer > inner) + {"half": 0.5, "right": 1.0, "wrong": 0.0}[ties] * (outer == inner)
    return right, of.count / of.gap if weighted else of.count
