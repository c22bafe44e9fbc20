"""Protocols: experiments that put metrics to the test; each is declared in a file of its own."""

from textgauge.bench.protocols.agreement import Agreement
from textgauge.bench.protocols.base import (
    Measure,
    Observations,
    Protocol,
    Verdict,
    find_protocols,
    list_data_words,
    list_protocols,
    register_protocol,
)
from textgauge.bench.protocols.batch import Batch, CorpusBatch, MatrixBatch, PairBatch
from textgauge.bench.protocols.copies import Copies
from textgauge.bench.protocols.distributionality import Distributionality
from textgauge.bench.protocols.document_tasks import ComparedAlignment, RatedAlignment, Robustness, Sensitivity
from textgauge.bench.protocols.ksc import Ksc
from textgauge.bench.protocols.matrix_tasks import Clustering, Retrieval
from textgauge.bench.protocols.size import Size, Speed
from textgauge.bench.protocols.task import Task, list_tasks
from textgauge.bench.sources import PairSources, Sources, TaskSources

__all__ = [
    "Agreement",
    "Batch",
    "Clustering",
    "ComparedAlignment",
    "Copies",
    "CorpusBatch",
    "Distributionality",
    "Ksc",
    "MatrixBatch",
    "Measure",
    "Observations",
    "PairBatch",
    "PairSources",
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
    "find_protocols",
    "list_data_words",
    "list_protocols",
    "list_tasks",
    "register_protocol",
]
