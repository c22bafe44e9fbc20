"""`textgauge report` as a user meets it: one file, its name on standard output, one line for what cannot be done."""

import json
import sys

import pytest

from textgauge.cli import main

COMPARED = [
    {"metric": "jsd@words", "value": 0.25, "low": 0.2, "high": 0.3, "p_value": 0.01, "null": 0.1,
     "n_reference": 30, "n_candidate": 30, "reason": None, "signature": "jsd|v1"},
]  # fmt: skip


def command(*args):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["textgauge", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
    return stop.value.code or 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two metrics on two small corpora, and results of the other commands."""
    made = tmp_path_factory.mktemp("report")
    for name, words in (("a", "red green blue"), ("b", "pay card bank")):
        texts = [f"{word} {words} {n}" for n in range(20) for word in words.split()]
        (made / f"{name}.txt").write_text("\n".join(texts), encoding="utf-8")
    sources = ("--source-a", made / "a.txt", "--source-b", made / "b.txt", "-m", "jsd@words,cbdf@words")
    assert command("run", "ksc", *sources, "-k", 3, "-n", 8, "--repetitions", 2, "--out", made / "run") == 0
    (made / "compared.json").write_text(
        json.dumps({"schema": 1, "command": "compare", "answer": "Different.", "rows": COMPARED}), encoding="utf-8"
    )
    (made / "texts.csv").write_text("side,text,contribution\nreference,<script>alert(1)</script>,0.5\n")
    return made


def test_a_run_becomes_one_page(folder, tmp_path, capsys):
    out = tmp_path / "new" / "report.html"
    assert command("report", folder / "run", "-o", out, "--title", "Colours & banks") == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(out)
    assert printed.err.endswith("open it in any browser\n")
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<h1>Colours &amp; banks</h1>" in text


def test_the_leaderboard_of_the_page_is_that_of_the_command(folder, tmp_path, capsys):
    command("report", folder / "run", "-o", tmp_path / "report.html")
    command("leaderboard", folder / "run", "--format", "json")
    rows = json.loads(capsys.readouterr().out.partition("\n")[2])["rows"]
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    for row in rows:
        assert f'data-value="{row["overall"]!r}"' in text
        assert f'data-value="{row["accuracy"]!r}"' in text or f">{row['accuracy']}" in text


def test_results_and_texts_become_a_page(folder, tmp_path):
    out = tmp_path / "report.html"
    assert command("report", folder / "compared.json", "-o", out, "--texts", folder / "texts.csv") == 0
    text = out.read_text(encoding="utf-8")
    assert "Distances, metric by metric" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>alert(1)" not in text


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("none",), "no such run; make one by `textgauge run"),
        (("texts.csv",), "neither the folder of a run nor a .json file of results"),
        (("none.json",), "no such file"),
        (("run", "--texts", "none.csv"), "no such file"),
    ],
)
def test_what_cannot_be_read_is_one_line(folder, tmp_path, capsys, monkeypatch, args, complaint):
    monkeypatch.chdir(folder)
    assert command("report", *args, "-o", tmp_path / "report.html") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert complaint in err
    assert not (tmp_path / "report.html").exists()


def test_no_place_to_write_is_one_line(folder, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert command("report", folder / "compared.json", "-o", tmp_path / "file" / "report.html") == 2
    assert "cannot write" in capsys.readouterr().err
