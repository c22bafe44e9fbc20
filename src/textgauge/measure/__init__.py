"""Answers about texts: compare, score, describe, check, watch."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.measure.check import Check, Outcome
    from textgauge.measure.checking import CheckFile, CheckReport, CheckResult, read_checks, run_checks
    from textgauge.measure.compare_report import CandidateScore, CompareReport
    from textgauge.measure.comparing import compare
    from textgauge.measure.describing import describe
    from textgauge.measure.description import Description, Property
    from textgauge.measure.explaining import Explanation, explain
    from textgauge.measure.score_report import ScoreReport, Summary
    from textgauge.measure.scoring import score, score_systems
    from textgauge.measure.systems import Contrast, ContrastReport, SystemsReport
    from textgauge.measure.watching import watch

__all__ = [
    "CandidateScore",
    "Check",
    "CheckFile",
    "CheckReport",
    "CheckResult",
    "CompareReport",
    "Contrast",
    "ContrastReport",
    "Description",
    "Explanation",
    "Outcome",
    "Property",
    "ScoreReport",
    "Summary",
    "SystemsReport",
    "compare",
    "describe",
    "explain",
    "read_checks",
    "run_checks",
    "score",
    "score_systems",
    "watch",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(__name__)
