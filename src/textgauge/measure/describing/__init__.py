"""Describe corpora: by themselves, or generated ones next to what they were learned from."""

from textgauge.measure.describing.describe import describe
from textgauge.measure.describing.report import Description, Property

__all__ = ["Description", "Property", "describe"]
