"""One HTML page about runs and results."""

from textgauge.report.page.page import page, page_and_summary
from textgauge.report.page.results import Result, read_result, read_texts
from textgauge.report.page.tables import Table, table_of

__all__ = ["Result", "Table", "page", "page_and_summary", "read_result", "read_texts", "table_of"]
