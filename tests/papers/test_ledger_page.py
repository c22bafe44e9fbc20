"""Ledgers on a page: a table for each paper, failures first, everything escaped."""

import json

import pytest

from textgauge.report.page import read_result, render_page
from textgauge_papers.ledger import Claim, Finding, ledger


def claims(source):
    found = [
        Claim("a is above b", "0.9", "data", "interval above 0", lambda _: Finding(True, "0.1", "+0.05 to +0.15")),
        Claim("<b>c</b> is below d", "0.2", "data", "interval below 0", lambda _: Finding(False, why="includes 0")),
    ]
    return [{"source": source, **row} for row in ledger(found, None)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ledgers.json"
    path.write_text(json.dumps({"schema": 1, "command": "reproduce", "rows": [*claims("first"), *claims("second")]}))
    return path


def test_a_table_for_each_paper_with_failures_first(file):
    found = read_result(file)
    titles = ["What holds of first", "Claims of first", "What holds of second", "Claims of second"]
    assert [table.title for table in found.tables] == titles
    assert found.sentences[0] == "`first`: 1 not replicated, 1 replicated, 0 not testable here (2 claims)."
    html = render_page(results=[found])
    assert html.index("1 of 2</td>") < html.index("not replicated</td>") < html.index("a is above b")
    assert "&lt;b&gt;c&lt;/b&gt; is below d" in html
    assert "<b>c</b>" not in html
    assert '<a href="#results">Claims</a>' in html


def test_rows_of_other_kinds_are_no_ledger(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"schema": 1, "command": "reproduce", "rows": [{"claim": "x", "value": 1}]}))
    assert [table.title for table in read_result(path).tables] == ["rows"]
