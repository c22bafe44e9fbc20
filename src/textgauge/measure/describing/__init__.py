"""Describe a corpus by itself, or a generated one: novel, plausible, covering, or copied."""

from textgauge.measure.describing.alone import CorpusDescription
from textgauge.measure.describing.describe import describe
from textgauge.measure.describing.report import Description, Property
from textgauge.measure.describing.significance import Difference, RatingLink

__all__ = ["CorpusDescription", "Description", "Difference", "Property", "RatingLink", "describe"]
