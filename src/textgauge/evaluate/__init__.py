"""Plan cells, run them on an executor, store them, judge what is stored."""

from textgauge.evaluate.plan import Cell, Plan
from textgauge.evaluate.run import RunReport, run
from textgauge.evaluate.store import Store

__all__ = ["Cell", "Plan", "RunReport", "Store", "run"]
