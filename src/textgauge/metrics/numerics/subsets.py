"""The different subsets that many draws of sub-corpora share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textgauge.core.arrays import Ints, Masks


@dataclass(frozen=True, eq=False)
class Subsets:
    """The different sub-corpora of some draws, and which two of them each draw compares."""

    masks: Masks
    left: Ints
    right: Ints
    unit_sizes: Ints | None = None  # texts of each group where masks mark groups

    @classmethod
    def of(cls, left: Masks, right: Masks, unit_sizes: Ints | None = None) -> Subsets:
        """The sides of draws, one pair of masks a row, in the order in which they are first met."""
        both = np.concatenate([left, right])
        numbers: dict[bytes, int] = {}
        which = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.packbits(both, axis=1)]
        first = np.unique(which, return_index=True)[1]
        return cls(both[first], np.array(which[: len(left)]), np.array(which[len(left) :]), unit_sizes)

    def __len__(self) -> int:
        return len(self.masks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subsets) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @cached_property
    def _content(self) -> bytes:
        return b"".join(part.tobytes() for part in (self.masks, self.left, self.right))

    @cached_property
    def sizes(self) -> Ints:
        """How many texts each side has."""
        sizes: Ints = self.masks.sum(axis=1) if self.unit_sizes is None else self.masks @ self.unit_sizes
        return sizes

    @cached_property
    def rows(self) -> list[Ints]:
        """The texts of each side."""
        return [np.flatnonzero(mask) for mask in self.masks]
