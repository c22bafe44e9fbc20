"""Words looked up give the ids that the library gives for whole texts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge.core.errors import ResourceError
from textgauge.core.settings import limit_sizes
from textgauge.encode.resources import locate
from textgauge.encode.tokenizers import load_pieces
from textgauge.encode.wordwise import WordwiseTokenizer

ODD = [
    "", " ", "  two  spaces ", "Don't [CLS] stop!", "<s> hi </s>", "naïve café", "你好 world", "a\tb\nc", "x\x00y\x7fz",
    "▁ a▁b", "a_b-c.d", "w" * 150, "[UNK]", "a\xa0b", "🙂 ok", "UPPER lower",
]  # fmt: skip


@pytest.fixture(scope="module")
def libraries():
    from tokenizers import Tokenizer

    try:
        llama = locate("wordllama") / "tokenizers/l2_supercat_tokenizer_config.json"
        return [load_pieces(), Tokenizer.from_file(str(llama))]
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def tokenizers(libraries):
    return [WordwiseTokenizer(library) for library in libraries]


def by_library(library, texts):
    return [encoding.ids for encoding in library.encode_batch(texts, add_special_tokens=False)]


def by_words(tokenizer, texts):
    ids, lengths = tokenizer.ids(texts)
    ends = lengths.cumsum()
    return [ids[end - length : end].tolist() for end, length in zip(ends, lengths, strict=True)]


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(st.sampled_from("ab Zé.,'-[]<s>▁\t你"), max_size=12), max_size=6))
def test_ids_are_those_of_the_library(tokenizers, texts):
    for tokenizer in tokenizers:
        assert by_words(tokenizer, texts) == by_library(tokenizer.library, texts)


def test_odd_texts_and_words_seen_before(tokenizers):
    for tokenizer in tokenizers:
        assert tokenizer.cut(["two words"]) == [["two", "words"]]
        for _ in range(2):
            assert by_words(tokenizer, ODD) == by_library(tokenizer.library, ODD)


def test_the_memory_of_words_has_an_end(libraries):
    tokenizer = WordwiseTokenizer(libraries[0])
    texts = ["one two three four", "five six", "one two"]
    with limit_sizes(2):
        assert [by_words(tokenizer, [text])[0] for text in texts] == by_library(libraries[0], texts)
    assert len(tokenizer._numbers) <= 4


def test_other_tokenizers_read_whole_texts():
    from tokenizers import Tokenizer
    from tokenizers.models import BPE

    library = Tokenizer(BPE({"a": 0, " ": 1, "a ": 2}, [("a", " ")]))
    tokenizer = WordwiseTokenizer(library)
    assert tokenizer.cut(["a a"]) == [None]
    assert by_words(tokenizer, ["a a"]) == [[2, 0]]
