"""Score pairs of texts with many metrics at once, and test two systems against each other."""

from textgauge.scoring.report import ScoreReport, Summary
from textgauge.scoring.score import DEFAULT_METRICS, Contrast, contrast, score

__all__ = ["DEFAULT_METRICS", "Contrast", "ScoreReport", "Summary", "contrast", "score"]
