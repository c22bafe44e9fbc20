import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.core.errors import InputError, UnknownName
from textgauge.core.registry import Registry
from textgauge.encode import tokenizers
from textgauge.encode.tokenizers import (
    SplitTokenizer,
    get_characters,
    get_tokenizer,
    list_tokenizers,
    register_tokenizer,
    split_alphanumeric,
    split_folded_words,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n\u00a0", []),
        ("The cat's CAT", ["the", "cat's", "cat"]),
        ("'quoted' rock'n'roll it’s", ["'", "quoted", "'", "rock'n'roll", "it's"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("nai\u0308ve na\u00efve", ["na\u00efve", "na\u00efve"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("مُحَمَّد كتب", ["مُحَمَّد", "كتب"]),
        ("你好吗 abc", ["你", "好", "吗", "abc"]),
        ("ひらがな漢字", ["ひらがな", "漢", "字"]),
        ("3.14 a_b", ["3", ".", "14", "a", "_", "b"]),
        ("😀😀 👍🏽 ❤️", ["😀", "😀", "👍🏽", "❤️"]),
        ("👨\u200d👩\u200d👧 🇩🇪🇫🇷", ["👨\u200d👩\u200d👧", "🇩🇪", "🇫🇷"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("zero\u200bwidth \ufeffmark", ["zero", "width", "mark"]),
        ("a\ud800b", ["a", "\ud800", "b"]),
    ],
)
def test_words(text, words):
    assert split_folded_words(text) == words


@given(ANY_TEXT)
def test_words_lose_no_letter(text):
    kept = "".join(split_folded_words(text))
    letters = [sign for sign in get_characters(text.casefold()) if sign.isalnum()]
    assert [sign for sign in kept if sign.isalnum()] == letters


@given(st.text(st.characters(max_codepoint=127), max_size=30))
def test_words_of_plain_texts_are_those_among_others(text):
    assert [*split_folded_words(text), "你"] == split_folded_words(f"{text} 你")
    assert [*split_alphanumeric(text), "你"] == split_alphanumeric(f"{text} 你")


@given(st.lists(ANY_TEXT, max_size=5))
def test_characters_are_the_code_points(texts):
    tokens = get_tokenizer("characters").encode(texts)
    assert ["".join(tokens.strings(row)) for row in range(len(texts))] == [get_characters(text) for text in texts]


@given(st.lists(ANY_TEXT, max_size=6), st.data())
def test_a_selection_is_the_same_as_tokens_of_the_selection(texts, data):
    tokens = get_tokenizer("words").encode(texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8)) if texts else []
    chosen = tokens.take(np.array(rows, dtype=np.intp))
    assert len(chosen) == len(rows)
    assert [chosen.strings(place) for place in range(len(rows))] == [split_folded_words(texts[row]) for row in rows]
    assert chosen.lengths.tolist() == [len(split_folded_words(texts[row])) for row in rows]


def test_word_pieces_have_no_special_tokens_and_no_end(need):
    need("wordpiece")
    tokens = get_tokenizer("wordpiece").encode(["Unbelievable!", "", "word " * 600, "\ud800"])
    assert tokens.strings(0) == ["unbelievable", "!"]
    assert tokens.lengths.tolist() == [2, 0, 600, 0]
    assert tokens.vocabulary[0] == "[PAD]"
    assert tokens.vocabulary[101:103] == ("[CLS]", "[SEP]")
    assert len(tokens.vocabulary) == 30522


def test_unknown_and_registered_names(monkeypatch):
    with pytest.raises(UnknownName, match="words"):
        get_tokenizer("word")
    monkeypatch.setattr(tokenizers, "TOKENIZERS", Registry("tokenizer", dict(tokenizers.TOKENIZERS)))
    register_tokenizer("spaces", lambda: SplitTokenizer(str.split))
    assert "spaces" in list_tokenizers()
    assert get_tokenizer("spaces").encode(["a b a"]).ids.tolist() == [0, 1, 0]
    with pytest.raises(InputError, match="words"):
        register_tokenizer("words", lambda: SplitTokenizer(str.split))
