"""One entry for paths, samples, published datasets and the hub."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from textgauge.data import LabelledTexts, TextPairs, load_pairs, load_texts, sample, sample_pairs
from textgauge.errors import InputError, MissingExtra, UnknownName


def test_file_with_labels(file):
    path = file("a.csv", "text,kind\na,x\nb,y\nc,x\n")
    corpus = load_texts(str(path), labels="kind")
    assert (corpus.texts, corpus.labels) == (("a", "b", "c"), ("x", "y", "x"))
    assert load_texts(path).labels is None


def test_limit_is_a_seeded_draw_in_order(file):
    path = file("a.txt", "\n".join(map(str, range(1000))))
    drawn = [int(text) for text in load_texts(path, limit=100, seed=1).texts]
    assert drawn == sorted(drawn)
    assert len(set(drawn)) == 100
    assert max(drawn) > 900
    assert load_texts(path, limit=100, seed=1) == load_texts(path, limit=100, seed=1)
    assert load_texts(path, limit=100, seed=1) != load_texts(path, limit=100, seed=2)
    assert len(load_texts(path, limit=5000)) == 1000


def test_samples():
    assert load_texts("sample:travel", limit=5, seed=2) == sample("travel", n=5, seed=2)
    assert load_pairs("sample:graded", limit=8) == sample_pairs("graded", n=8)
    with pytest.raises(UnknownName):
        load_texts("sample:nothing")


def test_pairs_of_a_file(file):
    path = file("a.tsv", "left\tright\tscore\na\tb\t1\nc\td\t2\n")
    assert load_pairs(path, rating="score").grade == (1.0, 2.0)
    assert len(load_pairs(path, limit=1)) == 1


def test_published_name_gives_way_to_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "atis").write_text("my own text\n")
    assert load_texts("atis").texts == ("my own text",)


def test_published_name_wins_over_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "atis").mkdir()
    with pytest.raises(UnknownName, match="part of atis"):
        load_texts("atis/nothing")


@pytest.mark.parametrize(
    ("spec", "hint"), [("bankin77", "banking77"), ("banking", "sample:banking"), ("no.txt", "no such file")]
)
def test_a_name_that_is_nothing(spec, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=hint):
        load_texts(spec)


def test_hub_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match="pip install datasets; or download its Parquet"):
        load_texts("hf://owner/name")


class Rows(dict):
    @property
    def column_names(self):
        return list(self)

    def __len__(self):
        return len(self["text"])


def test_hub_with_the_package(monkeypatch):
    asked = []

    def load_dataset(name, split):
        asked.append((name, split))
        return Rows(text=["a", "b"], label=[0, 1])

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert load_texts("hf://owner/name:test", labels="label").labels == ("0", "1")
    assert load_texts("hf://owner/name").texts == ("a", "b")
    assert asked == [("owner/name", "test"), ("owner/name", "train")]
    with pytest.raises(InputError, match="give the name"):
        load_texts("hf://")


def test_hub_that_fails(monkeypatch):
    def load_dataset(name, split):
        raise RuntimeError("no such dataset\nand a long story")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    with pytest.raises(InputError, match=r"RuntimeError: no such dataset\)$"):
        load_texts("hf://owner/name")


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(InputError, match="differ in length"):
        LabelledTexts(("a", "b"), ("x",), "bad")
    with pytest.raises(InputError, match="differ in length"):
        TextPairs(("a",), ("b", "c"), "bad")


def test_draw_of_pairs_keeps_columns_together():
    pairs = TextPairs(tuple("abcd"), tuple("ABCD"), "letters", (1.0, 2.0, 3.0, 4.0), group=tuple("wxyz"))
    drawn = pairs.draw(2, seed=5)
    rows = [pairs.left.index(text) for text in drawn.left]
    assert drawn.right == tuple("ABCD"[row] for row in rows)
    assert drawn.grade == tuple(row + 1.0 for row in rows)
    assert drawn.group == tuple("wxyz"[row] for row in rows)
    with pytest.raises(InputError, match="at least one"):
        pairs.draw(0)
