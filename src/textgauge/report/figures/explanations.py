"""What drives distances: the texts of both sides that add most, and the words that separate the corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textgauge.comparing import CompareReport
from textgauge.comparing.charts import term_panels, text_panels, token_panels
from textgauge.comparing.explain import Explanation
from textgauge.errors import InputError
from textgauge.report.figures.style import finished

if TYPE_CHECKING:
    import altair as alt


def explanation_figure(report: CompareReport, n: int = 10) -> alt.ConcatChart:
    """For each metric that splits into texts a panel per side, then the words; of a report made with `explain`."""
    explanations = list(report.explanations.values())
    panels = [panel for draw in (text_panels, token_panels) for found in explanations for panel in draw(found, n)]
    if report.terms is not None:
        panels += term_panels(report.terms, n)
    if not panels:
        raise InputError("there is nothing to draw: no metric of this report splits into texts, and there are no words")
    figure = finished(panels, "What sets the corpora apart", *map(_said, explanations))
    figure.columns = 2
    return figure


def _said(found: Explanation) -> str:
    part = "" if found.of == "value" else f" ({found.of})"
    return f"{found.metric}{part} = {found.total:.4g}; nearest texts by {found.distance}"
