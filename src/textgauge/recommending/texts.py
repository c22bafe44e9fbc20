"""The texts that time allows to look at: models run on as many as there is time for, in the order asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.corpus import GIVEN, Corpus, Pool
from textgauge.corpus.cache import encode_cached
from textgauge.metrics import CorpusMetric, PairMetric
from textgauge.recommending.budget import Clock

Index = NDArray[np.int64]

_CHUNKS = (16, 1024)  # texts between two looks at the clock: few at first, as nobody knows what they take


def embedder_of(metric: CorpusMetric | PairMetric) -> str | None:
    """The embedder whose rows a metric takes, if it takes any."""
    if isinstance(metric, PairMetric):
        return metric.on if metric.needs == "embeddings" else None
    return None if metric.reads_texts else metric.embedder


class Embedded:
    """A corpus of which some rows have embeddings, in memory; equal to those that the pool itself would compute.

    `seconds` is the time that embedding took so far, texts found in the cache included.
    """

    def __init__(self, joint: Corpus, metrics: Sequence[CorpusMetric | PairMetric]) -> None:
        self.joint = joint
        self._vectors: dict[str, NDArray[Any]] = {}
        self._missing = [name for name in dict.fromkeys(filter(None, map(embedder_of, metrics))) if name != GIVEN]
        self._ready = np.full(len(joint), not self._missing)
        self.seconds = 0.0

    @property
    def ready(self) -> Index:
        """The rows that have all they need."""
        return np.flatnonzero(self._ready)

    def reach(self, rows: Iterable[int], clock: Clock, *, share: float, whole: bool = False) -> bool:
        """Embed these rows until a share of the budget is spent; gives whether all of them are there.

        `whole` gives up as soon as it is clear that not all of them will be.
        """
        wanted = np.array([row for row in rows if not self._ready[row]], dtype=np.int64)
        chunk, done, before = _CHUNKS[0], 0, clock.spent
        while done < len(wanted):
            if done:
                each = (clock.spent - before) / done
                within = max(clock.until(share), 0.0) / max(each, 1e-9)
                chunk = min(2 * chunk, _CHUNKS[1], int(within))
                if chunk == 0 or (whole and within < len(wanted) - done):
                    return False
            self._embed(wanted[done : done + chunk], clock)
            done += chunk
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

    def hand_over(self) -> None:
        """Give the rows to the pool itself, once all of them are there."""
        for name, vectors in self._vectors.items():
            self.joint.pool.adopt("embeddings", name, vectors)

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
