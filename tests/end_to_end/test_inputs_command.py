"""An index is the row of the file, whatever was left out or drawn; labels of a sample are no ratings."""

import json
from pathlib import Path

import polars
import pytest

import textgauge


def test_labels_of_a_sample_are_no_ratings(run):
    code, _, err = run("describe", "sample:banking", "--train", "sample:banking", "--limit", 20, "--embedder", "none",
                       "--grammar", "none", "--plausibility", "none")  # fmt: skip
    assert code == 0, err


@pytest.mark.filterwarnings("ignore:.*blank texts left out")
def test_an_index_is_the_row_of_the_file_whatever_was_left_out(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [f"the {word} {number} ran home" if number % 3 else "" for number, word in enumerate(["cat", "dog"] * 30)]
    texts[40] = texts[4]  # each other's duplicate
    Path("a.csv").write_text("\n".join(["text", *(text or '""' for text in texts)]) + "\n")
    Path("b.txt").write_text("\n".join([*reversed(texts), "a blue fish"]) + "\n")
    without = ("--embedder", "none", "--grammar", "none", "--plausibility", "none")
    for limit in ((), ("--limit", 38)):
        assert run("describe", "a.csv", *without, *limit, "--per-text", "rows.csv", "--lists", "lists")[0] == 0
        rows = polars.read_csv("rows.csv")
        assert len(rows) == (38 if limit else 40)
        assert rows["text"].to_list() == [texts[index] for index in rows["index"]]
        for row in polars.read_csv("lists/near_duplicates.csv").iter_rows(named=True):
            assert (texts[row["index"]], texts[row["match_index"]]) == (row["text"], row["match"])
        assert run("compare", "a.csv", "b.txt", "-m", "irpr@levenshtein", "--explain", "-o", "e.json", *limit)[0] == 0
        sides = {"reference": texts, "candidate": Path("b.txt").read_text().splitlines()}
        for row in textgauge.load("e.json").texts.iter_rows(named=True):
            other = sides["candidate" if row["source"] == "reference" else "reference"]
            assert (sides[row["source"]][row["index"]], other[row["nearest_index"]]) == (row["text"], row["nearest"])


def test_the_index_of_a_drawn_pair_is_the_row_of_the_file(run, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("left,right\n" + "".join(f"{'a' * n},{'a' * 30}\n" for n in range(1, 31)))
    code, out, _ = run("score", "--pairs", path, "-m", "levenshtein", "--limit", 7, "-f", "json")
    rows = json.loads(out)["rows"]
    assert (code, len(rows)) == (0, 7)
    assert [row["levenshtein"] for row in rows] == pytest.approx(
        [2 * (row["index"] + 1) / (row["index"] + 31) for row in rows]
    )
