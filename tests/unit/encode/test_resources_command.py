from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from textgauge.cli.resources import app
from textgauge.core.errors import UnknownName
from textgauge.encode.resource_sources import Resource

runner = CliRunner()


def test_ls_gives_flat_objects_only(tiny: Resource) -> None:
    done = runner.invoke(app, ["ls", "--format", "json"])
    rows = json.loads(done.stdout)["rows"]
    assert [row["name"] for row in rows] == ["tiny", "tiny-part"]
    assert rows[0]["here"] is False
    assert not any(isinstance(value, dict | list) for row in rows for value in row.values())


def test_ls_prints_a_table(tiny: Resource) -> None:
    done = runner.invoke(app, ["ls"])
    assert done.exit_code == 0
    assert "two small files" in done.stdout


def test_fetch_then_verify(tiny_here: Resource) -> None:
    done = runner.invoke(app, ["fetch", "tiny"])
    name, folder = done.stdout.strip().split("\t")
    assert name == "tiny"
    assert (Path(folder) / "data" / "a.txt").read_bytes() == b"alpha"
    done = runner.invoke(app, ["verify", "--format", "json"])
    assert json.loads(done.stdout)["rows"] == [{"name": "tiny", "state": "ok"}]
    (Path(folder) / "data" / "a.txt").write_text("other")
    done = runner.invoke(app, ["verify", "tiny", "tiny-part", "--format", "json"])
    assert done.exit_code == 1
    assert [row["state"] for row in json.loads(done.stdout)["rows"]] == ["damaged", "missing"]


def test_an_unknown_name_fetches_nothing(tiny_here: Resource) -> None:
    done = runner.invoke(app, ["fetch", "tiny", "tinny"])
    assert isinstance(done.exception, UnknownName)
    assert json.loads(runner.invoke(app, ["verify", "--format", "json"]).stdout)["rows"] == []
