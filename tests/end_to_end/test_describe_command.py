"""`textgauge describe` as a user meets it: the table, JSON, files."""

import json

import numpy as np
import polars as pl
import pytest
from tests.toys import Letters

from textgauge import load
from textgauge.encode.embedders import EMBEDDERS
from textgauge.encode.encoders import Encoder


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_NO_CACHE", "1")
    monkeypatch.setitem(EMBEDDERS, "letters", Encoder(Letters))
    rng = np.random.default_rng(0)
    words = ["the", "red", "cat", "dog", "bird", "sees", "likes", "a", "green", "tree", "today", "here"]
    for name, n in (("train", 80), ("test", 40), ("good", 60)):
        lines = [" ".join(rng.choice(words, rng.integers(4, 9))) + "." for _ in range(n)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "stuck.txt").write_text("\n".join(["the same sentence comes again."] * 60), encoding="utf-8")
    return tmp_path


@pytest.fixture
def describe(run, corpora):
    def command(*args, embedder="letters"):
        known = ("--train", corpora / "train.txt", "--test", corpora / "test.txt", "--embedder", embedder)
        return run("describe", *args, *known)

    return command


def test_several_corpora_with_tests_and_a_collapsed_one(describe, corpora):
    code, out, err = describe(
        corpora / "good.txt", corpora / "stuck.txt", "--grammar", "none", "--lists", corpora / "lists"
    )
    assert code == 0
    assert "good" in out
    assert "the same sentence comes again." in out
    assert "stuck: collapsed" in err
    assert "good: collapsed" not in err
    rows = pl.read_csv(corpora / "lists" / "differences.csv")
    assert set(rows["property"]) == {"plausibility", "semantic", "syntactic"}
    assert {path.stem for path in (corpora / "lists").iterdir()} >= {"near_copies", "uncovered", "modes", "curve"}


def test_files_of_texts_and_picks(describe, corpora):
    code, out, err = describe(
        corpora / "good.txt", "--grammar", "none", "--per-text", corpora / "texts.parquet", "--pick", 7,
        "--pick-to", corpora / "picked.txt", "--plausible", "--near-copies", 0.6,
    )  # fmt: skip
    assert code == 0, err
    assert len(pl.read_parquet(corpora / "texts.parquet")) == 60
    assert len((corpora / "picked.txt").read_text(encoding="utf-8").splitlines()) == 7
    assert "Near copies (" in out


def test_ratings_from_a_column(describe, corpora):
    lines = (corpora / "good.txt").read_text(encoding="utf-8").splitlines()
    frame = pl.DataFrame({"sentence": lines, "stars": [len(line) % 5 for line in lines], "fluency": 4, "other": lines})
    frame.write_csv(corpora / "rated.csv")
    asked = ("--column", "sentence", "--rating", "stars,fluency", "--grammar", "none", "--lists", corpora / "l")
    code, out, err = describe(corpora / "rated.csv", *asked)
    assert code == 0, err
    assert "rho" in out
    assert len(pl.read_csv(corpora / "l" / "ratings.csv")) == 2 * 3
    marks = pl.read_csv(corpora / "l" / "marks.csv").rows_by_key("question", named=True, unique=True)
    assert marks["fluency"]["high"] == 1.0
    assert marks["stars"]["high"] is None  # from 0 to 4


ALONE = ("--embedder", "letters", "--grammar", "none", "--plausibility", "none")


def test_a_corpus_by_itself_begins_with_the_answer_and_shows_its_duplicates(run, corpora):
    code, printed, _ = run("describe", corpora / "stuck.txt", "--against", corpora / "stuck.txt", *ALONE)
    assert code == 0
    first, *_ = printed.splitlines()
    assert first.startswith("60 texts of 6 words (median; 90 % have 6 to 6): 60 (100 %) equal another one")
    assert "60 (100 %) have a near duplicate in the other file." in first
    assert "Near duplicates (60, the first 5):" in printed
    assert "semantic_precision" not in printed


def test_a_corpus_by_itself_is_written_as_json_and_as_lists(run, corpora):
    files = ("--lists", corpora / "lists", "--per-text", corpora / "texts.csv", "-o", corpora / "found.json")
    code, printed, _ = run("describe", corpora / "good.txt", *ALONE, *files, "--format", "json")
    assert code == 0
    found = json.loads(printed)
    assert {"texts", "near_duplicates", "vendi", "compression"} <= {row["property"] for row in found["rows"]}
    assert found["rows"] == load(corpora / "found.json").to_dict()["rows"]
    assert {path.stem for path in (corpora / "lists").iterdir()} >= {"near_duplicates", "outliers", "templates"}
    assert len(pl.read_csv(corpora / "texts.csv")) == 60


def test_corpora_are_called_by_their_files(describe, corpora):
    (corpora / "gpt-4.1.txt").write_text((corpora / "good.txt").read_text())
    (corpora / "gpt-4.5.txt").write_text((corpora / "good.txt").read_text())
    options = ("-f", "json", "--no-ci", "--grammar", "none")
    code, out, _ = describe(corpora / "gpt-4.1.txt", corpora / "gpt-4.5.txt", *options)
    assert code == 0
    assert {row["corpus"] for row in json.loads(out)["rows"]} == {"gpt-4.1", "gpt-4.5"}
