"""The different sub-corpora behind many draws: what depends on one of them alone is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import Draws

Masks = NDArray[np.bool_]
Index = NDArray[np.int64]

_MOST_SIDES = 62  # so many bits tell of a text on which sides it is


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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sides) and self._content == other._content

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
class Atoms:
    """Texts that are on the same sides, together; `members` tells of which atoms each side consists."""

    rows: list[Index]
    members: Masks

    @classmethod
    def of(cls, sides: Sides) -> Atoms | None:
        """The atoms of the sides; None where they are many, which is so for sides drawn at random."""
        if len(sides) > _MOST_SIDES:
            return None
        used = np.flatnonzero(sides.masks.any(axis=0))
        code = sides.masks.T[used] @ (1 << np.arange(len(sides)))
        _, first, atom = np.unique(code, return_index=True, return_inverse=True)
        if len(first) > 2 * len(sides):
            return None
        return cls([used[atom == number] for number in range(len(first))], sides.masks[:, used[first]])
