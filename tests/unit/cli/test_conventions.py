"""What people expect of any command: -h, -V, completion, `python -m`, a doctor that fetches nothing."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest
import typer

from textgauge.cli import app

PATHS = [
    (*above, name)
    for above, group in [((), typer.main.get_command(app))]
    + [((name,), group) for name, group in typer.main.get_command(app).commands.items() if hasattr(group, "commands")]
    for name in group.commands
]


@pytest.mark.parametrize("path", [(), *PATHS], ids=" ".join)
def test_every_command_answers_to_h(run, path):
    code, out, _ = run(*path, "-h")
    assert code == 0
    assert " ".join(("Usage: textgauge", *path)) in out


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version(run, option):
    assert run(option)[:2] == (0, f"textgauge {version('textgauge')}\n")


def test_python_m_is_the_command():
    done = subprocess.run([sys.executable, "-m", "textgauge", "-V"], capture_output=True, text=True, check=True)
    assert done.stdout == f"textgauge {version('textgauge')}\n"


def test_shell_completion_can_be_installed(run):
    assert "--install-completion" in run("-h")[1]


def test_doctor_fetches_nothing_and_says_what_to_run(run, monkeypatch, tmp_path):
    from textgauge.encode import resources

    def no_network(entry, target):
        raise AssertionError(f"{entry.name} is fetched")

    monkeypatch.setattr(resources, "LOCAL", ())
    monkeypatch.setattr(resources, "REMOTE", (no_network,))
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    code, out, _ = run("doctor", "-f", "json")
    (encoder,) = [row for row in json.loads(out) if row["check"] == "encoder minilm"]
    assert (code, encoder["ok"]) == (1, False)
    assert "textgauge resources fetch wordpiece minilm" in encoder["found"]
