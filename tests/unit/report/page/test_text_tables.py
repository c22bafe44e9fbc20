"""Tables of single texts: the telling rows first, the telling words marked."""

import json

import pytest

from textgauge.report.page import page, read_texts


def written(folder, rows):
    path = folder / "texts.json"
    path.write_text(json.dumps({"schema": 1, "rows": rows}), encoding="utf-8")
    return path


def test_explanations_are_a_table_per_kind_and_metric_the_strongest_first(tmp_path):
    rows = [
        {"kind": "text", "metric": "energy", "side": "reference", "text": "weak", "contribution": 0.1, "distance": 0.2},
        {"kind": "text", "metric": "energy", "side": "candidate", "text": "far", "contribution": 0.1, "distance": 0.9},
        {"kind": "text", "metric": "energy", "side": "candidate", "text": "strong", "contribution": -0.5},
        {"kind": "text", "metric": "irpr", "side": "candidate", "text": "other", "contribution": 0.5},
        {"kind": "term", "term": "card", "z": 1.0},
        {"kind": "term", "term": "flight", "z": -3.0},
    ]
    energy, irpr, terms = read_texts(written(tmp_path, rows))
    assert (energy.title, energy.of, energy.few) == ("Texts by what they add to energy", "energy", 5)
    assert [row[1].shown for row in energy.rows] == ["strong", "far", "weak"]
    assert irpr.title == "Texts by what they add to irpr"
    assert (terms.title, [row[0].shown for row in terms.rows]) == (
        "Words that separate the corpora",
        ["flight", "card"],
    )


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_texts_of_tables(tmp_path, ending):
    import polars as pl

    frame = pl.DataFrame({"text": ["=1+1", "b"], "copied": [0.5, None]})
    path = tmp_path / f"each.{ending}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[ending](path)
    (table,) = read_texts(path)
    assert table.title == "each"
    assert [cell.value for row in table.rows for cell in row] == ["=1+1", 0.5, "b", None]


def test_words_that_speak_for_the_side_of_a_text_are_marked(tmp_path):
    rows = [
        {
            "kind": "text",
            "metric": "energy",
            "side": "candidate",
            "text": "A <b>flight</b> by card",
            "contribution": 1.0,
        },
        {"kind": "term", "term": "flight", "z": 3.0},
        {"kind": "term", "term": "card", "z": -3.0},
        {"kind": "term", "term": "by", "z": 1.0},
    ]
    tables = read_texts(written(tmp_path, rows))
    assert tables[0].rows[0][1].parts == (("A <b>", False), ("flight", True), ("</b> by card", False))
    assert "A &lt;b&gt;<mark>flight</mark>&lt;/b&gt; by card" in page(texts=tables)


def test_near_copies_come_first_with_what_was_changed_marked(tmp_path):
    rows = [
        {"text": "all new words", "nearest_train": "nothing alike", "syntactic": 0.1},
        {"text": "lock my small card", "nearest_train": "Lock my card", "syntactic": 0.9},
    ]
    (table,) = read_texts(written(tmp_path, rows))
    assert (table.of, table.rows[0][0].value) == ("near_copies", "lock my small card")
    assert [part for part, marked in table.rows[0][0].parts if marked] == ["small"]
