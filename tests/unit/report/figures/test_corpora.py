"""Figures of describe: the semantic-syntactic plane; texts are data alone."""

import numpy as np
import pytest

from textgauge.core.charts import render_chart
from textgauge.data import Corpus
from textgauge.measure.description import Description
from textgauge.metrics.properties.base import MeasuredCorpus, NearestMatches
from textgauge.report.figures.corpora import collect_plane_cells, collect_plane_points, draw_plane

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
