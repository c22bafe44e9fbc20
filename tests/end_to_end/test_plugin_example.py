"""The example of a plug-in: textgauge knows its metric and its embedder as soon as the package is installed."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture
def installed(tmp_path) -> dict[str, str]:
    """An environment in which the plug-in is installed: its files, and a list of entry points."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text("utf-8"))["project"]
    about = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    about.joinpath("METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", "utf-8")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    about.joinpath("entry_points.txt").write_text("\n".join(lines), "utf-8")
    path = os.pathsep.join((str(tmp_path), str(PLUGIN / "src"), os.environ.get("PYTHONPATH", "")))
    return {**os.environ, "PYTHONPATH": path}


def test_the_contracts_hold_and_both_are_listed(installed):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", PLUGIN]
    done = subprocess.run([*command, PLUGIN / "tests"], env=installed, capture_output=True, text=True, check=False)
    assert "3 passed" in done.stdout, done.stdout


def test_the_command_measures_with_both(installed):
    command = [sys.executable, "-m", "textgauge", "compare", "sample:banking", "sample:travel", "--limit", "40"]
    done = subprocess.run(
        [*command, "-m", "mean_gap@letters"], env=installed, capture_output=True, text=True, check=False
    )
    assert "mean_gap@letters" in done.stdout, done.stderr
