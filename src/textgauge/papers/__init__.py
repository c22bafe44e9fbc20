"""Published tables next to ours: the same data, protocols and metrics, and what differs."""

from textgauge.papers import ackerman2023, kour2022, usmb, yamshchikov2020, zwerdling2021
from textgauge.papers.paper import Paper, Request, published

PAPERS = {module.PAPER.name: module.PAPER for module in (ackerman2023, kour2022, usmb, yamshchikov2020, zwerdling2021)}

__all__ = ["PAPERS", "Paper", "Request", "published"]
