"""Recommend a metric for the data at hand, within a time budget, in sentences and numbers."""

from textgauge.evaluate.recommend.answer import LeftOut, MetricCost, Recommendation
from textgauge.evaluate.recommend.recommend import recommend

__all__ = ["LeftOut", "MetricCost", "Recommendation", "recommend"]
