"""Metrics: declared values over pure functions."""

from textgauge.metrics.base import CorpusMetric, EmbeddingMetric, GroundMetric, Part, TokenMetric, Undefined
from textgauge.metrics.registry import get_metric, get_metrics, list_metrics, register
from textgauge.metrics.score import Score

__all__ = [
    "CorpusMetric",
    "EmbeddingMetric",
    "GroundMetric",
    "Part",
    "Score",
    "TokenMetric",
    "Undefined",
    "get_metric",
    "get_metrics",
    "list_metrics",
    "register",
]
