"""Renderers of stored results: figures and the HTML page."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.report.figures import Figure, draw_figures, render_chart
    from textgauge.report.figures.corpora import draw_planes
    from textgauge.report.page.result_files import ResultFile
    from textgauge.report.page.tables import PageTable, make_table

__all__ = [
    "Figure",
    "PageTable",
    "ResultFile",
    "draw_figures",
    "draw_planes",
    "make_table",
    "render_chart",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(
        __name__,
        {
            "figures": "Figure draw_figures render_chart",
            "figures.corpora": "draw_planes",
            "page.result_files": "ResultFile",
            "page.tables": "PageTable make_table",
        },
    )
