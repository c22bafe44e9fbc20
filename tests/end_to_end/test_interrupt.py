"""Ctrl-C: one line that says what is kept and how to resume, exit code 130, no traceback, no worker left."""

import os
import signal
import subprocess
import sys
import time

import pytest

RUN = [sys.executable, "-c", "from textgauge.cli import main; main()", "run", "ksc", "--source-a", "sample:cooking"]
RUN += ["--source-b", "sample:travel", "-m", "jsd@words,zipf@words,cbdf@words", "-k", "7", "-n", "60"]
RUN += ["--repetitions", "400"]


def alive(group):
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def interrupted(folder, jobs, times):
    """Send Ctrl-C to the whole group, as a terminal does, when the first results are there."""
    command = [*RUN, "--out", str(folder), "-j", str(jobs)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and not list(folder.glob("cells/*/*.parquet")):
        time.sleep(0.01)
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.01)
    _, said = process.communicate(timeout=60)
    deadline = time.monotonic() + 20
    while alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return process, said


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_the_first_interrupt_stops_cleanly(tmp_path, jobs):
    process, said = interrupted(tmp_path, jobs, 1)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "results are kept in" in said
    assert "run the same command again to resume" in said
    assert not alive(process.pid)


def test_a_second_interrupt_shows_no_traceback(tmp_path):
    process, said = interrupted(tmp_path, 2, 3)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert not alive(process.pid)
