"""The different sub-corpora behind many draws: what depends on one of them alone is computed once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Draws

Masks = NDArray[np.bool_]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sides:
    """The different sub-corpora of some draws, and which two of them each draw compares."""

    masks: Masks
    left: Index
    right: Index

    @classmethod
    def of(cls, draws: Draws) -> Sides:
        """The sides of these draws, in the order in which they are first met."""
        both = np.concatenate([draws.left, draws.right])
        numbers: dict[bytes, int] = {}
        which = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.packbits(both, axis=1)]
        first = np.unique(which, return_index=True)[1]
        return cls(both[first], np.array(which[: len(draws)]), np.array(which[len(draws) :]))

    def __len__(self) -> int:
        return len(self.masks)

    @cached_property
    def sizes(self) -> Index:
        """How many texts each side has."""
        sizes: Index = self.masks.sum(axis=1)
        return sizes

    @cached_property
    def rows(self) -> list[Index]:
        """The texts of each side."""
        return [np.flatnonzero(mask) for mask in self.masks]

    def pairs(self, fewest: int) -> Iterator[tuple[int, int, int]]:
        """Number, left side and right side of the draws that have enough texts on both sides."""
        enough = self.sizes >= fewest
        for draw, (left, right) in enumerate(zip(self.left.tolist(), self.right.tolist(), strict=True)):
            if enough[left] and enough[right]:
                yield draw, left, right
