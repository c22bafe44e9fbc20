"""Public functions begin with a verb of the table in CONTRIBUTING.md."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import textgauge

ROOMS = ["", ".core", ".stats", ".encode", ".data", ".metrics", ".measure", ".bench", ".report", ".cli", ".testing"]
GUIDE = Path(textgauge.__file__).parents[2] / "CONTRIBUTING.md"
# Statistics, a metric made by its function, and the words of the front door, which are read as nouns.
NOUNS = {
    "pearson",
    "spearman",
    "ensemble",
    "leaderboard",
    "metric",
    "argument",
    "calling",
    "command",
    "main",
    "note",
    "option",
}


def list_verbs():
    """Return the verbs of the table."""
    rows = re.findall(r"^\| ([a-z, ]+) \| .* \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    return {verb for row in rows for verb in row.split(", ")} - {"verb"}


@pytest.mark.parametrize("room", ROOMS)
def test_public_functions_begin_with_a_verb(room):
    module = import_module(f"textgauge{room}")
    functions = {name for name in module.__all__ if inspect.isfunction(getattr(module, name))} - NOUNS
    assert {name for name in functions if name.split("_")[0] not in list_verbs()} == set()
