"""Gates for builds: bounds on what textgauge measures, decided on the ends of intervals."""

from textgauge.measure.checking.check import Check, Outcome
from textgauge.measure.checking.files import CheckFile, parse_number, read_checks
from textgauge.measure.checking.kinds import CopiesCheck, DescribeCheck, DriftCheck, ScoreCheck
from textgauge.measure.checking.report import CheckReport, CheckResult
from textgauge.measure.checking.run import run_checks

__all__ = [
    "Check",
    "CheckFile",
    "CheckReport",
    "CheckResult",
    "CopiesCheck",
    "DescribeCheck",
    "DriftCheck",
    "Outcome",
    "ScoreCheck",
    "parse_number",
    "read_checks",
    "run_checks",
]
