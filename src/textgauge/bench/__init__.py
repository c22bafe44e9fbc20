"""Plan cells, run them on an executor, store them, judge what is stored."""

from textgauge.bench.contrasts import get_pair_columns, select_rated_groups
from textgauge.bench.ensembles import Contribution, group_by_embedders
from textgauge.bench.inputs import DataKind, read_paraphrases, read_rated, read_two
from textgauge.bench.plan import Cell, Metrics, Plan, Program, list_suites, make_plans, make_task_plans, register_suite
from textgauge.bench.protocols.agreement import Agreement
from textgauge.bench.protocols.base import (
    CORPUS_METRICS,
    RESAMPLES,
    Measure,
    Observations,
    Protocol,
    Verdict,
    explain_undefined,
    find_protocols,
    list_data_words,
    list_protocols,
    make_generator,
    merge_rounding_ties,
    register_protocol,
    summarise_repetitions,
)
from textgauge.bench.protocols.copies import Copies
from textgauge.bench.protocols.distributionality import Distributionality
from textgauge.bench.protocols.ksc import Ksc
from textgauge.bench.protocols.size import Size, Speed
from textgauge.bench.protocols.task import WORD_METRICS, Task, list_tasks
from textgauge.bench.protocols.tasks import (
    Clustering,
    ComparedAlignment,
    RatedAlignment,
    Retrieval,
    Robustness,
    Sensitivity,
)
from textgauge.bench.results import Group, Results, Verdicts
from textgauge.bench.run import RunReport, compute, run
from textgauge.bench.sources import Batch, CorpusBatch, Data, MatrixBatch, PairBatch, PairSources, Sources, TaskSources
from textgauge.bench.store import Store

__all__ = [
    "CORPUS_METRICS",
    "RESAMPLES",
    "WORD_METRICS",
    "Agreement",
    "Batch",
    "Cell",
    "Clustering",
    "ComparedAlignment",
    "Contribution",
    "Copies",
    "CorpusBatch",
    "Data",
    "DataKind",
    "Distributionality",
    "Group",
    "Ksc",
    "MatrixBatch",
    "Measure",
    "Metrics",
    "Observations",
    "PairBatch",
    "PairSources",
    "Plan",
    "Program",
    "Protocol",
    "RatedAlignment",
    "Results",
    "Retrieval",
    "Robustness",
    "RunReport",
    "Sensitivity",
    "Size",
    "Sources",
    "Speed",
    "Store",
    "Task",
    "TaskSources",
    "Verdict",
    "Verdicts",
    "compute",
    "explain_undefined",
    "find_protocols",
    "get_pair_columns",
    "group_by_embedders",
    "list_data_words",
    "list_protocols",
    "list_suites",
    "list_tasks",
    "make_generator",
    "make_plans",
    "make_task_plans",
    "merge_rounding_ties",
    "read_paraphrases",
    "read_rated",
    "read_two",
    "register_protocol",
    "register_suite",
    "run",
    "select_rated_groups",
    "summarise_repetitions",
]
