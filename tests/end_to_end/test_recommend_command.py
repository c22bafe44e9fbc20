"""`textgauge recommend` as a user meets it."""

import csv
import json

import pytest

from textgauge import load
from textgauge.data import load_texts


@pytest.fixture
def rated(tmp_path):
    """Pairs whose ratings follow the words they share."""
    path = tmp_path / "rated.csv"
    words = ["red", "green", "blue", "cat", "dog", "bird"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["one", "two", "score"])
        for i in range(120):
            shared = words[: i % 5 + 1]
            writer.writerow([" ".join([*shared, f"x{i}"]), " ".join([*shared, f"y{i * 7}"]), i % 5])
    return ["--pairs", path, "--left", "one", "--right", "two", "--rating", "score"]


@pytest.fixture
def corpora(tmp_path):
    """Two files of a few hundred texts."""
    for name in ("cooking", "travel"):
        (tmp_path / f"{name}.txt").write_text("\n".join(load_texts(f"sample:{name}", limit=400).texts))
    given = ["--reference", tmp_path / "cooking.txt", "--candidate", tmp_path / "travel.txt"]
    return [*given, "-m", "jsd@words,zipf@words", "--effect", "0.5"]


def test_two_corpora_in_every_format_and_file(run, corpora, tmp_path):
    given = [*corpora, "--effort", "quick"]
    code, out, _ = run("recommend", *given, "-f", "json", "-o", tmp_path / "answer.json")
    answer = json.loads(out)["details"]
    assert code == 0
    assert answer == load(tmp_path / "answer.json").details
    assert answer["sentences"][0].startswith(f"To rank corpora, use {answer['choice'][0]}")
    assert [one["purpose"] for one in answer["answers"]] == ["rank corpora", "detect 50 % of foreign texts"]
    assert answer["leaderboard"][0]["metric"] == answer["choice"][0]
    assert answer["about"]["protocol"].startswith("ksc(k=7,")
    assert all(row["low"] <= (row["count"] or row["low"]) for row in answer["power"])

    code, out, err = run("recommend", *given, "-o", tmp_path / "answer.html")
    assert code == 0
    assert out.startswith(answer["sentences"][0])
    assert {"metric", "needed", "together", "CPU"} <= set(out.split())
    assert "effort quick" in err
    page = (tmp_path / "answer.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert "Which metric for" in page

    code, out, _ = run("recommend", *given, "-f", "markdown", "-o", tmp_path / "answer.md")
    assert (code, out[:2]) == (0, "# ")
    assert "To detect 50 % of foreign texts with 80 % power" in (tmp_path / "answer.md").read_text()


def test_rated_pairs_and_the_run_behind_the_answer(run, rated, tmp_path):
    given = [*rated, "-m", "jaccard,levenshtein", "--out", tmp_path / "kept"]
    code, out, _ = run("recommend", *given, "-f", "json")
    answer = json.loads(out)["details"]
    assert (code, answer["about"]["pairs"]) == (0, 120)
    rows = json.loads(run("leaderboard", tmp_path / "kept", "-f", "json")[1])["rows"]
    assert set(answer["choice"]) == {row["metric"] for row in rows if row["tier"] == 1}
    assert answer["leaderboard"] == rows
