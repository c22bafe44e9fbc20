"""`make demo`: its steps work and leave what they say."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from textgauge.bench import Store
from textgauge.bench.results import Results
from textgauge.cli import make_app
from textgauge.encode.resources import is_available

ROOT = Path(__file__).parents[2]
STEPS = ["resources", "compare", "run", "datasets", "generate", "describe", "report"]
PROMISED = {"ksc", "size", "distributionality", "agreement"}  # mixtures, size, paraphrases, ratings
TASKS = {"axis", "comparisons", "robustness", "sensitivity", "clustering", "retrieval"}  # the first two are one of five

pytestmark = [
    pytest.mark.skipif(not is_available("minilm"), reason="not here: textgauge resources fetch minilm"),
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make"),
]


@pytest.fixture
def recipe(tmp_path):
    """The lines of the demo after its set-up, in a folder of the test's own."""
    told = subprocess.run(
        ["make", "--dry-run", "demo", f"DEMO={tmp_path}", "VENV=venv"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    script = told.replace("\\\n", " ").splitlines()
    return script[script.index(f"mkdir -p {tmp_path}") :]


@pytest.fixture
def commands(recipe):
    """The words of each textgauge command of the demo."""
    lines = [line for line in recipe if line.startswith("venv/bin/textgauge ")]
    words = [shlex.split(line.partition(" > ")[0])[1:] for line in lines]
    return {command[0]: command for command in words}


def test_the_demo_has_its_steps(recipe, commands):
    assert list(commands) == STEPS
    assert len(commands["compare"][-1].split(",")) == 16
    assert any("by sixteen metrics with intervals and tests" in line for line in recipe)
    for words in commands.values():
        make_app().parse_args(words, print_error=False, exit_on_error=False)


@pytest.mark.slow
def test_the_demo_runs(tmp_path, recipe):
    script = "\n".join(recipe).replace("venv/bin/", f"{shlex.quote(str(Path(sys.executable).parent))}/")
    done = subprocess.run(["sh", "-e", "-c", script], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    protocols = {manifest["protocol"]["name"] for manifest in Results(Store(tmp_path / "run")).manifests}
    assert protocols == PROMISED | TASKS
    assert (tmp_path / "report.html").stat().st_size < 3e6
