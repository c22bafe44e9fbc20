"""`textgauge describe` as a user meets it: the table, JSON, files, figure, and one clear line for bad input."""

import json

import numpy as np
import polars as pl
import pytest

from textgauge import load
from textgauge.encode.embedders import EMBEDDERS
from textgauge.encode.encoders import Encoder

FIELDS = {"property", "value", "low", "high", "test", "train", "backend"}
PROPERTIES = {
    "unique", "vocab", "grammar", "plausibility", "semantic_precision", "semantic_recall", "semantic_f1",
    "syntactic_precision", "syntactic_recall", "syntactic_f1",
}  # fmt: skip


class Letters:
    """A vector of letter counts, in place of a model."""

    name, identity, dimension = "letters", "letters(1)", 26

    def encode(self, texts, *, batch_size=64, progress=None):
        return np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], dtype=np.float32)


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


def test_json_is_one_flat_object_per_property(describe, corpora):
    code, out, err = describe(corpora / "good.txt", "-f", "json")
    rows = {row["property"]: row for row in json.loads(out)["rows"]}
    assert code == 0, err
    assert rows.keys() >= PROPERTIES
    for row in rows.values():
        assert row.keys() >= FIELDS
        assert row["value"] is not None
        assert row["low"] is None or row["low"] <= row["value"] <= row["high"]
    assert rows["semantic_f1"]["backend"] == "cosine@letters(1)"
    assert rows["syntactic_f1"]["test"] is not None
    assert rows["semantic_f1"]["train"] is not None


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


def test_files_of_texts_picks_and_figure(describe, corpora):
    code, out, err = describe(
        corpora / "good.txt", "--grammar", "none", "--per-text", corpora / "texts.parquet", "--pick", 7,
        "--pick-to", corpora / "picked.txt", "--plausible", "--near-copies", 0.6, "--figure", corpora / "plane.svg",
    )  # fmt: skip
    assert code == 0, err
    assert len(pl.read_parquet(corpora / "texts.parquet")) == 60
    assert len((corpora / "picked.txt").read_text(encoding="utf-8").splitlines()) == 7
    assert (corpora / "plane.svg").read_bytes().startswith(b"<svg")
    assert "Near copies (" in out


def test_the_table_and_the_file_of_the_same_call_tell_the_same(describe, corpora):
    code, out, err = describe(corpora / "good.txt", "--grammar", "none", "-o", corpora / "kept" / "found.json")
    assert code == 0, err
    kept = {row["property"]: row for row in load(corpora / "kept" / "found.json")}
    printed = {line.split()[0]: line for line in out.splitlines() if line.split() and line.split()[0] in kept}
    assert printed.keys() == kept.keys()
    for name, row in kept.items():
        ends = [] if row["low"] is None else [row["low"], "…", row["high"]]
        shown = ["–" if cell is None else cell if cell == "…" else f"{cell:.4g}" for cell in (row["value"], *ends)]
        assert printed[name].split()[1 : 1 + len(shown)] == shown
    assert json.loads(describe(corpora / "good.txt", "--grammar", "none", "-f", "json")[1])["rows"] == list(
        kept.values()
    )


def test_shuffled_words_lose_on_plausibility(describe, corpora, tmp_path):
    lines = [f"the {a} sees a {b} tree today" for a in ("cat", "dog", "bird") for b in ("red", "green")] * 20
    rng = np.random.default_rng(0)
    (corpora / "train.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "order.txt").write_text("\n".join(lines[:60]), encoding="utf-8")
    shuffled = [" ".join(rng.permutation(line.split())) for line in lines[:60]]
    (tmp_path / "salad.txt").write_text("\n".join(shuffled), encoding="utf-8")
    out = describe(tmp_path / "order.txt", tmp_path / "salad.txt", "--grammar", "none", "-f", "json")[1]
    value = {row["corpus"]: row["value"] for row in json.loads(out)["rows"] if row["property"] == "plausibility"}
    assert value["salad"] > 2 * value["order"]


def test_ratings_from_a_column(describe, corpora):
    lines = (corpora / "good.txt").read_text(encoding="utf-8").splitlines()
    frame = pl.DataFrame({"sentence": lines, "stars": [len(line) % 5 for line in lines], "other": lines})
    frame.write_csv(corpora / "rated.csv")
    code, out, err = describe(
        corpora / "rated.csv",
        "--column",
        "sentence",
        "--rating",
        "stars",
        "--grammar",
        "none",
        "--lists",
        corpora / "l",
    )
    assert code == 0, err
    assert "rho" in out
    assert len(pl.read_csv(corpora / "l" / "ratings.csv")) == 3
    frame.with_columns(stars=pl.lit("good")).write_csv(corpora / "bad.csv")
    code, _, err = describe(corpora / "bad.csv", "--column", "sentence", "--rating", "stars")
    assert code == 2
    assert "'good' is not a number" in err


def test_without_test_cells_say_why_they_are_empty(run, corpora):
    args = ("describe", corpora / "good.txt", "--train", corpora / "train.txt", "--grammar", "none", "-f", "json")
    code, out, _ = run(*args)
    rows = {row["property"]: row for row in json.loads(out)["rows"]}
    assert code == 0
    assert rows["semantic_f1"]["value"] is None
    assert rows["semantic_f1"]["reason"] == rows["unique"]["test_reason"] == "no test texts were given"


def test_bad_input_is_one_line_and_exit_code_2(describe, corpora):
    (corpora / "empty.txt").write_text("", encoding="utf-8")
    (corpora / "long.txt").write_text("a" * 10_000_000, encoding="utf-8")
    cases = [
        ((corpora / "empty.txt",), "the file is empty"),
        ((corpora / "long.txt",), "characters"),
        ((corpora / "nothing.txt",), "nothing.txt"),
        ((corpora / "good.txt", "--pick", 3), "belong together"),
        ((corpora / "good.txt", "--per-text", "x.xls"), "ending"),
        ((corpora / "good.txt", "--figure", "x.gif"), "a figure is"),
        ((corpora / "good.txt", "-o", "x.csv"), "saved to a .json file"),
        ((corpora / "good.txt", "--near-copies", 0.2, "--grammar", "none"), "SynSim"),
    ]
    for args, message in cases:
        code, out, err = describe(*args)
        assert (code, out) == (2, ""), args
        assert message in err
        assert len(err.strip().splitlines()) == 1
    code, _, err = describe(corpora / "good.txt", embedder="minilmm")
    assert code == 2
    assert "did you mean minilm" in err


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


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--test", "train.txt"], "--test needs --train"),
        (["--near-copies", "0.9"], "--near-copies needs --train"),
        (["--against", "nowhere.txt"], "nowhere.txt"),
        (["--train", "train.txt", "--against", "test.txt"], "--against is for texts that are described by themselves"),
    ],
)
def test_bad_input_for_a_corpus_by_itself_is_one_line_and_writes_nothing(run, corpora, monkeypatch, more, said):
    monkeypatch.chdir(corpora)
    code, printed, complaint = run("describe", "good.txt", *ALONE, *more, "--lists", "lists")
    assert code == 2
    assert printed == ""
    assert said in complaint
    assert complaint.count("\n") == 1
    assert not (corpora / "lists").exists()


def test_corpora_are_called_by_their_files(describe, corpora):
    (corpora / "gpt-4.1.txt").write_text((corpora / "good.txt").read_text())
    (corpora / "gpt-4.5.txt").write_text((corpora / "good.txt").read_text())
    code, out, _ = describe(corpora / "gpt-4.1.txt", corpora / "gpt-4.5.txt", "-f", "json", "--no-ci")
    assert code == 0
    assert {row["corpus"] for row in json.loads(out)["rows"]} == {"gpt-4.1", "gpt-4.5"}
    code, _, err = describe(corpora / "good.txt", corpora / "good.txt")
    assert code == 2
    assert "is given twice" in err
