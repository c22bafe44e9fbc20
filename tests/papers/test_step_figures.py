"""Boxes of values, parts over k and deviations from prototypes: their numbers are those of the observations."""

import numpy as np
import polars as pl
import pytest
from tests.toys import PROTOTYPES, STEPS, make_compared

from textgauge.bench import Distributionality
from textgauge.bench.protocols.base import Observations
from textgauge.bench.results import Group
from textgauge.report.figures import draw_figures
from textgauge_papers.step_figures import (
    collect_component_rows,
    collect_deviation_rows,
    collect_step_values,
    draw_component,
    draw_deviation,
)


@pytest.fixture(scope="module")
def compared():
    return make_compared()


def test_components_are_means_at_each_step_for_each_k(compared):
    rows = collect_component_rows(compared)
    assert rows["component"].unique(maintain_order=True).to_list() == ["pr precision", "pr recall"]
    observed = compared.observed["pr(k=3)"]
    share = observed.columns["part.recall"][observed.columns["j"] - observed.columns["i"] == 4]
    row = rows.filter((pl.col("component") == "pr recall") & (pl.col("k") == 3) & (pl.col("step") == 4))
    assert row["mean"].item() == pytest.approx(share.mean())
    assert row["high"].item() == pytest.approx(share.mean() + share.std(ddof=1))
    assert draw_component(Group("d", STEPS, 0, "", {"fid": compared.observed["fid"]})) is None


def test_deviations_are_those_of_the_verdicts_the_most_distributional_first(compared):
    rows = collect_deviation_rows(compared)
    assert rows["metric"][0] == PROTOTYPES[0]
    assert rows["metric"][-1] == PROTOTYPES[1]
    fid = compared.verdicts["fid"]
    own = rows.filter(pl.col("metric") == "fid")
    assert dict(own.select("prototype", "deviation").iter_rows()) == {
        name: fid[f"deviation_{name}"].value for name in ("energy", "ahd")
    }
    assert draw_deviation(Group("d", STEPS, 0, "", {"fid": compared.observed["fid"]})) is None


FIRST, SECOND = np.triu_indices(5, 1)


def boxes_group(*metrics, value=None):
    values = np.arange(len(FIRST), dtype=float) if value is None else np.full(len(FIRST), value)
    columns = {"i": FIRST, "j": SECOND, "sample": np.zeros(len(FIRST), dtype=int)}
    seen = {metric: Observations(values, np.zeros(len(FIRST), dtype=int), columns) for metric in metrics}
    return Group("pairs", Distributionality(k=4), 0, "", seen)


def test_boxes_are_of_the_values_at_a_step():
    rows = collect_step_values(boxes_group("energy"), "energy")
    assert rows["step"].unique(maintain_order=True).to_list() == [1, 2, 3, 4]
    one = np.arange(len(FIRST))[SECOND - FIRST == 1]
    assert rows.filter(rows["step"] == 1)["value"].to_list() == one.tolist()


def test_metrics_metrics_over_k_and_parts_have_a_chart_each():
    names = ["energy", "pr(k=2)", "pr", "pr.recall(k=2)"]
    made = {figure.name: figure.chart.to_dict() for figure in draw_figures([boxes_group(*names)], kinds=["step_boxes"])}
    assert [len(chart["concat"]) for chart in made.values()] == [1, 2, 1]
    assert [name.split("-")[2] for name in made] == ["metrics", "by", "components"]
    panels = [panel["title"]["text"] for panel in list(made.values())[1]["concat"]]
    assert panels == ["pr(k=2)", "pr"]  # by k, whose default is 5


def test_a_metric_without_values_has_no_chart():
    assert list(draw_figures([boxes_group("energy", value=np.nan)], kinds=["step_boxes"])) == []
