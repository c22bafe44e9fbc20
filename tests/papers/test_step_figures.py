"""Boxes of values, parts over k and deviations from prototypes: their numbers are those of the observations."""

import numpy as np
import polars as pl
import pytest

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

PAPER = Distributionality(n=20, k=5, repetitions=3)
PROTOTYPES = ("energy@euclidean", "ahd@euclidean")


def steps_of(values, *, sample=None, parts=None):
    """Observations of k + 1 corpora: one row of values per repetition."""
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    i, j = np.triu_indices(PAPER.k + 1, 1)
    columns = {"i": np.tile(i, len(rows)), "j": np.tile(j, len(rows)), "sample": np.zeros(rows.size, dtype=int)}
    columns["repetition"] = np.repeat(np.arange(len(rows)), len(i))
    return Observations(rows.ravel(), np.repeat(np.arange(len(rows)), len(i)), columns | (parts or {}))


def noisy(power, seed=0):
    i, j = np.triu_indices(PAPER.k + 1, 1)
    return (j - i) ** power + np.random.default_rng(seed).normal(0, 0.3, (3, len(i)))


@pytest.fixture(scope="module")
def compared():
    shares = {name: np.random.default_rng(3).random(45) for name in ("part.precision", "part.recall")}
    observed = {
        PROTOTYPES[1]: steps_of(noisy(0.5)),
        PROTOTYPES[0]: steps_of(noisy(2.0)),
        "fid": steps_of(noisy(1.5)),
        "pr(k=2)": steps_of(noisy(1.0), parts=shares),
        "pr(k=3)": steps_of(noisy(1.0, 1), parts={name: 1 - share for name, share in shares.items()}),
    }
    return Group("pairs", PAPER, 0, "", observed)


def test_components_are_means_at_each_step_for_each_k(compared):
    rows = collect_component_rows(compared)
    assert rows["component"].unique(maintain_order=True).to_list() == ["pr precision", "pr recall"]
    observed = compared.observed["pr(k=3)"]
    share = observed.columns["part.recall"][observed.columns["j"] - observed.columns["i"] == 4]
    row = rows.filter((pl.col("component") == "pr recall") & (pl.col("k") == 3) & (pl.col("step") == 4))
    assert row["mean"].item() == pytest.approx(share.mean())
    assert row["high"].item() == pytest.approx(share.mean() + share.std(ddof=1))
    assert draw_component(Group("d", PAPER, 0, "", {"fid": compared.observed["fid"]})) is None


def test_deviations_are_those_of_the_verdicts_the_most_distributional_first(compared):
    rows = collect_deviation_rows(compared)
    assert rows["metric"][0] == PROTOTYPES[0]
    assert rows["metric"][-1] == PROTOTYPES[1]
    fid = compared.verdicts["fid"]
    own = rows.filter(pl.col("metric") == "fid")
    assert dict(own.select("prototype", "deviation").iter_rows()) == {
        name: fid[f"deviation_{name}"].value for name in ("energy", "ahd")
    }
    assert draw_deviation(Group("d", PAPER, 0, "", {"fid": compared.observed["fid"]})) is None


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
