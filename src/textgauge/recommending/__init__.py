"""Recommend a metric for the data at hand: within a time budget, in words and numbers."""

from textgauge.recommending.answer import Cost, LeftOut, Recommendation
from textgauge.recommending.recommend import recommend

__all__ = ["Cost", "LeftOut", "Recommendation", "recommend"]
