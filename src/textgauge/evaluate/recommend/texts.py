"""The texts that time allows to look at: models run on as many as there is time for, in the order asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.data import GIVEN, Corpus, Pool
from textgauge.data.cache import encode_cached
from textgauge.evaluate.recommend.budget import Clock
from textgauge.metrics import CorpusMetric, PairMetric

Index = NDArray[np.int64]

_CHUNKS = (12, 1024)  # texts between two looks at the clock: few at first, as nobody knows what they take
_FIRST = 4  # texts whose time does not count, because the first use of an encoder loads it
_PROBED = (4, 8, 16)  # texts that tell how quick an encoder is; a later part only where there is time for it
PROBED = _FIRST + sum(_PROBED)
_LONG = 0.05  # share of the time left that a later part may take


def embedder_of(metric: CorpusMetric | PairMetric) -> str | None:
    """The embedder whose rows a metric takes, if it takes any."""
    if isinstance(metric, PairMetric):
        return metric.on if metric.needs == "embeddings" else None
    return None if metric.reads_texts else metric.embedder


def embedders_of(metrics: Sequence[CorpusMetric | PairMetric]) -> list[str]:
    """The embedders whose rows these metrics take, each once, but for ready-made rows."""
    return [name for name in dict.fromkeys(filter(None, map(embedder_of, metrics))) if name != GIVEN]


def paces(corpus: Corpus, metrics: Sequence[CorpusMetric | PairMetric], clock: Clock) -> dict[str, float]:
    """The seconds that a text takes with each embedder, from some texts of a corpus chosen at random.

    The least of up to three parts: others may hold up any single one, and embedding itself notices if it is slower.
    """
    order = np.random.default_rng(len(corpus)).permutation(len(corpus))[:PROBED]
    asked, found = embedders_of(metrics), dict[str, float]()
    some = corpus.take(order).texts if asked else ()
    for name in asked:
        _encoded(name, some[:_FIRST])
        place = min(_FIRST, len(some) - 1)
        for count in _PROBED:
            if name in found and (place >= len(some) or found[name] * count > _LONG * clock.patient.left):
                break
            before, part = clock.spent, some[place : place + count]
            _encoded(name, part)
            each = (clock.spent - before) / len(part)
            found[name], place = min(each, found.get(name, each)), place + count
    return found


def _encoded(name: str, texts: Sequence[str]) -> NDArray[Any]:
    from textgauge.encode.embedders import embedder

    return encode_cached(embedder(name), texts)


class Embedded:
    """A corpus of which some rows have embeddings, in memory; equal to those that the pool itself would compute.

    `pace` are the seconds that one text took of late, NaN before anything is known.
    """

    def __init__(self, joint: Corpus, metrics: Sequence[CorpusMetric | PairMetric]) -> None:
        self.joint = joint
        self._vectors: dict[str, NDArray[Any]] = {}
        self._missing = embedders_of(metrics)
        self._ready = np.full(len(joint), not self._missing)
        self.pace = float("nan")

    @property
    def ready(self) -> Index:
        """The rows that have all they need."""
        return np.flatnonzero(self._ready)

    def reach(self, rows: Iterable[int], clock: Clock, *, share: float, whole: bool = False) -> bool:
        """Embed these rows until a share of the budget is spent; gives whether all of them are there.

        `whole` gives up as soon as it is clear that not all of them will be.
        """
        wanted = np.array([row for row in rows if not self._ready[row]], dtype=np.int64)
        if np.isnan(self.pace) and len(wanted):
            self._embed(wanted[:_FIRST])
            wanted = wanted[_FIRST:]
        chunk, done, before = _CHUNKS[0], 0, clock.spent
        while done < len(wanted):
            if done or not np.isnan(self.pace):
                within = max(clock.until(share), 0.0) / max(self.pace, 1e-9)
                chunk = min(2 * chunk, _CHUNKS[1], int(min(within, len(wanted))))
                if chunk == 0 or (whole and within < len(wanted) - done):
                    return False
            self._embed(wanted[done : done + chunk])
            done += chunk
            self.pace = (clock.spent - before) / min(done, len(wanted))
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

    def _embed(self, rows: Index) -> None:
        texts = self.joint.take(rows).texts
        for name in self._missing:
            self._keep(name, rows, _encoded(name, texts))
        self._ready[rows] = True

    def _keep(self, name: str, rows: Index, vectors: NDArray[Any]) -> None:
        if name not in self._vectors:
            self._vectors[name] = np.zeros((len(self.joint), vectors.shape[1]), dtype=vectors.dtype)
        self._vectors[name][rows] = vectors
