"""Plan cells, run them on an executor, store them, judge what is stored."""

from textgauge.bench.plan import Cell, Plan
from textgauge.bench.run import RunReport, run
from textgauge.bench.store import Store

__all__ = ["Cell", "Plan", "RunReport", "Store", "run"]
