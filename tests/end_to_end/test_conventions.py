"""What people expect of any command: -h, -V, completion, `python -m`, a doctor that fetches nothing."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import requires, version

import pytest

from textgauge.cli import catalogue, make_app

APP = make_app()
PATHS = [
    (*above, name)
    for above, group in [((), APP), *(((name,), APP[name]) for name in APP if not name.startswith("-"))]
    for name in group
    if not name.startswith("-")
]


@pytest.mark.parametrize("path", [(), *PATHS], ids=" ".join)
def test_every_command_answers_to_h(run, path):
    code, out, _ = run(*path, "-h")
    assert code == 0
    assert " ".join(("Usage: textgauge", *path)) in out
    assert not re.search(r"in python also|\[default: \(\)", re.sub(r"[\s│]+", " ", out), re.IGNORECASE)


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

    def no_network(entry):
        raise AssertionError(f"{entry.name} is fetched")

    monkeypatch.setattr(resources, "_find_local_folders", lambda entry: iter(()))
    monkeypatch.setattr(resources, "_list_sources", no_network)
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    code, out, _ = run("doctor", "-f", "json")
    (encoder,) = [row for row in json.loads(out)["rows"] if row["check"] == "encoder minilm"]
    assert (code, encoder["ok"]) == (1, False)
    assert "textgauge resources fetch wordpiece minilm" in encoder["found"]


def test_doctor_names_the_extras_that_are_missing(run, monkeypatch):
    (every,) = [line for line in requires("textgauge") if line.startswith("textgauge[")]
    assert set(re.findall(r"\[(.+)\]", every)[0].split(",")) == set(catalogue.EXTRAS)
    monkeypatch.setattr(
        catalogue, "EXTRAS", {"here": ("json",), "one": ("json", "not_here"), "two": ("not_here.part",)}
    )
    (row,) = [row for row in json.loads(run("doctor", "-f", "json")[1])["rows"] if row["check"] == "extras"]
    assert row["ok"]
    assert row["found"].startswith("1 of 3 here; to get the others: ")
    assert "textgauge[one,two]" in row["found"]


def test_quiet_leaves_notes_out_and_verbose_adds_times(run, corpora):
    call = ("compare", *corpora, "-m", "jsd@words", "-f", "csv")
    _, usual, warned = run(*call)
    code, out, err = run(*call, "-q")
    assert (code, err) == (0, "")
    assert run("-q", *call)[2] == ""
    assert out.split(",")[:3] == usual.split(",")[:3]
    told = run(*call, "-v")[2].splitlines()
    assert [line.partition(" s  ")[2] for line in told[:2]] == ["jsd@words", "done"]
    assert all(float(line.partition(" s  ")[0]) >= 0 for line in told[:2])
    assert "few texts" in warned
    assert told[2:] == warned.splitlines() == run(*call)[2].splitlines()


@pytest.mark.parametrize(("setting", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_is_honoured(setting, coloured):
    given = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"FORCE_COLOR": "1"} | setting
    command = [sys.executable, "-m", "textgauge", "compare", "-h"]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
    assert bool(re.search(r"\x1b\[[\d;]*3[0-7]m", done.stdout)) == coloured
