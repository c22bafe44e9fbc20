"""`textgauge figures` and `textgauge report` as a user meets them: files, and their names on standard output."""

import sys

import pytest

from textgauge.cli import main


def command(*args):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["textgauge", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
    return stop.value.code or 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two metrics on two small corpora."""
    made = tmp_path_factory.mktemp("report")
    for name, words in (("a", "red green blue"), ("b", "pay card bank")):
        texts = [f"{word} {words} {n}" for n in range(20) for word in words.split()]
        (made / f"{name}.txt").write_text("\n".join(texts), encoding="utf-8")
    sources = ("--source-a", made / "a.txt", "--source-b", made / "b.txt", "-m", "jsd@words,cbdf@words")
    assert command("run", "ksc", *sources, "-k", 4, "-n", 8, "--repetitions", 2, "--out", made / "run") == 0
    return made


def test_a_run_becomes_one_page(folder, tmp_path, capsys):
    out = tmp_path / "report.html"
    assert command("report", folder / "run", "-o", out, "--title", "Colours & banks") == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(out)
    assert printed.err.endswith("open it in any browser\n")
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<h1>Colours &amp; banks</h1>" in text


def test_files_are_written_and_named_on_standard_output(folder, tmp_path, capsys):
    code = command(
        "figures", folder / "run", "--folder", tmp_path / "x", "--kind", "radar,box", "--type", "svg,png,html"
    )
    named = capsys.readouterr().out.split()
    assert code == 0
    assert sorted(named) == sorted(map(str, (tmp_path / "x").iterdir()))
    assert [name.rpartition(".")[2] for name in named] == ["svg", "png", "html"] * 2


def test_pages_of_all_kinds_are_the_default(folder, tmp_path, capsys):
    assert command("figures", folder / "run", "--folder", tmp_path, "-m", "jsd@words") == 0
    names = [path.name for path in tmp_path.iterdir()]
    assert {name.partition("-")[0] for name in names} == {"distance", "tree", "radar", "box"}
    assert all(name.endswith(".html") for name in names)
