"""`make demo`: its steps work and leave what they say."""

import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from textgauge import load
from textgauge.bench import Store, ensembles
from textgauge.bench.inputs import read_rated, read_two
from textgauge.bench.leaderboard import group_boards
from textgauge.bench.plan import SUITES, make_plans, make_task_plans
from textgauge.bench.protocols import Agreement, Ksc, Size, list_protocols
from textgauge.bench.results import Results
from textgauge.encode.resources import is_available

ROOT = Path(__file__).parents[2]
STEPS = ["resources", "compare", "run", "datasets", "generate", "describe", "explain", "report"]
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
    return {"explain" if "--explain-to" in command else command[0]: command for command in words}


def test_the_demo_has_its_steps(recipe, commands):
    assert list(commands) == STEPS
    assert len(commands["compare"][-1].split(",")) == 16
    assert any("by sixteen metrics with intervals and tests" in line for line in recipe)


def small_suite(metrics=None, seed=0):
    """The suite `quick` with fewer protocols, metrics, texts and repetitions."""
    assert metrics is None
    corpora = [read_two("sample:banking", "sample:travel")]
    size = Size(smallest=20, step=20, total=60, large=60, draws=2, repetitions=2)
    tasks = {list_protocols()["axis"]: ("sample:articles",), list_protocols()["clustering"]: ("sample:intents",)}
    return [
        *make_plans([Ksc(k=5, n=20, repetitions=3), size], corpora, "energy,pr,jsd", seed),
        *make_plans([Agreement()], [read_rated("sample:graded", limit=60)], "jaccard,chrf", seed),
        *make_task_plans(tasks, "jaccard,levenshtein", seed, {list_protocols()["clustering"]: {"n": 20, "folds": 3}}),
    ]


def test_a_small_demo_leaves_what_it_says(tmp_path, commands, run, monkeypatch):
    monkeypatch.setitem(SUITES, "quick", replace(SUITES["quick"], plans=small_suite))
    for name in ("_FOREST_SEEDS", "_UNIVERSAL_SEEDS"):
        monkeypatch.setattr(ensembles, name, 2)

    def call(name):
        code, out, err = run(*commands[name])
        assert code == 0, err
        return out, err

    for name in ("compare", "explain"):
        commands[name][commands[name].index("--limit") + 1] = "40"
    commands["compare"] += ["--permutations", "19"]
    commands["generate"][commands["generate"].index("-n") + 1] = "40"
    assert call("compare")[0].startswith(load(tmp_path / "compare.json").answer)
    assert "0 were there" in call("run")[1]
    assert ", 0 computed" in call("run")[1]
    whole = pl.read_csv(call("datasets")[0].encode())
    whole.head(80).write_csv(tmp_path / "train.csv")
    whole.tail(40).write_csv(tmp_path / "test.csv")
    assert "eda.csv" in "".join(call("generate"))
    assert call("describe")[0].startswith(load(tmp_path / "describe.json").answer)
    call("explain")
    assert {row["kind"] for row in load(tmp_path / "explained.json").rows} >= {"text", "term"}
    said = " ".join(call("report")[1].split())
    for board, _ in group_boards(Results(Store(tmp_path / "run")).judged()):
        assert f"{board.purpose}: {board.answer}" in said


@pytest.mark.slow
def test_the_demo_runs(tmp_path, recipe):
    script = "\n".join(recipe).replace("venv/bin/", f"{shlex.quote(str(Path(sys.executable).parent))}/")
    done = subprocess.run(["sh", "-e", "-c", script], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    protocols = {manifest["protocol"]["name"] for manifest in Results(Store(tmp_path / "run")).manifests}
    assert protocols == PROMISED | TASKS
    assert (tmp_path / "report.html").stat().st_size < 3e6
