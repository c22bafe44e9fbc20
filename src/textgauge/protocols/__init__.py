"""Protocols: experiments that put metrics to the test."""

from textgauge.protocols.base import Batch, Measure, Observations, Protocol, Sources, Verdict
from textgauge.protocols.ksc import Ksc
from textgauge.protocols.size import Size
from textgauge.protocols.speed import Speed

PROTOCOLS: dict[str, type[Protocol]] = {kind.name: kind for kind in (Ksc, Size, Speed)}

__all__ = ["PROTOCOLS", "Batch", "Ksc", "Measure", "Observations", "Protocol", "Size", "Sources", "Speed", "Verdict"]
