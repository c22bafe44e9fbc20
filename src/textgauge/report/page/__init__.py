"""One HTML page about runs and results."""

from textgauge.report.page.html import render_page, render_page_and_summary
from textgauge.report.page.result_files import ResultFile, read_result
from textgauge.report.page.tables import PageTable, make_table

__all__ = [
    "PageTable",
    "ResultFile",
    "make_table",
    "read_result",
    "render_page",
    "render_page_and_summary",
]
