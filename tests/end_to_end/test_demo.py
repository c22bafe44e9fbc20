"""`make demo`: what its steps print after the runs is true of the files they leave."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from textgauge.represent.resources import available

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.skipif(not available("minilm"), reason="not here: textgauge resources fetch minilm"),
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make"),
]


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    """The commands of the demo, in a folder of the test's own."""
    folder = tmp_path_factory.mktemp("demo")
    told = subprocess.run(
        ["make", "--dry-run", "demo", f"DEMO={folder}", "VENV=venv"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    lines = [line for line in told.replace("\\\n", " ").splitlines() if line.startswith("venv/bin/textgauge ")]
    words = [shlex.split(line.partition(" > ")[0])[1:] for line in lines]
    return folder, {command[0]: command for command in words}


@pytest.fixture
def step(recipe, run):
    """Run one step of the demo in this process."""
    folder, commands = recipe
    return folder, lambda name: run(*commands[name])


def test_the_demo_has_its_steps(recipe):
    assert list(recipe[1]) == ["resources", "run", "datasets", "generate", "describe", "compare", "report"]


def test_describe_prints_what_it_keeps(step):
    folder, demo = step
    whole = pl.read_csv(demo("datasets")[1].encode())
    whole.head(400).write_csv(folder / "train.csv")
    whole.tail(200).write_csv(folder / "test.csv")
    code, _, err = demo("generate")
    assert (code, len(pl.read_csv(folder / "eda.csv"))) == (0, 200), err
    code, out, err = demo("describe")
    assert code == 0, err
    kept = {row["property"]: row for row in json.loads((folder / "describe.json").read_text("utf-8"))}
    for name, row in kept.items():
        (line,) = [line for line in out.splitlines() if line.split()[:1] == [name]]
        numbers = [
            cell for cell in (row["value"], row["low"], row["high"], row["test"], row["train"]) if cell is not None
        ]
        assert [f"{cell:.4g}" for cell in numbers] == re.findall(r"\d[\d.e+-]*", line.replace(name, ""))[: len(numbers)]
    assert len(pl.read_csv(folder / "eda-texts.csv")) == 200
