"""Data for the tasks of a benchmark of pair metrics: alignment, robustness, sensitivity, clustering, retrieval."""

from __future__ import annotations

from textgauge.data.tasks.card import ComparedSummaries, Documents, LabelledTexts, RatedSummaries, Retrieval
from textgauge.data.tasks.load import (
    SAMPLE_TASKS,
    load_compared_summaries,
    load_documents,
    load_labelled,
    load_rated_summaries,
    load_retrieval,
)
from textgauge.data.tasks.published import PUBLISHED_TASKS, task_set_is_here

__all__ = [
    "PUBLISHED_TASKS",
    "SAMPLE_TASKS",
    "ComparedSummaries",
    "Documents",
    "LabelledTexts",
    "RatedSummaries",
    "Retrieval",
    "load_compared_summaries",
    "load_documents",
    "load_labelled",
    "load_rated_summaries",
    "load_retrieval",
    "task_set_is_here",
]
