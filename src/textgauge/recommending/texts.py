"""The texts that time allows to look at: models run on as many as there is time for, in the order asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import GIVEN, Corpus, Pool
from textgauge.corpus.cache import encode_cached
from textgauge.metrics import CorpusMetric
from textgauge.recommending.budget import Clock

Index = NDArray[np.int64]

_CHUNKS = (64, 1024)  # texts between two looks at the clock: few at first, as nobody knows what they take


class Embedded:
    """A corpus of which some rows have embeddings, in memory; equal to those that the pool itself would compute.

    `seconds` is the time that embedding took so far, texts found in the cache included.
    """

    def __init__(self, joint: Corpus, metrics: Sequence[CorpusMetric]) -> None:
        self.joint = joint
        named = dict.fromkeys(metric.embedder for metric in metrics if not metric.reads_texts)
        self._vectors: dict[str, NDArray[Any]] = {}
        self._missing = [name for name in named if name != GIVEN]
        self._ready = np.full(len(joint), not self._missing)
        self.seconds = 0.0

    @property
    def ready(self) -> Index:
        """The rows that have all they need."""
        return np.flatnonzero(self._ready)

    def reach(self, rows: Iterable[int], clock: Clock, *, share: float) -> bool:
        """Embed these rows until a share of the budget is spent; gives whether all of them are there."""
        wanted = np.array([row for row in rows if not self._ready[row]], dtype=np.int64)
        chunk, done = _CHUNKS[0], 0
        while done < len(wanted):
            if done and clock.until(share) <= 0:
                return False
            self._embed(wanted[done : done + chunk], clock)
            done, chunk = done + chunk, min(2 * chunk, _CHUNKS[1])
        return True

    def corpus(self, rows: Index) -> Corpus:
        """These rows as a pool of their own."""
        pool = self.joint.pool
        some = self.joint.take(rows)
        given = some.embeddings(GIVEN) if pool.has_given else None
        small = Pool(list(some.texts) if pool.has_texts else None, embeddings=given)
        for name, vectors in self._vectors.items():
            small.adopt("embeddings", name, vectors[rows])
        return Corpus(small, np.arange(small.size))

    def _embed(self, rows: Index, clock: Clock) -> None:
        from textgauge.represent.embedders import embedder

        texts = self.joint.take(rows).texts
        before = clock.spent
        for name in self._missing:
            self._keep(name, rows, encode_cached(embedder(name), texts))
        self.seconds += clock.spent - before
        self._ready[rows] = True

    def _keep(self, name: str, rows: Index, vectors: NDArray[Any]) -> None:
        if name not in self._vectors:
            self._vectors[name] = np.zeros((len(self.joint), vectors.shape[1]), dtype=vectors.dtype)
        self._vectors[name][rows] = vectors
