"""One HTML page about runs and results."""

from textgauge.report.page.html import page, page_and_summary
from textgauge.report.page.result_files import ResultFile, read_result, read_texts
from textgauge.report.page.tables import PageTable, table_of

__all__ = ["PageTable", "ResultFile", "page", "page_and_summary", "read_result", "read_texts", "table_of"]
