"""Rated pairs in a random order, of which as many have their rows as there was time for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textgauge.evaluate.protocols import PairSources
from textgauge.evaluate.recommend.budget import Clock
from textgauge.evaluate.recommend.texts import Embedded
from textgauge.metrics import PairMetric

Index = NDArray[np.int64]


class DrawnPairs:
    """Pairs in an order of a seed's own: the first ones of it are a random sample, and more of them a larger one."""

    def __init__(self, sources: PairSources, metrics: Sequence[PairMetric], seed: int) -> None:
        self.sources = sources
        self.there = sources.pairs.n_items
        self.order: Index = np.random.default_rng([seed, 9]).permutation(self.there)
        self._items = np.arange(self.there) if sources.items is None else sources.items
        self._embedded = Embedded(sources.left | sources.right, metrics)

    @property
    def embedding(self) -> float:
        """The seconds that the texts of a pair took of late; 0 where they need no rows, or nothing is known."""
        return float(np.nan_to_num(self._embedded.pace)) * len(self._embedded.joint) / self.there

    def reach(self, count: int, clock: Clock, *, share: float, whole: bool = False) -> int:
        """Embed the texts of so many pairs until a share of the budget is spent; gives how many have all they need.

        `whole` gives up as soon as it is clear that not all of them will.
        """
        wanted = self.order[:count]
        starts = np.searchsorted(self._items, np.arange(self.there + 1))
        rights = [np.arange(starts[pair], starts[pair + 1]) + len(self.sources.left) for pair in wanted]
        rows = [row for pair, right in zip(wanted, rights, strict=True) for row in (pair, *right)]
        if self._embedded.reach(rows, clock, share=share, whole=whole):
            return len(wanted)
        ready = np.isin(np.arange(len(self._embedded.joint)), self._embedded.ready)
        done = [ready[pair] and ready[right].all() for pair, right in zip(wanted, rights, strict=True)]
        return done.index(False) if False in done else len(wanted)

    def first(self, count: int) -> PairSources:
        """The first pairs of the order, in the order of the data, in pools of their own with their rows."""
        pairs = np.sort(self.order[:count])
        rights = np.flatnonzero(np.isin(self._items, pairs))
        left, right = (self._embedded.corpus(rows) for rows in (pairs, rights + len(self.sources.left)))
        columns = {name: column[pairs] for name, column in self.sources.columns.items()}
        items = None if self.sources.items is None else np.searchsorted(pairs, self._items[rights])
        return PairSources(self.sources.name, left, right, columns, items)
