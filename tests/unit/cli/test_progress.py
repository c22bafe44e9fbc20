"""Waiting: a line per stage where there is no terminal, and what Ctrl-C leaves."""

import io
import types

from textgauge import cli
from textgauge.cli import output as shown
from textgauge.cli.output import DETAIL
from textgauge.core import progress
from textgauge.core.progress import DownloadBar, Stage
from textgauge.metrics.corpus.frequency import VocabularyOverlap


def test_a_pipe_gets_one_line_per_stage_and_none_if_quiet(run, corpora, monkeypatch):
    monkeypatch.setattr(shown, "QUIET_SECONDS", 0.0)
    call = ("compare", *corpora, "-m", "jsd@words,zipf@words,cbdf@words")
    assert run(*call)[2].splitlines()[0] == "measuring and testing …"
    assert run(*call)[2].count(" …") == 1
    assert run(*call, "-q")[2] == ""


def test_ctrl_c_before_the_work_begins_is_one_line(run, monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "make_app", interrupted)
    assert run("doctor") == (130, "", "textgauge: interrupted\n")


def test_ctrl_c_prints_what_is_finished_and_how_to_go_on(run, corpora, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(VocabularyOverlap, "measure", interrupted)
    code, out, err = run("compare", *corpora, "-m", "jsd@words,vocab_overlap@words,zipf@words")
    assert code == 130
    assert "jsd@words" in out
    assert "zipf" not in out
    assert err.count("interrupted") == 1
    assert "1 metric finished" in err
    assert "run again with -m vocab_overlap@words,zipf@words" in err


def test_a_terminal_shows_counts_rows_and_is_cleared(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(DETAIL, "quiet", False)
    monkeypatch.setattr(DETAIL, "verbose", False)
    monkeypatch.setenv("TERM", "xterm")
    with shown.show_progress() as watch:
        watch(Stage("energy", 3, 12, "measuring"))
        watch.rows.append({"metric": "mauve", "value": "0.5"})
        watch(Stage("energy: permutations", 250, 1_000, "permutations", part=True))
        watch.live.refresh()
    assert "energy: permutations" in screen.getvalue()
    assert "250 of 1,000" in screen.getvalue()
    assert "3 of 12" in screen.getvalue()
    assert "mauve" in screen.getvalue()


def test_downloads_report_their_bytes():
    seen = []
    with progress.listen(seen.append):
        bar = DownloadBar("model.onnx")
        bar.total = 4e6
        bar.update(1_000_000)
    bar.update(1_000_000)
    assert seen == ["downloading model.onnx: 1.0 of 4.0 MB"]
    assert seen[0].share == 0.25


def test_a_notebook_has_one_line_that_changes(monkeypatch):
    told = []

    class Handle:
        def display(self, shown, **options):
            told.append((shown["text/plain"], options["update"]))

    def display(shown, **_):
        told.append((shown["text/plain"], False))
        return Handle()

    monkeypatch.setattr(progress, "_handles", {})
    progress.show_in_notebook(Stage("outside"))
    kernel = types.SimpleNamespace(kernel=1)
    monkeypatch.setitem(progress.sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(progress.sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    progress.show_in_notebook(Stage("reading"))
    progress.show_in_notebook(Stage("energy", 1, 3))
    assert told == [("reading", False), ("energy (1 of 3)", True)]
