"""Protocols: experiments that put metrics to the test."""

from textgauge.protocols.agreement import Agreement
from textgauge.protocols.base import Measure, Observations, PairSources, Protocol, Sources, Verdict
from textgauge.protocols.batch import Batch, CorpusBatch, PairBatch
from textgauge.protocols.distributionality import Distributionality
from textgauge.protocols.ksc import Ksc
from textgauge.protocols.perturbation import Perturbation
from textgauge.protocols.size import Size
from textgauge.protocols.speed import Speed

PROTOCOLS: dict[str, type[Protocol]] = {
    kind.name: kind for kind in (Agreement, Distributionality, Ksc, Perturbation, Size, Speed)
}

__all__ = [
    "PROTOCOLS",
    "Agreement",
    "Batch",
    "CorpusBatch",
    "Distributionality",
    "Ksc",
    "Measure",
    "Observations",
    "PairBatch",
    "PairSources",
    "Perturbation",
    "Protocol",
    "Size",
    "Sources",
    "Speed",
    "Verdict",
]
