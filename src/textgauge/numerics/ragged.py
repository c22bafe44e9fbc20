"""Rows of whole numbers of different lengths, as one flat array with offsets."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray


class Ragged(Protocol):
    """Row i has `ids[offsets[i]:offsets[i + 1]]`; the tokens of texts are such rows."""

    @property
    def ids(self) -> NDArray[np.int32]:
        """All numbers, row after row."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each row begins, and where the last one ends."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many numbers each row has."""

    def __len__(self) -> int:
        """How many rows there are."""

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Some of the rows, in this order."""
