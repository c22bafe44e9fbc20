"""What a run consists of: cells, each one metric on one batch of trials."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from textgauge.evaluate.protocols.base import Data, Protocol
from textgauge.evaluate.protocols.batch import Batch
from textgauge.metrics import Metric


@dataclass(frozen=True)
class Cell:
    """One metric on one batch: everything that decides its numbers, and the name it is stored under."""

    protocol: str
    data: str
    fingerprint: str
    seed: int
    batch: int
    metric: str
    signature: str

    @cached_property
    def name(self) -> str:
        """A hash of what decides the numbers; what the data is called does not."""
        decides = [self.protocol, self.fingerprint, self.seed, self.batch, self.signature]
        return hashlib.blake2b(json.dumps(decides).encode(), digest_size=16).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, for the manifest."""
        names = ("protocol", "data", "fingerprint", "seed", "batch", "metric", "signature", "name")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Plan:
    """A protocol on sources with metrics under a seed.

    `drawn` are its batches where they are drawn already, with embeddings of their texts.
    """

    protocol: Protocol
    sources: Data
    metrics: Sequence[Metric]
    seed: int = 0
    drawn: tuple[Batch, ...] = ()

    def __post_init__(self) -> None:
        self.protocol.check(self.sources)

    def batches(self) -> Iterator[Batch]:
        """The batches of trials."""
        return iter(self.drawn) if self.drawn else self.protocol.trials(self.sources, self.seed)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the batches; drawing trials takes time, so they are asked for once."""
        return tuple(batch.number for batch in self.batches())

    def cell(self, batch: int, metric: Metric) -> Cell:
        """The cell of one metric on one batch."""
        return Cell(
            self.protocol.key,
            self.sources.name,
            self.sources.fingerprint,
            self.seed,
            batch,
            metric.key,
            metric.signature,
        )
