"""Compare two or more corpora with many metrics at once, and explain their distance text by text and slice by slice."""

from textgauge.measure.comparing.compare import DEFAULT_METRICS, PERMUTATIONS, compare
from textgauge.measure.comparing.explain import Explanation, explain
from textgauge.measure.comparing.many import ManyReport, compare_many
from textgauge.measure.comparing.report import CompareReport
from textgauge.measure.comparing.slices import SliceReport, compare_slices

__all__ = [
    "DEFAULT_METRICS",
    "PERMUTATIONS",
    "CompareReport",
    "Explanation",
    "ManyReport",
    "SliceReport",
    "compare",
    "compare_many",
    "compare_slices",
    "explain",
]
