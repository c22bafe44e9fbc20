"""`textgauge compare` as a user meets it: its first line and its warnings."""

import json

import numpy as np
import pytest


@pytest.fixture
def corpora(tmp_path):
    rng = np.random.default_rng(0)
    for name, words in (("a", "red green blue cat dog bird"), ("b", "pay card bank loan fee cat")):
        texts = [" ".join(rng.choice(words.split(), 4)) + f" {i}" for i in range(60)]
        (tmp_path / f"{name}.txt").write_text("\n".join(texts), encoding="utf-8")
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(60, 8)) + (name == "b"))
    return tmp_path


@pytest.mark.parametrize(("form", "start"), [("table", ""), ("markdown", ""), ("latex", "% ")])
def test_the_answer_of_a_test_comes_first(run, corpora, form, start):
    call = ("compare", corpora / "a.npy", corpora / "b.npy", "-m", "energy,medoid", "--permutations", 99, "-f", form)
    first = run(*call)[1].splitlines()[0]
    assert first.startswith(f"{start}Different, ")
    assert first.endswith(': 2 of 2 metrics reject "same source" (5 % level).')
    assert run(*call, "--no-test")[1].splitlines()[0].startswith(f"{start}Not tested")


def test_confounds_are_warned_about_on_standard_error(run, tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(f"short text {i}" for i in range(10)), encoding="utf-8")
    texts = [f"a much longer text about many other things, number {i}" for i in range(40)] + ["short text 1"]
    (tmp_path / "b.txt").write_text("\n".join(texts), encoding="utf-8")
    _, out, err = run("compare", tmp_path / "a.txt", tmp_path / "b.txt", "-m", "jsd@words", "-f", "json")
    json.loads(out)["rows"]
    for complaint in ("few texts", "different sizes", "in both corpora", "different lengths"):
        assert complaint in err


def test_an_undefined_metric_is_said_and_the_rest_goes_on(run, tmp_path):
    np.save(tmp_path / "few.npy", np.eye(4))
    code, out, err = run("compare", tmp_path / "few.npy", tmp_path / "few.npy", "-m", "pr(k=10),medoid", "-f", "json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert rows[0]["value"] is None
    assert "needs at least 11" in rows[0]["reason"]
    assert rows[1]["value"] == pytest.approx(0)
    assert "undefined" in err
