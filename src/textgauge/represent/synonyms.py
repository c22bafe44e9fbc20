"""Synonyms word by word: WordNet's groups of words turned around."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from textgauge.represent import wordnet
from textgauge.represent.wordnet import SynonymTable

Synonyms = Callable[[str], tuple[str, ...]]


class Thesaurus:
    """Single lower-case words that share a group with a word, by the groups its base forms lead to."""

    def __init__(self, table: SynonymTable) -> None:
        self._table = table
        self._words, self._starts, self._members = _members(table)

    def synonyms_of(self, word: str) -> tuple[str, ...]:
        """The other words of all groups of a word, sorted; none for a word that WordNet does not have.

        Inflected words lead to the groups of their base form, and what is found there is not inflected again.
        """
        lower = word.lower()
        found: set[str] = set()
        for group in self._table.groups_of(lower):
            rows = self._members[self._starts[group] : self._starts[group + 1]]
            found.update(self._words[row] for row in rows.tolist())
        return tuple(sorted(found - {lower}))


def thesaurus() -> Thesaurus:
    """Give the thesaurus of the WordNet in use; raises ResourceError where it cannot be had."""
    return _thesaurus(wordnet.synonyms())


@lru_cache(maxsize=2)
def _thesaurus(table: SynonymTable) -> Thesaurus:
    return Thesaurus(table)


def _members(table: SynonymTable) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Words by entry, and for each group where the entries it names begin, and those entries."""
    entries = table.entries.tobytes().decode().split("\n")
    rows = np.repeat(np.arange(len(entries)), np.diff(table.offsets))[table.named]
    groups = table.groups[table.named]
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(table.groups.max(initial=-1)) + 2))
    return [entry[2:] for entry in entries], starts.astype(np.int64), rows[order]
