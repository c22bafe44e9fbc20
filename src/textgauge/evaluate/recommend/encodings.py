"""Embeddings of texts, each computed once, for as long as there is time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.data import GIVEN, Pool
from textgauge.data.cache import encode_cached
from textgauge.evaluate.recommend.budget import Clock
from textgauge.metrics import CorpusMetric, Metric

_CHUNKS = (12, 1024)  # texts between two checks of the clock: few at first
_LOADING = 4  # texts whose time does not count, because the first use of an encoder loads it
_PROBES = (4, 8, 16)  # texts that show how fast an encoder is
_LONG = 0.05  # share of the time left that a larger probe may take


def embedder_of(metric: Metric) -> str | None:
    """The embedder that a metric needs, if any; ready-made embeddings need none."""
    if isinstance(metric, CorpusMetric):
        name = None if metric.reads_texts else metric.embedder
    else:
        name = metric.on if metric.needs == "embeddings" else None
    return None if name == GIVEN else name


def embedders_of(metrics: Iterable[Metric]) -> list[str]:
    """The embedders that these metrics need, each once."""
    return list(dict.fromkeys(filter(None, map(embedder_of, metrics))))


class Encodings:
    """Embeddings by embedder and text, equal to those that a pool would compute.

    `pace` are the seconds that one text takes with each embedder.
    """

    def __init__(self, clock: Clock) -> None:
        self.pace: dict[str, float] = {}
        self._clock = clock
        self._rows: dict[str, dict[str, NDArray[Any]]] = {}

    def probe(self, names: Sequence[str], texts: Sequence[str]) -> None:
        """Learn the pace of embedders from a few random texts: the least of up to three probes.

        Other programs may slow any single one down, and `embed` notices if an encoder is slower.
        """
        order = np.random.default_rng(len(texts)).permutation(len(texts))[: _LOADING + sum(_PROBES)]
        some = [texts[row] for row in order]
        for name in names:
            self._encode(name, some[:_LOADING])
            place = min(_LOADING, len(some) - 1)
            for count in _PROBES:
                known = name in self.pace
                if known and (place >= len(some) or self.pace[name] * count > _LONG * self._clock.patient.left):
                    break
                before, part = self._clock.spent, some[place : place + count]
                self._encode(name, part)
                each = (self._clock.spent - before) / len(part)
                self.pace[name], place = min(each, self.pace.get(name, each)), place + count

    def missing(self, name: str, texts: Iterable[str]) -> list[str]:
        """The texts without an embedding."""
        known = self._rows.get(name, {})
        return [text for text in dict.fromkeys(texts) if text not in known]

    def seconds(self, names: Iterable[str], texts: Sequence[str]) -> float:
        """About the time that the missing embeddings of these texts take."""
        return sum(self.pace[name] * len(self.missing(name, texts)) for name in names)

    def embed(self, names: Sequence[str], texts: Sequence[str], within: float = float("inf")) -> bool:
        """Embed these texts; stop as soon as it is clear that they will not all be done within this many seconds."""
        end = self._clock.spent + within
        for place, name in enumerate(names):
            others = self.seconds(names[place + 1 :], texts)
            missing, done, chunk, began = self.missing(name, texts), 0, _CHUNKS[0], self._clock.spent
            prior = _PROBES[-1] * self.pace[name]  # so that a few texts do not count for more than the probe
            while done < len(missing):
                if self.pace[name] * (len(missing) - done) + others > end - self._clock.spent + 1e-9:
                    return False
                self._encode(name, missing[done : done + chunk])
                done, chunk = min(done + chunk, len(missing)), min(2 * chunk, _CHUNKS[1])
                self.pace[name] = (prior + self._clock.spent - began) / (_PROBES[-1] + done)
        return True

    def fill(self, pools: Iterable[Pool], names: Iterable[str]) -> None:
        """Give pools the embeddings of all their texts."""
        needed = list(names)
        for pool in pools if needed else ():
            self.embed(needed, pool.texts)
            for name in needed:
                pool.adopt("embeddings", name, np.stack([self._rows[name][text] for text in pool.texts]))

    def _encode(self, name: str, texts: Sequence[str]) -> None:
        from textgauge.encode.embedders import embedder

        rows = self._rows.setdefault(name, {})
        missing = [text for text in dict.fromkeys(texts) if text not in rows]
        if missing:
            rows.update(zip(missing, encode_cached(embedder(name), missing), strict=True))
