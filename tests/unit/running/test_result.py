"""What is read off a run: leaderboards, verdicts, observations, figures, the page."""

import pytest

import textgauge
from textgauge.errors import InputError, ResourceError

MEASURES = ["accuracy", "weighted_accuracy", "monotonicity", "separability", "linearity"]


@pytest.fixture
def run(corpora, tmp_path):
    return textgauge.run(
        "ksc", **corpora, metrics="jsd@words,zipf@words", k=4, n=10, repetitions=2, out=tmp_path / "run"
    )


def test_the_leaderboard_is_that_of_the_command(run, board):
    assert run.leaderboard().to_dicts() == run.to_dicts() == board(run.folder)
    assert str(run) == str(run.leaderboard())
    options = {"ties": "wrong", "linearity": "r", "judgements": "paper", "measures": MEASURES[:2]}
    said = [part for name, value in options.items() for part in (f"--{name}", value)]
    said[-1] = ",".join(MEASURES[:2])
    weighed = run.leaderboard(weights={"accuracy": 2.0}, **options)
    assert weighed.to_dicts() == board(run.folder, *said, "--weights", "accuracy=2")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"ties": "never"}, "^`ties` is one of half, right, wrong"),
        ({"measures": "beauty"}, "no measure 'beauty'"),
        ({"weights": {"beauty": 1.0}}, "no measure 'beauty'"),
    ],
)
def test_what_cannot_be_ranked_is_said(run, given, complaint):
    with pytest.raises(InputError, match=complaint):
        run.leaderboard(**given)


def test_verdicts_are_the_details_of_the_command(run, board):
    frame = run.verdicts()
    assert frame.to_dicts() == board(run.folder, "--detail")
    assert run.verdicts(measures="linearity")["measure"].unique().to_list() == ["linearity"]


def test_observations_hold_every_trial_of_every_metric(run):
    frame = run.observations()
    assert frame.columns[:6] == ["data", "protocol", "seed", "metric", "batch", "value"]
    pairs_of_corpora = 4 * 3 // 2
    assert frame["metric"].value_counts()["count"].to_list() == [2 * pairs_of_corpora] * 2
    assert frame["batch"].unique().sort().to_list() == [0, 1]
    assert frame["value"].is_not_nan().all()


def test_figures_by_name(run):
    assert list(run.figures("distance")) == ["distance-a-b-k4"]
    both = run.figures(["distance", "tree"], metrics="jsd@words", repetition=2)
    assert list(both) == ["distance-a-b-k4", "tree-a-b-k4-jsd-words"]
    assert run.figures("tree", repetition=3) == {}
    assert both["distance-a-b-k4"].to_dict()
    with pytest.raises(InputError, match="no figure 'pie'"):
        run.figures("pie")
    with pytest.raises(InputError, match="no metric 'cbdf@words'"):
        run.figures(metrics="cbdf@words")


def test_the_page_is_written_and_a_disk_that_refuses_is_one_error(run, tmp_path):
    path = run.report(tmp_path / "pages" / "page.html", title="Which <metric>?")
    assert "Which &lt;metric&gt;?" in path.read_text(encoding="utf-8")
    with pytest.raises(ResourceError, match="cannot write"):
        run.report(path / "page.html")


def test_a_run_shows_itself(run):
    assert repr(run) == f"Run({run.folder}: 0 cells were there, 4 computed)"
    assert run._repr_html_().count("<tr>") == 3
    assert run.to_polars().height == 2
    assert run.plot().to_dict()
    assert run.failures == run.warnings == ()
