"""Compare two corpora with many metrics at once, and explain their distance text by text."""

from textgauge.comparing.compare import DEFAULT_METRICS, PERMUTATIONS, compare
from textgauge.comparing.explain import Explanation, explain
from textgauge.comparing.report import CompareReport

__all__ = ["DEFAULT_METRICS", "PERMUTATIONS", "CompareReport", "Explanation", "compare", "explain"]
