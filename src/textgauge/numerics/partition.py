"""The different sub-corpora behind many draws: what depends on one of them alone is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Masks = NDArray[np.bool_]
Index = NDArray[np.int64]

_MOST_SIDES = 62  # so many bits tell of a text on which sides it is
_MOST_ROWS = 1024  # in an atom: a block of numbers between two of them takes 8 MB


@dataclass(frozen=True, eq=False)
class Subsets:
    """The different sub-corpora of some draws, and which two of them each draw compares."""

    masks: Masks
    left: Index
    right: Index

    @classmethod
    def of(cls, left: Masks, right: Masks) -> Subsets:
        """The sides of draws, one pair of masks a row, in the order in which they are first met."""
        both = np.concatenate([left, right])
        numbers: dict[bytes, int] = {}
        which = [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.packbits(both, axis=1)]
        first = np.unique(which, return_index=True)[1]
        return cls(both[first], np.array(which[: len(left)]), np.array(which[len(left) :]))

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
    def sizes(self) -> Index:
        """How many texts each side has."""
        sizes: Index = self.masks.sum(axis=1)
        return sizes

    @cached_property
    def rows(self) -> list[Index]:
        """The texts of each side."""
        return [np.flatnonzero(mask) for mask in self.masks]


@dataclass(frozen=True)
class Partition:
    """Texts that are on the same sides, together; `members` tells of which atoms each side consists."""

    rows: list[Index]
    members: Masks

    @classmethod
    def of(cls, sides: Subsets) -> Partition | None:
        """The atoms of the sides, large ones in pieces; None where they are many, as for sides drawn at random."""
        if len(sides) > _MOST_SIDES:
            return None
        used = np.flatnonzero(sides.masks.any(axis=0))
        code = sides.masks.T[used] @ (1 << np.arange(len(sides)))
        _, first, atom = np.unique(code, return_index=True, return_inverse=True)
        if len(first) > 2 * len(sides):
            return None
        whole = [used[atom == number] for number in range(len(first))]
        rows = [texts[at : at + _MOST_ROWS] for texts in whole for at in range(0, len(texts), _MOST_ROWS)]
        return cls(rows, sides.masks[:, [texts[0] for texts in rows]])
