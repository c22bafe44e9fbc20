"""Describe a corpus by itself, or a generated one: novel, plausible, covering, or copied."""

from textgauge.describing.alone import CorpusDescription
from textgauge.describing.describe import describe
from textgauge.describing.report import Description, Property
from textgauge.describing.significance import Difference, RatingLink

__all__ = ["CorpusDescription", "Description", "Difference", "Property", "RatingLink", "describe"]
