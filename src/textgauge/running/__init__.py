"""Run protocols and suites on data: plans from names and options, cells, and what is read off them."""

from textgauge.running.result import Run
from textgauge.running.run import run

__all__ = ["Run", "run"]
