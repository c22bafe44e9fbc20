"""Plan cells, run them on an executor, store them, judge what is stored."""

from textgauge.bench.contrasts import get_pair_columns, select_rated_groups
from textgauge.bench.ensembles import Contribution, group_by_embedders
from textgauge.bench.inputs import (
    format_step_role,
    list_step_files,
    read_paraphrases,
    read_rated,
    read_steps,
    read_two,
)
from textgauge.bench.ngrams import NgramGenerator, join_words, split_words, write_ngram_corpora
from textgauge.bench.plan import Cell, Plan, make_plans
from textgauge.bench.protocols import (
    Agreement,
    Clustering,
    ComparedAlignment,
    Distributionality,
    Ifc,
    Ksc,
    Measure,
    Observations,
    Perturbation,
    Protocol,
    RatedAlignment,
    Retrieval,
    Robustness,
    Sensitivity,
    Size,
    Speed,
    Task,
    Verdict,
    list_tasks,
    register_protocol,
)
from textgauge.bench.protocols.base import summarise_repetitions
from textgauge.bench.protocols.task import WORD_METRICS
from textgauge.bench.results import Group, Judged, Results
from textgauge.bench.run import RunReport, compute, run
from textgauge.bench.sources import PairSources, Sources, TaskSources
from textgauge.bench.store import Store
from textgauge.bench.suites import Metrics, Program, Suite, known_suites, make_task_plans, register_suite

__all__ = [
    "WORD_METRICS",
    "Agreement",
    "Cell",
    "Clustering",
    "ComparedAlignment",
    "Contribution",
    "Distributionality",
    "Group",
    "Ifc",
    "Judged",
    "Ksc",
    "Measure",
    "Metrics",
    "NgramGenerator",
    "Observations",
    "PairSources",
    "Perturbation",
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
    "Suite",
    "Task",
    "TaskSources",
    "Verdict",
    "compute",
    "format_step_role",
    "get_pair_columns",
    "group_by_embedders",
    "join_words",
    "known_suites",
    "list_step_files",
    "list_tasks",
    "make_plans",
    "make_task_plans",
    "read_paraphrases",
    "read_rated",
    "read_steps",
    "read_two",
    "register_protocol",
    "register_suite",
    "run",
    "select_rated_groups",
    "split_words",
    "summarise_repetitions",
    "write_ngram_corpora",
]
