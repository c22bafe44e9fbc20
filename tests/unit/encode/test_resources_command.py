from __future__ import annotations

import json
from pathlib import Path

from textgauge.encode.resources import Resource


def test_ls_gives_flat_objects_only(run, tiny: Resource) -> None:
    rows = json.loads(run("resources", "ls", "--format", "json")[1])["rows"]
    assert [row["name"] for row in rows] == ["tiny", "tiny-part"]
    assert rows[0]["here"] is False
    assert not any(isinstance(value, dict | list) for row in rows for value in row.values())


def test_ls_prints_a_table(run, tiny: Resource) -> None:
    code, out, _ = run("resources", "ls")
    assert code == 0
    assert "two small files" in out


def test_fetch_then_verify(run, tiny_here: Resource) -> None:
    name, folder = run("resources", "fetch", "tiny")[1].strip().split("\t")
    assert name == "tiny"
    assert (Path(folder) / "data" / "a.txt").read_bytes() == b"alpha"
    _, out, _ = run("resources", "verify", "--format", "json")
    assert json.loads(out)["rows"] == [{"name": "tiny", "state": "ok"}]
    (Path(folder) / "data" / "a.txt").write_text("other")
    code, out, _ = run("resources", "verify", "tiny", "tiny-part", "--format", "json")
    assert code == 1
    assert [row["state"] for row in json.loads(out)["rows"]] == ["damaged", "missing"]


def test_an_unknown_name_fetches_nothing(run, tiny_here: Resource) -> None:
    code, _, err = run("resources", "fetch", "tiny", "tinny")
    assert code == 2
    assert "tinny" in err
    assert json.loads(run("resources", "verify", "--format", "json")[1])["rows"] == []
