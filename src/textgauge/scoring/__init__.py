"""Score pairs of texts with many metrics at once, test two systems against each other, and rank several."""

from textgauge.scoring.contrast import Contrast, ContrastReport, contrast
from textgauge.scoring.report import ScoreReport, Summary
from textgauge.scoring.score import DEFAULT_METRICS, score
from textgauge.scoring.systems import SystemsReport, score_systems

__all__ = [
    "DEFAULT_METRICS",
    "Contrast",
    "ContrastReport",
    "ScoreReport",
    "Summary",
    "SystemsReport",
    "contrast",
    "score",
    "score_systems",
]
