"""`textgauge run ifc` as a user meets it: a folder of corpora in order, made by `textgauge generate steps`."""

import json

import pytest


@pytest.fixture
def folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    args = ("--model", "ngram", "--steps", 6, "--n", 150)
    assert run("generate", "steps", "sample:banking", "--folder", "steps", *args)[0] == 0
    return tmp_path


def test_corpora_of_a_model_that_learns_come_nearer(run, folder):
    data = ("--steps", "steps", "--reference", "sample:banking")
    code, _, err = run("run", "ifc", *data, "-m", "jsd,cbdf", "--repetitions", 3, "--out", "kept")
    assert code == 0
    assert "6 results: 0 were there, 6 computed" in err
    code, out, _ = run("leaderboard", "kept", "-f", "json")
    rows = {row["metric"]: row for row in json.loads(out)["rows"]}
    assert set(rows) == {"jsd", "cbdf"}
    for row in rows.values():
        assert row["trend"] < 0
        assert row["slope"] < 0
        assert row["overall"] == pytest.approx((1 - row["trend"]) / 2)
    code, out, _ = run("figures", "kept", "--folder", "drawn", "--kind", "steps")
    assert code == 0
    assert [path.name for path in (folder / "drawn").iterdir()] == ["steps-steps-sample-banking-ifc.html"]
