"""Renderers of stored results: figures and the HTML page."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.report.figures import Figure, draw_figures, rendered
    from textgauge.report.figures.corpora import planes
    from textgauge.report.page.result_files import ResultFile
    from textgauge.report.page.tables import PageTable, table_of

__all__ = [
    "Figure",
    "PageTable",
    "ResultFile",
    "draw_figures",
    "planes",
    "rendered",
    "table_of",
]

if not TYPE_CHECKING:
    __getattr__ = export_lazily(
        __name__,
        {
            "figures": "Figure draw_figures rendered",
            "figures.corpora": "planes",
            "page.result_files": "ResultFile",
            "page.tables": "PageTable table_of",
        },
    )
