"""textgauge: measure text, and measure the measures."""

from textgauge.comparing import CompareReport, Explanation, compare, explain
from textgauge.corpus import Comparison, Corpus, Pairs
from textgauge.errors import TextgaugeError
from textgauge.metrics import CorpusMetric, PairMetric, PairScores, Score, get_metric, list_metrics, register
from textgauge.scoring import Contrast, ScoreReport, contrast, score

__all__ = [
    "CompareReport",
    "Comparison",
    "Contrast",
    "Corpus",
    "CorpusMetric",
    "Explanation",
    "PairMetric",
    "PairScores",
    "Pairs",
    "Score",
    "ScoreReport",
    "TextgaugeError",
    "compare",
    "contrast",
    "explain",
    "get_metric",
    "list_metrics",
    "register",
    "score",
]
