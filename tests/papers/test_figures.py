"""Figures of a paper: those it names, numbered, with captions; a page with all of them."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.toys import take_samples

from textgauge.bench import Ksc, Plan, Results, Sources, Store, run
from textgauge.metrics import get_corpus_metrics
from textgauge.report import render_chart
from textgauge.report.figures import KINDS
from textgauge_papers import PAPERS
from textgauge_papers.figures import INDEX, PLANE, collect_plane_cells, draw_planes, paper_figures, write_figures
from textgauge_papers.paper import PaperFigure

LISTED = {
    "kour2022": {"2-top", "2-middle", "2-bottom", "3", "4", "5", "6"},
    "ackerman2023": {"1", "2", "3", "4", "8", "10", "11", "12", "13"},
    "usmb": {"1-2", "3-5", "D"},
    "zwerdling2021": {"1-2"},
    "yamshchikov2020": {"1"},
    "beyond": {"1", "2"},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("run"))
    run([Plan(Ksc(k=3, n=10, repetitions=2), Sources("a,b", take_samples()), get_corpus_metrics("jsd,cbdf"))], store)
    return Results(store)


def figures_of(*listed):
    return replace(PAPERS["kour2022"], figures=listed)


@pytest.mark.parametrize("paper", list(PAPERS))
def test_every_figure_of_the_paper_has_a_kind_and_a_caption(paper):
    listed = PAPERS[paper].figures
    assert {figure.number for figure in listed} == LISTED[paper]
    assert all(figure.kind in (*KINDS, PLANE) for figure in listed)
    assert all(figure.caption.endswith(".") for figure in listed)


def test_charts_are_chosen_by_kind_name_and_metric(results):
    tree = PaperFigure("3", "tree", "See this.", ("-cbdf",))
    (one,) = paper_figures(figures_of(tree), results)
    assert (one.number, one.caption) == ("3", "See this.")
    assert "cbdf" in one.figure.name
    only = PaperFigure("2", "distance", "See that.", metrics="jsd")
    (one,) = paper_figures(figures_of(only), results)
    assert len(one.figure.chart.to_dict()["concat"]) == 1


def test_files_are_numbered_and_one_page_shows_them_with_captions(results, tmp_path):
    listed = PaperFigure("2", "distance", "Red & <b>blue</b>."), PaperFigure("6", "box", "Boxes.")
    files = list(write_figures(figures_of(*listed), results, tmp_path))
    assert [file.name.split("-")[1] for file in files[:-1]] == ["2", "6"]
    page = files[-1].read_text()
    assert files[-1].name == INDEX
    assert "Figure 2. Red &amp; &lt;b&gt;blue&lt;/b&gt;." in page
    assert all(file.name in page for file in files[:-1])


def test_planes_are_drawn_of_kept_descriptions(tmp_path):
    rng = np.random.default_rng(0)
    texts = {
        "corpus": ["eda"] * 5 + ["lm"] * 5,
        "semantic": rng.uniform(0, 1, 10),
        "syntactic": rng.uniform(0.5, 1, 10),
    }
    place = tmp_path / "descriptions"
    place.mkdir()
    pl.DataFrame(texts).write_parquet(place / "news-0123.parquet")
    (one,) = paper_figures(figures_of(PaperFigure("1", PLANE, "Planes.")), Results(Store(tmp_path)))
    assert one.figure.name == "plane-news"
    assert [panel["title"]["text"] for panel in one.figure.chart.to_dict()["concat"]] == ["eda", "lm"]
    assert list(write_figures(figures_of(), Results(Store(tmp_path)), tmp_path)) == []


def test_cells_of_the_plane_hold_every_text_once():
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.2, 1, 200), 1 - rng.uniform(0.5, 1, 200)
    cells = collect_plane_cells(points, -0.2)
    assert cells["share"].sum() == pytest.approx(1)
    assert (cells["x2"] > cells["x"]).all()
    assert cells["y"].min() >= 0
    assert cells["y2"].max() <= 0.5
    assert b"</script><b>" not in render_chart(draw_planes({"</script><b>\x00": points}, "s"), "html")
