"""`textgauge score` as a user meets it: files, tables, references, two systems, and one clear line for bad input."""

import json

import pytest

import textgauge


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
    assert rows[1] == {"index": 1, "jaccard": 1.0, "chrf": 100.0, "bleu": 100.0}


def test_a_table_of_pairs_by_its_columns(run, folder):
    columns = ("--pairs", folder / "pairs.csv", "--left", "hyp", "--right", "ref")
    code, out, _ = run("score", *columns, "-m", "rouge1", "--parts", "-f", "json")
    assert code == 0
    assert set(json.loads(out)["rows"][0]) == {"index", "rouge1", "rouge1.precision", "rouge1.recall"}


def test_a_default_of_a_configuration_file_may_do_nothing(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "textgauge.toml").write_text("[score]\nleft = 'hyp'\n")
    code, out, _ = run("score", "out.txt", "ref.txt", "-m", "jaccard", "-f", "csv")
    assert code == 0
    assert len(out.splitlines()) == 5


def test_items_that_got_worse_and_better_stand_side_by_side(run, folder):
    asked = ("--baseline", folder / "old.txt", "-m", "chrf,jaccard", "--explain", "-o", folder / "found.json")
    code, out, _ = run("score", folder / "out.txt", folder / "ref.txt", *asked)
    assert code == 0
    assert "Got worse most" not in out
    assert "Got better most, by chrf (3 of 4 items)" in out
    texts = textgauge.load(folder / "found.json").texts
    assert texts["text.baseline"].to_list() == (folder / "old.txt").read_text().splitlines()
    values = textgauge.score(folder / "out.txt", folder / "ref.txt", metrics="jaccard")["jaccard"].values
    assert texts["jaccard.candidate"].to_list() == values.tolist()
    same = run("diff", folder / "old.txt", folder / "out.txt", "--reference", folder / "ref.txt", "-m", "chrf,jaccard")
    assert same[1] == out


def test_diff_shows_the_most_changed_texts_first(run, folder):
    code, out, _ = run("diff", folder / "old.txt", folder / "out.txt", "-m", "levenshtein", "-f", "json")
    found = json.loads(out)
    assert code == 0
    assert found["answer"].startswith("3 of 4 texts changed.")
    assert found["texts"]["levenshtein.new"] == sorted(found["texts"]["levenshtein.new"])
    assert found["texts"]["text.old"][-1] == found["texts"]["text.new"][-1] == ""
    out = run("diff", folder / "out.txt", folder / "out.txt", "-m", "levenshtein")[1]
    assert out.startswith("0 of 4 texts changed.")
    assert "Changed most" not in out
