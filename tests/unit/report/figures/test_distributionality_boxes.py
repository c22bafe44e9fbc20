"""Boxes over the steps between two corpora: their quartiles are those of the values."""

import numpy as np

from textgauge.bench.protocols import Distributionality
from textgauge.bench.protocols.base import Observations
from textgauge.bench.results import Group
from textgauge.report.figures import draw_figures
from textgauge.report.figures.distributionality import step_quartiles

FIRST, SECOND = np.triu_indices(5, 1)


def group(*metrics, value=None):
    values = np.arange(len(FIRST), dtype=float) if value is None else np.full(len(FIRST), value)
    columns = {"i": FIRST, "j": SECOND, "sample": np.zeros(len(FIRST), dtype=int)}
    seen = {metric: Observations(values, np.zeros(len(FIRST), dtype=int), columns) for metric in metrics}
    return Group("pairs", Distributionality(k=4), 0, "", seen)


def test_quartiles_are_of_the_values_at_a_step():
    rows = step_quartiles(group("energy"), "energy")
    assert rows["step"].to_list() == [1, 2, 3, 4]
    one = np.arange(len(FIRST))[SECOND - FIRST == 1]
    assert rows.row(0)[1:] == tuple(np.quantile(one, [0, 0.25, 0.5, 0.75, 1]))


def test_metrics_metrics_over_k_and_parts_have_a_chart_each():
    names = ["energy", "pr(k=2)", "pr", "pr.recall(k=2)"]
    made = {figure.name: figure.chart.to_dict() for figure in draw_figures([group(*names)], kinds=["step_boxes"])}
    assert [len(chart["concat"]) for chart in made.values()] == [1, 2, 1]
    assert [name.split("-")[2] for name in made] == ["metrics", "by", "components"]
    panels = [panel["title"]["text"] for panel in list(made.values())[1]["concat"]]
    assert panels == ["pr(k=2)", "pr"]  # by k, whose default is 5


def test_a_metric_without_values_has_no_chart():
    assert list(draw_figures([group("energy", value=np.nan)], kinds=["step_boxes"])) == []
