"""The drawing of one command's walk in docs/architecture.md: it names files that are on the way, and counts them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from textgauge.encode.resources import is_available

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not is_available("minilm"), reason="needs the resource minilm")
def test_the_walk_is_as_drawn():
    command = [sys.executable, "-m", "benchmarks.walk"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    section = page.split("## The walk of one command")[1].split("\n## ")[0]
    count = re.compile(r"(\d+) functions in (\d+) files of (\d+) rooms")
    walked, drawn = ([int(number) for number in count.search(text).groups()] for text in (found, section))
    assert [number <= most for number, most in zip(walked, drawn, strict=True)] == [True] * 3, walked
    files = re.findall(r"^([a-z_/]+\.py): ", found, re.MULTILINE)
    named = re.findall(r"[a-z_/]+\.py", section)
    assert [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)] == []
