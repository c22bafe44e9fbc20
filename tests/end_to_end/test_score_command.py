"""`textgauge score` as a user meets it: files, tables, references, two systems, and one clear line for bad input."""

import json

import pytest


@pytest.fixture
def folder(tmp_path):
    texts = {
        "out.txt": ["the cat sat on the mat", "", "we like green tea", "a dog barks at night"],
        "old.txt": ["cat mat", "", "tea is liked", "dogs"],
        "ref.txt": ["the cat sat on a mat", "", "we all like green tea", "a dog barked at night"],
        "ref2.txt": ["a cat was sitting on the mat", "", "green tea is what we like", "a dog barks at night"],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = zip(texts["out.txt"], texts["ref.txt"], strict=True)
    (tmp_path / "pairs.csv").write_text("hyp,ref\n" + "".join(f"{a},{b}\n" for a, b in rows if a), encoding="utf-8")
    return tmp_path


def test_one_object_per_pair_with_blank_lines_kept(run, folder):
    code, out, err = run(
        "score", folder / "out.txt", folder / "ref.txt", "-m", "jaccard,chrf", "-m", "bleu", "-f", "json"
    )
    rows = json.loads(out)["rows"]
    assert (code, err) == (0, "")
    assert [row["index"] for row in rows] == [0, 1, 2, 3]
    assert set(rows[0]) == {"index", "jaccard", "chrf", "bleu"}
    assert rows[1] == {"index": 1, "jaccard": 1.0, "chrf": 1.0, "bleu": 1.0}


def test_the_summary_has_one_object_per_metric(run, folder):
    code, out, _ = run("score", folder / "out.txt", folder / "ref.txt", "-m", "rouge1,bleu", "--summary", "-f", "json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert rows[0].keys() >= {"metric", "mean", "std", "low", "high", "n"}
    assert [row["metric"] for row in rows] == ["rouge1", "bleu"]
    assert rows[0]["whole"] is None
    assert 0 < rows[1]["whole"] < 1
    assert rows[0]["low"] <= rows[0]["mean"] <= rows[0]["high"]


def test_a_table_of_pairs_by_its_columns(run, folder):
    code, out, _ = run(
        "score",
        "--pairs",
        folder / "pairs.csv",
        "--left",
        "hyp",
        "--right",
        "ref",
        "-m",
        "rouge1",
        "--parts",
        "-f",
        "json",
    )
    assert code == 0
    assert set(json.loads(out)["rows"][0]) == {"index", "rouge1", "rouge1.precision", "rouge1.recall"}


def test_two_systems_differ(run, folder):
    code, out, _ = run(
        "score",
        folder / "out.txt",
        folder / "ref.txt",
        "--baseline",
        folder / "old.txt",
        "-m",
        "chrf,jaccard",
        "-f",
        "json",
    )
    rows = json.loads(out)["rows"]
    assert code == 0
    assert [row["of"] for row in rows] == ["whole set", "mean"]
    assert all(row["difference"] > 0 for row in rows)
    assert all(0 < row[p] <= 1 for row in rows for p in ("p_bootstrap", "p_randomisation"))


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["out.txt"], "two files"),
        (["out.txt", "missing.txt"], "missing.txt"),
        (["out.txt", "short.txt"], "4 texts, but"),
        (["out.txt", "ref.txt", "-m", "jacard"], "jaccard"),
        (["out.txt", "ref.txt", "-m", "fid"], "use `compare`"),
        (["out.txt", "ref.txt", "-m", "bleu(order=x)"], "order=x"),
        (["out.txt", "ref.txt", "-m", "bleu(colour=red)"], "its parameters"),
        (["out.txt", "ref.txt", "--pairs", "pairs.csv"], "not both"),
        (["--pairs", "pairs.csv", "--left", "hypp", "--right", "ref"], "hyp"),
        (["binary.txt", "ref.txt", "-m", "jaccard"], "binary.txt"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(run, folder, monkeypatch, args, complaint):
    (folder / "short.txt").write_text("one line\n", encoding="utf-8")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 4)
    monkeypatch.chdir(folder)
    code, out, err = run("score", *args)
    assert (code, out) == (2, "")
    assert complaint in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("out.txt", "ref.txt", "--limit", 2), "scoring files without --pairs does not take --limit"),
        (("out.txt", "ref.txt", "--left", "hyp"), "scoring files without --pairs does not take --left"),
        (("out.txt", "ref.txt", "--baseline", "old.txt", "--parts"), "--baseline does not take --parts"),
        (("out.txt", "--reference", "ref.txt", "--limit", 2), "ranking systems does not take --limit"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(run, folder, monkeypatch, args, complaint):
    monkeypatch.chdir(folder)
    code, _, err = run("score", *args, "-m", "jaccard")
    assert code == 2
    assert complaint in err


def test_a_default_of_a_configuration_file_may_do_nothing(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "textgauge.toml").write_text("[score]\nlimit = 2\n")
    code, out, _ = run("score", "out.txt", "ref.txt", "-m", "jaccard", "-f", "csv")
    assert code == 0
    assert len(out.splitlines()) == 5
