"""Recommend a metric for the data at hand: within a time budget, in words and numbers."""

from textgauge.evaluate.recommend.answer import Cost, LeftOut, Recommendation
from textgauge.evaluate.recommend.recommend import recommend

__all__ = ["Cost", "LeftOut", "Recommendation", "recommend"]
