"""`textgauge compare` as a user meets it: tables, JSON, and one clear line for every kind of bad input."""

import json

import numpy as np
import pytest

FIELDS = {
    "metric", "value", "closer", "low", "high", "p_value", "p_adjusted", "p_error", "adjustment", "null", "null_low",
    "null_high", "times", "effect", "n_reference", "n_candidate", "seconds", "signature",
}  # fmt: skip


@pytest.fixture
def corpora(tmp_path):
    rng = np.random.default_rng(0)
    for name, words in (("a", "red green blue cat dog bird"), ("b", "pay card bank loan fee cat")):
        texts = [" ".join(rng.choice(words.split(), 4)) + f" {i}" for i in range(60)]
        (tmp_path / f"{name}.txt").write_text("\n".join(texts), encoding="utf-8")
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(60, 8)) + (name == "b"))
    return tmp_path


def test_json_is_an_array_of_flat_objects_and_nothing_else(run, corpora):
    code, out, _ = run(
        "compare", corpora / "a.npy", corpora / "b.npy",
        "-m", "fid,pr(k=3),dc(k=1),energy,irpr,classifier,medoid,ttest,mmd", "--ci", "--test", "--permutations", 39,
        "--format", "json",
    )  # fmt: skip
    rows = json.loads(out)["rows"]
    assert code == 0
    assert [row["metric"] for row in rows][:2] == ["fid@given", "pr(k=3)@given"]
    for row in rows:
        assert row.keys() >= FIELDS
        assert row["no_interval"] if row["low"] is None else row["low"] <= row["value"] <= row["high"]
        assert 0 < row["p_value"] <= row["p_adjusted"] <= 1
        assert row["null_low"] <= row["null"] <= row["null_high"]
        assert (row["n_reference"], row["n_candidate"]) == (60, 60)
    assert {"part.precision", "part.recall"} <= rows[1].keys()
    assert {"pr(k=3)@given", "irpr@given"} <= {row["metric"] for row in rows if row["low"] is None}


def test_limit_is_a_random_sample_of_embeddings_too(run, tmp_path):
    """The first rows of a sorted file are all alike; a sample is not."""
    x = np.arange(100.0)
    np.save(tmp_path / "a.npy", np.column_stack([x, 100 - x]))
    np.save(tmp_path / "b.npy", np.column_stack([x, np.ones(100)]))

    def value(seed):
        call = ("compare", tmp_path / "a.npy", tmp_path / "b.npy", "-m", "medoid", "--limit", 20, "--seed", seed)
        return json.loads(run(*call, "-f", "json")[1])["rows"][0]

    assert value(0)["n_reference"] == 20
    assert len({round(value(seed)["value"], 6) for seed in range(4)}) == 4


def test_token_metrics_on_text_files(run, corpora):
    code, out, _ = run(
        "compare", corpora / "a.txt", corpora / "b.txt", "-m", "jsd@words,chi@words", "--test", "-f", "csv"
    )
    assert code == 0
    assert out.splitlines()[0].startswith("metric,label,value,closer,low,high,p_value")
    assert len(out.splitlines()) == 3
    assert "warning" not in out


@pytest.mark.parametrize(("form", "start"), [("table", ""), ("markdown", ""), ("latex", "% ")])
def test_the_answer_of_a_test_comes_first(run, corpora, form, start):
    call = ("compare", corpora / "a.npy", corpora / "b.npy", "-m", "energy,medoid", "--permutations", 99, "-f", form)
    answer = f'{start}Different: 2 of 2 metrics reject "same source" (5 % level, adjusted by max-T).'
    assert run(*call)[1].splitlines()[0] == answer
    assert run(*call, "--no-test")[1].splitlines()[0].startswith(f"{start}Not tested")


@pytest.mark.parametrize(
    ("others", "options", "complaint"),
    [
        (1, ("--approx", 50), "ranking several candidates does not take --approx"),
        (1, ("--parts", "--scheduler", "local:2"), "ranking several candidates does not take --scheduler"),
        (0, ("--by", "label", "--ci", "--approx", 50), "--by does not take --approx"),
        (0, ("--paired",), "one candidate does not take --paired"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(run, corpora, others, options, complaint):
    code, _, err = run("compare", corpora / "a.npy", corpora / "b.npy", *[corpora / "a.npy"] * others, *options)
    assert code == 2
    assert complaint in err


def test_same_seed_same_output_and_other_seed_other_draws(run, corpora):
    def values(seed):
        out = run(
            "compare",
            corpora / "a.npy",
            corpora / "b.npy",
            "-m",
            "medoid,c2st",
            "--ci",
            "--test",
            "--seed",
            seed,
            "-f",
            "json",
        )[1]
        return [{k: v for k, v in row.items() if k != "seconds"} for row in json.loads(out)["rows"]]

    assert values(1) == values(1)
    assert values(1) != values(2)


def test_confounds_are_warned_about_on_standard_error(run, tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(f"short text {i}" for i in range(10)), encoding="utf-8")
    texts = [f"a much longer text about many other things, number {i}" for i in range(40)] + ["short text 1"]
    (tmp_path / "b.txt").write_text("\n".join(texts), encoding="utf-8")
    _, out, err = run("compare", tmp_path / "a.txt", tmp_path / "b.txt", "-m", "jsd@words", "-f", "json")
    json.loads(out)["rows"]
    for complaint in ("few texts", "different sizes", "in both corpora", "different lengths"):
        assert complaint in err


def bad_inputs(folder):
    good = "first text\nsecond text\nthird text\n"
    files = {
        "good.txt": good.encode(),
        "empty.txt": b"",
        "one.txt": b"only one\n",
        "binary.txt": bytes(range(256)) * 4,
        "latin.txt": b"fine\nna\xefve\n",
        "blank.txt": b"\n  \n\t\n",
        "same.txt": b"again\n" * 30,
        "huge.txt": b"a b " * 2_500_000 + b"\nsmall\n",
        "zero.npy": b"",
        "table.csv": b"id,title,body\n1,x,y\n2,z,w\n",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    np.save(folder / "fine.npy", np.eye(4))
    np.save(folder / "narrow.npy", np.eye(3))
    np.save(folder / "nan.npy", np.array([[1.0, 2.0], [np.nan, 0.0]]))


@pytest.mark.parametrize(
    ("reference", "candidate", "metrics", "complaint"),
    [
        ("missing.txt", "good.txt", "jsd@words", "missing.txt"),
        ("empty.txt", "good.txt", "jsd@words", "empty"),
        ("one.txt", "good.txt", "jsd@words", "at least 2"),
        ("binary.txt", "good.txt", "jsd@words", "binary"),
        ("latin.txt", "good.txt", "jsd@words", "line 2"),
        ("blank.txt", "good.txt", "jsd@words", "blank|empty"),
        ("same.txt", "good.txt", "jsd@words", "one text 30 times"),
        ("huge.txt", "good.txt", "jsd@words", "1,000,000"),
        ("good.txt", "good.txt", "frd", "did you mean"),
        ("good.txt", "good.txt", "jsd(base=3)@words", "its parameters"),
        ("good.txt", "good.txt", "jsd@wrds", "words"),
        ("good.txt", "good.txt", "energy@minilmm", "minilm"),
        ("zero.npy", "fine.npy", "energy", "zero.npy"),
        ("nan.npy", "fine.npy", "energy", "NaN|finite"),
        ("narrow.npy", "fine.npy", "energy", "dimensions"),
        ("fine.npy", "fine.npy", "jsd@words", "needs texts"),
        ("fine.npy", "good.txt", "energy", "cannot join"),
        ("table.csv", "good.txt", "jsd@words", "title"),
    ],
)
def test_bad_input_gets_one_line_and_exit_code_2(run, tmp_path, reference, candidate, metrics, complaint):
    import re

    bad_inputs(tmp_path)
    code, out, err = run("compare", tmp_path / reference, tmp_path / candidate, "-m", metrics, "--format", "json")
    assert (code, out) == (2, "")
    lines = [line for line in err.splitlines() if not line.startswith("warning:")]
    assert len(lines) == 1
    assert lines[0].startswith("textgauge: ")
    assert re.search(complaint, lines[0])


def test_an_undefined_metric_is_said_and_the_rest_goes_on(run, tmp_path):
    np.save(tmp_path / "few.npy", np.eye(4))
    code, out, err = run("compare", tmp_path / "few.npy", tmp_path / "few.npy", "-m", "pr(k=10),medoid", "-f", "json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert rows[0]["value"] is None
    assert "needs at least 11" in rows[0]["reason"]
    assert rows[1]["value"] == pytest.approx(0)
    assert "undefined" in err
