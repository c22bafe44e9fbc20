"""Figures of moved points: their numbers are those of the trials."""

import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from scipy import stats

from textgauge.bench import Plan, Results, Store, run
from textgauge.report import draw_figures, render_chart
from textgauge_papers.perturbation import POINTS, Perturbation, get_point_metrics
from textgauge_papers.perturbation_figures import SHIFTED, UNPERTURBED, collect_perturbation_rows, sample_rows

MOVED = Perturbation(n=40, repetitions=3, largest_q=3, steps=4)


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("run"))
    run([Plan(MOVED, POINTS, get_point_metrics("fid,dc(k=2)"), 7)], store)
    (group,) = Results(store).groups()
    return group


def test_sweeps_hold_the_means_of_their_trials(moved):
    observed = moved.observed["fid@given"]
    at, value = observed.columns, observed.value
    for over, places in (("delta", MOVED.deltas), ("p", MOVED.shares), ("q", [2.0, 3.0])):
        rows = collect_perturbation_rows(moved, "fid@given", over)
        assert rows.filter(pl.col("what") == SHIFTED)["x"].to_list() == places
        row = rows.filter((pl.col("what") == SHIFTED) & (pl.col("x") == places[-1])).row(0, named=True)
        fixed = {"delta": 3.0, "p": 0.1, "q": 2} | {over: places[-1]}
        values = value[np.all([at[name] == fixed[name] for name in fixed], axis=0)]
        low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
        assert len(values) == 3
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((np.mean(values), low, high))


def test_the_unperturbed_level_is_that_of_the_same_dimensions(moved):
    observed = moved.observed["fid@given"]
    levels = {q: observed.of("delta", 0.0).of("q", q).value.mean() for q in (2, 3)}
    for over in ("delta", "p"):
        rows = collect_perturbation_rows(moved, "fid@given", over).filter(pl.col("what") == UNPERTURBED)
        assert rows["mean"].to_numpy() == pytest.approx(np.full(len(rows), levels[2]))
    rows = collect_perturbation_rows(moved, "fid@given", "q").filter(pl.col("what") == UNPERTURBED)
    assert rows["mean"].to_list() == pytest.approx([levels[2], levels[3]])


def test_points_are_those_of_the_trials(moved):
    rows = sample_rows(moved, 1)
    drawn = MOVED.draw_points(2, 1, moved.seed)
    places = {
        (picture, of): rows.filter((pl.col("picture") == picture) & (pl.col("of") == of)).select("x", "y").to_numpy()
        for picture in (UNPERTURBED, SHIFTED)
        for of in ("A", "B", "moved group")
    }
    assert np.array_equal(places[SHIFTED, "A"], drawn.A)
    assert np.array_equal(places[SHIFTED, "B"], places[UNPERTURBED, "B"])
    gone = places[SHIFTED, "moved group"] - places[UNPERTURBED, "moved group"]
    assert np.linalg.norm(gone, axis=1) == pytest.approx(np.full(4, MOVED.delta))
    batch = list(MOVED.trials(POINTS, moved.seed))[1]
    assert np.array_equal(batch.joint.embeddings("given")[:40], drawn.A)


def test_charts_keep_to_the_schema_and_can_be_rendered(moved):
    made = list(draw_figures([moved]))
    assert [figure.name.split("-")[1] for figure in made] == ["delta", "p", "q", "points"]
    for figure in made:
        figure.chart.to_dict(validate=True)
        ET.fromstring(render_chart(figure.chart, "svg"))
