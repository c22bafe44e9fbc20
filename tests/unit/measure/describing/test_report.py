"""The result of `describe`: rows by name, as JSON, frame, text, HTML and plot."""

import json

import pytest

from textgauge.core.errors import UnknownName
from textgauge.measure.describing import describe as run
from textgauge.metrics.properties import list_properties

TRAIN = ["a red cat sat here", "the dog ran off", "we like green tea", "it rains all day long"]
TEST = ["a red cow sat there", "they like black tea", "it rains all night"]
N = len(list_properties(alone=False))
GENERATED = ["A red cat sat here!", "a blue cat sat there", "we like tea", "we like tea.", "snow fell!!"]


def describe(generated=GENERATED, train=TRAIN, held_out=TEST, **options):
    return run(generated=generated, train=train, held_out=held_out, **{"embedder": "letters", **options})


def test_empty_cells_say_why():
    found = describe()
    assert found["semantic_f1"].test_reason == "not defined for test itself"
    assert found["syntactic_f1"].train_reason == "not defined for train itself"
    assert found["plausibility"].train_reason == "the language model was made from it"
    assert "no interval" in found["repetition"].reason
    for row in found.to_dicts():
        for cell, reason in (("value", "reason"), ("test", "test_reason"), ("train", "train_reason")):
            assert row[cell] is not None or row[reason]
    assert "no value for train: plausibility (the language model was made from it)" in found.notes
    assert all(f"note: {text}" in str(found) for text in found.notes)


def test_a_table_without_test_texts_has_no_column_of_them():
    found = describe(held_out=None)
    assert list(found.readable()[0]) == ["property", "value", "interval", "train", "what it is"]
    missing = "semantic_precision, semantic_recall, semantic_f1 and covered"
    assert f"no value for generated: {missing} (no test texts were given)" in found.notes
    assert not any("for test" in text for text in found.notes)


def test_several_corpora_share_a_table():
    found = describe(generated={"one": GENERATED, "two": TEST})
    assert len(found) == 2 * N
    assert found["unique", "two"].value == 1
    assert "unique" in found
    assert ("unique", "two") in found
    assert ("unique", "three") not in found
    with pytest.raises(UnknownName, match="2 rows"):
        found["unique"]
    with pytest.raises(UnknownName, match="unique, one"):
        found["uniqe", "one"]
    with pytest.raises(UnknownName, match="did you mean unique"):
        describe()["uniqe"]


def test_rows_as_json_frame_and_text():
    found = describe()
    assert json.loads(found.to_json())["rows"] == found.to_dicts()
    assert found.to_polars().shape == (N, 12)
    assert "syntactic_f1" in str(found)
    assert "not asked for" in str(describe(grammar=None))


def test_notebooks_show_the_table_as_html():
    shown = describe(generated={"<b>": GENERATED})._repr_html_()
    assert shown.startswith("<p><strong>")
    assert "near_copies" in shown
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


def test_the_plot_has_a_panel_per_defined_property_with_interval_test_and_train():
    made = describe(grammar=None).plot().to_dict()
    assert len(made["vconcat"]) == N - 1
    values = made["datasets"][made["vconcat"][0]["data"]["name"]]
    points = {point["of"]: point for point in values}
    row = describe()["unique"]
    assert points["generated"] == {
        "property": "unique", "of": "generated", "value": row.value, "low": row.low, "high": row.high
    }  # fmt: skip
    assert (points["test"]["value"], points["train"]["value"]) == (row.test, row.train)
    several = describe(generated={"one": GENERATED, "two": TEST}).plot().to_dict()
    assert len(several["vconcat"]) == 2 * N
