"""Describe a generated corpus: novel, plausible, covering, or copied."""

from textgauge.describing.describe import describe
from textgauge.describing.report import Description, Property
from textgauge.describing.significance import Difference, RatingLink

__all__ = ["Description", "Difference", "Property", "RatingLink", "describe"]
