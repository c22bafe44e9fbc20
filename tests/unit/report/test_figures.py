"""Figures: their numbers are those of the observations, their files are safe and the same every time."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.toys import take_samples

from textgauge.bench import Ksc, Plan, Size, Sources, Speed, Store, run
from textgauge.bench.protocols.base import Observations
from textgauge.bench.results import Group, Results
from textgauge.core.charts import escape_for_script, render_page
from textgauge.metrics import get_corpus_metrics
from textgauge.report import figures as draw
from textgauge.report.figures.distances import (
    TIED,
    VIOLATED,
    collect_distance_points,
    collect_sweep_points,
    collect_tree_edges,
    collect_tree_nodes,
    compute_asymptote,
    draw_distance,
    draw_tree,
)
from textgauge.report.figures.measures import (
    collect_box_points,
    collect_box_rows,
    collect_radar_values,
    draw_box,
    draw_radar,
    place_measures,
)
from textgauge.report.figures.style import compute_regression_band, get_own_values, measure_means

HOSTILE = "</script><script>alert('x')</script><b>&\"\x00\x1b\n<!--"
KSC = Ksc(k=4, n=10, repetitions=3)
SIZE = Size(smallest=5, step=10, total=30, large=40, draws=3, repetitions=3)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = Store(tmp_path_factory.mktemp("run"))
    for metrics in ("jsd@words", "cbdf@words"):
        sources = Sources(HOSTILE, take_samples())
        run([Plan(protocol, sources, get_corpus_metrics(metrics)) for protocol in (KSC, SIZE)], made)
    return made


@pytest.fixture(scope="module")
def found(store):
    return draw.select_latest_groups(Results(store).groups())


def of(found, protocol):
    return next(group for group in found if group.protocol == protocol)


def group_of(distances, *, k, metric="jsd@words", data="data"):
    """A group of known-similarity corpora whose distances are given, one row per repetition."""
    i, j = np.triu_indices(k, 1)
    rows = np.atleast_2d(np.asarray(distances, dtype=float))
    columns = {"i": np.tile(i, len(rows)), "j": np.tile(j, len(rows))}
    observed = Observations(rows.ravel(), np.repeat(np.arange(len(rows)), len(i)), columns)
    return Group(data, Ksc(k=k, n=10, repetitions=len(rows)), 0, "", {metric: observed})


def test_distances_are_z_scored_over_all_repetitions(found):
    group = of(found, KSC)
    points = collect_distance_points(group, "jsd@words")
    assert len(points) == 3 * 6
    assert points["z"].to_numpy() == pytest.approx(stats.zscore(points["value"].to_numpy()))
    assert (points["step"] == points["j"] - points["i"]).all()
    assert points["value"].to_list() == group.observed["jsd@words"].value.tolist()


def test_the_band_is_that_of_a_least_squares_line():
    rng = np.random.default_rng(0)
    x = rng.integers(1, 7, 40).astype(float)
    y = 2 * x + rng.normal(size=40)
    fit, reach = compute_regression_band(x, y, np.array([0.0]))
    line = stats.linregress(x, y)
    assert fit[0] == pytest.approx(line.intercept)
    assert reach[0] == pytest.approx(line.intercept_stderr * stats.t.ppf(0.975, 38))


def test_sweeps_have_means_with_students_interval_and_the_asymptote(found):
    group = of(found, SIZE)
    points = collect_sweep_points(group, "jsd@words", "imbalance")
    assert points["size"].unique().to_list() == SIZE.sizes
    assert (points["size"] + points["other"] == SIZE.total).all()
    first = measure_means(points, "size").sort("size").row(0, named=True)
    values = [row["value"] for row in points.iter_rows(named=True) if row["size"] == SIZE.smallest]
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert (first["mean"], first["low"], first["high"]) == pytest.approx((np.mean(values), low, high))
    observed = group.observed["jsd@words"]
    assert compute_asymptote(group, "jsd@words") == observed.value[observed.columns["kind"] == "asymptote"].mean()


def test_a_similarity_is_shown_as_it_is():
    oriented = Observations(np.array([-0.25, -np.inf]), np.zeros(2, dtype=np.int64))
    shown = get_own_values("vocab_overlap", oriented)
    assert shown[0] == 0.25
    assert np.isnan(shown[1])


def test_tree_edges_are_the_violated_and_tied_judgements():
    distances = np.array([1.0, 1.0, 3.0, 2.0, 2.0, 1.0])  # (1,2) (1,3) (1,4) (2,3) (2,4) (3,4)
    rows = {(row["inner"], row["outer"]): row for row in collect_tree_edges(distances, 4).iter_rows(named=True)}
    assert {pair: row["judged"] for pair, row in rows.items()} == {
        ("(2, 3)", "(1, 3)"): VIOLATED,
        ("(1, 2)", "(1, 3)"): TIED,
        ("(2, 3)", "(2, 4)"): TIED,
    }
    worst = collect_tree_edges(distances, 4).row(0, named=True)
    assert (worst["excess"], worst["x"], worst["y"], worst["x2"], worst["y2"]) == (1.0, 2.5, 1, 2.0, 2)


def test_tree_nodes_stand_above_the_corpora_they_span():
    nodes = collect_tree_nodes(group_of([1, 2, 3, 1, 2, 1], k=4), "jsd@words", 0)
    assert nodes.select("x", "step", "value").row(2) == (2.5, 3, 3.0)


def test_tree_says_what_it_shows():
    chart = draw_tree(group_of([1, 1, 3, 2, 2, 1], k=4), "jsd@words").to_dict()
    assert "1 of 9 judgements violated, 2 tied; accuracy 0.7778" in chart["title"]["subtitle"][1]
    perfect = draw_tree(group_of([1, 2, 3, 1, 2, 1], k=4), "jsd@words").to_dict()
    assert "0 of 9 judgements violated, 0 tied; accuracy 1" in perfect["title"]["subtitle"][1]


def test_radar_shares_run_from_the_worst_to_the_best(found):
    values = collect_radar_values(found)
    rows = {(row["metric"], row["measure"]): row for row in values.iter_rows(named=True)}
    assert len(rows) == 2 * 7
    verdicts = {v.measure: v.value for v in KSC.judge(of(found, KSC).observed["jsd@words"])}
    assert rows["jsd@words", "monotonicity"]["value"] == verdicts["monotonicity"]
    assert rows["jsd@words", "monotonicity"]["share"] == pytest.approx((verdicts["monotonicity"] + 1) / 2)


def test_radar_tells_undefined_from_not_run(found):
    import polars as pl

    constant = group_of(np.ones((2, 6)), k=4, data=HOSTILE)
    values = collect_radar_values([constant, of(found, SIZE)])
    texts = {
        metric: place_measures(values.filter(pl.col("metric") == metric))["text"].to_list()
        for metric in ("jsd@words", "cbdf@words")
    }
    assert texts["jsd@words"][2] == "monotonicity\nundefined"
    assert texts["cbdf@words"][2] == "monotonicity\nnot run"
    assert draw_radar([of(found, SIZE)]) is None


def test_orders_of_mixtures_have_radars_and_files_of_their_own(found):
    usual, size = of(found, KSC), of(found, SIZE)
    only = {"jsd@words": usual.observed["jsd@words"]}
    other = replace(usual, protocol=replace(KSC, order="paper"), observed=only)
    made = {
        figure.name: figure.chart.to_dict()
        for figure in draw.draw_figures([usual, other, size], kinds=["radar", "box"])
    }
    radars = {name: chart for name, chart in made.items() if name.startswith("radar")}
    assert [len(chart["concat"]) for chart in radars.values()] == [2, 1]
    assert [name.endswith("-order-paper") for name in radars] == [False, True]
    assert sum(name.endswith("-order-paper") for name in made) == 2
    assert any("authors' code" in line for line in list(radars.values())[1]["title"]["subtitle"])


def test_boxes_have_the_values_of_the_repetitions(found):
    group = of(found, KSC)
    row = collect_box_rows(group).row(0, named=True)
    values = KSC.judge(group.observed["cbdf@words"])[0].values
    assert (row["metric"], row["measure"], row["repetitions"]) == ("cbdf@words", "accuracy", 3)
    assert row["mean"] == pytest.approx(np.mean(values))
    points = collect_box_points(group)
    assert points.height == 2 * 5 * 3
    assert points["value"].to_list()[: len(values)] == pytest.approx(list(values))


def test_large_numbers_of_boxes_are_written_out():
    rate, sizes = np.repeat([10_000, 20_000, 30_000], 2), np.tile([100, 200], 3)
    seen = Observations(sizes / 100 / (100 * rate), np.repeat([0, 1, 2], 2), {"size": sizes})
    svg = draw.render_chart(draw_box(Group("a,b", Speed(n=100), 0, observed={"jsd": seen})), "svg")
    assert b"20,000" in svg
    assert b"e+" not in svg


@pytest.mark.parametrize(
    "distances", [np.ones((2, 6)), np.full((2, 6), np.nan), [[1, 2, np.inf, 1, 2, 1], [1, 2, 3, np.nan, 2, 1]]]
)
def test_degenerate_values_are_drawn_or_named(distances):
    group = group_of(distances, k=4)
    made = list(draw.draw_figures([group]))
    assert [figure.name.split("-")[0] for figure in made] == ["distance", "tree", "radar", "box"]
    for figure in made:
        ET.fromstring(draw.render_chart(figure.chart, "svg"))


def test_very_many_points_are_thinned_and_said():
    k = 100
    i, j = np.triu_indices(k, 1)
    chart = draw_distance(group_of(j - i + np.sin(i), k=k)).to_dict()
    assert chart["concat"][0]["title"]["subtitle"][1] == "1 point in 3 is drawn"
    assert max(len(rows) for rows in chart["datasets"].values()) == 1650


def test_one_figure_of_each_kind_and_one_tree_for_each_metric(found):
    names = [figure.name.replace("-script-script-alert-x-script-b", "") for figure in draw.draw_figures(found)]
    assert names == [
        "distance-k4", "tree-k4-cbdf-words", "tree-k4-jsd-words", "radar", "box-k4", "box-size", "size-size",
        "imbalance-size",
    ]  # fmt: skip


def test_names_of_files_are_plain_and_different():
    twice = [group_of([1, 2, 1], k=3, data=name) for name in ("../a b", "..\\A?b")]
    assert [figure.name for figure in draw.draw_figures(twice, kinds=["box"])] == ["box-a-b-k3", "box-a-b-k3-2"]


def test_charts_keep_to_the_schema(found):
    for figure in draw.draw_figures(found, metrics={"jsd@words"}):
        figure.chart.to_dict(validate=True)


def test_the_page_holds_hostile_names_as_data(found):
    hostile = group_of([[1, 2, 1], [1, 3, 1]], k=3, metric=HOSTILE, data=HOSTILE)
    for figure in [*draw.draw_figures(found), *draw.draw_figures([hostile], kinds=["radar", "box"])]:
        text = draw.render_chart(figure.chart, "html").decode()
        assert len(re.findall("<script", text, re.I)) == len(re.findall("</script", text, re.I)) == 3
        assert "<!--" not in text
        spec = json.loads(re.search(r'id="spec">(.*?)</script>', text, re.S)[1])
        assert "</script><script>alert('x')" in json.dumps(spec, ensure_ascii=False)
        assert not re.search(r"(src|href)\s*=\s*[\"']?https?:", text)


def test_the_page_escapes_its_title():
    assert "<title>&lt;b&gt;</title>" in render_page("<b>", "{}")
    assert json.loads(escape_for_script(json.dumps(HOSTILE))) == HOSTILE


def test_svg_is_well_formed_and_holds_hostile_names_as_text(found):
    for figure in draw.draw_figures(found):
        tree = ET.fromstring(draw.render_chart(figure.chart, "svg"))
        tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
        assert not tags & {"script", "b", "image", "foreignObject"}
        assert any("</script><script>alert" in (element.text or "") for element in tree.iter())


@pytest.mark.parametrize("form", draw.FORMATS)
def test_same_store_same_bytes(store, form):
    def once():
        kinds = ["distance"]
        return [
            draw.render_chart(figure.chart, form) for figure in draw.draw_figures(Results(store).groups(), kinds=kinds)
        ]

    assert once() == once()
