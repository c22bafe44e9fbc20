"""Vectors of words, looked up in a memory-mapped table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from textgauge.represent.wordvectors.formats import Block
from textgauge.represent.wordvectors.store import Table, open_or_store, word_keys


@dataclass(frozen=True)
class WordVectors:
    """Vectors of words; a word that is not there as it stands is looked up in lower case.

    `identity` stands for the content: it is part of signatures and the key of the stored table.
    """

    name: str
    identity: str
    read: Callable[[], Iterator[Block]]

    @cached_property
    def table(self) -> Table:
        """The memory-mapped table, made on first use."""
        return open_or_store(blake2b(self.identity.encode(), digest_size=16).hexdigest(), self.read)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self.table.matrix.shape[1])

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Give the place of each word in the table, −1 for unknown ones; words with equal places share a vector."""
        rows = self.table.rows(word_keys(map(as_bytes, words)))
        unknown = np.flatnonzero(rows < 0)
        rows[unknown] = self.table.rows(word_keys(as_bytes(words[place].lower()) for place in unknown.tolist()))
        return rows

    def lookup(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Give the vectors of words, shape (words, dimension), and which are known; the others' rows are zero."""
        rows = self.rows(words)
        known = rows >= 0
        vectors = np.zeros((len(rows), self.dimension), dtype=np.float32)
        vectors[known] = self.table.matrix[rows[known]]
        return vectors, known


def as_bytes(word: str) -> bytes:
    """Give a word as the bytes it has in a file."""
    return word.encode("utf-8", "surrogatepass")
