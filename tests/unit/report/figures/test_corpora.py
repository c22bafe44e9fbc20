"""Figures of compare and describe: explanations, and the semantic-syntactic plane; texts are data alone."""

import json

import numpy as np
import pytest

from textgauge import compare
from textgauge.core.charts import render_chart
from textgauge.data import Corpus
from textgauge.measure.description import Description
from textgauge.metrics.properties.base import MeasuredCorpus, NearestMatches
from textgauge.report.figures.corpora import collect_plane_cells, collect_plane_points, draw_explanation, draw_plane

HOSTILE = "</script><b>\x00"


def measured(name, n=200, *, known=True):
    rng, zeros = np.random.default_rng(0), np.zeros(n, dtype=np.int64)
    near = NearestMatches(zeros, rng.uniform(-0.2, 1, n)) if known else None
    return MeasuredCorpus(
        name=name,
        corpus=Corpus.of(["text"] * n),
        forms=zeros,
        train=None,
        semantic=near,
        syntactic=NearestMatches(zeros, rng.uniform(0.5, 1, n)),
    )


def description(*corpora):
    return Description((), corpora, None, measured("train"))


def test_cells_hold_every_text_once():
    cells = collect_plane_cells(collect_plane_points(measured("a")), -0.2)
    assert cells["share"].sum() == pytest.approx(1)
    assert (cells["x2"] > cells["x"]).all()
    assert cells["y"].min() >= 0
    assert cells["y2"].max() <= 0.5


def test_a_name_cannot_leave_the_page_of_the_plane():
    assert b"</script><b>" not in render_chart(draw_plane(description(measured(HOSTILE))), "html")


REFERENCE = ["the cat sat", "a dog ran", "a bird sang", "</script><script>alert(1)</script>\x1b"]
CANDIDATE = ["pay the card", "a bank loan", "the cat sat", "my card"]


@pytest.fixture(scope="module")
def report():
    return compare(reference=REFERENCE, candidate=CANDIDATE, metrics="ahd@levenshtein,chi@words", explain=True)


def test_panels_are_those_of_the_explanations(report):
    made = draw_explanation(report, 3).to_dict()
    assert len(made["concat"]) == 2 * 2 + 1 + 1
    assert made["columns"] == 2
    drawn = [made["datasets"][panel["data"]["name"]] for panel in made["concat"]]
    top = report.explanations["ahd@levenshtein"].top(3, "candidate")
    assert [row["contribution"] for row in drawn[1]] == [row["contribution"] for row in top]
    assert [row["token"] for row in drawn[4]] == [row["token"] for row in report.explanations["chi@words"].tokens[:3]]
    assert [row["z"] for row in drawn[5]] == sorted(row["z"] for row in drawn[5])
    assert "ahd@levenshtein = " in json.dumps(made["title"])


def test_a_text_cannot_leave_the_page_it_is_drawn_on(report):
    page = render_chart(draw_explanation(report), "html")
    assert b"<script>alert(1)" not in page
    assert b"\x1b" not in page
    assert b"<script>alert" not in render_chart(draw_explanation(report), "svg")
