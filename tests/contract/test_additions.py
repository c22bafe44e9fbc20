"""The table "Where a change lands" of docs/architecture.md, put to the test: toys added in a copy of the source."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import textgauge

ROOT = Path(textgauge.__file__).parents[1]
ARCHITECTURE = ROOT.parent / "docs/architecture.md"

METRIC = """
from dataclasses import dataclass

from textgauge.metrics import EmbeddingMetric, Part, register


@register
@dataclass(frozen=True)
class Toy(EmbeddingMetric):
    "The difference of the numbers of rows. Source: a toy."

    name = "toy"
    label = "Toy"
    headline = Part("value")

    def compute(self, comparison):
        return {"value": float(len(comparison.reference) - len(comparison.candidate))}
"""

PROTOCOL = """
from dataclasses import dataclass

from textgauge.bench.protocols.base import register_protocol
from textgauge.bench.protocols.size import Size


@register_protocol
@dataclass(frozen=True, kw_only=True)
class Toy(Size):
    "A toy."

    name = "toy"
    heading = "Toy"
    question = "Is this a toy?"
"""


def add_option(text, function):
    """Add the option `toy` to a function's signature and docstring."""
    start = text.index(f"\ndef {function}(\n")
    head, body = text[:start], text[start:]
    body = body.replace("    seed: int = 0,\n", "    seed: int = 0,\n    toy: int = 3,\n", 1)
    return head + body.replace("    seed\n        ", "    toy\n        How many toys.\n    seed\n        ", 1)


def add_format(text):
    """Add a format of lines that end in `.toy`."""
    return text.replace("FORMATS = (\n", 'FORMATS = (\n    FileFormat(".toy", "lines", _read_plain),\n', 1)


TOYS: dict[str, tuple[str, Callable[[str], str], list[str], str]] = {
    "a corpus metric": (
        "metrics/corpus/toy.py",
        lambda _: METRIC,
        ["compare", "a.npy", "b.npy", "-m", "toy", "--no-test", "-f", "json"],
        '"value": 1.0',
    ),
    "an option of a command": (
        "measure/comparing.py",
        lambda text: add_option(text, "compare"),
        ["compare", "--help"],
        "How many toys.",
    ),
    "an option of describe": (
        "measure/describing.py",
        lambda text: add_option(text, "describe"),
        ["describe", "--help"],
        "How many toys.",
    ),
    "a protocol": ("bench/protocols/toy.py", lambda _: PROTOCOL, ["ls", "protocols"], "A toy."),
    "an input format": (
        "data/formats.py",
        add_format,
        ["score", "c.toy", "c.toy", "-m", "levenshtein", "--summary", "-f", "json"],
        '"n": 3',
    ),
}


def find_row(change):
    """Return the row of the table that a change belongs to."""
    kind = "an option of a command" if change.startswith("an option") else change
    rows = [line for line in ARCHITECTURE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {kind}")]
    assert len(rows) == 1, kind
    return rows[0]


@pytest.mark.parametrize("change", TOYS)
def test_a_toy_lands_where_the_table_says(change, tmp_path):
    """One file of the source is touched, the one that the table names, and the command knows the toy."""
    path, edit, command, expected = TOYS[change]
    named = re.findall(r"`([\w/.]+)`", find_row(change))
    assert "the function" in find_row(change) or any(path.startswith(name) for name in named)
    shutil.copytree(ROOT / "textgauge", tmp_path / "src/textgauge", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "src/textgauge" / path
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    new = edit(old)
    assert new != old
    file.write_text(new, encoding="utf-8")
    for name, rows in {"a.npy": 4, "b.npy": 3}.items():
        np.save(tmp_path / name, np.eye(rows, 5))
    (tmp_path / "c.toy").write_text("one\ntwo\nthree\n", encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "COLUMNS": "150"}
    command = [sys.executable, "-m", "textgauge", *command]
    done = subprocess.run(command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert expected in done.stdout, done.stdout + done.stderr
