"""Pages of ledgers for the documentation: a page per paper with a run, a row per paper in the table over all."""

import json

import pytest
from benchmarks import ledgers

ROW = {"claim": "a | b", "paper": "1", "ours": None, "interval": "+1 to +2", "criterion": "above 0", "data": "x"}
ROWS = [{**ROW, "verdict": verdict, "why": None, "deviation": None} for verdict in ("not replicated", "replicated")]


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.setattr(ledgers, "PAPERS", dict.fromkeys(("first", "second", "third")))
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "results.md").write_text("# Results\n\n<!-- ledgers -->\nold\n<!-- /ledgers -->\n\nMore.\n")
    (tmp_path / "docs" / "results" / "second.md").write_text("# second\n\n3 replicated (3 claims).\n")
    (tmp_path / "ledgers.json").write_text(json.dumps({"rows": [{"source": "first", **row} for row in ROWS]}))
    ledgers.main(str(tmp_path / "ledgers.json"), docs=str(tmp_path / "docs"))
    return tmp_path / "docs"


def test_a_run_gives_a_page_with_failures_first(docs):
    page = (docs / "results" / "first.md").read_text()
    assert page.startswith("# first\n\n1 not replicated, 1 replicated, 0 not testable here (2 claims).\n")
    assert page.index("## Not replicated") < page.index("## Replicated")
    assert "| a \\| b | 1 |  | +1 to +2 |" in page
    assert page.count("- above 0") == 1


def test_the_table_has_every_paper_and_keeps_pages_without_a_run(docs):
    page = (docs / "results.md").read_text()
    assert "| [second](results/second.md) | 3 replicated (3 claims) |" in page
    assert "| third | not run |" in page
    assert "old" not in page
    assert page.startswith("# Results")
    assert page.endswith("More.\n")
