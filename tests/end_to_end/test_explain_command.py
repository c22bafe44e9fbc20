"""`textgauge compare --explain` as a user meets it; what comes from a corpus is text and nothing else."""

import csv
import json

import numpy as np
import pytest

HOSTILE = [
    "[red]x[/red] [link=http://x]y[/link]",
    "esc \x1b[31mred\x1b[0m \x9b2J",
    "<script>alert(1)</script> | a & b_c",
]
METRICS = "ahd@levenshtein,chi@words,jsd@words"


@pytest.fixture
def corpora(tmp_path):
    rng = np.random.default_rng(0)
    for name, words in (("a", "red green blue cat dog bird"), ("b", "pay card bank loan fee cat")):
        texts = [" ".join(rng.choice(words.split(), 4)) for _ in range(30)]
        (tmp_path / f"{name}.txt").write_text("\n".join([*texts, *(HOSTILE if name == "b" else [])]), encoding="utf-8")
    np.save(tmp_path / "a.npy", rng.normal(size=(20, 4)))
    np.save(tmp_path / "b.npy", rng.normal(size=(25, 4)) + 1)
    return tmp_path


def test_the_table_is_followed_by_texts_and_words_that_do_not_act_on_the_terminal(run, corpora):
    code, out, err = run("compare", corpora / "a.txt", corpora / "b.txt", "-m", METRICS, "--explain", "--top", 40)
    assert code == 0
    assert "the texts that contribute most" in out
    assert "Words that separate the corpora" in out
    assert "Texts far from every text of the other corpus, by levenshtein" in out
    assert "jsd@words" in err
    assert "[red]x[/red] [link=http://x]y[/link]" in out
    assert "<script>alert(1)</script> | a & b_c" in out
    assert not set(out) & {"\x1b", "\x9b"}
    asked = "-m", "ahd@levenshtein", "--explain", "--top", 40, "-f", "markdown"
    out = run("compare", corpora / "a.txt", corpora / "b.txt", *asked)[1]
    assert r"\<script\>alert(1)\</script\> \| a \& b\_c" in out
    assert r"\[red\]x" in out


def test_json_is_one_flat_array_in_which_contributions_add_up(run, corpora):
    code, out, _ = run("compare", corpora / "a.txt", corpora / "b.txt", "-m", METRICS, "--explain", "-f", "json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert all(not isinstance(value, dict | list) for row in rows for value in row.values())
    of_kind = {kind: [row for row in rows if row["kind"] == kind] for kind in ("metric", "text", "token", "term")}
    assert sum(map(len, of_kind.values())) == len(rows)
    values = {row["metric"]: row for row in of_kind["metric"]}
    for metric, total in (
        ("ahd@levenshtein", values["ahd@levenshtein"]["value"]),
        ("chi@words", values["chi@words"]["part.statistic"]),
    ):
        texts = [row for row in of_kind["text"] if row["metric"] == metric]
        assert len(texts) == 63
        assert sum(row["contribution"] for row in texts) == pytest.approx(total, abs=1e-9)
    assert {row["term"] for row in of_kind["term"]} >= {"red", "loan", "cat"}


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_a_file_takes_the_rows_and_standard_output_keeps_its_shape(run, corpora, ending):
    path = corpora / "out" / f"found.{ending}"
    code, out, _ = run(
        "compare", corpora / "a.txt", corpora / "b.txt", "-m", METRICS, "--explain-to", path, "-f", "json"
    )
    assert code == 0
    assert [row["metric"] for row in json.loads(out)["rows"]] == METRICS.split(",")
    content = path.read_text(encoding="utf-8")
    rows = json.loads(content)["rows"] if ending == "json" else list(csv.DictReader(content.splitlines()))
    assert {row["kind"] for row in rows} == {"text", "token", "term"}
    assert not set(content) & {"\x1b", "\x9b"}


@pytest.mark.parametrize(("ending", "start"), [("html", b"<!DOCTYPE html>"), ("svg", b"<svg"), ("png", b"\x89PNG")])
def test_figures_are_files_that_hold_texts_as_data(run, corpora, ending, start):
    path = corpora / f"found.{ending}"
    code, _, _ = run("compare", corpora / "a.txt", corpora / "b.txt", "-m", METRICS, "--explain-to", path, "--top", 33)
    assert code == 0
    content = path.read_bytes()
    assert content.startswith(start)
    assert b"<script>alert(1)" not in content


def test_embeddings_are_named_by_their_place(run, corpora):
    code, out, _ = run("compare", corpora / "a.npy", corpora / "b.npy", "-m", "energy,pr", "--explain")
    assert code == 0
    assert "text 1" in out
    assert "Words that separate" not in out


def test_a_file_that_cannot_be_written_is_said_in_one_line(run, corpora):
    (corpora / "file").write_text("x", encoding="utf-8")
    path = corpora / "file" / "found.json"
    code, _, err = run("compare", corpora / "a.txt", corpora / "b.txt", "-m", METRICS, "--explain-to", path)
    assert code == 2
    assert "cannot write" in err
