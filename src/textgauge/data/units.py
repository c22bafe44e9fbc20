"""Units of two corpora: what changes sides as a whole, and the blocks it stays in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Ints
from textgauge.core.errors import InputError

FEWEST_GROUPS = 8  # of a side, from which exchanging whole groups can say anything
_RARE = 0.95  # of the texts are units of their own
Keys = NDArray[np.uint64]
Labels = tuple[Ints, Ints]


@dataclass(frozen=True, eq=False)
class Units:
    """What changes sides as a whole: single texts, groups of texts; within blocks if both sides share these.

    `orders` are the places of the texts of each side by content, which all else follows: `groups` is the unit of each
    text of both sides, None where every text is one, and `blocks` the block of each unit, None where there are none.
    `counts` are the numbers of units of both sides. Groups that were `dealt` at random keep their numbers. Units were
    `named` by the user, or are the equal texts of a corpus.
    """

    orders: tuple[Ints, Ints]
    counts: tuple[int, int]
    groups: Ints | None = None
    blocks: Ints | None = None
    dealt: bool = False
    named: bool = False

    @property
    def are_texts(self) -> bool:
        """Whether every text changes sides alone, whatever the others do."""
        return self.groups is None and self.blocks is None

    @property
    def fewest(self) -> int:
        """The number of blocks; of units of the side that has fewer where there are none."""
        return min(self.counts) if self.blocks is None else int(self.blocks.max(initial=-1)) + 1

    @property
    def has_few_repeated(self) -> bool:
        """Whether units are texts but for a few equal ones, too few to matter for an interval."""
        return not self.named and (self.groups is None or sum(self.counts) > _RARE * len(self.groups))


def find_units(keys: tuple[Keys, Keys], groups: Labels | None, blocks: Labels | None, *, dealt: bool = False) -> Units:
    """Return the units of two sides of texts with these content keys; without groups, equal texts of a side are one.

    >>> keys = np.arange(9, dtype=np.uint64), np.array([20, 20, *range(30, 37)], dtype=np.uint64)
    >>> find_units(keys, None, None).counts
    (9, 8)
    """
    sizes = len(keys[0]), len(keys[1])
    for labels in (groups, blocks):
        if labels is not None and tuple(map(len, labels)) != sizes:
            raise InputError("groups and blocks need one label for each text")
    if dealt and groups is not None:
        counts = int(groups[0].max()) + 1, int(groups[1].max()) + 1
        joint = np.concatenate([groups[0], counts[0] + groups[1]])
        return Units((np.arange(sizes[0]), np.arange(sizes[1])), counts, joint, dealt=True, named=True)
    named = groups is not None or blocks is not None
    if not named:
        groups = _label_repeated(keys)
    given = [labels for labels in (groups, blocks) if labels is not None]
    first, second = (np.lexsort((*(labels[side] for labels in given), keys[side])) for side in (0, 1))
    units, counts = None, sizes
    if groups is not None:
        numbers = _number_in_order(groups[0][first]), _number_in_order(groups[1][second])
        counts = int(numbers[0].max(initial=-1)) + 1, int(numbers[1].max(initial=-1)) + 1
        units = np.concatenate([numbers[0], counts[0] + numbers[1]])
    inside = None
    if blocks is not None:
        inside = _find_unit_blocks(_number_in_order(np.concatenate([blocks[0][first], blocks[1][second]])), units)
    return Units((first, second), counts, units, inside, named=named)


def _find_unit_blocks(blocks: Ints, units: Ints | None) -> Ints:
    if units is None:
        return blocks
    inside = np.zeros(int(units.max(initial=-1)) + 1, dtype=np.int64)
    inside[units] = blocks
    if not np.array_equal(inside[units], blocks):
        raise InputError("a group lies in several blocks: a document, a user or a conversation belongs to one of them")
    return inside


def _label_repeated(keys: tuple[Keys, Keys]) -> Labels | None:
    """Label equal texts of a side alike, unless the other side has them too; None where that is no text, or most.

    A text of both sides is a common one: if all its copies moved at once, no difference in how common it is would show.
    """
    labels = []
    for own, other in (keys, keys[::-1]):
        _, first, inverse = np.unique(own, return_index=True, return_inverse=True)
        if len(first) < FEWEST_GROUPS:
            return None
        labels.append(np.where(np.isin(own, other), np.arange(len(own)), first[inverse]))
    is_repeated = any(len(np.unique(of)) < len(of) for of in labels)
    return (labels[0], labels[1]) if is_repeated else None


def _number_in_order(labels: Ints) -> Ints:
    """Assign numbers to labels, from 0 in the order of their first places.

    >>> _number_in_order(np.array([7, 2, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])
