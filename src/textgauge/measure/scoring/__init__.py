"""Score pairs of texts with many metrics at once, test two systems against each other, and rank several."""

from textgauge.measure.scoring.report import ScoreReport, Summary
from textgauge.measure.scoring.score import DEFAULT_METRICS, score
from textgauge.measure.scoring.systems import Contrast, ContrastReport, SystemsReport, contrast, score_systems

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
