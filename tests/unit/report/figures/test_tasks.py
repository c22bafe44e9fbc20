"""Figures of tasks: their numbers are those of the leaderboard, of the observations, of the ensembles."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from scipy import stats

from textgauge.bench import Clustering, Ksc, Plan, Retrieval, Robustness, Sensitivity, Store, run
from textgauge.bench.ensembles import NAMES, Contribution, train_ensembles
from textgauge.bench.leaderboard import rank_metrics
from textgauge.bench.protocols.base import Verdict
from textgauge.bench.results import Group, Results
from textgauge.core.errors import InputError
from textgauge.metrics import get_pair_metrics
from textgauge.report import figures as draw
from textgauge.report.figures.pairs import (
    OVERALL,
    collect_contribution_rows,
    collect_sensitivity_rows,
    collect_task_cells,
    draw_contribution,
    draw_sensitivity,
    draw_task,
)

BENT = Sensitivity(documents_drawn=6)
TASKS = {
    Robustness(documents_drawn=12): "sample:articles",
    BENT: "sample:articles",
    Clustering(n=12, folds=3): "sample:intents",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("run"))
    metrics = get_pair_metrics("levenshtein,jaccard")
    run([Plan(task, task.data.read(spec), metrics, 0) for task, spec in TASKS.items()], store)
    train_ensembles(store, Results(store).groups())
    return store


@pytest.fixture(scope="module")
def found(store):
    return Results(store).groups()


@pytest.fixture(scope="module")
def bent(found):
    return next(group for group in found if group.protocol == BENT)


def test_the_heat_map_is_the_leaderboard(store, found):
    groups = Results(store).groups()
    cells, board = collect_task_cells(groups), rank_metrics(groups)
    assert cells["metric"].unique(maintain_order=True).to_list() == [row.metric for row in board]
    assert cells["task"].unique(maintain_order=True).to_list() == ["robustness", "sensitivity", "clustering", OVERALL]
    for row in board:
        mine = dict(cells.filter(pl.col("metric") == row.metric).select("task", "value").rows())
        assert mine == pytest.approx({**row.measures, OVERALL: row.overall})
    assert set(NAMES.values()) < set(cells["metric"])


def test_a_cell_has_the_interval_of_its_verdict(store):
    groups = Results(store).groups()
    verdict = next(group for group in groups if group.protocol == BENT).verdicts["jaccard"]["sensitivity"]
    cell = collect_task_cells(groups).filter((pl.col("metric") == "jaccard") & (pl.col("task") == "sensitivity"))
    assert cell.select("value", "low", "high").row(0) == pytest.approx((verdict.value, verdict.low, verdict.high))
    whole = collect_task_cells(groups).filter(pl.col("task") == OVERALL)
    assert ((whole["low"] <= whole["value"]) & (whole["value"] <= whole["high"])).all()


def test_a_task_without_a_score_is_a_dash_and_is_named():
    def judged(metric, task, value):
        draws = () if math.isnan(value) else (value,) * 1_000
        name = task.measures[0].name
        verdict = Verdict(name, value, values=(value,), draws=draws, units=9)
        return Group("d", task, 0, judged={metric: [verdict]})

    known = [
        judged(metric, task, value)
        for metric, task, value in [
            ("jaccard", Robustness(), 0.5),
            ("jaccard", Retrieval(), 0.75),
            ("levenshtein", Robustness(), 0.25),
            ("levenshtein", Retrieval(), math.nan),
        ]
    ]
    cells = collect_task_cells(known)
    assert cells.filter(pl.col("metric") == "levenshtein")["value"].to_list() == [0.25, None, None]
    chart = draw_task(known)
    spec = chart.to_dict()
    assert spec["title"]["subtitle"][-1].endswith("without an overall score: levenshtein")
    (rows,) = spec["datasets"].values()
    assert [row["score"] for row in rows] == ["0.50", "0.75", "0.62", "0.25", "–", "–"]
    assert ">null<" not in draw.render_chart(chart, "svg").decode()


def test_curves_are_means_over_documents_with_students_interval(bent):
    rows = collect_sensitivity_rows(bent)
    assert len(rows) == 2 * 3 * 9
    observed = bent.observed["jaccard"]
    at = observed.columns
    here = (at["change"] == "remove") & (at["share"] == 0.25) & (at["place"] == "middle")
    values = observed.value[here]
    assert len(values) == 6
    row = rows.filter((pl.col("metric") == "jaccard") & (pl.col("place") == "middle") & (pl.col("x") == -0.25))
    low, high = stats.t.interval(0.95, 5, values.mean(), stats.sem(values))
    assert row.select("mean", "low", "high").row(0) == pytest.approx((values.mean(), low, high))


def test_one_panel_per_place_with_a_line_per_metric_and_the_ideal(bent):
    spec = draw_sensitivity(bent).to_dict()
    assert [panel["title"]["text"] for panel in spec["concat"]] == [
        "beginning of the text",
        "middle of the text",
        "end of the text",
    ]
    assert all(len(panel["layer"]) == 4 for panel in spec["concat"])
    with pytest.raises(InputError, match="needs a protocol with ideal"):
        draw_sensitivity(Group("d", Ksc(), 0))


def test_a_metric_without_values_is_named(bent):
    undefined = bent.observed["jaccard"]
    undefined = type(undefined)(np.full(len(undefined.value), np.nan), undefined.batch, undefined.columns)
    group = Group("d", BENT, 0, "", {**bent.observed, "rouge": undefined})
    assert draw_sensitivity(group).to_dict()["title"]["subtitle"][-1] == "not shown (undefined): rouge"


CONTRIBUTIONS = (
    Contribution("task ensemble", "axis", "one", "cosine", 0.25, 0.1),
    Contribution("task ensemble", "axis", "one", "jaccard", 0.75, 0.3),
    Contribution("task ensemble", "axis", "two", "cosine", 0.25, 0.2),
    Contribution("task ensemble", "axis", "two", "jaccard", 0.75, math.nan),
    Contribution("universal ensemble", "axis", "one", "cosine", math.nan, -0.1),
)


def test_contributions_are_means_over_data_sets_and_leave_out_what_is_undefined():
    rows = collect_contribution_rows(CONTRIBUTIONS, "task ensemble", "importance")
    assert rows.select("metric", "value", "mean").rows() == [
        ("cosine", 0.1, pytest.approx(0.15)),
        ("jaccard", 0.3, pytest.approx(0.3)),
        ("cosine", 0.2, pytest.approx(0.15)),
    ]
    assert (
        collect_contribution_rows(CONTRIBUTIONS, "task ensemble", "share", {"cosine"})["metric"].to_list()
        == ["cosine"] * 2
    )
    assert draw_contribution(CONTRIBUTIONS, "universal ensemble", "share") is None
    assert draw_contribution(CONTRIBUTIONS, "universal ensemble", "importance") is not None


def test_a_run_of_tasks_gives_its_figures_and_no_others(found):
    names = [figure.name for figure in draw.draw_figures(found)]
    assert names == [
        "tasks",
        "sensitivity-sample-articles",
        "contributions-task-ensemble-share",
        "contributions-task-ensemble-importance",
        "contributions-universal-ensemble-importance",
    ]


def test_charts_keep_to_the_schema_and_can_be_rendered(found):
    for figure in draw.draw_figures(found):
        figure.chart.to_dict(validate=True)
        ET.fromstring(draw.render_chart(figure.chart, "svg"))
