"""Score pairs of texts with many metrics at once, and test two systems against each other."""

from textgauge.scoring.contrast import Contrast, contrast
from textgauge.scoring.report import ScoreReport, Summary
from textgauge.scoring.score import DEFAULT_METRICS, score

__all__ = ["DEFAULT_METRICS", "Contrast", "ScoreReport", "Summary", "contrast", "score"]
