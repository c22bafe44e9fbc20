"""The command as a user types it."""

import sys

import pytest

from textgauge.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `textgauge ...` in this process; gives exit code, standard output, standard error."""

    def command(*args):
        monkeypatch.setattr(sys, "argv", ["textgauge", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return command
