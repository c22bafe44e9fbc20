"""`textgauge check`, `compare` of several candidates, `score --reference` as a shell sees them."""

from xml.etree import ElementTree

import numpy as np
import pytest

RNG = np.random.default_rng(5)
NEAR, FAR = ["cat", "dog", "cow", "hen", "red", "old"], ["ship", "boat", "sail", "mast", "red", "new"]


def texts(words, n=200):
    return [" ".join(RNG.choice(words, 5)) for _ in range(n)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {"ref": texts(NEAR), "same": texts(NEAR), "far": texts(FAR)}
    for name, rows in made.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(rows) + "\n")
    return tmp_path


GATE = """
[check.weekly]
kind = "drift"
reference = "ref.txt"
candidate = "same.txt"
metric = "jsd@words"
max_ratio = 9
[check.copies]
kind = "copies"
generated = "far.txt"
train = "ref.txt"
max = "5%"
[check.score]
kind = "score"
candidate = "same.txt"
reference = "ref.txt"
metric = "jaccard"
max_drop = 0.05
"""


def test_a_file_of_checks_with_a_baseline(run, folder):
    (folder / "gate.toml").write_text(GATE)
    code, _, err = run("check", "gate.toml")
    assert (code, err.strip().count("\n")) == (2, 0)
    assert "store one with --update" in err
    assert run("check", "gate.toml", "--update")[0] == 0
    code, out, _ = run("check", "gate.toml", "--junit", "j.xml", "--markdown", "m.md")
    assert code == 0
    assert out.splitlines()[0] == "Pass: all 3 checks pass (95 % confidence)."
    suite = ElementTree.parse(folder / "j.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "0", "0")
    assert (folder / "m.md").read_text().startswith("**Pass: all 3 checks pass")
    (folder / "gate.toml").write_text(GATE.replace('metric = "jaccard"', 'metric = "chrf"'))
    code, out, err = run("check", "gate.toml", "--junit", "k.xml")
    assert (code, out) == (2, "")
    assert "cannot be compared" in err
    assert not (folder / "k.xml").exists()


def test_pass_fail_and_undecided_have_their_exit_codes(run, folder):
    drift = ("check", "drift", "ref.txt")
    assert run(*drift, "same.txt", "-m", "jsd@words", "--max-ratio", "9")[0] == 0
    code, out, _ = run(*drift, "far.txt", "-m", "cbdf@words", "--max-ratio", "9")
    assert code == 1
    assert out.splitlines()[0] == "Fail: 1 check fails (95 %)."
    assert out.splitlines()[2].startswith("fail: drift: cbdf@words over its mean if same source")
    assert len(out.splitlines()) == 6  # three texts as evidence
    code, out, _ = run(*drift, "same.txt", "-m", "jsd@words", "--max-ratio", "1")
    assert code == 3
    assert out.startswith("Undecided: 1 check cannot be decided")


def test_short_forms(run, folder):
    assert run("check", "copies", "far.txt", "--train", "ref.txt", "--max", "5%")[0] == 0
    score = ("check", "score", "same.txt", "ref.txt", "-m", "jaccard", "--max-drop", "0.05")
    assert run(*score, "--baseline", "same.txt")[0] == 0
    assert run("check", "describe", "far.txt", "--train", "ref.txt", "--min", "unique=0.5")[0] == 0


def test_systems_are_ranked_and_segments_written(run, folder):
    code, out, _ = run(
        "score", "--reference", "ref.txt", "far.txt", "--system", "copy=ref.txt", "-m", "jaccard", "--segments", "s.csv"
    )
    assert code == 0
    assert out.splitlines()[0] == "Best: copy by jaccard (95 % confidence, new texts from these sources)."
    assert (folder / "s.csv").read_text().startswith("system,index,jaccard\nfar,0,")
