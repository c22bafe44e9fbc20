"""Texts: where they come from, and the pools and views that metrics see."""

from __future__ import annotations

from textgauge.data.datasets import (
    DatasetCard,
    DatasetFile,
    DatasetItem,
    fetch_dataset,
    find_data_table,
    find_dataset_file,
    is_here,
    list_data_folders,
    list_published,
    load_published_pairs,
    load_published_texts,
    register_dataset,
)
from textgauge.data.folders import RetrievalSet, load_retrieval
from textgauge.data.formats import is_text_file, list_endings, read_embeddings, read_table
from textgauge.data.pool import GIVEN, Pool
from textgauge.data.samples import list_samples, register_sample, sample, sample_pairs
from textgauge.data.source import describe_accepted, get_source_name, load_aligned, load_corpus, load_pairs, load_texts
from textgauge.data.tables import LabelledTexts, TextPairs, TextTable
from textgauge.data.tasks import (
    ClusteringTexts,
    ComparedSummaries,
    Documents,
    RatedSummaries,
    load_compared_summaries,
    load_documents,
    load_labelled,
    load_rated_summaries,
    register_task_data,
)
from textgauge.data.view import Comparison, Corpus, Draws, Pairs

__all__ = [
    "GIVEN",
    "ClusteringTexts",
    "ComparedSummaries",
    "Comparison",
    "Corpus",
    "DatasetCard",
    "DatasetFile",
    "DatasetItem",
    "Documents",
    "Draws",
    "LabelledTexts",
    "Pairs",
    "Pool",
    "RatedSummaries",
    "RetrievalSet",
    "TextPairs",
    "TextTable",
    "describe_accepted",
    "fetch_dataset",
    "find_data_table",
    "find_dataset_file",
    "get_source_name",
    "is_here",
    "is_text_file",
    "list_data_folders",
    "list_endings",
    "list_published",
    "list_samples",
    "load_aligned",
    "load_compared_summaries",
    "load_corpus",
    "load_documents",
    "load_labelled",
    "load_pairs",
    "load_published_pairs",
    "load_published_texts",
    "load_rated_summaries",
    "load_retrieval",
    "load_texts",
    "read_embeddings",
    "read_table",
    "register_dataset",
    "register_sample",
    "register_task_data",
    "sample",
    "sample_pairs",
]
