"""Renderers of stored results: figures and the HTML page; `style` is what figures of other packages are made with."""

from typing import TYPE_CHECKING

from textgauge.core.lazy import export_lazily

if TYPE_CHECKING:
    from textgauge.report.figures import Figure, draw_figures, render_chart, style
    from textgauge.report.page.result_files import ResultFile
    from textgauge.report.page.tables import PageTable, make_table

__all__ = [
    "Figure", "PageTable", "ResultFile", "draw_figures", "make_table", "render_chart", "style",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = export_lazily(__name__)
