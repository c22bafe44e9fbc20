"""`textgauge run` and `textgauge leaderboard` as a user meets them."""

import csv
import errno
import io
import json
import os
from dataclasses import dataclass

import pytest

from textgauge.metrics import Part, TokenMetric, registry

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


def test_details_weights_and_ways_of_judging(ksc, run, tmp_path):
    ksc("-p", "ties=wrong")
    folder = tmp_path / "run"
    detail = json.loads(run("leaderboard", folder, "--detail", "-f", "json")[1])["rows"]
    assert [row["measure"] for row in detail] == MEASURES * 2
    assert {"value", "std", "low", "high", "boot_low", "boot_high", "error", "repetitions", "reason"} <= detail[
        0
    ].keys()

    def overall(*options):
        rows = json.loads(run("leaderboard", folder, "-f", "json", *options)[1])["rows"]
        return {row["metric"]: row["overall"] for row in rows}

    only = ",".join(f"{name}=0" for name in MEASURES[1:])
    assert overall("--weights", f"accuracy=2,{only}")["jsd@words"] == pytest.approx(detail[0]["value"])
    assert overall("--linearity", "r") != overall()


def test_the_tie_rule_of_the_run_holds_unless_another_is_asked_for(ksc, run, tmp_path, constant):
    ksc("-p", "ties=wrong", metrics="constant@words")

    def accuracy(*options):
        code, out, err = run("leaderboard", tmp_path / "run", "-f", "json", *options)
        assert (
            "monotonicity, separability and linearity of constant@words (sample:cooking,sample:travel): all distances"
            in err
        )
        (row,) = json.loads(out)["rows"]
        assert (code, row["monotonicity"]) == (0, None)
        return row["accuracy"]

    assert [accuracy(), accuracy("--ties", "half"), accuracy("--ties", "right")] == [0.0, 0.5, 1.0]


@dataclass(frozen=True, kw_only=True)
class Constant(TokenMetric):
    name = "constant"
    label = "constant"
    source = "none"
    headline = Part("value")

    fails: bool = False

    def compute(self, comparison):
        if self.fails and comparison.reference.keys.min() % 3 == 0:
            raise ZeroDivisionError("just so")
        return {"value": 0.5}


@pytest.fixture
def constant(monkeypatch):
    monkeypatch.setitem(registry.get_known_metrics(), "constant", Constant)


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


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses_is_one_line_and_exit_code_2(ksc, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_bytes", refuse)
        code, out, err = ksc()
        assert (code, out, err.endswith(f"{os.strerror(number)}\n")) == (2, "", True)
    assert ksc()[0] == 0


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


def test_size_and_speed_of_one_run_share_a_leaderboard(run, tmp_path):
    given = ["--source-a", "sample:cooking", "--source-b", "sample:travel", "-m", "jsd@words,cbdf@words"]
    small = {"smallest": 10, "step": 20, "total": 60, "large": 80, "draws": 2, "repetitions": 2}
    parameters = [item for name, value in small.items() for item in ("-p", f"{name}={value}")]
    assert run("run", "size", *given, *parameters, "--out", tmp_path)[0] == 0
    speed = ["-n", 10, "-p", "largest=20", "--repetitions", 2]
    assert run("run", "speed", *given, *speed, "--out", tmp_path)[0] == 0
    rows = json.loads(run("leaderboard", tmp_path, "-f", "json")[1])["rows"]
    for row in rows:
        assert {"size_robustness", "imbalance_robustness", "throughput", "growth"} <= row.keys()
        assert row["throughput"] > 0
        assert row["size_robustness"] < 1
