"""Figures of moved points and of distributionality: their numbers are those of the observations."""

import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.toys import PROTOTYPES, STEPS, make_compared, steps_of

from textgauge.bench.protocols.distributionality import compute_trajectory
from textgauge.bench.results import Group
from textgauge.report import figures as draw
from textgauge.report.figures.distances import (
    METRIC,
    collect_density_rows,
    collect_trajectory_rows,
    draw_density,
    draw_trajectory,
    standardise_distances,
)
from textgauge.stats.density import CELLS, HIGH, LOW, STEP

GRID = np.linspace(LOW, HIGH, CELLS + 1)


@pytest.fixture(scope="module")
def compared():
    return make_compared()


def test_trajectories_are_standardised_over_all_steps(compared):
    z, step = standardise_distances(compared, "fid")
    assert z == pytest.approx(stats.zscore(compared.observed["fid"].value))
    rows = collect_trajectory_rows(compared, "fid")
    assert rows["step"].to_list() == [1, 2, 3, 4, 5]
    second = rows.row(1, named=True)
    spread = z[step == 2].std(ddof=1)
    assert second["mean"] == pytest.approx(z[step == 2].mean())
    assert (second["low"], second["high"]) == pytest.approx((second["mean"] - spread, second["mean"] + spread))


def test_densities_are_those_that_the_protocol_compares(compared):
    observed = compared.observed["fid"]
    made = compute_trajectory(observed.value, observed.columns["j"] - observed.columns["i"])
    for step, density in zip(range(1, 6), made.densities, strict=True):
        rows = collect_density_rows(compared, "fid").filter(pl.col("step") == step)
        around = [density[abs(GRID - z) < 2.5 * STEP].max() for z in rows["z"]]
        assert rows["density"].to_numpy() == pytest.approx(np.array(around))
        assert rows["density"].max() == pytest.approx(density.max())


def test_every_metric_is_drawn_beside_both_prototypes(compared):
    chart = draw_trajectory(compared).to_dict()
    assert len(chart["concat"]) == 5
    assert [len(panel["layer"]) for panel in chart["concat"]] == [4] * 5
    curves = {row.get("curve") for rows in chart["datasets"].values() for row in rows}
    assert curves == {METRIC, "energy", "ahd"}
    assert len(draw_density(compared, "fid").to_dict()["concat"]) == 5


def test_chosen_metrics_keep_their_prototypes(compared):
    names = [figure.name for figure in draw.draw_figures([compared], metrics={"fid"})]
    assert names == [
        "trajectory-pairs-distributionality",
        "density-pairs-distributionality-fid",
        "deviations-pairs-distributionality",
        "step-boxes-metrics-pairs-distributionality",
    ]
    assert not list(draw.draw_figures([compared], metrics={"mauve"}))


def test_degenerate_distances_are_drawn_or_named():
    observed = {
        PROTOTYPES[1]: steps_of(np.ones((3, 15))),
        PROTOTYPES[0]: steps_of(np.arange(15.0)),
        "fid": steps_of(np.where(np.arange(15) == 3, np.nan, np.arange(15.0))),
    }
    group = Group("pairs", STEPS, 0, "", observed)
    chart = draw_trajectory(group).to_dict()
    assert chart["title"]["subtitle"][-1] == "not shown (constant or undefined): ahd@euclidean"
    assert "fid, ahd@euclidean" in draw_density(group, "fid").to_dict()["title"]["subtitle"][-1]
    for figure in draw.draw_figures([group]):
        ET.fromstring(draw.render_chart(figure.chart, "svg"))


def test_charts_keep_to_the_schema_and_can_be_rendered(compared):
    for figure in draw.draw_figures([compared]):
        figure.chart.to_dict(validate=True)
        ET.fromstring(draw.render_chart(figure.chart, "svg"))
