"""Published tables beside ours: the same data, protocols and metrics, and what differs."""

from textgauge.bench.reproduce import ackerman2023, kour2022, usmb, yamshchikov2020
from textgauge.bench.reproduce.paper import Asked, Paper, published

PAPERS = {paper.name: paper for paper in (ackerman2023.PAPER, kour2022.PAPER, usmb.PAPER, yamshchikov2020.PAPER)}

__all__ = ["PAPERS", "Asked", "Paper", "published"]
