from __future__ import annotations

import pytest

from textgauge.encode import tagging
from textgauge.encode.tagging import features, nouns, nouns_of, sentence, tag


@pytest.fixture
def model(need) -> None:
    need("pos-en")


def test_words_have_the_tags_of_their_place(model: None) -> None:
    words = ["They", "can", "fish", "in", "the", "old", "lake", "of", "Paris", "."]
    assert tag([words]) == [["PRP", "MD", "VB", "IN", "DT", "JJ", "NN", "IN", "NNP", "."]]


def test_a_sentence_is_tagged_alike_alone_and_among_others(model: None) -> None:
    many = [["The", "cat", "slept"], [], ["Dogs", "bark"]]
    assert tag(many) == [tag([words])[0] for words in many]


def test_nouns_are_common_and_proper_ones(model: None) -> None:
    assert nouns([["The", "dogs", "of", "Paris", "barked"], []]) == [["dogs", "Paris"], []]


def test_odd_words_are_no_trouble(model: None) -> None:
    assert [len(marks) for marks in tag([["\ud800", "\x00", "", "😀", "a" * 10_000], ["你好"]])] == [5, 1]


def test_a_long_text_is_cut_into_pieces(model: None, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = []
    monkeypatch.setattr(tagging, "nouns", lambda pieces: lengths.append(len(pieces[0])) or [pieces[0]])
    text = "one two. three! " + "word " * 450
    assert len(list(nouns_of(text))) == 455
    assert lengths == [3, 2, 200, 200, 50]


def test_features_of_a_word_hold_two_neighbours_on_either_side() -> None:
    rows = features(["A", "b1", ",", "42"])
    assert rows[1]["-1:word:QQ=="] == rows[1]["+1:word.ispunctuation"] == rows[1]["+2:word.isdigit()"] == 1.0
    assert rows[1]["len(word)"] == 2.0
    assert not any(name.startswith("-2:") for name in rows[1])
    assert [("BOS" in row, "EOS" in row) for row in rows] == [
        (True, False),
        (False, False),
        (False, False),
        (False, True),
    ]
    assert features([]) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We've seen John's car; it isn't his.", "We 've seen John 's car ; it is n't his ."),
        ("the 'quoted' rock'n'roll", "the ' quoted ' rock'n'roll"),
        ("", ""),
        ("今天 go", "今 天 go"),
    ],
)
def test_texts_are_split_as_the_model_expects(text: str, words: str) -> None:
    assert sentence(text) == words.split()
