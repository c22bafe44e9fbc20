"""Compare two or more corpora with many metrics at once, and explain their distance text by text and slice by slice."""

from textgauge.measure.comparing.compare import DEFAULT_METRICS, PERMUTATIONS, compare
from textgauge.measure.comparing.explain import Explanation, explain
from textgauge.measure.comparing.report import CandidateScore, CompareReport

__all__ = ["DEFAULT_METRICS", "PERMUTATIONS", "CandidateScore", "CompareReport", "Explanation", "compare", "explain"]
