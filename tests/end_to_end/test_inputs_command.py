"""Ordinary files go in with one command; a typical mistake gets one line that says what to do."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path

import numpy as np
import polars
import pytest

import textgauge

WORDS = ["red", "green", "blue", "cat", "dog", "bird", "pay", "card", "bank", "loan", "fee", "tea"]
METRIC = "jsd@words"


def texts(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 5)) + f" {n}" for n in range(12)]


REFERENCE, CANDIDATE = texts(0), texts(1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with `A.txt`, the reference."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "A.txt").write_text("\n".join(REFERENCE))
    return tmp_path


def csv(delimiter: str = ",") -> bytes:
    lines = ["id,question,answer", *(f"{n},{a},{b}" for n, (a, b) in enumerate(zip(REFERENCE, CANDIDATE, strict=True)))]
    return "\n".join(lines).replace(",", delimiter).encode()


def records() -> list[dict[str, object]]:
    return [{"id": n, "text": text} for n, text in enumerate(CANDIDATE)]


def write_folder_of_texts(place):
    (place / "essays").mkdir()
    for n, text in enumerate(CANDIDATE):
        (place / "essays" / f"{n:02d}.txt").write_text(text)


def write_saved_dataset(place):
    (place / "saved").mkdir()
    for n, part in enumerate((CANDIDATE[:7], CANDIDATE[7:])):
        polars.DataFrame({"text": part}).write_ipc_stream(place / "saved" / f"data-0000{n}-of-00002.arrow")
    (place / "saved" / "state.json").write_text("{}")


def writing(name: str, content: bytes):
    return lambda place: (place / name).write_bytes(content)


FILES = {
    "semicolons.csv:answer": writing("semicolons.csv", csv(";")),
    "table.csv:answer": writing("table.csv", csv()),
    "table.csv.gz:answer": writing("table.csv.gz", gzip.compress(csv())),
    "texts.json": writing("texts.json", json.dumps(CANDIDATE).encode()),
    "records.json": writing("records.json", json.dumps(records(), indent=1).encode()),
    "columns.json.xz": writing("columns.json.xz", lzma.compress(json.dumps({"text": CANDIDATE}).encode())),
    "lines.jsonl.bz2": writing("lines.jsonl.bz2", bz2.compress("\n".join(map(json.dumps, records())).encode())),
    "windows.txt": writing("windows.txt", b"\xef\xbb\xbf" + "\r\n".join(CANDIDATE).encode()),
    "table.parquet": lambda place: polars.DataFrame(records()).write_parquet(place / "table.parquet"),
    "essays": write_folder_of_texts,
    "saved": write_saved_dataset,
    "pipes.csv:answer": writing("pipes.csv", csv("|")),
}


@pytest.mark.parametrize("name", FILES)
def test_realistic_files_go_in(run, folder, name):
    (folder / "B.txt").write_text("\n".join(CANDIDATE))
    FILES[name](folder)
    compared, described = [
        run("compare", "A.txt", source, "-m", METRIC, "--format", "json") for source in ("B.txt", name)
    ]
    values = [_value(out) for code, out, _ in (compared, described) if code == 0]
    assert len(values) == 2, described
    assert values[0] == values[1]


def _value(out: str) -> float:
    found = json.loads(out)["rows"]
    row = (found["rows"] if isinstance(found, dict) else found)[0]
    return row["value"]


def test_both_sides_may_be_columns_of_one_file(run, folder):
    (folder / "qa.csv").write_bytes(csv())
    code, out, _ = run("score", "qa.csv:question", "qa.csv:answer", "-m", "jaccard", "--summary", "--format", "json")
    assert code == 0, out
    code, out, err = run("describe", "qa.csv:answer", "--train", "qa.csv:question", "--embedder", "none",
                         "--grammar", "none", "--plausibility", "none", "--format", "json")  # fmt: skip
    assert code == 0, err


@pytest.mark.filterwarnings("always")
def test_a_file_without_header_is_noticed(run, folder):
    (folder / "bare.csv").write_text("".join(f"{text},{n % 2}\n" for n, text in enumerate(CANDIDATE)))
    code, _, err = run("compare", "A.txt", "bare.csv", "-m", METRIC)
    assert code == 0
    assert "if the file has no header line, add one" in err


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
        assert run("compare", "a.csv", "b.txt", "-m", "irpr@levenshtein", "--explain-to", "e.json", *limit)[0] == 0
        sides = {"reference": texts, "candidate": Path("b.txt").read_text().splitlines()}
        for row in textgauge.load("e.json"):
            if row["kind"] == "text":
                other = sides["candidate" if row["side"] == "reference" else "reference"]
                assert (sides[row["side"]][row["index"]], other[row["nearest_index"]]) == (row["text"], row["nearest"])


def test_the_index_of_a_drawn_pair_is_the_row_of_the_file(run, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("left,right\n" + "".join(f"{'a' * n},{'a' * 30}\n" for n in range(1, 31)))
    code, out, _ = run("score", "--pairs", path, "-m", "levenshtein", "--limit", 7, "-f", "json")
    rows = json.loads(out)["rows"]
    assert (code, len(rows)) == (0, 7)
    assert [row["levenshtein"] for row in rows] == pytest.approx(
        [2 * (row["index"] + 1) / (row["index"] + 31) for row in rows]
    )
