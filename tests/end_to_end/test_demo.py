"""`make demo`: every line it prints is true of the files it leaves."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.end_to_end import demo_claims as claims
from tests.end_to_end.demo_standings import cells_of, check_report

from textgauge.bench import suites
from textgauge.bench.inputs import read_rated, read_two
from textgauge.bench.plan import make_plans
from textgauge.bench.protocols import Agreement, Ksc, Size, list_protocols
from textgauge.bench.suites import make_task_plans
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


def test_a_small_demo_prints_the_truth(tmp_path, commands, run, monkeypatch):
    small = replace(suites.SUITES["quick"], plans=small_suite)
    monkeypatch.setitem(suites.SUITES, "quick", small)

    def printed(name, *options):
        code, out, err = run(*commands[name], *options)
        assert code == 0, err
        return claims.words(out) + claims.words(err)

    for name in ("compare", "explain"):
        commands[name][commands[name].index("--limit") + 1] = "60"
    assert claims.table_of(printed("compare")) == claims.compared(commands["compare"])
    assert printed("run") == claims.run(tmp_path / "run", 0)
    assert printed("run") == claims.run(tmp_path / "run", len(list((tmp_path / "run").rglob("*.parquet"))))
    whole = pl.read_csv(run(*commands["datasets"])[1].encode())
    whole.head(400).write_csv(tmp_path / "train.csv")
    whole.tail(200).write_csv(tmp_path / "test.csv")
    assert printed("generate") == claims.generated(tmp_path)
    assert claims.without_next(printed("describe")) == claims.describe(tmp_path)
    assert claims.table_of(printed("explain")) == claims.explained(tmp_path, commands["explain"])
    check_report(tmp_path, printed("report"))


@pytest.mark.slow
def test_the_demo_prints_the_truth(tmp_path, recipe, commands):
    # The headings stand in both streams, so that each step has its own part of both.
    script = "\n".join(f"{line}; {line} >&2" if line.startswith("printf") else line for line in recipe)
    done = subprocess.run(
        ["sh", "-e", "-c", script.replace("venv/bin/", f"{shlex.quote(str(Path(sys.executable).parent))}/")],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "160"},
    )
    assert done.returncode == 0, done.stderr
    (_, *out), (_, *err) = (re.split(r"^\d\. (.*)$", text, flags=re.MULTILINE) for text in (done.stdout, done.stderr))
    titles = out[::2]
    assert titles == err[::2]
    printed = [claims.words(first) + claims.words(second) for first, second in zip(out[1::2], err[1::2], strict=True)]
    fetched, compared, ran, described, explained, reported = printed

    assert fetched == claims.resources(commands["resources"][2:], fetched)
    assert claims.table_of(compared) == claims.compared(commands["compare"])
    assert titles[2].endswith("mixtures, size, paraphrases, ratings, five tasks")
    assert cells_of(tmp_path / "run").keys() == PROMISED | TASKS
    assert ran == claims.run(tmp_path / "run", 0)
    train, test = (pl.read_csv(tmp_path / f"{name}.csv")["text"] for name in ("train", "test"))
    assert f"made from {len(train)} others, beside {len(test)} real ones that were held out" in titles[3]
    assert not set(train) & set(test)
    assert claims.without_next(described) == [*claims.describe(tmp_path), *claims.generated(tmp_path)]
    assert claims.table_of(explained) == claims.explained(tmp_path, commands["explain"])
    check_report(tmp_path, reported)
    assert (tmp_path / "report.html").stat().st_size < 3e6
