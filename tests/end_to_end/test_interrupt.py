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


SLOW = """
import time
import numpy as np
from textgauge.cli import main
from textgauge.core.progress import advance
from textgauge.encode.embedders import register_embedder

class Slow:
    name, identity, dimension = "slow", "slow 1", 2

    def encode(self, texts, *, batch_size=64):
        for start in range(0, len(texts), batch_size):
            time.sleep(0.05)
            advance(start + batch_size, len(texts))
        return np.ones((len(texts), 2), dtype=np.float32)

register_embedder("slow", Slow)
main()
"""


@pytest.mark.long
def test_many_texts_are_counted_from_the_start_and_one_interrupt_ends_it(tmp_path):
    import pty

    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("\n".join(f"{name} {number}" for number in range(50_500)))
    own, terminal = pty.openpty()
    command = [sys.executable, "-c", SLOW, "compare", "a.txt", "b.txt", "--embedder", "slow"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    shown, interrupted_at = "", None
    while True:
        try:
            shown += os.read(own, 4_096).decode(errors="ignore")
        except OSError:  # its end
            break
        if interrupted_at is None and "of 101,000" in shown and "0:0" in shown:
            os.killpg(process.pid, signal.SIGINT)
            interrupted_at = time.monotonic()
    assert process.wait(timeout=20) == 130
    assert time.monotonic() - interrupted_at < 2.0
    assert "Traceback" not in shown
