"""`textgauge compare --explain` as a user meets it; what comes from a corpus is text and nothing else."""

import json

import numpy as np
import polars as pl
import pytest

HOSTILE = [
    "[red]x[/red] [link=http://x]y[/link]",
    "esc \x1b[31mred\x1b[0m \x9b2J",
    "<script>alert(1)</script> | a & b_c",
]
METRICS = "ahd@levenshtein,chi@words,jsd@words"


@pytest.fixture
def corpora(tmp_path):
    rng = np.random.default_rng(0)
    for name, words in (("a", "red green blue cat dog bird"), ("b", "pay card bank loan fee cat")):
        texts = [" ".join(rng.choice(words.split(), 4)) for _ in range(30)]
        (tmp_path / f"{name}.txt").write_text("\n".join([*texts, *(HOSTILE if name == "b" else [])]), encoding="utf-8")
    np.save(tmp_path / "a.npy", rng.normal(size=(20, 4)))
    np.save(tmp_path / "b.npy", rng.normal(size=(25, 4)) + 1)
    return tmp_path


def test_the_table_is_followed_by_texts_and_words_that_do_not_act_on_the_terminal(run, corpora):
    code, out, err = run("compare", corpora / "a.txt", corpora / "b.txt", "-m", METRICS, "--explain", "--top", 40)
    assert code == 0
    assert "the texts that contribute most" in out
    assert "Words that separate the corpora" in out
    assert "Texts far from every text of the other corpus, by levenshtein" in out
    assert "jsd@words cannot be explained text by text" in err
    assert "[red]x[/red] [link=http://x]y[/link]" in out
    assert "<script>alert(1)</script> | a & b_c" in out
    assert not set(out) & {"\x1b", "\x9b"}
    asked = "-m", "ahd@levenshtein", "--explain", "--top", 40, "-f", "markdown"
    out = run("compare", corpora / "a.txt", corpora / "b.txt", *asked)[1]
    assert r"&lt;script>alert(1)&lt;/script> \| a & b_c" in out


def test_an_atlas_has_every_text_with_its_label_its_passage_and_its_place(run, corpora):
    for name in "ab":
        lines = (corpora / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        lines += ["we saw the small red cat sit on the mat again"]
        table = pl.DataFrame({"text": lines, "label": [f"{name}{n % 3}" for n in range(len(lines))]})
        table.write_csv(corpora / f"{name}.csv")
    np.save(corpora / "far.npy", np.load(corpora / "b.npy") + 50)
    path = corpora / "atlas.parquet"
    code, out, _ = run("compare", corpora / "a.csv", corpora / "b.csv", "-m", "chi@words", "--atlas", path)
    atlas = pl.read_parquet(path)
    assert (code, len(atlas)) == (0, 65)
    assert "that contribute most" not in out
    assert {"text", "source", "contribution", "nearest", "label", "passage"} <= set(atlas.columns)
    assert set(atlas.filter(source="reference")["label"]) == {"a0", "a1", "a2"}
    assert atlas["passage"].drop_nulls().to_list() == ["we saw the small red cat sit on the mat again"] * 2
    assert run("compare", corpora / "a.npy", corpora / "far.npy", "-m", "energy,pr", "--atlas", path)[0] == 0
    atlas = pl.read_parquet(path)
    assert atlas.filter(source="reference")["x"].max() < 0 < atlas.filter(source="candidate")["x"].min()
    assert run("compare", corpora / "a.txt", corpora / "b.txt", "-m", "jsd@words", "--atlas", path)[0] == 2
    out = run("compare", corpora / "a.txt", corpora / "b.txt", "-m", "jsd@words", "--explain", "-f", "json")[1]
    assert {"cat", "red", "pay"} <= {row["term"] for row in json.loads(out)["details"]["terms"]}
