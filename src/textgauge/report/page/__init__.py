"""One HTML page about runs and results."""

from textgauge.report.page.html import render_page, render_page_and_summary
from textgauge.report.page.result_files import ResultFile, read_result

__all__ = ["ResultFile", "read_result", "render_page", "render_page_and_summary"]
