"""`textgauge run distributionality` as a user meets it."""

import csv
import json

import pytest

from textgauge.data import sample_pairs

PROTOTYPES = ("-p", "distributional=jsd@words", "-p", "neighbours=zipf@words")
MEASURES = ["deviation_jsd@words", "deviation_zipf@words", "distributionality"]


@pytest.fixture
def table(tmp_path):
    """Paraphrases in the rows labelled 1, other pairs in the rest."""
    pairs = sample_pairs("cooking", n=60)
    path = tmp_path / "paraphrases.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        both = zip(pairs.left, pairs.right, strict=True)
        writer.writerow(["a", "b", "label"])
        writer.writerows([left, right, int(row < 40)] for row, (left, right) in enumerate(both))
    return path


@pytest.fixture
def distributionality(run, table, tmp_path):
    def call(*args, metrics="cbdf@words", n="12"):
        given = ["--pairs", table, "--left", "a", "--right", "b", "-m", metrics, "-n", n, "-k", "4", *PROTOTYPES]
        return run("run", "distributionality", *given, "--out", tmp_path / "run", *args)

    return call


def test_a_run_its_leaderboard_and_more_samples(distributionality, run, tmp_path):
    assert "15 results: 0 were there, 15 computed" in distributionality()[2]
    code, out, err = run("leaderboard", tmp_path / "run", "-f", "json")
    rows = json.loads(out)["rows"]
    assert (code, err) == (0, "")
    assert [row["metric"] for row in rows] == ["jsd@words", "cbdf@words", "zipf@words"]
    assert list(rows[0])[1:4] == MEASURES
    assert (rows[0]["distributionality"], rows[2]["distributionality"]) == (1.0, -1.0)
    assert (rows[0][MEASURES[0]], rows[2][MEASURES[1]]) == (0.0, 0.0)
    assert "30 results: 15 were there, 15 computed" in distributionality("-p", "samples=2")[2]
    detail = json.loads(run("leaderboard", tmp_path / "run", "--detail", "-f", "json")[1])["rows"]
    assert {row["repetitions"] for row in detail} == {5, 2}


def test_a_labelled_dataset_is_read_from_the_users_folder(run, table, tmp_path, monkeypatch):
    args = ["run", "distributionality", "--pairs", "mrpc", "-m", "cbdf@words", "-n", 12, "-k", 4, *PROTOTYPES]
    monkeypatch.setenv("TEXTGAUGE_DATA", str(tmp_path / "data"))
    code, _, err = run(*args, "--out", tmp_path / "run")
    assert code != 0
    assert "columns sentence1, sentence2, label into a folder named by TEXTGAUGE_DATA as mrpc/FILE" in err
    folder = tmp_path / "data" / "mrpc"
    folder.mkdir(parents=True)
    (folder / "train.csv").write_text(table.read_text().replace("a,b,label", "sentence1,sentence2,label", 1))
    assert "15 computed" in run(*args, "--out", tmp_path / "run")[2]
