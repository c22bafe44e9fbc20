"""`textgauge train ensemble` as a user meets it: a table of rated pairs, a model file, and scores by it."""

import csv
import json
import random

import pytest

from textgauge.core.errors import ResourceError

WORDS = ["red", "blue", "cat", "dog", "runs", "sleeps", "the", "a", "house", "tree", "old", "new", "river", "stone"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = random.Random(0)
    with open(tmp_path / "rated.csv", "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b", "score", "other", "set", "word"])
        for row in range(80):
            left, kept = rng.choices(WORDS, k=8), rng.randrange(9)
            right = [*left[:kept], *rng.choices(WORDS, k=8 - kept)]
            writer.writerow([" ".join(left), " ".join(right), 1 + kept / 2, 2, "wxyz"[row % 4], "text"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


ARGS = ("train", "ensemble", "--pairs", "rated.csv", "--left", "a", "--right", "b", "--rating", "score")
GIVEN = (*ARGS, "--set", "set", "-m", "jaccard,chrf,rouge1.recall", "--resamples", "100", "-o", "model.json")


def test_train_then_score(run, folder):
    code, out, err = run(*GIVEN, "--scale", "1,5", "-f", "json")
    found = json.loads(out)
    rows = found["rows"]
    assert code == 0
    assert [row["left_out"] for row in rows] == [None, None, *"wxyz"]
    assert set(rows[0]) == {
        "left_out", "ensemble", "compared_with", "other", "difference", "pairs_low", "pairs_high", "sources_low",
        "sources_high", "better", "n", "sources",
    }  # fmt: skip
    assert set(rows[2]) == set(rows[0])
    assert rows[0]["ensemble"] > 0.7
    assert rows[0]["n"] == 80
    assert "ensemble@model.json" in err
    content = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    card = content["trained"]
    assert found["details"]["card"] == card
    assert content["scale"] == [1.0, 5.0]
    assert [(data["name"], data["pairs"], data["sets"]) for data in card["data"]] == [("rated.csv", 80, 4)]
    assert (card["sources"], card["prior"], len(card["on_pairs_left_out"])) == (4, "blend-small", 2)
    assert 100 < content["texts"]["texts"] <= 160  # different texts
    code, out, _ = run(
        "score", "--pairs", "rated.csv", "--left", "a", "--right", "b", "-m", "ensemble@model.json", "-f", "json"
    )
    values = [row["ensemble@model.json"] for row in json.loads(out)["rows"]]
    assert code == 0
    assert all(0 <= value <= 1 for value in values)
    assert max(values) > 0.8


def test_a_task_is_learned_from_its_documents(run, folder):
    args = ("train", "ensemble", "--task", "axis", "--documents", "sample:articles", "-m", "jaccard,chrf")
    code, out, _ = run(*args, "--resamples", "100", "-o", "task.json")
    assert code == 0
    assert out.startswith("The learned metric ")
    assert run(*args[:2], "-o", "task.json")[0] == 2


def test_other_rated_pairs_to_learn_from(run, folder):
    lines = (folder / "rated.csv").read_text(encoding="utf-8").splitlines()
    (folder / "more.csv").write_text("\n".join(lines[:51]) + "\n", encoding="utf-8")
    code, out, _ = run(*GIVEN, "--also", "more.csv", "-f", "json")
    assert code == 0
    assert json.loads(out)["rows"][0]["n"] == 80
    trained = json.loads((folder / "model.json").read_text(encoding="utf-8"))["trained"]
    assert [data["name"] for data in trained["data"]] == ["rated.csv", "more.csv"]
    assert (trained["pairs"], trained["sets"], trained["sources"]) == (130, 8, 4)


def test_texts_far_from_the_training_are_told(run, folder):
    assert run(*GIVEN)[0] == 0
    (folder / "far.txt").write_text("\n".join(f"interest rates of bank {i} rose sharply" for i in range(30)))
    args = ("score", "far.txt", "far.txt", "-m", "ensemble@model.json", "--summary", "-f", "json")
    _, out, err = run(*args)
    (row,) = json.loads(out)["rows"]
    assert "far from those the metric was trained on: energy distance" in row["warning"]
    assert "if same source" in err
    _, out, err = run("score", "--pairs", "rated.csv", "--left", "a", "--right", "b", *args[3:])
    assert json.loads(out)["rows"][0]["warning"] is None
    assert "far from" not in err


def test_the_table_and_the_mean_of_several_ratings(run, folder):
    code, out, _ = run(*GIVEN, "--rating", "other")
    assert code == 0
    assert out.startswith("The learned metric ")
    assert "new sources" in out
    assert json.loads((folder / "model.json").read_text(encoding="utf-8"))["scale"] == [1.5, 3.5]


def test_without_the_encoder_training_says_what_is_missing(run, folder, monkeypatch):
    def nothing(*_):
        raise ResourceError("minilm is not here")

    monkeypatch.setattr("textgauge.metrics.cautions._draw_rows", nothing)  # a loaded encoder would outlive its files
    code, _, err = run(*GIVEN)
    assert code == 0
    assert "warning: no embeddings of these texts are kept, so scoring cannot warn of texts far from them" in err
    assert "texts" not in json.loads((folder / "model.json").read_text(encoding="utf-8"))
