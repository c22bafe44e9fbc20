"""Protocols: experiments that put metrics to the test."""

from textgauge.evaluate.protocols.agreement import Agreement
from textgauge.evaluate.protocols.alignment import Axis, Comparisons
from textgauge.evaluate.protocols.base import (
    Measure,
    Observations,
    PairSources,
    Protocol,
    Sources,
    TaskSources,
    Verdict,
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
from textgauge.evaluate.protocols.task import Task

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
