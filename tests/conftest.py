"""Shared by all tests."""

import sys

import pytest
from hypothesis import Phase, settings
from tests.servers import Endpoint, serve

# Machines differ and may be busy: an example is judged by what it gives, not by how long it took.
settings.register_profile("textgauge", deadline=None, max_examples=50)
settings.load_profile("textgauge")
# A mutant needs one failing example, not the smallest, and the same ones each time.
settings.register_profile("mutation", deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("textgauge.core.errors.get_install_source", lambda: ("pip", None))
    monkeypatch.setattr("textgauge.cli.output.QUIET_SECONDS", float("inf"))  # machines may be slow


@pytest.fixture
def counts(monkeypatch):
    """How much was done of how much, as it was told."""
    from textgauge.core.progress import listen

    monkeypatch.setattr("textgauge.core.progress.SECONDS_BETWEEN", 0.0)
    told: list[tuple[int, int]] = []
    with listen(lambda stage: told.append((stage.done, stage.total))):
        yield told


@pytest.fixture
def endpoint(monkeypatch):
    """An `Endpoint` that is asked over the network of this machine."""
    pytest.importorskip("httpx", reason="httpx speaks to endpoints (extra api)")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Endpoint()
    with serve(server):
        yield server


@pytest.fixture
def corpora(tmp_path):
    """Two files of three texts, one of them the same."""
    (tmp_path / "a.txt").write_text("a red cat\na red dog\na cow\n")
    (tmp_path / "b.txt").write_text("one cat\none dog\na cow\n")
    return tmp_path / "a.txt", tmp_path / "b.txt"


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `textgauge ...` in this process; gives exit code, standard output, standard error."""
    from textgauge.cli import main

    def command(*args):
        monkeypatch.setattr(sys, "argv", ["textgauge", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return command
