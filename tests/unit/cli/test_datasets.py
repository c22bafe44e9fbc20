"""`textgauge datasets ls | fetch | show`."""

import json

import pytest


@pytest.fixture
def call(run, monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    monkeypatch.delenv("TEXTGAUGE_DATA", raising=False)
    return lambda *args: run("datasets", *args)


def test_ls_json_is_an_array_of_flat_objects(call):
    rows = json.loads(call("ls", "--format", "json")[1])["rows"]
    assert {"name", "kind", "texts", "licence", "available"} <= set(rows[0])
    assert all(not isinstance(value, list | dict) for row in rows for value in row.values())
    names = {row["name"]: row for row in rows}
    assert names["sample:banking"]["available"] is True
    assert names["banking77"]["available"] is False
    assert names["banking77"]["texts"] == 13083


def test_show_pairs(call):
    rows = json.loads(call("show", "sample:graded", "-n", "4", "--format", "json")[1])["rows"]
    assert [row["grade"] for row in rows] == [3, 2, 1, 0]
    rows = json.loads(call("show", "sample:banking", "--pairs", "--format", "json")[1])["rows"]
    assert len(rows) == 5
    assert set(rows[0]) == {"left", "right", "grade"}


def test_show_a_file(call, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("[bold]no markup[/bold]\n")
    assert "[bold]no markup[/bold]" in call("show", str(path))[1]


def test_fetch_of_a_built_in_sample_has_nothing_to_bring(call):
    rows = json.loads(call("fetch", "sample:travel", "--format", "json")[1])["rows"]
    assert rows == [{"name": "sample:travel", "files": 0, "available": True}]


@pytest.mark.parametrize("names", [["atis"], ["sample:travel", "atsi"]])
def test_fetch_offline_and_unknown(call, names):
    code, out, err = call("fetch", *names)
    assert (code, out) == (2, "")
    assert names[-1] in err
