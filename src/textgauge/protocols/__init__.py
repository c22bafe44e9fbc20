"""Protocols: experiments that put metrics to the test."""

from textgauge.protocols.agreement import Agreement
from textgauge.protocols.alignment import Axis, Comparisons
from textgauge.protocols.base import Measure, Observations, PairSources, Protocol, Sources, TaskSources, Verdict
from textgauge.protocols.batch import Batch, CorpusBatch, MatrixBatch, PairBatch
from textgauge.protocols.clustering import Clustering
from textgauge.protocols.distributionality import Distributionality
from textgauge.protocols.ifc import Ifc
from textgauge.protocols.ksc import Ksc
from textgauge.protocols.perturbation import Perturbation
from textgauge.protocols.retrieval import Retrieval
from textgauge.protocols.robustness import Robustness
from textgauge.protocols.sensitivity import Sensitivity
from textgauge.protocols.size import Size
from textgauge.protocols.speed import Speed
from textgauge.protocols.task import Task

TASKS: tuple[type[Task], ...] = (Axis, Comparisons, Robustness, Sensitivity, Clustering, Retrieval)

_EVERY: tuple[type[Protocol], ...] = (Agreement, Distributionality, Ifc, Ksc, Perturbation, Size, Speed, *TASKS)
PROTOCOLS: dict[str, type[Protocol]] = {kind.name: kind for kind in _EVERY}

__all__ = [
    "PROTOCOLS",
    "TASKS",
    "Agreement",
    "Axis",
    "Batch",
    "Clustering",
    "Comparisons",
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
    "Retrieval",
    "Robustness",
    "Sensitivity",
    "Size",
    "Sources",
    "Speed",
    "Task",
    "TaskSources",
    "Verdict",
]
