"""The figure of explanations: two panels a metric, tokens and words after them, texts as data alone."""

import json

import pytest

from textgauge import compare
from textgauge.errors import InputError
from textgauge.report.figures.corpora import explanation_figure
from textgauge.report.figures.render import rendered

REFERENCE = ["the cat sat", "a dog ran", "a bird sang", "</script><script>alert(1)</script>\x1b"]
CANDIDATE = ["pay the card", "a bank loan", "the cat sat", "my card"]


@pytest.fixture(scope="module")
def report():
    return compare(reference=REFERENCE, candidate=CANDIDATE, metrics="ahd@levenshtein,chi@words", explain=True)


def test_panels_are_those_of_the_explanations(report):
    made = explanation_figure(report, 3).to_dict()
    assert len(made["concat"]) == 2 * 2 + 1 + 1
    assert made["columns"] == 2
    drawn = [made["datasets"][panel["data"]["name"]] for panel in made["concat"]]
    top = report.explanations["ahd@levenshtein"].top(3, "candidate")
    assert [row["contribution"] for row in drawn[1]] == [row["contribution"] for row in top]
    assert [row["token"] for row in drawn[4]] == [row["token"] for row in report.explanations["chi@words"].tokens[:3]]
    assert [row["z"] for row in drawn[5]] == sorted(row["z"] for row in drawn[5])
    assert "ahd@levenshtein = " in json.dumps(made["title"])


def test_a_text_cannot_leave_the_page_it_is_drawn_on(report):
    page = rendered(explanation_figure(report), "html")
    assert b"<script>alert(1)" not in page
    assert b"\x1b" not in page
    assert b"<script>alert" not in rendered(explanation_figure(report), "svg")


def test_a_report_without_explanations_is_refused():
    report = compare(reference=REFERENCE, candidate=CANDIDATE, metrics="jsd@words")
    with pytest.raises(InputError, match="nothing to draw"):
        explanation_figure(report)
