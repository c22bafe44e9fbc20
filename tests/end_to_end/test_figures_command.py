"""`textgauge figures` as a user meets it: files, their names on standard output, one line for what cannot be drawn."""

import sys

import numpy as np
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
    made = tmp_path_factory.mktemp("figures")
    rng = np.random.default_rng(0)
    for name, words in (("a", "red green blue cat dog bird"), ("b", "pay card bank loan fee cat")):
        texts = [" ".join(rng.choice(words.split(), 4)) + f" {i}" for i in range(60)]
        (made / f"{name}.txt").write_text("\n".join(texts), encoding="utf-8")
    sources = ("--source-a", made / "a.txt", "--source-b", made / "b.txt", "-m", "jsd@words,cbdf@words")
    assert command("run", "ksc", *sources, "-k", 4, "-n", 8, "--repetitions", 2, "--out", made / "run") == 0
    return made


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


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("--kind", "pie"), "no figure 'pie'; choose among order, bump"),
        (("--kind", ","), "choose among order"),
        (("--type", "gif"), "no format 'gif'; choose among html, svg, png"),
        (("-m", "zipf"), "no metric 'zipf'; it has cbdf@words, jsd@words"),
        (("--kind", "size"), "nothing to draw as size"),
        (("--kind", "tree", "--repetition", 3), "nothing to draw as tree"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(folder, tmp_path, capsys, args, complaint):
    code = command("figures", folder / "run", "--folder", tmp_path, *args)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("textgauge: ")
    assert complaint in err


def test_no_run_and_no_place_to_write_are_one_line(folder, tmp_path, capsys):
    assert command("figures", tmp_path / "none", "--folder", tmp_path) == 2
    assert "no such run" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert command("figures", folder / "run", "--folder", tmp_path / "file", "--kind", "box") == 2
    assert "cannot write" in capsys.readouterr().err
