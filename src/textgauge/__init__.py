"""textgauge: measure text, and measure the measures."""

from textgauge.comparing import CompareReport, compare
from textgauge.corpus import Comparison, Corpus, Pairs
from textgauge.errors import TextgaugeError
from textgauge.metrics import CorpusMetric, Score, get_metric, list_metrics, register

__all__ = [
    "CompareReport",
    "Comparison",
    "Corpus",
    "CorpusMetric",
    "Pairs",
    "Score",
    "TextgaugeError",
    "compare",
    "get_metric",
    "list_metrics",
    "register",
]
