"""Which words of the left texts are matched with which of the right ones: exact, by stem, by synonym.

All pairs are matched at once. Words are whole numbers, flat, and `pair` tells which pair a word belongs to. Every stage
takes the left words from the last to the first, and gives each the last free right word that fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """The words of one side of many pairs: number of the pair, of the word, and its place in the flat order."""

    pair: Ints
    word: Ints
    place: Ints

    def take(self, chosen: Ints | NDArray[np.bool_]) -> Side:
        """A selection of the words."""
        return Side(self.pair[chosen], self.word[chosen], self.place[chosen])

    def renamed(self, names: Ints) -> Side:
        """The same places with other numbers for the words."""
        return Side(self.pair, names[self.word], self.place)

    def without(self, places: Ints) -> Side:
        """The words at other places than these."""
        return self.take(~np.isin(self.place, places, assume_unique=True))


def same_words(left: Side, right: Side) -> tuple[Ints, Ints]:
    """Match equal words; gives the places of both partners.

    >>> side = Side(np.zeros(3, np.int64), np.array([7, 8, 7]), np.arange(3))
    >>> [places.tolist() for places in same_words(side, side.take(np.array([1, 2])))]
    [[2, 1], [2, 1]]
    """
    keys = np.concatenate([_joined(left), _joined(right)])
    _, dense = np.unique(keys, return_inverse=True)
    sides = dense[: len(left.word)], dense[len(left.word) :]
    mine, yours = (_nth_from_the_end(side) + len(keys) * side for side in sides)
    _, first, second = np.intersect1d(mine, yours, assume_unique=True, return_indices=True)
    return left.place[first], right.place[second]


def _joined(side: Side) -> Ints:
    return side.pair << 32 | side.word


def _nth_from_the_end(keys: Ints) -> Ints:
    """For each key, how many equal ones come after it."""
    order = np.argsort(keys[::-1], kind="stable")
    ranked = keys[::-1][order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    counts = np.arange(len(keys)) - np.repeat(starts, np.diff(starts, append=len(keys)))
    found = np.empty(len(keys), dtype=np.int64)
    found[order] = counts
    return found[::-1]


@dataclass(frozen=True)
class Relation:
    """For word w the related words `words[offsets[w]:offsets[w + 1]]`."""

    words: Ints
    offsets: Ints

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Relation:
        """From one list of related words per word."""
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(np.array([word for row in rows for word in row], dtype=np.int64), offsets)


def related_words(left: Side, right: Side, relation: Relation) -> tuple[Ints, Ints]:
    """Match words of the left with related words of the right; gives the places of both partners."""
    starts, ends = relation.offsets[left.word], relation.offsets[left.word + 1]
    owner, at = _spread(starts, ends)
    wanted = left.pair[owner] << 32 | relation.words[at]
    keys = _joined(right)
    order = np.argsort(keys, kind="stable")
    edge, at = _spread(np.searchsorted(keys[order], wanted), np.searchsorted(keys[order], wanted, side="right"))
    return _greedy(left.place[owner[edge]], right.place[order[at]])


def _spread(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """All numbers of the ranges one after the other, each with the number of its range."""
    lengths = ends - starts
    owner = np.repeat(np.arange(len(starts)), lengths)
    before = np.cumsum(lengths) - lengths
    return owner, np.arange(len(owner)) + np.repeat(starts - before, lengths)


def _greedy(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """From the last places to the first, keep an edge if both its ends are free."""
    order = np.lexsort((right, left))[::-1]
    used: set[int] = set()
    kept: dict[int, int] = {}
    for first, second in zip(left[order].tolist(), right[order].tolist(), strict=True):
        if first not in kept and second not in used:
            kept[first] = second
            used.add(second)
    return np.array(list(kept), dtype=np.int64), np.array(list(kept.values()), dtype=np.int64)
