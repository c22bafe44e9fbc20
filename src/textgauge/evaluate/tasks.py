"""The data of the five tasks by name or path, and the plans of the benchmark that runs them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textgauge.data import tasks as cards
from textgauge.errors import InputError
from textgauge.evaluate.plan import Plan
from textgauge.evaluate.protocols import (
    Axis,
    Clustering,
    Comparisons,
    Retrieval,
    Robustness,
    Sensitivity,
    Task,
    TaskSources,
)
from textgauge.metrics import get_pair_metrics

# The five metrics of the benchmark; cosine on several encoders counts as their mean, and they read texts to their end.
# Words are those between white space as they stand: to a tokenizer that folds case, random capitals would be no change
# at all. BM25+ as a share of the largest score of any text for itself: how the paper brings it into [0, 1] is not said,
# and this reading, unlike that of the default, gives its pattern on sensitivity.
EMBEDDERS = ("whole:minilm", "wordllama", "whole:paraphrase-minilm")
_WORDS = "levenshtein,rouge@whitespace,jaccard@whitespace,bm25plus(scale=corpus)@whitespace"
TASK_METRICS = f"cosine@{'|'.join(EMBEDDERS)},{_WORDS}"
QUICK_TASK_METRICS = f"cosine,{_WORDS}"

# How each task's data are read, and the option that names them.
LOADERS: dict[type[Task], tuple[str, str]] = {
    Axis: ("rated", "load_rated_summaries"),
    Comparisons: ("comparisons", "load_compared_summaries"),
    Robustness: ("documents", "load_documents"),
    Sensitivity: ("documents", "load_documents"),
    Clustering: ("labelled", "load_labelled"),
    Retrieval: ("beir", "load_retrieval"),
}

REAL: dict[type[Task], tuple[str, ...]] = {
    Axis: ("summeval", "cnndm_chaganty"),
    Comparisons: ("openai_summary_comparisons",),
    Robustness: ("scitldr", "bbc_news", "legal_summ"),
    Sensitivity: ("paul_graham_essays", "bbc_news", "squality", "newsgroups20"),
    Clustering: ("newsgroups20", "stackoverflow_titles", "biomedical_titles", "banking77", "clinc150", "ag_news"),
    Retrieval: ("scifact_beir", "cranfield", "vaswani_npl"),
}
BUILT_IN: dict[type[Task], tuple[str, ...]] = {
    Axis: ("sample:articles",),
    Comparisons: ("sample:articles",),
    Robustness: ("sample:articles",),
    Sensitivity: ("sample:articles",),
    Clustering: ("sample:intents",),
    Retrieval: ("sample:library",),
}


def task_sources(kind: type[Task], spec: str, **columns: Any) -> TaskSources:
    """The data of a task: a path, a built-in sample or a published set; `columns` name the columns of a table."""
    option, load = LOADERS[kind]
    if kind is Robustness:
        columns.setdefault("summary", "summary")
    try:
        return TaskSources(spec, getattr(cards, load)(spec, **columns))
    except TypeError:
        given = ", ".join(columns)
        raise InputError(f"{kind.name} reads no columns {given}: name its data with --{option}") from None


def task_plans(
    data: Mapping[type[Task], Sequence[str]],
    metrics: str | Sequence[str],
    seed: int,
    options: Mapping[type[Task], Mapping[str, Any]] | None = None,
) -> list[Plan]:
    """Every task on its data sets; a data set that serves two tasks is read once for each."""
    chosen = get_pair_metrics(metrics)
    return [
        Plan(kind(**dict((options or {}).get(kind, {}))), task_sources(kind, spec), chosen, seed)
        for kind, specs in data.items()
        for spec in specs
    ]


def usmb(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """The five tasks of the unified benchmark on real data, with ensembles: about half an hour."""
    return task_plans(REAL, metrics or TASK_METRICS, seed)


def usmb_quick(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """The five tasks on built-in data, with ensembles: about a minute."""
    small: dict[type[Task], dict[str, Any]] = {
        Robustness: {"documents_drawn": 60},
        Sensitivity: {"documents_drawn": 20},
        Clustering: {"n": 60, "folds": 4},
        Retrieval: {"folds": 4},
    }
    return task_plans(BUILT_IN, metrics or QUICK_TASK_METRICS, seed, small)
