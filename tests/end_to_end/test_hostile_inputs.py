"""Texts, names and numbers of an attacker: nothing acts on a terminal or in a document, and refusals are one line."""

import json
import os
import subprocess
import sys

import pytest

ESCAPE = "\x1b]0;new title\x07\x1b[31m"
LONG = "x" * 300
ACTING = {"\x1b", "\x07", "\u202e", "\x9b"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"e{ESCAPE}.txt").write_text("\n".join(f"{ESCAPE}text \u202e {n}" for n in range(30)))
    (tmp_path / "b.txt").write_text("\n".join(f"a bird {n} in tree {n % 5}" for n in range(30)))
    return tmp_path


def one_refusal(found):
    code, out, err = found
    (line,) = (line for line in err.splitlines() if line.startswith("textgauge: "))
    assert (code, out, not ACTING & set(line), len(line) < 1_100) == (2, "", True, True)
    return line


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_texts_and_names_of_files_do_not_act_on_a_terminal(run, folder, form):
    shown = run("datasets", "show", f"e{ESCAPE}.txt", "-f", form)
    compared = run("compare", f"e{ESCAPE}.txt", "b.txt", "-m", "jsd@words", "--no-test", "-f", form)
    for code, out, err in (shown, compared):
        assert code == 0
        assert not ACTING & set(out + err)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_data_are_exact_in_a_pipe_and_shown_on_a_terminal(run, folder, form, monkeypatch):
    _, out, _ = run("datasets", "show", f"e{ESCAPE}.txt", "-f", form)
    assert "\u202e" in out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    _, out, _ = run("datasets", "show", f"e{ESCAPE}.txt", "-f", form)
    assert not ACTING & set(out)


@pytest.mark.parametrize(
    "words",
    [
        ("leaderboard", ESCAPE),
        ("report", ESCAPE, "-o", "x.html"),
        ("check", ESCAPE),
        ("datasets", "show", f"hf://{ESCAPE}"),
        ("compare", "b.txt", "b.txt", "-m", f"energy@onnx:{ESCAPE}"),
        ("compare", "b.txt", "b.txt", "-m", "x" * 100_000),
        ("compare", "b.txt", "b.txt", "-m", "jsd@" + "x" * 5_000),
        ("compare", "b.txt", "b.txt", "-m", "jsd@words", "--permutations", "9" * 25),
        ("run", "ksc", "--source-a", "b.txt", "--source-b", "b.txt", "-m", "jsd@words", "-k", "2", "-n", "4",
         "-j", "9" * 9, "--out", "r"),
    ],
)  # fmt: skip
def test_what_is_refused_is_one_line_that_does_not_act(run, folder, words):
    one_refusal(run(*words))


@pytest.mark.parametrize(
    "words",
    [("leaderboard", LONG), ("report", LONG, "-o", "x.html"), ("generate", "eda", "b.txt", "-o", f"{LONG}.txt"),
     ("compare", "b.txt", "b.txt", "-m", f"energy@onnx:{LONG}"), ("resources", "verify", "wordllama")],
)  # fmt: skip
def test_names_that_no_disk_takes_are_one_line(run, folder, words, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", LONG)
    assert one_refusal(run(*words)).endswith("File name too long")


def test_too_little_memory_is_one_line(run, folder, monkeypatch):
    def none_left(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr("textgauge.cli.catalogue.load_texts", none_left)
    code, _, err = run("datasets", "show", "b.txt")
    assert (code, err) == (1, "textgauge: not enough memory (Unable to allocate 9 TiB)\n")


def test_tables_of_documents_hold_no_tags_links_or_new_rows(run, folder):
    texts = ["a | b\nc", "<script>alert(1)</script>", "[x](javascript:alert(1))", "\\input{/etc/passwd}\n\nend"]
    (folder / "a.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    _, out, _ = run("datasets", "show", "a.jsonl", "-n", 9, "-f", "markdown")
    assert sum(line.startswith("|") for line in out.splitlines()) == 2 + len(texts)
    assert "<script" not in out
    assert "](" not in out
    _, out, _ = run("datasets", "show", "a.jsonl", "-n", 9, "-f", "latex")
    assert "\\input" not in out
    assert "" not in out.splitlines()


def spoken(words, closed=(), **environment):
    """What the command says in a process of its own, some of whose streams are closed."""
    return subprocess.run(
        [sys.executable, "-m", "textgauge", *words],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        preexec_fn=lambda: [os.close(number) for number in closed],
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no streams are closed before a process starts there")
@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_streams_that_the_caller_closed_are_not_missed(folder, closed):
    words = ["compare", "b.txt", "b.txt", "-m", "jsd@words", "--no-test", "-o", "found.json"]
    found = spoken(words, closed)
    assert (found.returncode, b"Traceback" in found.stderr) == (0, False)
    assert json.loads((folder / "found.json").read_text())["command"] == "compare"


@pytest.mark.skipif(sys.platform == "win32", reason="no streams are closed before a process starts there")
def test_a_closed_input_is_an_empty_file(folder):
    assert spoken(["datasets", "show", "-"], closed=[0]).stderr == b"textgauge: standard input: the file is empty\n"


def test_letters_that_a_stream_cannot_write_are_escaped(folder):
    (folder / "b.txt").write_text("a ↓ text\n", encoding="utf-8")
    found = spoken(["datasets", "show", "b.txt", "-f", "csv"], PYTHONIOENCODING="cp1252")
    assert (found.returncode, b"a \\u2193 text" in found.stdout) == (0, True)
