import numpy as np
import pytest

from textgauge.encode import tokenizers
from textgauge.metrics import get_metric
from textgauge.metrics.pair import word_vectors

VECTORS = {"dog": (0.0, 0.0), "cat": (3.0, 4.0), "car": (0.0, 1.0), "tree": (6.0, 8.0)}


class Vectors:
    """Four words in the plane, in place of real word vectors."""

    identity = "plane"
    matrix = np.array(list(VECTORS.values()), dtype=np.float32)

    def rows(self, words):
        return np.array([list(VECTORS).index(word) if word in VECTORS else -1 for word in words], dtype=np.int64)


@pytest.fixture(autouse=True)
def plane(monkeypatch):
    """Every word is a noun but `the`, `ran` and `no`."""
    monkeypatch.setattr("textgauge.metrics.pair.word_vectors.get_word_vectors", lambda name: Vectors())
    split = lambda text: [word for word in text.split() if word not in {"the", "ran", "no"}]  # noqa: E731
    monkeypatch.setitem(tokenizers.TOKENIZERS, "nouns", lambda: tokenizers.SplitTokenizer(split))


def test_nearest_nouns_are_averaged_both_ways():
    scores = get_metric("pos_distance")(left=["the dog ran the cat"], right=["the car"])
    there, back = (1 + np.sqrt(18)) / 2, 1.0
    assert scores.parts["forward"][0] == pytest.approx(there)
    assert scores.parts["backward"][0] == pytest.approx(back)
    assert scores.values[0] == pytest.approx((there + back) / 2)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("dog cat", "car", 1.0),
        ("car", "dog cat", 1.0),
        ("dog cat", "tree tree tree", 15.0),
        ("dog car", "cat tree", 5 + np.sqrt(18)),
    ],
)
def test_the_sum_is_that_of_the_text_with_fewer_nouns(left, right, expected):
    assert get_metric("pos_distance(total=sum)")(left=[left], right=[right]).values[0] == pytest.approx(expected)


def test_equal_texts_are_at_no_distance_and_texts_without_nouns_at_none_known():
    left, right = ["the no", "", "the no", "dog", "stranger"], ["the no", " ", "no ran", "the", "dog"]
    scores = get_metric("pos_distance")(left=left, right=right)
    np.testing.assert_array_equal(scores.values, [0, 0, np.nan, np.nan, np.nan])
    assert scores.reason == "a text has no noun with a vector"


def test_real_nouns(monkeypatch):
    from textgauge.core.errors import ResourceError

    monkeypatch.setitem(
        tokenizers.TOKENIZERS, "nouns", lambda: tokenizers.SplitTokenizer(word_vectors.find_nouns_of_text)
    )
    try:
        scores = get_metric("pos_distance")(left=["The dog ran quickly."], right=["A car was near."])
    except ResourceError as error:
        pytest.skip(str(error))
    assert scores.values[0] == pytest.approx(1.0)
