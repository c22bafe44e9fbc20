"""Protocols: experiments that put metrics to the test; each is declared in a file of its own."""

from textgauge.evaluate.inputs.sources import PairSources, Sources, TaskSources
from textgauge.evaluate.protocols.agreement import Agreement
from textgauge.evaluate.protocols.alignment import ComparedAlignment, RatedAlignment
from textgauge.evaluate.protocols.base import (
    Measure,
    Observations,
    Protocol,
    Verdict,
    known_protocols,
    protocols_named,
    register_protocol,
)
from textgauge.evaluate.protocols.batch import Batch, CorpusBatch, MatrixBatch, PairBatch
from textgauge.evaluate.protocols.clustering import Clustering
from textgauge.evaluate.protocols.distributionality import Distributionality
from textgauge.evaluate.protocols.ifc import Ifc
from textgauge.evaluate.protocols.ksc import Ksc
from textgauge.evaluate.protocols.perturbation import Perturbation
from textgauge.evaluate.protocols.retrieval import Retrieval
from textgauge.evaluate.protocols.robustness import Robustness
from textgauge.evaluate.protocols.sensitivity import Sensitivity
from textgauge.evaluate.protocols.size import Size
from textgauge.evaluate.protocols.speed import Speed
from textgauge.evaluate.protocols.task import Task, known_tasks

__all__ = [
    "Agreement",
    "Batch",
    "Clustering",
    "ComparedAlignment",
    "CorpusBatch",
    "Distributionality",
    "Ifc",
    "Ksc",
    "MatrixBatch",
    "Measure",
    "Observations",
    "PairBatch",
    "PairSources",
    "Perturbation",
    "Protocol",
    "RatedAlignment",
    "Retrieval",
    "Robustness",
    "Sensitivity",
    "Size",
    "Sources",
    "Speed",
    "Task",
    "TaskSources",
    "Verdict",
    "known_protocols",
    "known_tasks",
    "protocols_named",
    "register_protocol",
]
