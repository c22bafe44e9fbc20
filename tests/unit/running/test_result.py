"""What is read off a run: leaderboards, verdicts, observations, figures, the page."""

import pytest

import textgauge
from textgauge.errors import InputError, ResourceError

MEASURES = ["accuracy", "weighted_accuracy", "monotonicity", "separability", "linearity"]


@pytest.fixture
def found(corpora, tmp_path):
    return textgauge.run(
        "ksc", **corpora, metrics="jsd@words,zipf@words", k=4, n=10, repetitions=2, out=tmp_path / "run"
    )


def test_the_leaderboard_is_that_of_the_command(found, board):
    assert found.leaderboard().to_dicts() == found.to_dicts() == board(found.folder)
    assert str(found) == str(found.leaderboard())
    options = {"ties": "wrong", "linearity": "r", "judgements": "paper", "measures": MEASURES[:2]}
    said = [part for name, value in options.items() for part in (f"--{name}", value)]
    said[-1] = ",".join(MEASURES[:2])
    weighed = found.leaderboard(weights={"accuracy": 2.0}, **options)
    assert weighed.to_dicts() == board(found.folder, *said, "--weights", "accuracy=2")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"ties": "never"}, "^`ties` is one of half, right, wrong"),
        ({"measures": "beauty"}, "no measure 'beauty'"),
        ({"weights": {"beauty": 1.0}}, "no measure 'beauty'"),
    ],
)
def test_what_cannot_be_ranked_is_said(found, given, complaint):
    with pytest.raises(InputError, match=complaint):
        found.leaderboard(**given)


def test_verdicts_are_the_details_of_the_command(found, board):
    frame = found.verdicts()
    assert frame.to_dicts() == board(found.folder, "--detail")
    assert found.verdicts(measures="linearity")["measure"].unique().to_list() == ["linearity"]


def test_observations_hold_every_trial_of_every_metric(found):
    frame = found.observations()
    assert frame.columns[:6] == ["data", "protocol", "seed", "metric", "batch", "value"]
    pairs_of_corpora = 4 * 3 // 2
    assert frame["metric"].value_counts()["count"].to_list() == [2 * pairs_of_corpora] * 2
    assert frame["batch"].unique().sort().to_list() == [0, 1]
    assert frame["value"].is_not_nan().all()


def test_figures_by_name(found):
    assert list(found.figures("distance")) == ["distance-a-b-k4"]
    both = found.figures(["distance", "tree"], metrics="jsd@words", repetition=2)
    assert list(both) == ["distance-a-b-k4", "tree-a-b-k4-jsd-words"]
    assert found.figures("tree", repetition=3) == {}
    assert both["distance-a-b-k4"].to_dict()
    with pytest.raises(InputError, match="no figure 'pie'"):
        found.figures("pie")
    with pytest.raises(InputError, match="no metric 'cbdf@words'"):
        found.figures(metrics="cbdf@words")


def test_the_page_is_written_and_a_disk_that_refuses_is_one_error(found, tmp_path):
    path = found.report(tmp_path / "pages" / "page.html", title="Which <metric>?")
    assert "Which &lt;metric&gt;?" in path.read_text(encoding="utf-8")
    with pytest.raises(ResourceError, match="cannot write"):
        found.report(path / "page.html")


def test_a_run_shows_itself(found):
    assert repr(found) == f"Run({found.folder}: 0 cells were there, 4 computed)"
    assert found._repr_html_().count("<tr>") == 3
    assert found.to_polars().height == 2
    assert found.plot().to_dict()
    assert found.failures == found.warnings == ()
