"""Figures of moved points and of distributionality: their numbers are those of the observations."""

import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from scipy import stats

from textgauge.bench import Distributionality, Plan, Store, run
from textgauge.bench.protocols.base import Observations
from textgauge.bench.protocols.distributionality import compute_trajectory
from textgauge.bench.results import Group, Results
from textgauge.report import figures as draw
from textgauge.report.figures.distributionality import (
    METRIC,
    collect_density_rows,
    collect_trajectory_rows,
    draw_density,
    draw_trajectory,
    standardise_distances,
)
from textgauge.report.figures.sweeps import (
    SHIFTED,
    UNPERTURBED,
    collect_perturbation_rows,
    sample_rows,
)
from textgauge.stats.density import CELLS, HIGH, LOW, STEP
from textgauge_papers.perturbation import POINTS, Perturbation, get_point_metrics

MOVED = Perturbation(n=40, repetitions=3, largest_q=3, steps=4)
GRID = np.linspace(LOW, HIGH, CELLS + 1)
PAPER = Distributionality(n=20, k=5, repetitions=3)
PROTOTYPES = ("energy@euclidean", "ahd@euclidean")


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("run"))
    run([Plan(MOVED, POINTS, get_point_metrics("fid,dc(k=2)"), 7)], store)
    (group,) = Results(store).groups()
    return group


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
    drawn = MOVED.drawn(2, 1, moved.seed)
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
    group = Group("pairs", PAPER, 0, "", observed)
    chart = draw_trajectory(group).to_dict()
    assert chart["title"]["subtitle"][-1] == "not shown (constant or undefined): ahd@euclidean"
    assert "fid, ahd@euclidean" in draw_density(group, "fid").to_dict()["title"]["subtitle"][-1]
    for figure in draw.draw_figures([group]):
        ET.fromstring(draw.render_chart(figure.chart, "svg"))


def test_charts_keep_to_the_schema_and_can_be_rendered(moved, compared):
    for figure in draw.draw_figures([moved, compared]):
        figure.chart.to_dict(validate=True)
        ET.fromstring(draw.render_chart(figure.chart, "svg"))
