"""Protocols: experiments that put metrics to the test."""

from textgauge.protocols.base import Measure, Observations, PairSources, Protocol, Sources, Verdict
from textgauge.protocols.batch import Batch, CorpusBatch, PairBatch
from textgauge.protocols.ksc import Ksc
from textgauge.protocols.size import Size
from textgauge.protocols.speed import Speed

PROTOCOLS: dict[str, type[Protocol]] = {kind.name: kind for kind in (Ksc, Size, Speed)}

__all__ = [
    "PROTOCOLS",
    "Batch",
    "CorpusBatch",
    "Ksc",
    "Measure",
    "Observations",
    "PairBatch",
    "PairSources",
    "Protocol",
    "Size",
    "Sources",
    "Speed",
    "Verdict",
]
