"""A time budget, what is left of it, and what an experiment will take: a fixed part and a part for each item."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import InputError, TextgaugeError
from textgauge.core.parallel import one_blas_thread
from textgauge.data import GIVEN, Pool
from textgauge.data.cache import EmbeddingStore, encode_cached, text_keys
from textgauge.metrics import CorpusMetric, Metric

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0}
_SHORTEST = 5.0
_CHUNK = 32  # texts that are embedded between two looks at the clock
_TIMED = (4, 24)  # texts that show how fast an embedder is; more of them where few take little time
_LITTLE = 0.02  # share of the time left


def seconds_of(text: str | float) -> float:
    """A length of time in seconds: a number, or a text such as 90s, 2m, 1h30m.

    >>> seconds_of("2m"), seconds_of("1m30s"), seconds_of(45)
    (120.0, 90.0, 45.0)
    """
    if isinstance(text, int | float):
        found = float(text)
    else:
        parts = re.findall(r"(\d+\.?\d*|\.\d+)\s*([hms]?)", text.strip().lower())
        if not parts or "".join(a + b for a, b in parts) != re.sub(r"\s", "", text.lower()):
            raise InputError(f"a budget is a time such as 90s, 2m or 1h, not {text!r}")
        found = sum(float(amount) * _UNITS[unit] for amount, unit in parts)
    if not _SHORTEST <= found < float("inf"):
        raise InputError(f"a budget is at least {_SHORTEST:.0f} seconds, not {text!r}")
    return found


@dataclass(frozen=True)
class Clock:
    """A budget of seconds that began when the clock was made."""

    budget: float
    now: Callable[[], float] = time.monotonic
    start: float = field(default=float("nan"))

    def __post_init__(self) -> None:
        if np.isnan(self.start):
            object.__setattr__(self, "start", self.now())

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return self.now() - self.start

    @property
    def left(self) -> float:
        """Seconds left; 0 once the budget is exceeded."""
        return max(self.budget - self.spent, 0.0)

    def part(self, seconds: float) -> Clock:
        """A clock of its own for the next seconds."""
        return Clock(seconds, self.now)

    def time(self, work: Callable[[], object]) -> float:
        """The seconds that some work takes; errors of a metric's own are left to the run, which reports them."""
        before = self.spent
        try:
            with one_blas_thread():
                work()
        except TextgaugeError:
            raise
        except Exception:  # noqa: S110
            pass
        return self.spent - before


@dataclass(frozen=True)
class Line:
    """Seconds as a function of the number of items: a fixed part, and a part for each item."""

    fixed: float = 0.0
    each: float = 0.0

    @classmethod
    def through(cls, sizes: Sequence[float], seconds: Sequence[float]) -> Line:
        """The line through the times of two sizes; of one size, all of the time is for its items.

        >>> Line.through([10, 30], [1.2, 1.6])(100)
        3.0
        """
        if len(sizes) < 2 or sizes[1] <= sizes[0]:
            return cls(0.0, seconds[0] / sizes[0])
        each = max((seconds[1] - seconds[0]) / (sizes[1] - sizes[0]), 0.0)
        return cls(max(seconds[0] - each * sizes[0], 0.0), each)

    def __call__(self, items: float) -> float:
        """Seconds of this many items."""
        return self.fixed + self.each * items


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


class Embeddings:
    """Embeddings by embedder and text, equal to those that a pool would compute.

    `pace` are the seconds that a text takes with each embedder where nothing is cached, `cpu` the CPU seconds.
    """

    def __init__(self, clock: Clock) -> None:
        self.pace: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self._clock = clock
        self._rows: dict[str, dict[str, NDArray[Any]]] = {}
        self._looked_up: dict[str, set[str]] = {}

    def time(self, name: str, texts: Sequence[str]) -> None:
        """Load an embedder and find its pace on a few random texts, past the cache."""
        from textgauge.encode.embedders import embedder

        encoder, order = embedder(name), np.random.default_rng(len(texts)).permutation(len(texts))
        encoder.encode([texts[order[0]]])  # the first use loads the model
        for count in _TIMED:
            some = [texts[row] for row in order[:count]]
            if name in self.pace and self.pace[name] * len(some) > _LITTLE * self._clock.left:
                return
            before, cpu = self._clock.spent, time.process_time()
            encoder.encode(some)
            self.pace[name] = (self._clock.spent - before) / len(some)
            self.cpu[name] = (time.process_time() - cpu) / len(some)

    def missing(self, name: str, texts: Iterable[str]) -> list[str]:
        """The different texts without an embedding, here or in the cache on disk."""
        rows, looked_up = self._rows.setdefault(name, {}), self._looked_up.setdefault(name, set())
        found = [text for text in dict.fromkeys(texts) if text not in rows]
        if any(text not in looked_up for text in found):
            looked_up.update(found)
            self._recall(name, found)
        return [text for text in found if text not in rows]

    def seconds(self, names: Iterable[str], texts: Sequence[str]) -> float:
        """About the time that the missing embeddings of these texts take."""
        return sum(self.pace[name] * len(self.missing(name, texts)) for name in names)

    def embed(self, names: Sequence[str], texts: Sequence[str], within: float = float("inf")) -> bool:
        """Embed these texts; stop as soon as it is clear that they will not all be done within this many seconds."""
        end = self._clock.spent + within
        for name in names:
            missing, began = self.missing(name, texts), self._clock.spent
            for done in range(0, len(missing), _CHUNK):
                if self._clock.spent + self.pace.get(name, 0.0) * (len(missing) - done) > end:
                    return False
                self._encode(name, missing[done : done + _CHUNK])
                self.pace[name] = (self._clock.spent - began) / min(done + _CHUNK, len(missing))
        return True

    def fill(self, pools: Iterable[Pool], names: Sequence[str]) -> None:
        """Give pools the embeddings of all their texts."""
        for pool in pools if names else ():
            self.embed(names, pool.texts)
            for name in names:
                pool.adopt("embeddings", name, np.stack([self._rows[name][text] for text in pool.texts]))

    def _recall(self, name: str, texts: list[str]) -> None:
        from textgauge.encode.embedders import embedder

        found, vectors = EmbeddingStore.of(embedder(name)).read(text_keys(texts))
        self._rows[name].update((texts[place], vectors[place]) for place in np.flatnonzero(found))

    def _encode(self, name: str, texts: Sequence[str]) -> None:
        from textgauge.encode.embedders import embedder

        self._rows[name].update(zip(texts, encode_cached(embedder(name), texts), strict=True))
