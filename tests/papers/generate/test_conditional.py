"""The filter of label-conditional generation, with a writer and a classifier that are known."""

import numpy as np
import pytest

from textgauge_papers.generate.conditional import classifier, filter_texts

LABELS = ["animal", "money"]


def classify(texts):
    """The share of a's and m's."""
    counts = np.array([[text.count("a"), text.count("m")] for text in texts], dtype=float) + 0.1
    return counts / counts.sum(axis=1, keepdims=True)


def test_the_surest_right_ones_are_kept():
    asked = []

    def write(seeds, count):
        asked.append((seeds, count))
        return {"animal": ["aam", "a", "mm", "aaa", "a", "old"], "money": ["m", "am m", "mmm"]}

    found = filter_texts(write, classify, LABELS, n=2, candidates=3, taken=["old"])
    assert [row.label for row in found] == ["animal", "animal", "money", "money"]
    assert [row.text for row in found] == ["aaa", "a", "mmm", "m"]
    assert found[0].confidence == pytest.approx(3.1 / 3.2)
    [(seeds, count)] = asked
    assert count == 6
    assert seeds["animal"] != seeds["money"]


def test_fewer_than_asked_for_is_said():
    with pytest.warns(UserWarning, match=r"fewer than 2 texts passed the classifier for money \(0\)"):
        found = filter_texts(lambda *_: {label: ["aa", "aaa"] for label in LABELS}, classify, LABELS, n=2, candidates=1)
    assert [row.label for row in found] == ["animal", "animal"]


def test_the_classifier_learns_labels():
    pytest.importorskip("onnxruntime")
    texts = ["a big dog", "the cat sleeps", "dogs and cats", "pay the bill", "money in the bank", "a bank account"]
    shares = classifier(texts, ["animal"] * 3 + ["money"] * 3, embedder="wordllama")(["my cat", "the account"])
    assert shares.argmax(axis=1).tolist() == [0, 1]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_what_lacks_is_filled_up_with_the_surest_of_the_rest():
    found = filter_texts(
        lambda *_: {label: ["am", "mm", "aaa"] for label in LABELS}, classify, LABELS, n=3, candidates=1, fill=True
    )
    assert [row.text for row in found[:3]] == ["aaa", "am", "mm"]
    assert [row.text for row in found[3:]] == ["mm", "am", "aaa"]
