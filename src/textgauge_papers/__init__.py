"""Published tables next to ours: the same data, protocols and metrics, and what differs. Each paper adds its suite."""

from textgauge.bench.suites import SUITES
from textgauge_papers import ackerman2023, beyond, kour2022, usmb, yamshchikov2020, zwerdling2021
from textgauge_papers.paper import Paper, Request, published

_MODULES = (ackerman2023, kour2022, usmb, yamshchikov2020, zwerdling2021, beyond)
PAPERS = {module.PAPER.name: module.PAPER for module in _MODULES}

__all__ = ["PAPERS", "SUITES", "Paper", "Request", "published"]
