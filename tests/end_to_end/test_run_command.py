"""`textgauge run` and `textgauge leaderboard` as a user meets them."""

import csv
import io
import json

import pytest
from tests.toys import Constant

from textgauge.metrics import registry

MEASURES = ["accuracy", "weighted_accuracy", "monotonicity", "separability", "linearity"]
RANKS = ["rank", "rank_low", "rank_high", "tier", "tied_with"]
BOARD = ["metric", *MEASURES, "overall", "overall_low", "overall_high", *RANKS]


@pytest.fixture
def ksc(run, tmp_path):
    """Run the protocol on two small built-in corpora."""

    def call(*args, a="sample:cooking", b="sample:travel", k="4", n="10", metrics="jsd@words,zipf@words"):
        given = ["--source-a", a, "--source-b", b, "-k", k, "-n", n, "-m", metrics, "--repetitions", 3]
        return run("run", "ksc", *given, "--out", tmp_path / "run", *args)

    return call


def test_a_run_a_second_run_and_what_a_dry_run_lists(ksc, tmp_path):
    code, out, err = ksc("--dry-run", "-f", "json")
    rows = json.loads(out)["rows"]
    assert (code, err, len(rows)) == (0, "", 6)
    assert {row["state"] for row in rows} == {"to compute"}
    assert not (tmp_path / "run").exists()
    assert "6 results: 0 were there, 6 computed" in ksc()[2]
    assert "6 results: 6 were there, 0 computed" in ksc()[2]
    states = [
        row["state"] for row in json.loads(ksc("--dry-run", "-f", "json", metrics="cbdf@words,jsd@words")[1])["rows"]
    ]
    assert sorted(states) == ["there"] * 3 + ["to compute"] * 3


def test_a_run_without_a_folder_says_which_one_it_takes(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sources = ["--source-a", "sample:cooking", "--source-b", "sample:travel"]
    _, _, err = run("run", "ksc", *sources, "-k", "4", "-n", "10", "-m", "jsd@words", "--repetitions", 2)
    assert "kept in runs/ksc" in err
    assert (tmp_path / "runs" / "ksc" / "manifests").is_dir()


def test_the_leaderboard_in_every_format(ksc, run, tmp_path):
    ksc()
    printed = {}
    for form in ("table", "json", "csv", "markdown", "latex"):
        code, printed[form], err = run("leaderboard", tmp_path / "run", "-f", form)
        assert (code, err) == (0, "")
        assert printed[form].index("jsd@words") < printed[form].index("zipf@words")
    assert [list(row) for row in json.loads(printed["json"])["rows"]] == [BOARD, BOARD]
    assert next(csv.reader(io.StringIO(printed["csv"]))) == BOARD
    for form, mark in (("table", "weighted_accuracy"), ("markdown", "| rank | metric |"), ("latex", "\\toprule")):
        assert mark in printed[form]
        assert "1 (1–" in printed[form].replace("--", "–")


@pytest.fixture
def constant(monkeypatch):
    monkeypatch.setitem(registry.METRICS, "constant", Constant)


def test_a_metric_that_fails_on_a_pair_is_said_and_the_exit_code_is_1(ksc, run, tmp_path, constant):
    for computed in (6, 0):
        code, out, err = ksc(metrics="constant(fails=true)@words,jsd@words")
        assert (code, out.splitlines()[0]) == (1, "Only one metric is ranked: jsd@words.")
        assert f"{computed} computed" in err
        assert "warning: constant(fails=true)@words failed in" in err
        assert "ZeroDivisionError: just so" in err
    code, out, err = run("leaderboard", tmp_path / "run", "-f", "json")
    assert (code, json.loads(out)["rows"][0]["metric"]) == (0, "jsd@words")
    assert "ZeroDivisionError: just so" in err


def test_a_run_that_is_not_finished_is_ranked_with_a_warning_and_one_without_results_is_not(run, ksc, tmp_path):
    ksc()
    first, *rest = (tmp_path / "run").rglob("*.parquet")
    first.unlink()
    code, _, err = run("leaderboard", tmp_path / "run", "-f", "json")
    assert code == 0
    assert f"1 of {1 + len(rest)} results are missing" in err
    for path in rest:
        path.unlink()
    code, _, err = run("leaderboard", tmp_path / "run")
    assert code == 2
    assert "holds no results" in err
