"""A command that embeds leaves nothing in the user's home: no telemetry, no identifiers, no caches of others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import textgauge
from textgauge.core.settings import get_cache_root
from textgauge.encode.resources import is_available

SOURCES = Path(textgauge.__file__).parent


@pytest.mark.skipif(not is_available("minilm"), reason="the encoder minilm is not on this machine")
def test_a_command_that_embeds_leaves_the_home_folder_empty(tmp_path):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    # Without the cache of embeddings the encoder has to run.
    own = {"HOME": str(tmp_path), "TEXTGAUGE_CACHE": str(get_cache_root()), "TEXTGAUGE_NO_CACHE": "1"}
    command = [sys.executable, "-m", "textgauge", "compare", "sample:banking", "sample:travel", "--limit", "20"]
    done = subprocess.run([*command, "-m", "energy"], env=kept | own, capture_output=True, text=True, check=True)
    assert "energy" in done.stdout
    assert list(tmp_path.rglob("*")) == []


def test_onnxruntime_is_imported_in_one_place_only():
    files = [path.name for path in SOURCES.rglob("*.py") if "import onnxruntime\n" in path.read_text("utf-8")]
    assert files == ["transformer.py"]
