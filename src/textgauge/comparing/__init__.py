"""Compare two corpora with many metrics at once."""

from textgauge.comparing.compare import DEFAULT_METRICS, compare
from textgauge.comparing.report import CompareReport

__all__ = ["DEFAULT_METRICS", "CompareReport", "compare"]
