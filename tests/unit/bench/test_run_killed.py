"""Killed at any moment, or started twice at once: the same numbers in the end, nothing computed twice."""

import random
import subprocess
import sys
import time

import pytest

from textgauge.bench import Ksc, Store, run
from textgauge.bench.inputs import read_two
from textgauge.bench.plan import make_plans

METRICS = "jsd@words,cbdf@words,zipf@words"
SIZES = {"k": 5, "n": 40}


def command(folder, repetitions):
    options = {"--source-a": "sample:cooking", "--source-b": "sample:travel", "-m": METRICS, "--out": folder}
    options |= {"-k": SIZES["k"], "-n": SIZES["n"], "--repetitions": repetitions}
    given = [str(item) for pair in options.items() for item in pair]
    return [sys.executable, "-c", "from textgauge.cli import main; main()", "run", "ksc", *given]


def plans(repetitions):
    protocol = Ksc(**SIZES, repetitions=repetitions)
    return make_plans([protocol], [read_two("sample:cooking", "sample:travel")], METRICS, seed=0)


def cells(folder):
    """The finished cells, with what changes when one is written again."""
    found = (path for path in folder.glob("cells/*/*.parquet"))
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def start_and_kill(folder, repetitions, more, rng):
    """Kill -9 a random while after some more cells are there; without more, at any moment from the start on."""
    wanted = len(cells(folder)) + more
    with subprocess.Popen(command(folder, repetitions), stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and len(cells(folder)) < wanted:
            time.sleep(0.002)
        time.sleep(rng.random() * (0.02 if more else 2.0))
        process.kill()
    return process.returncode


def disturbed(folder, repetitions, kills, rng):
    """Every kill, with a look at the cells after each: none that was there is ever written again."""
    known, killed = {}, 0
    most = 6 * repetitions // (kills + 2)  # so that the last kill finds work to interrupt
    for _ in range(kills):
        killed += start_and_kill(folder, repetitions, rng.randint(0, most), rng) == -9
        found = cells(folder)
        assert {name: found.get(name) for name in known} == known
        known = found
    return known, killed


def check(tmp_path, contents, same, *, repetitions, kills, seed):
    folder, whole = tmp_path / "killed", tmp_path / "whole"
    run(plans(repetitions), Store(whole))
    known, killed = disturbed(folder, repetitions, kills, random.Random(seed))
    assert killed > kills // 2
    report = run(plans(repetitions), Store(folder))
    assert (report.found + report.computed, report.found) == (3 * repetitions, len(known))
    after = cells(folder)
    assert {name: after[name] for name in known} == known
    assert same(contents(folder), contents(whole))


def test_a_killed_run_goes_on_where_it_was(tmp_path, contents, same):
    check(tmp_path, contents, same, repetitions=12, kills=3, seed=0)


@pytest.mark.slow
def test_twenty_kills(tmp_path, contents, same):
    check(tmp_path, contents, same, repetitions=80, kills=20, seed=1)


def test_two_runs_at_once_on_one_store_both_finish_and_agree(tmp_path, contents, same):
    folder, repetitions = tmp_path / "shared", 6
    started = [subprocess.Popen(command(folder, repetitions), stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    assert all(f"{3 * repetitions} results" in text for text in said)
    run(plans(repetitions), Store(tmp_path / "alone"))
    assert same(contents(folder), contents(tmp_path / "alone"))
    assert not list(folder.rglob("*.part"))
    assert run(plans(repetitions), Store(folder)).computed == 0
