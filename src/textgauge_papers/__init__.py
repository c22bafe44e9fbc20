"""Five papers and what goes beyond them, built on the public face of textgauge: published tables next to ours.

Suites, data sets, ELMo, pages and commands register with textgauge by entry points, as any other package could.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textgauge_papers.paper import Paper

    PAPERS: dict[str, Paper]

__all__ = ["PAPERS"]

_NAMES = ("ackerman2023", "kour2022", "usmb", "yamshchikov2020", "zwerdling2021", "beyond")


def __getattr__(name: str) -> Any:
    """Load the papers by name when they are first asked for."""
    from importlib import import_module

    if name != "PAPERS":
        raise AttributeError(f"module 'textgauge_papers' has no attribute {name!r}")
    papers = {paper: import_module(f"textgauge_papers.{paper}").PAPER for paper in _NAMES}
    globals()["PAPERS"] = papers
    return papers
