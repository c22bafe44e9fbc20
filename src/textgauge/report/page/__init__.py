"""One HTML page about runs and results."""

from textgauge.report.page.page import page, page_and_summary
from textgauge.report.page.result_files import ResultFile, read_result
from textgauge.report.page.tables import PageTable, table_of
from textgauge.report.page.text_tables import read_texts

__all__ = ["PageTable", "ResultFile", "page", "page_and_summary", "read_result", "read_texts", "table_of"]
