"""Draws and verdicts of increasingly fine-tuned corpora, the files they come from, and their figure."""

import numpy as np
import polars as pl
import pytest
from tests.toys import draw_texts

from textgauge.bench import Plan, Store, run
from textgauge.bench.protocols.base import Observations
from textgauge.bench.results import Group
from textgauge.bench.sources import Sources
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.metrics import get_corpus_metrics
from textgauge_papers.ifc import (
    SELF,
    STEP,
    Ifc,
    compute_type_token_ratio,
    format_step_role,
    make_learned_steps,
    read_steps,
)
from textgauge_papers.ifc_figures import collect_ifc_points, collect_ttr_points, draw_ifc, draw_studies, fit_ifc_line

SMALL = Ifc(n=6, repetitions=3)


def sources(*, steps=4, size=20, order=0):
    rows = np.random.default_rng(order).permutation(size)
    roles = ["reference", *(format_step_role(i + 1) for i in range(steps))]
    return Sources("data", {role: Corpus.of([f"{role} {i} word" for i in rows]) for role in roles})


def test_every_step_meets_the_reference_and_the_reference_itself():
    (batch, *others) = SMALL.trials(sources(), seed=0)
    assert len(others) == 2
    assert batch.columns["kind"].tolist() == [STEP] * 4 + [SELF]
    assert batch.columns["step"].tolist() == [1, 2, 3, 4, 0]
    for (left, right), kind, step in zip(
        draw_texts(SMALL, sources()), batch.columns["kind"], batch.columns["step"], strict=False
    ):
        role = "reference" if kind == SELF else format_step_role(step)
        assert (len(left), len(right)) == (6, 6)
        assert {text.split()[0] for text in left} == {"reference"}
        assert {text.split()[0] for text in right} == {role}
        assert not left & right


def test_as_many_texts_as_fit():
    (batch,) = Ifc(repetitions=1).trials(sources(size=30), 0)
    assert batch.draws.left.sum(axis=1).tolist() == [15] * 5


def test_repeated_texts_count_as_often_as_they_were_written():
    corpora = {"reference": Corpus.of([f"a {i}" for i in range(20)])}
    corpora |= {format_step_role(i): Corpus.of(["the same"] * 10) for i in (1, 2, 3)}
    (batch,) = Ifc(repetitions=1).trials(Sources("x", corpora), 0)
    assert batch.draws.right.sum(axis=1).tolist() == [10] * 4
    assert batch.columns["ttr"][:3].tolist() == [2 / 20] * 3


def test_type_token_ratio_of_plain_texts():
    assert compute_type_token_ratio(Corpus.of(["a b", "A c!"])) == 4 / 5
    assert np.isnan(compute_type_token_ratio(Corpus.of(["", " "])))


@pytest.mark.parametrize(
    ("given", "data", "complaint"),
    [
        ({"n": 10}, {"steps": 2}, "at least 3 steps"),
        ({"n": 1}, {}, "2 texts or more"),
        ({"n": 11}, {}, "reference has 20 texts, but samples of 11 need 22"),
        ({}, {"size": 6}, "reference has 6 texts"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_needed(given, data, complaint):
    with pytest.raises(InputError, match=complaint):
        Ifc(**given).check(sources(**data))


def observations(rows, own, reasons=None):
    """Distances of each repetition's steps, and its self-distance last."""
    values = np.array([[*row, end] for row, end in zip(rows, own, strict=True)], dtype=float)
    count = values.shape[1]
    step = np.tile([*range(1, count), 0], len(rows))
    columns = {"step": step, "kind": np.where(step > 0, STEP, SELF), "ttr": 0.1 * step}
    columns["reason"] = np.array(reasons or [None] * values.size)
    return Observations(values.ravel(), np.repeat(np.arange(len(rows)), count), columns)


def test_measures_of_plain_numbers():
    trend, slope, gap = SMALL.judge(observations([[5.0, 4, 3, 2], [5, 3, 4, 2]], [1.0, 2.0]))
    assert trend.values == (-1.0, pytest.approx(-0.8))
    assert slope.values == (-1.0, pytest.approx(-0.8))
    assert gap.values == (0.25, 0.0)
    assert SMALL.measures[0].share(np.array([-1.0, 0.0, 1.0])).tolist() == [1.0, 0.5, 0.0]
    assert np.isnan(SMALL.measures[1].share(-1.0))


def test_what_is_undefined_has_a_reason():
    trend, slope, gap = SMALL.judge(observations([[2.0, 2, 2]], [2.0]))
    assert (np.isnan(trend.value), trend.reason) == (True, "all distances are equal")
    assert slope.value == 0.0
    assert gap.reason == "the first step is no farther than the reference is from itself"
    reasons = [None, "why", None, None]
    for verdict in SMALL.judge(observations([[2.0, np.nan, 1]], [0.5], reasons)):
        assert verdict.reason == "undefined in 1 of 4 trials: why"
    for verdict in SMALL.judge(observations([[2.0, np.inf, 1]], [0.5])):
        assert verdict.reason == "a distance is infinite"


def test_a_folder_of_steps_is_read_in_natural_order(tmp_path):
    for number in (10, 9, 1, 2):
        (tmp_path / f"step{number}.txt").write_text(f"text of {number}\nanother\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("no corpus", encoding="utf-8")
    (tmp_path / "ref.csv").write_text("text\na\nb\n", encoding="utf-8")
    reference = tmp_path / "ref.csv"
    folder = tmp_path / "steps"
    folder.mkdir()
    for path in tmp_path.glob("step*.txt"):
        path.rename(folder / path.name)
    found = read_steps(folder, str(reference))
    assert found.name == "steps,ref.csv"
    assert [corpus.texts[0] for corpus in found.corpora.values()] == ["a", *(f"text of {i}" for i in (1, 2, 9, 10))]
    named = read_steps([str(folder / "step9.txt"), str(folder / "step10.txt")], str(reference))
    assert list(named.corpora) == ["reference", "step-001", "step-002"]


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    """Built-in texts and a trigram model that has seen more and more of them, under metrics that need no model."""
    plan = Plan(
        Ifc(repetitions=3), make_learned_steps(steps=6, per_step=150, texts=600), get_corpus_metrics("jsd,cbdf")
    )
    store = Store(tmp_path_factory.mktemp("run"))
    run([plan], store)
    observed = {}
    for metric in plan.metrics:
        frames = [store.read(plan.cell(batch.number, metric)) for batch in plan.batches()]
        columns = {name: np.concatenate([f[name].to_numpy() for f in frames]) for name in ("kind", "step", "ttr")}
        values = np.concatenate([frame["value"].to_numpy() for frame in frames])
        observed[metric.key] = Observations(values, np.repeat(np.arange(3), 7), columns)
    return Group("quick", plan.protocol, 0, "", observed)


def test_the_figure_shows_the_numbers(group):
    points, words = collect_ifc_points([group], "jsd"), collect_ttr_points([group])
    assert points.filter(pl.col("step") > 0).shape == (18, 4)
    np.testing.assert_array_equal(points["value"].to_numpy(), group.observed["jsd"].value)
    np.testing.assert_array_equal(words["value"].to_numpy(), group.observed["jsd"].columns["ttr"])
    line = fit_ifc_line(points)
    at = points.filter(pl.col("step") > 0)
    slope, start = np.polyfit(at["step"].to_numpy(), at["value"].to_numpy(), 1)
    np.testing.assert_allclose(line["fit"].to_numpy(), start + slope * line["step"].to_numpy())
    assert (line["low"] < line["fit"]).all()
    chart = draw_ifc([group]).to_dict()
    assert [panel["title"]["text"] for panel in chart["concat"]] == ["jsd", "cbdf", "type–token ratio"]
    assert "step by step" in chart["title"]["text"]


def test_the_band_of_several_training_runs_is_the_spread_of_their_lines(group):
    seen = group.observed["jsd"]
    values = [seen.value, 0.9 * seen.value + 0.05, 1.2 * seen.value]
    names = [f"texts, training run {run}" for run in (1, 2, 3)]
    runs = [
        Group(name, group.protocol, 0, "", {"jsd": Observations(value, seen.batch, seen.columns)})
        for name, value in zip(names, values, strict=True)
    ]
    line = fit_ifc_line(collect_ifc_points(runs, "jsd"))
    lines = np.array([fit_ifc_line(collect_ifc_points([run], "jsd"))["fit"].to_numpy() for run in runs])
    np.testing.assert_allclose(line["fit"].to_numpy(), lines.mean(axis=0))
    reach = 4.302653 * lines.std(axis=0, ddof=1) / np.sqrt(3)  # Student's t with 2 degrees of freedom
    np.testing.assert_allclose((line["high"] - line["fit"]).to_numpy(), reach, rtol=1e-6)
    ((words, chart),) = draw_studies(runs, 0)
    assert words[0] == "texts"
    assert any("95 % band for new runs" in said for said in chart.to_dict()["title"]["subtitle"])
