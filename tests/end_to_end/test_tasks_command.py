"""`textgauge run` of the five tasks, on own files and built-in data, their leaderboard and figures."""

import csv
import json
import sys

import numpy as np
import pytest

from textgauge.bench import ensembles

METRICS = ("-m", "levenshtein,jaccard")
COLUMNS = ["alignment", "robustness", "sensitivity", "clustering", "retrieval"]
TOPICS = {
    "sea": ["ship", "wave", "port", "sail", "crew", "storm", "tide", "net", "fish", "coast", "gull", "deck"],
    "farm": ["cow", "field", "wheat", "barn", "plough", "seed", "horse", "milk", "hay", "fence", "goat", "rain"],
    "town": ["street", "tram", "shop", "mayor", "square", "bridge", "clock", "market", "lamp", "bank", "park", "hall"],
}


def sentence(rng, topic, words=8):
    return f"The {' '.join(rng.choice(TOPICS[topic], words))} is here."


def document(rng, topic, sentences=6):
    return " ".join(sentence(rng, topic) for _ in range(sentences))


def table(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def topic_of(number):
    return list(TOPICS)[number % len(TOPICS)]


def rated(folder):
    """Summaries that keep as much of the text as they are rated for."""
    rng, rows = np.random.default_rng(1), []
    for number in range(24):
        text = document(rng, topic_of(number))
        for grade in (1, 2, 3):
            kept = " ".join(text.split()[: 8 * grade])
            rows.append((f"d{number}", text, f"{kept} {sentence(rng, topic_of(number + 1))}", grade, 4 - grade))
    return table(folder / "rated.csv", ["id", "article", "digest", "quality", "cover"], rows)


def compared(folder):
    rng, rows = np.random.default_rng(2), []
    for number in range(15):
        text = document(rng, topic_of(number))
        good, bad = text[:120], document(rng, topic_of(number + 1), 2)
        first, second = (good, bad) if number % 2 else (bad, good)
        rows.append((text, first, second, "a" if number % 2 else "b"))
    return table(folder / "compared.csv", ["article", "one", "two", "better"], rows)


RATED = ("--columns", "document=id,text=article,summary=digest,ratings=quality,ratings.coverage=cover")
COMPARED = ("--columns", "text=article,first=one,second=two,chosen=better")


@pytest.fixture(autouse=True)
def few_splits(monkeypatch):
    """Ensembles on few splits, to be quick."""
    monkeypatch.setattr(ensembles, "_FOREST_SEEDS", 2)
    monkeypatch.setattr(ensembles, "_UNIVERSAL_SEEDS", 2)


@pytest.fixture
def whole(run, tmp_path, monkeypatch):
    """All tasks, those of alignment on own files, in one folder; the last run trains the ensembles of all."""

    def call(what, *args):
        code, _, err = run("run", what, *args, *METRICS, "--out", tmp_path / "run")
        assert code == 0, err
        return err

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["textgauge.bench.run"], "train_ensembles", lambda *_, **__: None)
        call("axis", "--rated", rated(tmp_path), *RATED)
        call("comparisons", "--comparisons", compared(tmp_path), *COMPARED)
        for task in ("robustness", "sensitivity"):
            call(task, "--documents", "sample:articles", "-p", "documents_drawn=12")
        call("clustering", "--labelled", "sample:intents", "-n", 12, "-p", "folds=3")
    code, _, err = run("leaderboard", tmp_path / "run", "--format", "json")
    assert code == 0
    assert "warning: ensembles are not trained; run the same command again" in err
    call("retrieval", "--beir", "sample:library", "-n", 40, "-p", "queries=10", "-p", "folds=2")
    return tmp_path / "run"


def test_every_task_and_their_leaderboard_and_figures(whole, run, tmp_path):
    code, out, _ = run("leaderboard", whole, "--format", "json")
    rows = json.loads(out)["rows"]
    assert code == 0
    ranks = ["overall_low", "overall_high", "rank", "rank_low", "rank_high", "tier", "tied_with"]
    assert [list(row) for row in rows] == [["metric", *COLUMNS, "overall", *ranks]] * len(rows)
    made = {"task ensemble", "universal ensemble"}
    assert {row["metric"] for row in rows} == {"levenshtein", "jaccard", *made}
    for row in rows:
        assert all(0 <= row[name] <= 1 for name in [*COLUMNS, "overall"])
        assert row["overall"] == pytest.approx(np.mean([row[name] for name in COLUMNS]))

    detail = json.loads(run("leaderboard", whole, "--detail", "--format", "json")[1])["rows"]
    jaccard = {row["measure"]: row for row in detail if row["metric"] == "jaccard"}
    half = (jaccard["axis"]["value"] + jaccard["comparisons"]["value"]) / 2
    assert next(row for row in rows if row["metric"] == "jaccard")["alignment"] == pytest.approx(half)
    # What was rated higher covers more; the second aspect is its opposite.
    assert jaccard["axis"]["value"] > 0.8
    assert jaccard["axis_coverage"]["value"] == pytest.approx(1 - jaccard["axis"]["value"])
    assert "axis_accuracy" not in jaccard
    assert all(row["low"] <= row["value"] <= row["high"] for row in detail if row["value"] is not None)

    code, out, _ = run("figures", whole, "--folder", tmp_path / "figures", "--type", "svg")
    assert code == 0
    assert {line.rpartition("/")[2].partition("-")[0].removesuffix(".svg") for line in out.split()} == {
        "tasks",
        "sensitivity",
        "contributions",
    }


def test_alignment_reads_both_of_its_tables(run, tmp_path):
    columns = ("--columns", "text=article,summary=digest,ratings=quality,first=one,second=two,chosen=better")
    data = ("--rated", rated(tmp_path), "--comparisons", compared(tmp_path))
    assert run("run", "alignment", *data, *columns, *METRICS, "--out", tmp_path / "run")[0] == 0
    (*_, row) = json.loads(run("leaderboard", tmp_path / "run", "--format", "json")[1])["rows"]
    assert "alignment" in row
