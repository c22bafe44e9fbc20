"""Pages of ledgers for the documentation: a page per paper with a run, a row per paper in the table over all."""

import json

import pytest
from benchmarks import ledgers

ROW = {"claim": "a | b", "paper": "1", "ours": None, "interval": "+1 to +2", "criterion": "above 0", "data": "x"}
ROWS = [
    {**ROW, "outcome": outcome, "finding": finding, "way": None, "why": None, "deviation": deviation}
    for finding, outcome, deviation in (("t", "does not hold", None), ("u", "holds", "fewer texts"))
]


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.setattr(ledgers, "PAPERS", dict.fromkeys(("first", "second", "third")))
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "results.md").write_text("# Results\n\n<!-- ledgers -->\nold\n<!-- /ledgers -->\n\nMore.\n")
    (tmp_path / "docs" / "results" / "second.md").write_text(
        "# second\n\nHolds: a; b.\n\n2 of 2 findings hold (3 claims).\n\nWhat it is.\n\n| finding |\n\nMore.\n"
    )
    saved = {"rows": [{"source": "first", **row} for row in ROWS], "details": {"seconds": {"first": 130.0}}}
    (tmp_path / "ledgers.json").write_text(json.dumps(saved))
    ledgers.main(str(tmp_path / "ledgers.json"), docs=str(tmp_path / "docs"))
    return tmp_path / "docs"


def test_a_run_gives_a_page_with_failures_first(docs):
    page = (docs / "results" / "first.md").read_text()
    counted = "1 of 2 findings holds, 1 does not hold (2 claims)"
    assert page.startswith("# first\n\nHolds: u. Does not hold: t.\n\n")
    assert f"\n\n{counted}. The run took 2.2 minutes of processor time.\n" in page
    assert "| t | does not hold | 0 of 1 | a \\| b: None (+1 to +2) |" in page
    assert page.index("## Claims: does not hold") < page.index("## Claims: holds")
    assert "| a \\| b | 1 |  | +1 to +2 |" in page
    assert page.count("- above 0") == 1
    assert "- fewer texts (1 of 2 claims)\n" in page


def test_the_table_has_every_paper_and_keeps_pages_without_a_run(docs):
    page = (docs / "results.md").read_text()
    assert "| [second](results/second.md) | 2 of 2 findings hold (3 claims) |  |" in page
    assert "(2 claims) | 2.2 minutes of processor time |" in page
    assert "| third | not run |  |" in page
    assert "## first\n\n| finding | outcome | claims | seen |" in page
    assert "\nold\n" not in page
    assert page.startswith("# Results")
    assert page.endswith("More.\n")


def test_a_number_that_does_not_vary_counts_as_far():
    row = {"source_a": "a", "source_b": "b", "k": 7, "metric": "CHI", "measure": "accuracy", "variant": "paper"}
    row |= {"published": 0.9, "reason": "padding", "repetitions": 40}
    rows = [row | {"ours": 0.8, "difference": -0.1, "error": 0.0}, row | {"ours": 0.9, "difference": 0.0, "z": 0.2}]
    page = ledgers.table3_page([*rows, row | {"metric": "FID", "ours": 0.8, "difference": -0.1, "z": -3.0}])
    assert "- padding (3 of 3 numbers)" in page
    assert "| a, b | CHI | paper | 1 of 2 | -0.100 |" in page
    assert "| -3.0 |" in page
    assert "within 0.100 on a, b" in page
    assert [ledgers._show_z(one) for one in rows] == ["−∞", "+0.2"]
