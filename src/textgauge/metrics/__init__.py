"""Metrics: declared values over pure functions."""

from textgauge.metrics.base import POSITIVE, Metric, Part, Range, Undefined
from textgauge.metrics.corpus_metric import CorpusMetric, EmbeddingMetric, GroundMetric, TokenMetric
from textgauge.metrics.pair_metric import PairMetric
from textgauge.metrics.registry import (
    get_corpus_metrics,
    get_metric,
    get_metrics,
    get_pair_metrics,
    list_metrics,
    register,
)
from textgauge.metrics.score import PairScores, Score

__all__ = [
    "POSITIVE",
    "CorpusMetric",
    "EmbeddingMetric",
    "GroundMetric",
    "Metric",
    "PairMetric",
    "PairScores",
    "Part",
    "Range",
    "Score",
    "TokenMetric",
    "Undefined",
    "get_corpus_metrics",
    "get_metric",
    "get_metrics",
    "get_pair_metrics",
    "list_metrics",
    "register",
]
