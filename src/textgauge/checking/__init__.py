"""Gates for builds: bounds on what textgauge measures, decided on the ends of intervals."""

from textgauge.checking.check import Check, Outcome
from textgauge.checking.drift import DriftCheck
from textgauge.checking.files import CheckFile, parse_number, read_checks
from textgauge.checking.generated import CopiesCheck, DescribeCheck
from textgauge.checking.report import CheckReport, CheckResult
from textgauge.checking.run import run_checks
from textgauge.checking.scores import ScoreCheck

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
