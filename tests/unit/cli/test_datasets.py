"""`textgauge datasets ls | fetch | show`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from textgauge.cli.datasets import app
from textgauge.core.errors import ResourceError, UnknownName


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    monkeypatch.delenv("TEXTGAUGE_DATA", raising=False)

    def call(*args: str):
        return CliRunner().invoke(app, list(args))

    return call


def test_ls_json_is_an_array_of_flat_objects(run):
    rows = json.loads(run("ls", "--format", "json").stdout)["rows"]
    assert {"name", "kind", "texts", "licence", "available"} <= set(rows[0])
    assert all(not isinstance(value, list | dict) for row in rows for value in row.values())
    names = {row["name"]: row for row in rows}
    assert names["sample:banking"]["available"] is True
    assert names["banking77"]["available"] is False
    assert names["banking77"]["texts"] == 13083


def test_ls_table_shows_whole_names(run):
    result = run("ls")
    assert result.exit_code == 0
    assert "wmt21_mqm_ted_zhen" in result.stdout


def test_show_texts(run):
    rows = json.loads(run("show", "sample:cooking", "-n", "3", "--format", "json").stdout)["rows"]
    assert len(rows) == 3
    assert set(rows[0]) == {"text", "label"}
    assert rows[0]["text"] in run("show", "sample:cooking", "-n", "1", "--format", "json").stdout


def test_show_pairs(run):
    rows = json.loads(run("show", "sample:graded", "-n", "4", "--format", "json").stdout)["rows"]
    assert [row["grade"] for row in rows] == [3, 2, 1, 0]
    rows = json.loads(run("show", "sample:banking", "--pairs", "--format", "json").stdout)["rows"]
    assert len(rows) == 5
    assert set(rows[0]) == {"left", "right", "grade"}


def test_show_a_file(run, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("[bold]no markup[/bold]\n")
    assert "[bold]no markup[/bold]" in run("show", str(path)).stdout


def test_fetch_of_a_built_in_sample_has_nothing_to_bring(run):
    rows = json.loads(run("fetch", "sample:travel", "--format", "json").stdout)["rows"]
    assert rows == [{"name": "sample:travel", "files": 0, "available": True}]


def test_fetch_offline_and_unknown(run):
    assert isinstance(run("fetch", "atis").exception, ResourceError)
    assert isinstance(run("fetch", "sample:travel", "atsi").exception, UnknownName)
