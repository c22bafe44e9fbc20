"""Recommend metrics for the data at hand, by purpose, within a time budget, in sentences and numbers."""

from textgauge.bench.recommend.answer import Answer, LeftOut, MetricCost, Recommendation
from textgauge.bench.recommend.recommend import recommend

__all__ = ["Answer", "LeftOut", "MetricCost", "Recommendation", "recommend"]
