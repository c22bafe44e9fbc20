"""Columns of scores as pair metrics: names, values, what they are ranked and learned by, and what is refused."""

import csv

import numpy as np
import pytest

import textgauge
from textgauge.bench.inputs import read_rated
from textgauge.bench.learned import ensemble
from textgauge.core.errors import InputError, UnknownName
from textgauge.data import Pairs
from textgauge.metrics import get_metric
from textgauge.metrics.pair.models import list_column_names
from textgauge.metrics.registry import get_metrics

WORDS = ["red", "old", "big", "new", "wet", "dry"]


@pytest.fixture
def table(tmp_path):
    """Forty pairs with a rating, a column that follows it and one that runs against it; equal texts among them."""
    rng = np.random.default_rng(0)
    path = tmp_path / "rated.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["left", "right", "person", "judge", "error rate"])
        for number in range(40):
            rating = int(rng.integers(1, 6))
            left, right = (f"the {WORDS[number % k]} house on hill {number % 7}" for k in (6, 5))
            rows.writerow([left, right, rating, rating + 0.1 * number % 1, 10 - rating])
    return path


@pytest.mark.parametrize("name", ["column:judge", "column(closer=smaller):error rate", "column"])
def test_names_parse_back(name):
    metric = get_metric(name)
    assert metric.key == name
    assert get_metric(metric.key) == metric


def test_grids_and_lists_name_columns():
    assert list_column_names("chrf,column:a|b,column(closer=smaller):c") == ["a", "b", "c"]
    assert list_column_names(None) == []
    assert [metric.key for metric in get_metrics("column:a|b")] == ["column:a", "column:b"]
    with pytest.raises(UnknownName, match="parameter"):
        get_metric("column(k=1):a")


def test_equal_texts_keep_their_own_scores():
    pairs = Pairs(["a", "a", "a"], ["b", "b", "b"], columns={"judge": np.array([1.0, 2.0, np.nan])})
    found = get_metric("column:judge").measure(pairs)
    assert found.values[:2].tolist() == [1.0, 2.0]
    assert np.isnan(found.values[2])
    assert found.reason == "the cell is blank"
    assert pairs.take([2, 1]).columns["judge"].tolist()[1] == 2.0


def test_several_references_share_the_score_of_their_text():
    report = textgauge.score(["a", "c"], [["b", "a"], ["d"]], metrics="column:judge,jaccard", columns={"judge": [3, 4]})
    assert report["column:judge"].values.tolist() == [3.0, 4.0]
    assert report["jaccard"].values.tolist() == [1.0, 0.0]


def test_a_column_is_ranked_beside_other_metrics_and_in_the_right_direction(table):
    names = "jaccard,column:judge,column(closer=smaller):error rate"
    found = textgauge.run("agreement", pairs=table, rating="person", metrics=names)
    board = {row.metric: row for row in found.leaderboard().rows}
    assert found.leaderboard().rows[0].metric == "column(closer=smaller):error rate"
    assert board["column(closer=smaller):error rate"].measures["spearman"] == pytest.approx(1.0)
    assert board["column:judge"].measures["spearman"] > 0.9


def test_other_numbers_under_the_same_name_are_other_results(table, tmp_path):
    first = textgauge.run("agreement", pairs=table, rating="person", metrics="jaccard,column:judge", out=tmp_path / "r")
    assert first.computed == 2
    table.write_text(table.read_text().replace(",5.9,", ",1.0,").replace(",4.8,", ",0.0,").replace(",3.7,", ",9.0,"))
    again = textgauge.run("agreement", pairs=table, rating="person", metrics="jaccard,column:judge", out=tmp_path / "r")
    assert (again.found, again.computed) == (1, 1)


def test_an_ensemble_learns_from_a_column_and_scores_with_it(table, tmp_path):
    rated = read_rated(str(table), ratings=["person"], scores=["judge"])
    given = {"columns": rated.scores, "resamples": 100}
    stack = ensemble(
        left=rated.left, right=rated.right, target=rated.columns["rating"], metrics="jaccard,column:judge", **given
    )
    path = tmp_path / "model.json"
    stack.trained.save(path)
    report = textgauge.score(
        list(rated.left.texts), list(rated.right.texts), metrics=f"ensemble@{path}", columns=rated.scores
    )
    values = report[f"ensemble@{path}"].values
    different = rated.left.keys != rated.right.keys
    assert np.corrcoef(values[different], rated.columns["rating"][different])[0, 1] > 0.9


@pytest.mark.parametrize(
    ("names", "said"),
    [("column:jugde", "no column 'jugde' (did you mean 'judge'?)"), ("column:left", "holds 'the red house")],
)
def test_a_column_that_is_not_there_or_holds_no_numbers_is_refused_in_one_line(table, names, said):
    with pytest.raises(InputError) as caught:
        textgauge.run("agreement", pairs=table, rating="person", metrics=names)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
